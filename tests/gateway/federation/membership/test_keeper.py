"""What members say about members: taken where the CA has signed it, and from nobody without end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from random import Random

from gateway.federation.carrier import Channel, Received
from gateway.federation.loopback import LoopbackNet
from gateway.federation.membership.certificates import issue, make_authority, request_again
from gateway.federation.membership.keeper import Keeper, Own
from gateway.federation.membership.letters import packed
from gateway.federation.membership.links import MemberLinks
from gateway.federation.membership.roster import Entry, signed
from tests.gateway.federation.membership.members import NOW, Pi, federation
from tests.kit.gateways import WAIT_S


class Kept:
    """A keeper of a member's folder; `wrong` is who sent nonsense, and what."""

    def __init__(self, pi: Pi) -> None:
        self.pi = pi
        self.wrong: list[tuple[str, str]] = []
        self.others: list[frozenset[str]] = []
        net = LoopbackNet(Random(1))
        self.links = MemberLinks(lambda _: net.carrier(pi.name))
        self.keeper = Keeper(
            pi.folder,
            Own(pi.name, Entry(("127.0.0.1:7447",))),
            self.links,
            lambda: NOW,
            changed=self.others.append,
            wrong=lambda name, reason: self.wrong.append((name, reason)),
            is_ignored=lambda name: name == "ignored",
        )

    def say(self, kind: str, content: bytes, sender: str = "attic") -> None:
        self.hear(packed(kind, content), sender)

    def hear(self, payload: bytes, sender: str) -> None:
        """Of one that is up."""
        self.links.up.add(sender)
        self.links.about_members(Received(sender, Channel.MEMBERS, payload))

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not is_so():
                await asyncio.sleep(0.01)


@asynccontextmanager
async def keeping(pi: Pi) -> AsyncIterator[Kept]:
    made = Kept(pi)
    await made.keeper.begin()
    task = asyncio.create_task(made.keeper.run())
    try:
        yield made
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_a_newer_list_is_kept_whoever_tells_it_and_an_older_one_is_not(
    tmp_path: Path,
) -> None:
    attic, cellar, _ = federation(tmp_path, "attic", "cellar", "hall")
    old = cellar.membership.signed
    attic.acts().remove("hall")
    async with keeping(cellar) as made:
        assert made.others == [{"attic", "hall"}]
        made.say("roster", attic.membership.signed.text, "hall")
        await made.until(lambda: made.others[-1] == {"attic"})
        made.say("roster", old.text, "hall")
        made.say("nonsense", b"")  # of a later version
        made.say("roster", b"nonsense", "ignored")
        made.say("roster", b"nonsense")
        await made.until(lambda: bool(made.wrong))
        assert cellar.roster == attic.roster
        assert [name for name, _ in made.wrong] == ["attic"]
    assert cellar.membership.signed == attic.membership.signed


async def test_who_is_left_out_hears_nobody_and_says_so(tmp_path: Path) -> None:
    attic, cellar = federation(tmp_path, "attic", "cellar")
    attic.acts().remove("cellar")
    async with keeping(cellar) as made:
        made.say("roster", attic.membership.signed.text)
        await made.until(lambda: made.keeper.membership is None)
        (told,) = made.keeper.conditions()
        assert "was removed from the federation home" in told.what
        assert made.others[-1] == frozenset()


async def test_what_no_member_says_is_told_of_its_sender(tmp_path: Path) -> None:
    attic, cellar = federation(tmp_path, "attic", "cellar")
    other = make_authority("home")
    csr = request_again("cellar", cellar.membership.key)
    before = cellar.membership
    async with keeping(cellar) as made:
        made.say("roster", signed(attic.roster, other).text, "a")
        made.say("certificate", issue(csr, "cellar", other, NOW), "b")
        made.say("certificate", b"nonsense", "c")
        made.links.about_members(Received("gone", Channel.MEMBERS, b"under another key"))
        made.hear(b"\xff" * 50, "d")
        made.say("roster", b"x" * 3_000_000, "e")
        await made.until(lambda: len(made.wrong) == 5)
        assert sorted(name for name, _ in made.wrong) == ["a", "b", "c", "d", "e"]
        made.say("renew", csr, "attic")  # asked of one who has no CA
        made.say("certificate", attic.acts(timedelta(days=9)).renew("cellar", csr))
        await made.until(lambda: cellar.membership.certificate != before.certificate)
        assert len(made.wrong) == 5
    assert cellar.membership.signed == before.signed


async def test_who_tells_without_end_is_told_of_and_nobody_waits(tmp_path: Path) -> None:
    attic, cellar = federation(tmp_path, "attic", "cellar")
    async with keeping(cellar) as made:
        text = attic.membership.signed.text
        async with asyncio.timeout(WAIT_S):
            while not made.wrong:
                for _ in range(100):
                    made.say("roster", text, "evil")
                await asyncio.sleep(0)
        assert made.wrong[0] == ("evil", "it tells of members without end")
        attic.acts().remove("cellar")
        made.say("roster", attic.membership.signed.text)
        await made.until(lambda: made.keeper.membership is None)


async def test_a_ca_that_is_gone_is_said_and_its_gateway_stays_a_member(tmp_path: Path) -> None:
    attic, _ = federation(tmp_path, "attic", "cellar")
    attic.folder.saved_authority.unlink()
    async with keeping(attic) as made:
        (told,) = made.keeper.conditions()
        assert "authority.pem is gone" in told.what
        assert made.others[-1] == {"cellar"}
