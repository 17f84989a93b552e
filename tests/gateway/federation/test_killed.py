"""kill -9 of one of two gateways with certificates, where it hurts: nothing is lost, nothing twice.

The source dies between log, store, sending and answer, the home around its acknowledgement. Who
asked the source asks it again; a client of the home subscribes again behind the last event it had.
"""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.gateway.federation.two_pis import Client, TwoPis, Writer, check, until

pytest.importorskip("zenoh", reason="the extra federation is not installed")

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]

TIMES = 40
"""So many events, or acknowledgements, are before the kill."""


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as found:
        yield found


@pytest.fixture(scope="module")
def pis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoPis]:
    with ExitStack() as opened:
        yield TwoPis(tmp_path_factory.mktemp("pis"), opened, store="disk")


@pytest.mark.parametrize("place", ["logged", "committed", "sent"])
def test_a_source_that_is_killed_tells_each_event_once(
    pis: TwoPis, stack: ExitStack, place: str
) -> None:
    pis.source.update("DELETE WHERE { ?s <urn:n> ?n }")
    pis.at_source.kill()
    dying = stack.enter_context(pis.source.running((place, TIMES)))
    until(pis.home.hears_all)
    client = stack.enter_context(Client(pis.home))
    with Writer(pis.source) as writer:
        assert dying.wait() == -9
        pis.at_source = pis.stack.enter_context(pis.source.running())
        until(lambda: client.has(2 * TIMES))
    check(writer, client)


@pytest.mark.parametrize("place", ["taken", "acknowledged"])
def test_a_home_that_is_killed_is_told_again_what_its_client_has_not(
    pis: TwoPis, stack: ExitStack, place: str
) -> None:
    pis.source.update("DELETE WHERE { ?s <urn:n> ?n }")
    pis.at_home.kill()
    dying = stack.enter_context(pis.home.running((place, TIMES)))
    until(pis.home.hears_all)
    with Writer(pis.source) as writer:
        with Client(pis.home, ends=True) as before:
            assert dying.wait() == -9
        pis.at_home = pis.stack.enter_context(pis.home.running())
        wanted = len(before.events) + TIMES
        client = stack.enter_context(Client(pis.home, before=before))
        until(lambda: client.has(wanted))
    check(writer, client)
