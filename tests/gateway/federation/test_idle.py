"""Members of which nothing happens say little, and at once where something has."""

from random import Random

from gateway.federation.member import MemberSettings
from tests.gateway.federation.seeded_net import Gateways


def test_what_is_as_it_was_is_said_at_each_fifth_tick_and_a_new_place_at_once() -> None:
    gateways = Gateways(("attic", "hall"), Random(1), lambda _: MemberSettings())
    gateways.settle()

    def said() -> int:
        """Bytes from the attic to the hall in a tick."""
        before = sent()
        gateways.tick()
        gateways.net.run()
        return sent() - before

    def sent() -> int:
        (status,) = gateways.members["attic"].status()
        return status.traffic.sent

    for _ in range(5):
        said()
    idle = [said() for _ in range(10)]
    assert idle[:5] == idle[5:]
    assert 1 <= len([each for each in idle[:5] if each]) <= 2, "a beat, and an acknowledgement"
    while said():
        pass
    gateways.update("attic", "INSERT DATA { <urn:s> <urn:p> 1 }")
    assert said()
    for engine in gateways.engines.values():
        engine.close()
