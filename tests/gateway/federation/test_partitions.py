"""Two gateways with certificates and a bad way between them: what was stated comes, once, in order.

The way is bad for less and for more than Zenoh's lease of ten seconds, in which neither end knows.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from random import Random

import pytest

from tests.gateway.federation.two_pis import HOME, PER_S, SOURCE, Client, TwoPis, Writer, check

pytest.importorskip("zenoh", reason="the extra federation is not installed")

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]

MINUTES = 20
_LONGEST_S = 14.0


@pytest.fixture(scope="module")
def pis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoPis]:
    with ExitStack() as stack:
        yield TwoPis(tmp_path_factory.mktemp("pis"), stack)


def suffer(pis: TwoPis, what: str, seconds: float) -> None:
    """One misfortune, for so long."""
    match what:
        case "the source is stopped":
            with pis.stopped(pis.at_source):
                time.sleep(seconds)
        case "the home is stopped":
            with pis.stopped(pis.at_home):
                time.sleep(seconds)
        case _:
            WAYS[what](pis)
            time.sleep(seconds)
            pis.mend()


WAYS: Mapping[str, Callable[[TwoPis], None]] = {
    "the way is stalled": TwoPis.stall,
    "the way is cut": TwoPis.cut,
    "all comes to the home alone": lambda pis: pis.only_to(HOME),
    "all comes to the source alone": lambda pis: pis.only_to(SOURCE),
    "the way is slow": lambda pis: pis.throttle(8_000),
}
NOTHING_COMES = {"the way is stalled", "the way is cut", "all comes to the source alone"}
MISFORTUNES = (*WAYS, "the source is stopped", "the home is stopped")


@pytest.mark.parametrize(
    ("what", "seconds"),
    [
        ("the way is stalled", 3),
        ("the way is stalled", 12.5),
        ("the way is cut", 2),
        ("all comes to the home alone", 11),
        ("all comes to the source alone", 3),
        ("the way is slow", 4),
        ("the source is stopped", 3),
        ("the home is stopped", 12.5),
    ],
)
def test_what_is_stated_meanwhile_comes_once_and_in_order(
    pis: TwoPis, what: str, seconds: float
) -> None:
    pis.source.update("DELETE WHERE { ?s <urn:n> ?n }")
    with Client(pis.home) as client:
        with Writer(pis.source) as writer:
            time.sleep(0.5)
            before = len(client.events)
            suffer(pis, what, seconds)
            if what in NOTHING_COMES:
                assert len(client.events) <= before + PER_S, "it came by another way"
            time.sleep(0.5)
        check(writer, client)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(MINUTES))
def test_a_random_minute(pis: TwoPis, seed: int) -> None:
    random = Random(seed)
    pis.source.update("DELETE WHERE { ?s <urn:n> ?n }")
    ends = time.monotonic() + 60
    told = []
    with Client(pis.home) as client:
        with Writer(pis.source) as writer:
            while time.monotonic() < ends:
                what, seconds = random.choice(MISFORTUNES), random.random() ** 2 * _LONGEST_S
                told.append(f"{what} for {seconds:.1f} s")
                suffer(pis, what, seconds)
                time.sleep(random.random() * 4)
        try:
            check(writer, client)
        except AssertionError as error:
            raise AssertionError(f"{'; '.join(told)}: {error}; {pis.state()}") from error
