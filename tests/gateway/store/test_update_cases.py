"""The W3C evaluation cases of SPARQL 1.1 Update, through the engine.

The suites are not part of the project: SOSA_GATEWAY_SHARED names the folder that has data/rdf-tests
in it; SOSA_GATEWAY_REQUIRE_SHARED=1 makes a missing folder a failure.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    DefaultGraph,
    NamedNode,
    Quad,
    QuerySolutions,
    RdfFormat,
    Store,
    parse,
)

from gateway.engine import Engine
from gateway.errors import GatewayError, UnsupportedQueryError
from gateway.store.quad_store import QuadStore
from tests.paths import SHARED

pytestmark = pytest.mark.conformance

_SUITES = SHARED / "data" / "rdf-tests" / "sparql"
_REQUIRED = os.environ.get("SOSA_GATEWAY_REQUIRE_SHARED") == "1"

_CASES_QUERY = """
PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX ut: <http://www.w3.org/2009/sparql/tests/test-update#>
SELECT ?case ?request ?action ?result {
    ?case a mf:UpdateEvaluationTest ; mf:action ?action ; mf:result ?result .
    ?action ut:request ?request
} ORDER BY ?case
"""
_DATA_QUERY = """
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX ut: <http://www.w3.org/2009/sparql/tests/test-update#>
SELECT ?of ?file ?label {
    { ?of ut:data ?file } UNION { ?of ut:graphData [ ut:graph ?file ; rdfs:label ?label ] }
}
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of triples and the graph that it is read into."""

    path: Path
    graph: NamedNode | DefaultGraph

    def quads(self) -> list[Quad]:
        """The quads of the file, blank nodes of their own."""
        found = parse(path=str(self.path), base_iri=self.path.as_uri(), rename_blank_nodes=True)
        return [Quad(quad.subject, quad.predicate, quad.object, self.graph) for quad in found]


@dataclass(frozen=True, slots=True)
class Case:
    """One evaluation case: what is there, what is asked for, what is there then."""

    name: str
    request: Path
    before: tuple[Source, ...]
    after: tuple[Source, ...]

    @property
    def text(self) -> str:
        """The request, its relative IRIs resolved against its place."""
        return f"BASE <{self.request.as_uri()}>\n{self.request.read_text(encoding='utf-8')}"


def _cases() -> Iterator[Case]:
    for manifest in sorted(_SUITES.glob("*/*/manifest.ttl")):
        store = Store()
        store.load(path=str(manifest), format=RdfFormat.TURTLE, base_iri=manifest.as_uri())
        sources = _sources(store)
        for row in _rows(store, _CASES_QUERY):
            fragment = row["case"].value.partition("#")[2]
            yield Case(
                f"{manifest.parent.relative_to(_SUITES).as_posix()}#{fragment}",
                _path(row["request"]),
                tuple(sources.get(row["action"], ())),
                tuple(sources.get(row["result"], ())),
            )


def _rows(store: Store, query: str) -> Iterator[dict[str, NamedNode | BlankNode]]:
    results = store.query(query)
    assert isinstance(results, QuerySolutions)
    names = [variable.value for variable in results.variables]
    for row in results:
        yield {name: row[name] for name in names if row[name] is not None}


def _sources(store: Store) -> dict[NamedNode | BlankNode, list[Source]]:
    found: dict[NamedNode | BlankNode, list[Source]] = {}
    for row in _rows(store, _DATA_QUERY):
        graph = NamedNode(row["label"].value) if "label" in row else DefaultGraph()
        found.setdefault(row["of"], []).append(Source(_path(row["file"]), graph))
    return found


def _path(node: NamedNode | BlankNode) -> Path:
    return Path(node.value.removeprefix("file://"))


def _store_of(sources: tuple[Source, ...]) -> Store:
    store = Store()
    for source in sources:
        store.extend(source.quads())
        if isinstance(source.graph, NamedNode):
            store.add_graph(source.graph)
    return store


def _canonical(store: Store) -> Dataset:
    dataset = Dataset(store)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset


_CASES = list(_cases())
_NOT_APPLICABLE = {
    "sparql11/update-silent#load-silent": "LOAD is refused, SILENT or not",
    "sparql11/update-silent#load-into-silent": "LOAD is refused, SILENT or not",
}
needs_suites = pytest.mark.skipif(not _CASES, reason=f"no W3C test suites in {_SUITES}")


def test_suites_are_there_where_they_are_required() -> None:
    assert _CASES or not _REQUIRED


@needs_suites
def test_update_cases_are_all_there() -> None:
    assert len(_CASES) >= 60
    assert set(_NOT_APPLICABLE) <= {case.name for case in _CASES}


@needs_suites
@pytest.mark.parametrize(
    "case",
    [case for case in _CASES if case.name not in _NOT_APPLICABLE],
    ids=lambda case: case.name,
)
def test_update_leaves_what_the_suite_expects(case: Case) -> None:
    store = _store_of(case.before)
    before = set(store)
    engine = Engine(QuadStore(store))
    delta = engine.update(case.text).delta
    engine.flush()
    assert _canonical(store) == _canonical(_store_of(case.after))
    assert set(delta.added) == set(store) - before
    assert set(delta.removed) == before - set(store)


@needs_suites
@pytest.mark.parametrize("name", _NOT_APPLICABLE)
def test_update_that_is_not_applicable_is_refused(name: str) -> None:
    (case,) = (case for case in _CASES if case.name == name)
    store = _store_of(case.before)
    with pytest.raises(UnsupportedQueryError):
        Engine(QuadStore(store)).update(case.text)


@needs_suites
@pytest.mark.parametrize(
    "case",
    [case for case in _CASES if case.name not in _NOT_APPLICABLE],
    ids=lambda case: case.name,
)
def test_update_leaves_what_the_store_alone_leaves(case: Case) -> None:
    ours, theirs = _store_of(case.before), _store_of(case.before)
    engine = Engine(QuadStore(ours))
    try:
        engine.update(case.text)
        engine.flush()
    except GatewayError:
        with pytest.raises(RuntimeError):
            theirs.update(case.text)
    else:
        theirs.update(case.text)
    assert _canonical(ours) == _canonical(theirs)
    assert set(ours.named_graphs()) == set(theirs.named_graphs())
