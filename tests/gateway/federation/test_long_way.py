"""A way that takes longer than members are patient at first: a stream begins all the same."""

from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest

from gateway.engine import SubscribeRequest
from gateway.federation.limits import LONGEST_PATIENCE, PATIENCE, OutgoingLimits
from gateway.federation.loopback import Misfortunes
from gateway.federation.member import MemberSettings
from tests.gateway.federation.seeded_net import Gateways

QUERY = "SELECT ?s ?o { ?s <urn:p> ?o }"
QUADS = 30
_ROUNDS = 30


@pytest.fixture
def gateways() -> Iterator[Gateways]:
    limits = OutgoingLimits(part_quads=10, batches=1)
    made = Gateways(("attic", "hall"), Random(2), lambda _: MemberSettings(outgoing=limits))
    made.settle()
    yield made
    for engine in made.engines.values():
        engine.close()


def lose_a_stream(gateways: Gateways) -> None:
    """What the attic states meanwhile is lost, and the link is well again."""
    gateways.net.cut("attic", "hall")
    for number in range(QUADS):
        gateways.update("attic", f"INSERT DATA {{ <urn:s{number}> <urn:p> {number} }}")
    gateways.net.mend("attic", "hall")


def rounds_until_known(gateways: Gateways, ticks: int) -> int:
    """How many ways of so many ticks it takes until the hall has all. Fails where it never has."""
    hall = gateways.members["hall"].known["attic"]
    for number in range(_ROUNDS):
        for _ in range(ticks):
            gateways.tick()
        gateways.net.round()
        if len(hall.quads) == QUADS:
            return number + 1
    pytest.fail(f"after {_ROUNDS} ways of {ticks} ticks the hall has {len(hall.quads)} quads")


@pytest.mark.parametrize("ticks", [1, 2, 3, 8, 20])
def test_a_stream_that_was_lost_begins_again_however_long_the_way_is(
    gateways: Gateways, ticks: int
) -> None:
    """Each hello makes what answers the one before none: asked each second, none ever is."""
    gateways.subscribe("hall", SubscribeRequest(QUERY), None, 1000)
    (told,) = gateways.subscribers["hall"]
    lose_a_stream(gateways)
    rounds_until_known(gateways, ticks)
    gateways.settle()
    told.compare()
    assert told.vector["attic"] == gateways.now("attic")


def test_a_subscription_over_a_long_way_is_served_without_a_stream_for_each(
    gateways: Gateways,
) -> None:
    """How long an answer takes is known from the one before."""
    gateways.subscribe("hall", SubscribeRequest(QUERY), None, 1000)
    lose_a_stream(gateways)
    rounds_until_known(gateways, 8)
    told = gateways.members["hall"].ask(SubscribeRequest("SELECT ?s { ?s <urn:q> ?o }"))
    life = gateways.members["attic"].streams["hall"].stream.life
    for _ in range(3):
        for _ in range(8):
            gateways.tick()
        gateways.net.round()
    assert gateways.members["attic"].streams["hall"].stream.life == life
    assert not gateways.members["hall"].missing(told)


def test_who_says_nothing_is_asked_ever_less_often_and_at_once_when_it_comes(
    gateways: Gateways,
) -> None:
    gateways.subscribe("hall", SubscribeRequest(QUERY), None, 1000)
    hall = gateways.members["hall"]
    lose_a_stream(gateways)
    gateways.net.run()
    gateways.net.misfortunes = Misfortunes(drop=1.0)
    replica = hall.known["attic"]
    replica.hello()
    said = []
    for tick in range(4 * LONGEST_PATIENCE):
        before = hall.status()[0].traffic.sent
        replica.tick()
        if hall.status()[0].traffic.sent > before:
            said.append(tick)
    waits = [later - earlier for earlier, later in pairwise(said)]
    assert waits[0] == 2 * PATIENCE
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_PATIENCE
    hall.presence("attic", False)
    before = hall.status()[0].traffic.sent
    hall.presence("attic", True)
    assert hall.status()[0].traffic.sent > before
