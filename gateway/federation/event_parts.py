"""Compound events as parts of a stream: once to each member, with the ids of its queries.

Place: between events and the wire. The quads of an event travel in the graph where they were
stated; the name of the default graph's event travels beside them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pyoxigraph import NamedNode, Quad, Triple

from gateway.engine.compound.event import CompoundEvent, term_of
from gateway.federation.wire import Part, WireError


class Happened(NamedTuple):
    """An event of a member, and the queries that it answers."""

    event: CompoundEvent
    ids: Sequence[int]


def event_part(event: CompoundEvent, ids: Sequence[int]) -> Part:
    """An event as it travels."""
    members = {
        "position": str(event.position),
        "time": event.time,
        "term": event.name,
        "ids": list(ids),
    }
    quads = [Quad(each.subject, each.predicate, each.object, event.graph) for each in event.triples]
    return Part("event", members, quads)


def happened(part: Part, quads: Sequence[Quad], gateway: str) -> Happened:
    """The reverse; `quads` are those of the part, with blank nodes of the gateway's own.

    Raises WireError.
    """
    graphs = {quad.graph_name for quad in quads}
    if len(graphs) != 1:
        raise WireError("an event is of one graph, and has a quad")
    (graph,) = graphs
    try:
        default = NamedNode(part.text("term"))
    except ValueError as error:
        raise WireError(f"an event's name is no IRI: {error}") from error
    ids = part.members.get("ids")
    if not isinstance(ids, list) or not all(isinstance(each, int) for each in ids):
        raise WireError("an event's ids are none")
    triples = dict.fromkeys(Triple(quad.subject, quad.predicate, quad.object) for quad in quads)
    event = CompoundEvent(
        graph,
        term_of(graph, default),
        tuple(triples),
        gateway=gateway,
        position=part.position(),
        time=part.number("time"),
    )
    return Happened(event, ids)
