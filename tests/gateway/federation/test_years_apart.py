"""Gateways whose clocks are decades apart, and one that keeps too few events: nothing is compared.

Positions of two gateways, and their clocks, say nothing about each other.
"""

from collections.abc import Iterator
from random import Random

import pytest

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.compound.event import CompoundEvent
from gateway.engine.spu import EVENT
from gateway.federation.member import MemberSettings
from gateway.journal.event_position import EventPosition
from tests.gateway.federation.seeded_net import Gateways

NAMES = ("attic", "cellar", "hall")
EPOCHS = {"attic": 30, "cellar": 1_795_825_006, "hall": 4_102_444_800}
QUERY = "SELECT ?s ?o { ?s <urn:p> ?o }"


class Overrun:
    """Knows no event before a position, and none behind it either."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def between(self, _after: EventPosition, _until: EventPosition) -> Iterator[CompoundEvent]:
        return iter(())

    def first_missing(self, after: EventPosition) -> EventPosition | None:
        last = self._engine.events.places.last
        return last if last > after else None


@pytest.fixture
def gateways() -> Iterator[Gateways]:
    def settings(name: str) -> MemberSettings:
        return MemberSettings(history=lambda: Overrun(made.engines[name]))

    made = Gateways(NAMES, Random(4), settings)
    for name, epoch in EPOCHS.items():
        made.rounds[name] = epoch - 1
        made.restart(name)
    made.settle()
    yield made
    for engine in made.engines.values():
        engine.close()


def test_clocks_that_are_decades_apart_change_no_answer(gateways: Gateways) -> None:
    told: dict[str, list[Notification]] = {}
    for name in NAMES:
        gateways.subscribe(name, SubscribeRequest(QUERY), None, 1000)
        request = SubscribeRequest(QUERY, mode=EVENT)
        gateways.members[name].ask_events(request, told.setdefault(name, []).append)
    gateways.settle()
    for number, name in enumerate((*NAMES, *reversed(NAMES))):
        gateways.update(name, f"INSERT DATA {{ <urn:s{number}> <urn:p> {number} }}")
        gateways.settle()
    gateways.update("attic", "DELETE DATA { <urn:s0> <urn:p> 0 }")
    gateways.settle()
    for name in NAMES:
        (subscriber,) = gateways.subscribers[name]
        assert subscriber.vector == {each: gateways.now(each) for each in NAMES}
        subscriber.compare()
        events = [event for each in told[name] for event in each.events or ()]
        assert [each.gateway for each in events] == [*NAMES, *reversed(NAMES)]
        assert not gateways.members[name].links_closed


def test_events_that_are_kept_no_more_are_told_as_a_gap_and_those_behind_it_come(
    gateways: Gateways,
) -> None:
    told: list[Notification] = []
    request = SubscribeRequest(QUERY, mode=EVENT)
    hall = gateways.members["hall"]
    asked = hall.ask_events(request, told.append, frozenset({"attic"}))
    gateways.settle()
    assert not hall.missing_events(asked)
    begun = gateways.now("attic")
    gateways.net.cut("attic", "hall")
    for number in range(3):
        gateways.update("attic", f"INSERT DATA {{ <urn:s{number}> <urn:p> {number} }}")
    lost_until = gateways.now("attic")
    gateways.settle()
    gateways.update("attic", "INSERT DATA { <urn:s9> <urn:p> 9 }")
    gateways.settle()
    gap, new = told
    assert gap.federation is not None
    assert gap.federation.gap == {"attic": (begun, lost_until)}
    assert [each.position for each in new.events or ()] == [gateways.now("attic")]
    (status,) = (each for each in hall.status() if each.name == "attic")
    assert status.counted.gaps == 1
