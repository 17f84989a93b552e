"""The W3C evaluation cases of SPARQL 1.0 and 1.1 Query: query, dataset, expected answer.

The suites are not part of the project: SOSA_GATEWAY_SHARED names the folder that has
data/rdf-tests in it; SOSA_GATEWAY_REQUIRE_SHARED=1 makes a missing folder a failure.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolutions,
    Store,
    parse,
    parse_query_results,
)

from gateway.rdf.canonical import canonical
from gateway.rdf.terms import Term
from gateway.sparql.parser import parse_query
from tests.paths import SHARED

SUITES = SHARED / "data" / "rdf-tests" / "sparql"
REQUIRED = os.environ.get("SOSA_GATEWAY_REQUIRE_SHARED") == "1"
_RESULT_SET = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"

_TEST_QUERY = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"

_CASES_QUERY = f"""
PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX qt: <{_TEST_QUERY}>
SELECT ?case ?action ?query ?result {{
    ?case a mf:QueryEvaluationTest ; mf:action ?action ; mf:result ?result .
    ?action qt:query ?query
}} ORDER BY ?case
"""
_RESULT_QUERY = f"""
PREFIX rs: <{_RESULT_SET}>
SELECT ?row ?name ?value {{
    ?set rs:solution ?row OPTIONAL {{ ?row rs:binding [ rs:variable ?name ; rs:value ?value ] }}
}}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One evaluation case; `default` and `named` are files of its dataset."""

    name: str
    query: Path
    result: Path
    default: tuple[Path, ...]
    named: tuple[Path, ...]

    @property
    def text(self) -> str:
        """The query, its relative IRIs resolved against its place."""
        return f"BASE <{self.query.as_uri()}>\n{self.query.read_text(encoding='utf-8')}"

    def quads(self) -> list[Quad]:
        """The data: graphs of FROM and FROM NAMED are files too, named by their IRI."""
        dataset = parse_query(self.text).dataset
        default, others = ([], []) if dataset is None else dataset.iris()
        named = dict.fromkeys((*self.named, *map(_path, (*default, *others))))
        found = [quad for path in self.default for quad in _triples(path, DefaultGraph())]
        for path in named:
            found += _triples(path, NamedNode(path.as_uri()))
        return list(dict.fromkeys(found))


def _cases() -> Iterator[Case]:
    for manifest in sorted(SUITES.glob("*/*/manifest.ttl")):
        store = _loaded(manifest)
        results = store.query(_CASES_QUERY)
        assert isinstance(results, QuerySolutions)
        for row in results:
            fragment = row["case"].value.partition("#")[2]
            yield Case(
                f"{manifest.parent.relative_to(SUITES).as_posix()}#{fragment}",
                _path(row["query"].value),
                _path(row["result"].value),
                _files(store, row["action"], "data"),
                _files(store, row["action"], "graphData"),
            )


def _files(store: Store, action: Term, kind: str) -> tuple[Path, ...]:
    assert isinstance(action, BlankNode)
    quads = store.quads_for_pattern(action, NamedNode(_TEST_QUERY + kind), None)
    iris = [quad.object.value for quad in quads if isinstance(quad.object, NamedNode)]
    return tuple(_path(iri) for iri in sorted(iris))


def _path(iri: str) -> Path:
    return Path(iri.removeprefix("file://"))


def _loaded(path: Path) -> Store:
    store = Store()
    store.load(path=str(path), base_iri=path.as_uri())
    return store


def _triples(path: Path, graph: NamedNode | DefaultGraph) -> list[Quad]:
    found = parse(path=str(path), base_iri=path.as_uri(), rename_blank_nodes=True)
    return [Quad(quad.subject, quad.predicate, quad.object, graph) for quad in found]


def expected(path: Path) -> Iterable[dict[str, Term]]:
    """The rows of a result file; ASK true is one empty row."""
    match path.suffix:
        case ".srx" | ".srj" | ".tsv":
            results = parse_query_results(path=str(path))
            if isinstance(results, QueryBoolean):
                return [{}] if results else []
            names = [variable.value for variable in results.variables]
            return [{name: row[name] for name in names if row[name] is not None} for row in results]
        case _:
            return _expected_graph(_loaded(path))


def _expected_graph(store: Store) -> Iterable[dict[str, Term]]:
    """A graph is a result set in RDF, or else what a CONSTRUCT gives."""
    for quad in store.quads_for_pattern(None, NamedNode(_RESULT_SET + "boolean"), None):
        return [{}] if quad.object == Literal(True) else []
    if not list(store.quads_for_pattern(None, None, NamedNode(_RESULT_SET + "ResultSet"))):
        return [
            {"subject": quad.subject, "predicate": quad.predicate, "object": quad.object}
            for quad in store
        ]
    results = store.query(_RESULT_QUERY)
    assert isinstance(results, QuerySolutions)
    rows: dict[Term, dict[str, Term]] = {}
    for found in results:
        row = rows.setdefault(found["row"], {})
        if found["name"] is not None:
            row[found["name"].value] = found["value"]
    return rows.values()


def as_dataset(rows: Iterable[dict[str, Term]]) -> Dataset:
    """A bag of rows, comparable up to the names of blank nodes: each row a node of its own."""
    dataset = Dataset()
    for row in rows:
        node = BlankNode()
        dataset.add(Quad(node, NamedNode("urn:row"), Literal(True)))
        for name, term in row.items():
            dataset.add(Quad(node, NamedNode(f"urn:column:{name}"), canonical(term)))
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset


CASES = list(_cases())
