"""An event as it travels comes back as it was; what no member sends is refused."""

import pytest
from pyoxigraph import NamedNode, Quad

from gateway.engine.compound.event import CompoundEvent
from gateway.federation.events.event_parts import event_part, happened
from gateway.federation.wire import Batch, Part, WireError
from gateway.journal.event_position import EventPosition
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName

QUADS = [Quad(NamedNode("urn:a"), NamedNode("urn:p"), NamedNode("urn:b"))]
GOOD = {"position": [1, 0, 1], "time": 5, "term": "urn:e", "ids": [1]}


@pytest.mark.parametrize("graph", [DEFAULT_GRAPH, NamedNode("urn:g")])
def test_an_event_comes_back_as_it_was(graph: GraphName) -> None:
    term = graph if isinstance(graph, NamedNode) else NamedNode("urn:e")
    place = EventPosition(1763, 88, 1)
    event = CompoundEvent(graph, term, QUADS, gateway="attic", position=place, time=7)
    (part,) = Batch.decode(Batch("life", 1, (event_part(event, [3, 4]),)).encode()).parts
    back, ids = happened(part, part.added, "attic")
    assert (back.graph, back.term, list(back.triples)) == (graph, term, QUADS)
    assert (back.position, back.time, back.name, ids) == (place, 7, event.name, [3, 4])
    assert str(back.position) == "1763-88.1"


@pytest.mark.parametrize(
    "wrong",
    [
        *({"position": each} for each in ("1-0.1", None, [1, 0], [1, 0, 0, 0], [1, 0, "0"])),
        *({"position": each} for each in ([True, 0, 0], [-1, 0, 0], [1, 0, 0.5], {"a": 1}, [])),
        *({"time": each} for each in (-1, True, "1", None)),
        *({"term": each} for each in ("no iri", 1, None)),
        *({"ids": each} for each in ([True], ["1"], 1, None)),
        *({"graph": each} for each in ("no iri", 1, None)),
    ],
)
def test_what_is_no_event_is_refused(wrong: dict[str, object]) -> None:
    assert happened(Part("event", GOOD), QUADS, "attic")
    with pytest.raises(WireError):
        happened(Part("event", {**GOOD, **wrong}), QUADS, "attic")


def test_an_event_without_a_quad_is_refused() -> None:
    with pytest.raises(WireError):
        happened(Part("event", GOOD), (), "attic")
