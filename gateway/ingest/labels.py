"""What the graph says of things that observations name: `labels_of` is what they are called.

Place: beside ingest. Asked by queries that may come from any thread, so that nobody waits for the
scheduler; for what is told to others: the archive, Home Assistant.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pyoxigraph import Literal, NamedNode, QuerySolutions

from adapters.values.observation import StreamKey
from gateway.engine.request import QueryRequest
from gateway.rdf.namespaces import RDFS
from gateway.rdf.terms import Term
from gateway.store.quad_store import QueryResults

Query = Callable[[QueryRequest], QueryResults]
"""May be called in any thread."""

Row = Mapping[str, Term | None]

_TOGETHER = 200
"""So many things are asked about by one query."""


def labels_of_streams(query: Query, streams: Iterable[StreamKey]) -> Mapping[str, str]:
    """What sensors, properties and features are called, by IRI. Raises a GatewayError."""
    named = {iri for stream in streams for iri in stream[:3]}
    return labels_of(lambda text: rows_of(query(QueryRequest(text))), sorted(named))


def rows_of(results: QueryResults) -> Iterator[Row]:
    """The rows of a SELECT by their columns."""
    if not isinstance(results, QuerySolutions):
        raise TypeError("the query is no SELECT")
    names = [variable.value for variable in results.variables]
    for row in results:
        yield dict(zip(names, row, strict=True))


def labels_of(rows: Callable[[str], Iterator[Row]], things: Sequence[str]) -> Mapping[str, str]:
    """Among several labels one without a language or in English, then the first by order."""
    found: dict[str, tuple[bool, str]] = {}
    for thing, term in said_of(rows, things, RDFS + "label"):
        if isinstance(term, Literal):
            is_foreign = (term.language or "en").partition("-")[0].lower() != "en"
            label = (is_foreign, term.value)
            found[thing] = min(found.get(thing, label), label)
    return {thing: label for thing, (_, label) in found.items()}


def said_of(
    rows: Callable[[str], Iterator[Row]], subjects: Sequence[str], predicate: str
) -> Iterator[tuple[str, NamedNode | Literal]]:
    """What subjects have by a predicate, but blank nodes."""
    for first in range(0, len(subjects), _TOGETHER):
        nodes = " ".join(str(NamedNode(each)) for each in subjects[first : first + _TOGETHER])
        for row in rows(f"SELECT ?s ?o {{ VALUES ?s {{ {nodes} }} ?s <{predicate}> ?o }}"):
            subject, term = row["s"], row["o"]
            if isinstance(subject, NamedNode) and isinstance(term, NamedNode | Literal):
                yield subject.value, term
