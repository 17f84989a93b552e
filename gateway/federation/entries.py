"""What a query looks at, as entries that other members are asked for.

    query -> its own patterns, constants in place -> entries -> text on the wire -> entries

Place: between a federated SUBSCRIBE and the needs of its gateway. An entry is one pattern wide: all
quads that match it travel, whatever else the query joins them with.
"""

from collections.abc import Sequence

from pyoxigraph import DefaultGraph, NamedNode, RdfFormat, parse

from gateway.engine.lutt import LuttEntry
from gateway.errors import UnsupportedQueryError
from gateway.federation.wire import WireError
from gateway.rdf.canonical import canonical
from gateway.rdf.dataset import Dataset
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import quad_patterns

_DEFAULT = ""
"""The default graph on the wire."""

Written = Sequence[str | None]
"""Subject, predicate, object in N-Triples, and the graph; None is a wildcard."""


def entries_of(text: str, dataset: Dataset | None = None) -> frozenset[LuttEntry]:
    """The entries of a query.

    Raises SparqlSyntaxError; UnsupportedQueryError where one has no constant: a pattern of three
    variables, a path that may be empty, `GRAPH ?g {}` would ask for all that others have.
    """
    found = set()
    for each in quad_patterns(parse_query(text), dataset):
        if each.subject is None and each.predicate is None and each.object is None:
            raise UnsupportedQueryError(
                "the query looks at everything that other gateways have",
                "give each pattern a constant: a predicate will do",
            )
        object_ = None if each.object is None else canonical(each.object)
        found.add(LuttEntry(each.subject, each.predicate, object_, each.graph))
    return frozenset(found)


def written(entry: LuttEntry) -> Written:
    """An entry as it travels."""
    ends = (entry.subject, entry.predicate, entry.object)
    texts = [None if end is None else str(end) for end in ends]
    graph = entry.graph
    if graph is None:
        return [*texts, None]
    return [*texts, _DEFAULT if isinstance(graph, DefaultGraph) else str(graph)]


def read(value: object) -> LuttEntry:
    """The reverse of `written`. Raises WireError, also for an entry without a constant."""
    match value:
        case [(str() | None) as s, (str() | None) as p, (str() | None) as o, (str() | None) as g]:
            subject, predicate, object_ = map(_term_or_any, (s, p, o))
            if subject is None and predicate is None and object_ is None:
                raise WireError("an entry without a constant")
            return LuttEntry(subject, predicate, object_, None if g is None else _graph(g))
        case _:
            raise WireError(f"no entry: {value!r:.80}")


def _term_or_any(text: str | None) -> Term | None:
    return None if text is None else _term(text)


def _term(text: str) -> Term:
    try:
        (quad,) = parse(f"<urn:x> <urn:x> {text} .", format=RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError) as error:
        raise WireError(f"no term: {text:.80}") from error
    return canonical(quad.object)


def _graph(text: str) -> GraphName:
    if text == _DEFAULT:
        return DEFAULT_GRAPH
    term = _term(text)
    if not isinstance(term, NamedNode):
        raise WireError(f"no graph: {text:.80}")
    return term
