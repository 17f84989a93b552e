"""A gateway whose disk was lost: its quads leave as one step; a clock that is behind is said."""

from collections.abc import Iterator
from random import Random

import pytest

from gateway.engine import Engine, SubscribeRequest
from gateway.federation.member import MemberSettings
from tests.gateway.federation.seeded_net import Gateways, Subscriber

QUERY = "SELECT ?s ?o { ?s <urn:p> ?o }"


@pytest.fixture
def gateways() -> Iterator[Gateways]:
    made = Gateways(("attic", "hall"), Random(3), lambda _: MemberSettings())
    made.rounds["attic"] = 4
    made.restart("attic")
    made.settle()
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
