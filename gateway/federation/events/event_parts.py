"""Compound events as parts of a stream: once to each member, with the ids of its queries.

Place: between events and the wire. The quads of an event travel as triples; the graph where they
were stated stands beside them, and the name of the event.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pyoxigraph import BlankNode, NamedNode, Quad

from gateway.engine.compound.event import CompoundEvent, term_of
from gateway.federation.wire import Part, WireError, own_label
from gateway.journal.event_position import EventPosition
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName

_INT = frozenset({int})


class Happened(NamedTuple):
    """An event of a member, and the queries that it answers."""

    event: CompoundEvent
    ids: Sequence[int]


def event_part(event: CompoundEvent, ids: Sequence[int]) -> Part:
    """An event as it travels."""
    members: dict[str, object] = {
        "position": event.position,
        "time": event.time,
        "term": event.name,
        "ids": ids,
    }
    if event.graph != DEFAULT_GRAPH:
        members["graph"] = event.name
    return Part("event", members, (), (), event.triples)


def happened(part: Part, quads: Sequence[Quad], gateway: str) -> Happened:
    """The reverse; `quads` are those of the part, with blank nodes of the gateway's own.

    Raises WireError.
    """
    graph = _graph(part, gateway)
    if not quads:
        raise WireError("an event without a quad")
    try:
        default = NamedNode(part.text("term"))
    except ValueError as error:
        raise WireError(f"an event's name is no IRI: {error}") from error
    ids = part.members.get("ids")
    if not isinstance(ids, list) or not _INT.issuperset(map(type, ids)):
        raise WireError("an event's ids are none")
    event = CompoundEvent(
        graph,
        term_of(graph, default),
        quads,
        gateway=gateway,
        position=_position(part),
        time=part.number("time"),
    )
    return Happened(event, ids)


def _position(part: Part) -> EventPosition:
    """Where an event stands: its three numbers, which are no text, as there are so many."""
    value = part.members.get("position")
    if not isinstance(value, list) or len(value) != 3 or not _INT.issuperset(map(type, value)):
        raise WireError("an event's position is none")
    if min(value) < 0:
        raise WireError("an event's position is before all")
    return EventPosition(*value)


def _graph(part: Part, gateway: str) -> GraphName:
    """Where an event was stated; a blank node is the gateway's own."""
    if "graph" not in part.members:
        return DEFAULT_GRAPH
    text = part.text("graph")
    try:
        if text.startswith("_:"):
            return BlankNode(own_label(gateway) + text[2:])
        return NamedNode(text)
    except ValueError as error:
        raise WireError(f"an event's graph is none: {error}") from error
