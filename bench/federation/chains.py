"""Events of five chained triples, and the queries that ask for chains: the paper's workload.

Place on the way of the data: what `pair` and `growth` have events of. A query has five fixed
predicates, of its own; an event answers exactly one of them. Source: Pellegrino et al., "A
Distributed Publish/Subscribe System for RDF Data", 2013, section 4 (k = 5, about 670 bytes).
"""

from collections.abc import Iterator, Sequence

from pyoxigraph import NamedNode, Quad

from gateway.engine.compound.event import CompoundEvent, term_of
from gateway.journal.event_position import EventPosition
from gateway.rdf.terms import DEFAULT_GRAPH

LENGTH = 5
GATEWAY = "source"
_BASE = "https://sosa-gateway.example/chain/"


def predicate(query: int, place: int) -> str:
    """A predicate of a query."""
    return f"{_BASE}p/{query:06}/{place}"


def chain_query(query: int) -> str:
    """`SELECT *` of a chain, in the graph of the event."""
    nodes = [f"?n{place}" for place in range(LENGTH + 1)]
    patterns = " . ".join(
        f"{nodes[place]} <{predicate(query, place)}> {nodes[place + 1]}" for place in range(LENGTH)
    )
    return f"SELECT * {{ GRAPH ?g {{ {patterns} }} }}"


def chain(number: int, query: int) -> Sequence[Quad]:
    """The quads of an event that answers a query."""
    nodes = [NamedNode(f"{_BASE}n/{number:08}/{place}") for place in range(LENGTH + 1)]
    return [
        Quad(nodes[place], NamedNode(predicate(query, place)), nodes[place + 1])
        for place in range(LENGTH)
    ]


def event(number: int, quads: Sequence[Quad], time: int) -> CompoundEvent:
    """The event that a request which states these quads makes, as `EventView` makes it."""
    position = EventPosition(1, 0, number + 1)
    term = NamedNode(f"{_BASE}event/{position}")
    return CompoundEvent(
        DEFAULT_GRAPH,
        term_of(DEFAULT_GRAPH, term),
        quads,
        gateway=GATEWAY,
        position=position,
        time=time,
    )


def row_text(number: int) -> str:
    """What of its one row says which event it is of: the first node of the chain."""
    return f"{_BASE}n/{number:08}/0"


def events(count: int, queries: int) -> Iterator[Sequence[Quad]]:
    """So many events, one query after another."""
    return (chain(number, number % queries) for number in range(count))
