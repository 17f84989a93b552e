"""Zenoh with certificates and rights: who may say what, and what comes of those who may not."""

import queue
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.federation.carrier import Channel, Received
from gateway.federation.membership.access import access
from gateway.federation.membership.certificates import issue, make_request
from gateway.federation.membership.roster import Roster
from gateway.federation.zenoh_carrier import Endpoints, TlsFiles, ZenohCarrier
from gateway.security.certificates import Issued
from tests.gateway.federation.membership.members import NOW, Pi, federation
from tests.kit.gateways import LOOPBACK, WAIT_S, free_port

pytest.importorskip("zenoh", reason="the extra federation is not installed")

NAMES = ("attic", "cellar", "hall")


class End:
    """A member's end that keeps what it hears, and tells who is there."""

    def __init__(
        self, pi: Pi, at: dict[str, str], dialled: list[str], known: Roster | None = None
    ) -> None:
        self.name = pi.name
        self.heard: queue.SimpleQueue[Received] = queue.SimpleQueue()
        self.presence: queue.SimpleQueue[tuple[str, bool]] = queue.SimpleQueue()
        roster = known or pi.roster
        folder = pi.folder
        files = TlsFiles(str(folder.authority), str(folder.certificate), str(folder.key))
        rights = access(roster, pi.name) if pi.name in roster.members else None
        listen = (at[pi.name],) if roster.is_dialled(pi.name) else ()
        dial, is_routed = tuple(at[each] for each in dialled), bool(roster.hubs)
        endpoints = Endpoints(listen, dial, files, rights, is_routed=is_routed)
        self.carrier = ZenohCarrier(pi.name, [each for each in at if each != pi.name], endpoints)

    def listen(self) -> None:
        self.carrier.listen(self.heard.put, lambda name, is_up: self.presence.put((name, is_up)))

    @property
    def session(self) -> Any:
        return self.carrier._session

    def wait_up(self, *names: str) -> None:
        missing = set(names)
        while missing:
            name, is_up = self.presence.get(timeout=WAIT_S)
            assert is_up
            missing.discard(name)

    def next(self) -> tuple[str, bytes]:
        told = self.heard.get(timeout=WAIT_S)
        return told.sender, told.payload


@contextmanager
def ends(pis: list[Pi], dialled: dict[str, list[str]] | None = None) -> Iterator[dict[str, End]]:
    at = {pi.name: f"{LOOPBACK}:{free_port()}" for pi in pis}
    opened: dict[str, End] = {}
    with ExitStack() as stack:
        for pi in pis:
            others = [each for each in at if each != pi.name]
            end = End(pi, at, others if dialled is None else dialled[pi.name])
            stack.callback(end.carrier.close)
            end.listen()
            opened[pi.name] = end
        yield opened


def test_members_are_heard_and_nobody_in_anothers_name(tmp_path: Path) -> None:
    with ends(federation(tmp_path, *NAMES)) as opened:
        attic, cellar, hall = (opened[name] for name in NAMES)
        hall.wait_up("attic", "cellar")
        attic.wait_up("cellar", "hall")
        cellar.wait_up("attic", "hall")
        for channel in Channel:
            attic.carrier.send("hall", channel, b"true")
            assert hall.next() == ("attic", b"true")
        for channel in Channel:
            for _ in range(3):
                cellar.session.put(f"sosa/1/attic/hall/{channel.value}", b"forged")
        overheard: queue.SimpleQueue[Any] = queue.SimpleQueue()
        listening = [
            cellar.session.declare_subscriber(key, overheard.put)
            for key in ("sosa/1/*/hall/*", "sosa/1/attic/**", "sosa/1/attic/hall/data")
        ]
        kept = list(cellar.session.get("sosa/1/attic/hall/*/@adv/**", timeout=1.0))
        attic.carrier.send("hall", Channel.DATA, b"secret")
        assert hall.next() == ("attic", b"secret")
        cellar.carrier.send("hall", Channel.DATA, b"own")
        assert hall.next() == ("cellar", b"own")
        assert hall.heard.empty()
        assert overheard.get(timeout=WAIT_S).payload.to_bytes() == b"own"  # its own, within itself
        assert overheard.empty()
        assert not [each for each in kept if each.ok is not None]
        for each in listening:
            each.undeclare()


def test_who_was_removed_is_heard_no_more(tmp_path: Path) -> None:
    """The certificate is good still; the rights are gone."""
    pis = federation(tmp_path, *NAMES)
    attic, cellar, hall = pis
    attic.acts().remove("hall")
    cellar.hear(attic)
    with ends([attic, cellar, hall]) as opened:
        opened["cellar"].wait_up("attic")
        for name in ("attic", "cellar"):
            for _ in range(5):
                opened["hall"].carrier.send(name, Channel.DATA, b"still here")
                opened["hall"].session.put(f"sosa/1/attic/{name}/data", b"forged")
        opened["attic"].carrier.send("cellar", Channel.DATA, b"true")
        assert opened["cellar"].next() == ("attic", b"true")
        opened["attic"].carrier.send("hall", Channel.DATA, b"not for you")
        opened["cellar"].carrier.send("attic", Channel.DATA, b"back")
        assert opened["attic"].next() == ("cellar", b"back")
        assert all(end.heard.empty() for end in opened.values())
        assert opened["hall"].presence.empty()


def test_a_member_makes_no_members(tmp_path: Path) -> None:
    """By a chain over its own certificate, in the name of another."""
    attic, cellar = federation(tmp_path, "attic", "cellar")
    own, request = cellar.membership, make_request("attic")
    forged = issue(request.csr, "attic", Issued(own.certificate, own.key), NOW)
    rogue = Pi(tmp_path / "rogue", "attic")
    shutil.copytree(attic.folder.path, rogue.folder.path)
    rogue.folder.certificate.write_bytes(forged + own.certificate)
    rogue.folder.key.write_bytes(request.key)
    at = {name: f"{LOOPBACK}:{free_port()}" for name in ("attic", "cellar")}
    honest, evil = End(cellar, at, ["attic"]), End(rogue, at, ["cellar"], attic.roster)
    with ExitStack() as stack:
        stack.callback(honest.carrier.close)
        honest.listen()
        evil.listen()
        evil.carrier.send("cellar", Channel.DATA, b"forged")
        evil.carrier.close()
        true = End(attic, at, ["cellar"])
        stack.callback(true.carrier.close)
        true.listen()
        honest.wait_up("attic")
        true.wait_up("cellar")
        true.carrier.send("cellar", Channel.DATA, b"true")
        assert honest.next() == ("attic", b"true")
        assert evil.presence.empty()


def test_a_hub_brings_what_two_say_who_do_not_reach_each_other(tmp_path: Path) -> None:
    attic, cellar, hall = (Pi(tmp_path, name) for name in NAMES)
    attic.create(hub=True)
    for each in (cellar, hall):
        each.join(attic)
    cellar.hear(attic)
    dialled = {"attic": [], "cellar": ["attic"], "hall": ["attic"]}
    with ends([attic, cellar, hall], dialled) as opened:
        opened["hall"].wait_up("attic", "cellar")
        opened["cellar"].wait_up("attic", "hall")
        opened["cellar"].carrier.send("hall", Channel.DATA, b"by the hub")
        assert opened["hall"].next() == ("cellar", b"by the hub")
        for _ in range(3):
            opened["cellar"].session.put("sosa/1/attic/hall/data", b"forged")
        opened["cellar"].carrier.send("hall", Channel.DATA, b"more")
        assert opened["hall"].next() == ("cellar", b"more")
        opened["hall"].carrier.send("attic", Channel.NEEDS, b"to the hub")
        assert opened["attic"].next() == ("hall", b"to the hub")
        assert opened["hall"].heard.empty()


def test_who_opens_again_at_once_behind_a_hub_hears_it(tmp_path: Path) -> None:
    """As members do who were told of another one: of routers some stayed unheard for ever."""
    pis = attic, *others = [Pi(tmp_path, name) for name in NAMES]
    attic.create(hub=True)
    for each in others:
        each.join(attic)
    others[0].hear(attic)
    at = {pi.name: f"{LOOPBACK}:{free_port()}" for pi in pis}
    with ExitStack() as stack:

        def opened(pi: Pi) -> End:
            end = End(pi, at, [] if pi is attic else ["attic"])
            stack.callback(end.carrier.close)
            end.listen()
            return end

        hub = opened(attic)
        for _ in range(3):
            before = [opened(each) for each in others]
            for end in before:
                end.wait_up("attic")
            for end in before:
                end.carrier.close()
            cellar, hall = map(opened, others)
            cellar.wait_up("attic", "hall")
            hall.wait_up("attic", "cellar")
            hall.carrier.send("attic", Channel.NEEDS, b"to the hub")
            assert hub.next() == ("hall", b"to the hub")
            hub.carrier.send("hall", Channel.DATA, b"by the hub")
            assert hall.next() == ("attic", b"by the hub")
            for end in (cellar, hall):
                end.carrier.close()


def test_a_hub_that_is_away_is_said(tmp_path: Path) -> None:
    attic, hall = Pi(tmp_path, "attic"), Pi(tmp_path, "hall")
    attic.create(hub=True)
    hall.join(attic)
    at = {name: f"{LOOPBACK}:{free_port()}" for name in ("attic", "hall")}
    end = End(hall, at, ["attic"])
    with pytest.raises(ConfigurationError, match=f"hub does not answer at {at['attic']}"):
        end.listen()
    end.carrier.close()
