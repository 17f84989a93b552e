"""Members of which nothing happens say little, and at once where something has."""

from random import Random

from gateway.federation.member import MemberSettings
from tests.gateway.federation.seeded_net import Gateways


def test_an_equal_beat_is_said_at_each_fifth_tick_and_a_new_place_at_once() -> None:
    gateways = Gateways(("attic", "hall"), Random(1), lambda _: MemberSettings())
    gateways.settle()

    def said() -> int:
        """Bytes from the attic to the hall in a tick: an acknowledgement, and perhaps a beat."""
        before = sent()
        gateways.tick()
        gateways.net.run()
        return sent() - before

    def sent() -> int:
        (status,) = gateways.members["attic"].status()
        return status.traffic.sent

    idle = [said() for _ in range(10)]
    assert [each > min(idle) for each in idle].count(True) == 2
    assert len(set(idle)) == 2
    while said() == min(idle):
        pass
    gateways.update("attic", "INSERT DATA { <urn:s> <urn:p> 1 }")
    assert said() > min(idle)
    for engine in gateways.engines.values():
        engine.close()
