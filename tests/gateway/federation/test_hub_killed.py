"""Four gateways of which one passes on what all say, killed (kill -9) and started again.

While it is away each of the others hears nobody, and says so; then they find each other again.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from gateway.federation.membership.folder import MembershipFolder
from tests.gateway.federation.membership.members import Pi as MemberPi
from tests.gateway.federation.two_pis import Client, Pi, Writer, check, until
from tests.kit.gateways import LOOPBACK, free_port

pytest.importorskip("zenoh", reason="the extra federation is not installed")

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]

HUB, *OTHERS = NAMES = ("attic", "cellar", "hall", "yard")
BACK_S = 30.0
"""Who dials again does so every 4 s at the end; the rest is for a slow machine."""


@pytest.fixture(scope="module")
def stack() -> Iterator[ExitStack]:
    with ExitStack() as found:
        yield found


@pytest.fixture(scope="module")
def pis(tmp_path_factory: pytest.TempPathFactory, stack: ExitStack) -> dict[str, Pi]:
    """All are members, and all but the hub run; who joined before others has not heard of them."""
    folder, join_port = tmp_path_factory.mktemp("pis"), free_port()
    found = {name: Pi(name, folder / name) for name in NAMES}
    via = f"{LOOPBACK}:{found[HUB].listen}"
    for name, pi in found.items():
        pi.write(via, pi.listen, join_port, "hub = true\n" if name == HUB else "")
    hub, *others = map(member, found.values())
    hub.create(via, hub=True)
    for each in others:
        each.join(hub)
    for name in OTHERS:
        stack.enter_context(found[name].running())
    return found


def member(pi: Pi) -> MemberPi:
    """The same, where its gateway has its membership."""
    made = MemberPi(pi.folder, pi.name)
    made.folder = MembershipFolder(pi.folder / "data/federation")
    return made


@pytest.mark.parametrize("away_s", [0, 11])
def test_members_find_each_other_again_behind_a_hub_that_was_killed(
    pis: dict[str, Pi], away_s: float
) -> None:
    """At once, and after the lease of ten seconds."""
    source, home, _ = others = [pis[name] for name in OTHERS]
    source.update("DELETE WHERE { ?s <urn:n> ?n }")
    with ExitStack() as opened:
        at_hub = opened.enter_context(pis[HUB].running())
        until_all_are_heard(pis)
        client = opened.enter_context(Client(home))
        with Writer(source) as writer:
            until(lambda: client.has(10))
            at_hub.kill()
            until(lambda: all(map(hears_nobody, others)), BACK_S)
            before = len(client.events)
            time.sleep(away_s)
            assert len(client.events) == before, "it came by another way"
            opened.enter_context(pis[HUB].running())
            stated = len(writer.stated)
            until_all_are_heard(pis)
            until(lambda: client.has(stated + 10), BACK_S)
        check(writer, client)


def hears_nobody(pi: Pi) -> bool:
    return {each["state"] for each in pi.members()} == {"away"}


def until_all_are_heard(pis: Mapping[str, Pi]) -> None:
    until(lambda: all(pi.hears_all() for pi in pis.values()), BACK_S)
