"""A gateway whose disk was lost: its quads leave as one step; a clock that is behind is said."""

from collections.abc import Callable, Iterator
from random import Random

import pytest

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.spu import EVENT
from gateway.federation.member import MemberSettings
from gateway.federation.overtaken import Overtaken
from gateway.federation.wire import Part, WireError
from gateway.journal.event_position import EventPosition
from gateway.journal.record import Origin
from tests.gateway.federation.seeded_net import Gateways, Subscriber

QUERY = "SELECT ?s ?o { ?s <urn:p> ?o }"


def begun(settings: Callable[[str], MemberSettings]) -> Gateways:
    """Two that know each other; the attic is in its fifth epoch."""
    made = Gateways(("attic", "hall"), Random(3), settings)
    made.rounds["attic"] = 4
    made.restart("attic")
    made.settle()
    return made


@pytest.fixture
def gateways() -> Iterator[Gateways]:
    made = begun(lambda _: MemberSettings())
    yield made
    for engine in made.engines.values():
        engine.close()


def asked(gateways: Gateways) -> Subscriber:
    """A subscriber at the hall who was told of two rows of the attic, and one of the hall."""
    for number in range(2):
        gateways.update("attic", f"INSERT DATA {{ <urn:a{number}> <urn:p> {number} }}")
    gateways.update("hall", "INSERT DATA { <urn:h> <urn:p> 7 }")
    gateways.subscribe("hall", SubscribeRequest(QUERY), None, 1000)
    (found,) = gateways.subscribers["hall"]
    return found


def lose(gateways: Gateways, epoch: int) -> None:
    """The attic begins with nothing, in an epoch of its clock."""
    gateways.engines["attic"].close()
    gateways.engines["attic"] = Engine.open()
    gateways.rounds["attic"] = epoch - 1
    gateways.restart("attic")
    gateways.settle()


def go_on_behind(gateways: Gateways, name: str, seen: EventPosition) -> None:
    """Have a gateway of these give positions behind one."""
    gateways.rounds[name] = seen.epoch + 1
    places = gateways.engines[name].events.places
    places.follow(Origin(name), gateways.rounds[name], lambda: None)
    gateways.note(name)


@pytest.fixture
def going_on() -> Iterator[Gateways]:
    """Gateways that take a later epoch where others know one."""

    def settings(name: str) -> MemberSettings:
        def overtaken(seen: EventPosition) -> None:
            go_on_behind(made, name, seen)

        return MemberSettings(overtaken=overtaken)

    made = begun(settings)
    yield made
    for engine in made.engines.values():
        engine.close()


@pytest.mark.parametrize("epoch", [2, 5])
def test_a_lost_disk_with_a_clock_that_is_behind_goes_on_in_a_later_epoch(
    going_on: Gateways, epoch: int
) -> None:
    """Also where its clock is where it was at the start before."""
    told = asked(going_on)
    events: list[Notification] = []
    request = SubscribeRequest("SELECT ?s { ?s <urn:p> ?o }", mode=EVENT)
    going_on.members["hall"].ask_events(request, events.append)
    going_on.settle()
    before = told.told
    lose(going_on, epoch)
    assert not going_on.members["hall"].links_closed
    assert told.told == before + 1, "what it had leaves as one step"
    assert told.vector["attic"] == "6-0.0"
    going_on.update("attic", "INSERT DATA { <urn:a9> <urn:p> 9 }")
    going_on.settle()
    assert told.told == before + 2
    lost, new = events
    assert lost.federation is not None
    assert lost.federation.gap is not None
    assert lost.federation.gap["attic"][1] == "6-0.0", "what was on the disk is told no more"
    assert [each.position for each in new.events or ()] == ["6-0.1"]
    told.compare()


def hello(seen: str) -> Part:
    return Part("hello", {"ask": 1, "version": 0, "seen": seen})


def test_who_says_that_it_has_seen_more_is_believed_once() -> None:
    behind: list[EventPosition] = []
    overtaken, here = Overtaken(behind.append), EventPosition(4, 7, 1)
    assert not overtaken.is_by("hall", hello("4-7.1"), here)
    assert not overtaken.is_by("hall", Part("hello"), here)
    assert overtaken.is_by("hall", hello("9-1.0"), here)
    assert overtaken.is_by("hall", hello("9-1.0"), here), "asked again meanwhile"
    assert overtaken.is_by("yard", hello("12-0.0"), here)
    assert behind == [EventPosition(9, 1), EventPosition(9, 1), EventPosition(12, 0)]
    for lie in ("9-2.0", "100000000000-0.0", "no", "9" * 70 + "-0.0"):
        with pytest.raises(WireError):
            overtaken.is_by("hall", hello(lie), here)
    with pytest.raises(WireError, match="seen"):
        overtaken.is_by("cellar", hello("100000000000-0.0"), here)


def test_what_was_on_a_lost_disk_leaves_as_one_step(gateways: Gateways) -> None:
    told = asked(gateways)
    before = told.told
    lose(gateways, 6)
    assert told.told == before + 1
    assert told.vector["attic"] == "6-0.0"
    gateways.update("attic", "INSERT DATA { <urn:a9> <urn:p> 9 }")
    gateways.settle()
    assert told.told == before + 2
    told.compare()
    assert not gateways.members["hall"].links_closed


def test_a_lost_disk_with_a_clock_that_is_behind_is_said_and_nothing_false_is_told(
    gateways: Gateways,
) -> None:
    """Its positions would go back, so that neither answers nor events could be told apart."""
    told = asked(gateways)
    before = told.told
    lose(gateways, 2)
    gateways.update("attic", "INSERT DATA { <urn:a9> <urn:p> 9 }")
    gateways.settle()
    assert "behind" in gateways.members["hall"].links_closed["attic"]
    assert told.told == before, "the last state that was known stays"
    gateways.update("hall", "INSERT DATA { <urn:h> <urn:p> 8 }")
    told.compare()
