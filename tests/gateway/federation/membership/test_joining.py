"""Joining over loopback: by a code, with the right gateway, and nobody else."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from gateway.errors import ConflictError, GatewayError, UnreachableError
from gateway.federation.membership.door import Door
from gateway.federation.membership.invitations import Code, new_code, read_code
from gateway.federation.membership.joining import join
from gateway.federation.membership.letters import MOST_ASKED
from gateway.federation.membership.places import Place, own_places
from gateway.federation.membership.roster import Roster
from tests.gateway.federation.membership.members import NOW, Pi
from tests.kit.gateways import LOOPBACK, WAIT_S, free_port


class Scene:
    """A gateway with the CA, its door, and somebody who comes."""

    def __init__(self, place: Path) -> None:
        self.attic, self.hall = Pi(place, "attic"), Pi(place, "hall")
        self.attic.create()
        self.at = Place(LOOPBACK, free_port())
        self.door = Door(self.attic.folder, "attic", *self.at, now=lambda: NOW)

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not is_so():
                await asyncio.sleep(0.02)

    async def invite(self, member: str = "") -> Code:
        code = self.attic.acts().invite(member)
        await self.until(lambda: self.door.is_open)
        return code

    async def join(self, code: Code, who: Pi | None = None) -> Roster:
        pi = who or self.hall
        return await asyncio.to_thread(self._join, pi, code)

    def _join(self, pi: Pi, code: Code) -> Roster:
        listen = Place(LOOPBACK, 7447)
        return join(pi.folder, pi.name, code, self.at, listen=listen, now=NOW)


@asynccontextmanager
async def scene(place: Path) -> AsyncIterator[Scene]:
    made = Scene(place)
    task = asyncio.create_task(made.door.run())
    try:
        yield made
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_a_newcomer_is_let_in_and_then_nobody_listens(tmp_path: Path) -> None:
    async with scene(tmp_path) as made:
        assert not made.door.is_open
        code = await made.invite()
        roster = await made.join(read_code(str(code)))
        assert roster.members["hall"].at == (f"{LOOPBACK}:7447",)
        assert made.hall.roster == made.attic.roster == roster
        await made.until(lambda: not made.door.is_open)
        with pytest.raises(UnreachableError, match="does not let anybody in"):
            await made.join(code, Pi(tmp_path, "yard"))
        with pytest.raises(ConflictError, match="already"):
            await made.join(code)


async def test_a_host_that_is_not_the_one_of_the_code_is_told_nothing(tmp_path: Path) -> None:
    """As where somebody answers in its place: the secret stays with the newcomer."""
    async with scene(tmp_path) as made:
        code = await made.invite()
        other = Pi(tmp_path / "other", "attic")
        other.create()
        theirs = other.acts().invite()
        with pytest.raises(ConflictError, match="not the gateway that made the code"):
            await made.join(theirs)
        assert not made.hall.folder.is_member
        await made.join(code)


async def test_a_wrong_code_gives_nothing_and_is_counted(tmp_path: Path) -> None:
    async with scene(tmp_path) as made:
        code = await made.invite()
        wrong = Code("A" * 10, code.fingerprint)
        said = set()
        for _ in range(12):
            with pytest.raises(ConflictError) as caught:
                await made.join(wrong)
            said.add(caught.value.description)
        assert {"the code is wrong, was used, or its day is over", "too many failed logins"} == said
        assert not made.hall.folder.is_member


async def test_what_the_ca_says_reaches_the_newcomer(tmp_path: Path) -> None:
    async with scene(tmp_path) as made:
        code = await made.invite()
        with pytest.raises(ConflictError, match="a member already") as caught:
            await made.join(code, Pi(tmp_path / "new", "attic"))
        assert "gateway" in caught.value.hint


async def test_noise_and_silence_at_the_door_cost_nobody_else(tmp_path: Path) -> None:
    async with scene(tmp_path) as made:
        code = await made.invite()
        silent = [await asyncio.open_connection(*made.at) for _ in range(3)]
        for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + b"\xff" * 500):
            _, writer = await asyncio.open_connection(*made.at)
            writer.write(noise)
            writer.close()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        for line in (
            b"nonsense\n",
            b"[]\n",
            b'{"join": 2}\n',
            b"[" * 9000 + b"\n",
            b"x" * MOST_ASKED * 2,
        ):
            reader, writer = await asyncio.open_connection(*made.at, ssl=context)
            writer.write(line)
            with suppress(ConnectionError):
                assert b'"error"' in await asyncio.wait_for(reader.read(), WAIT_S)
            writer.close()
        await made.join(code)
        for _, writer in silent:
            writer.close()


async def test_a_port_in_use_is_an_alarm(tmp_path: Path) -> None:
    async with scene(tmp_path) as made:
        with socket.create_server(made.at):
            made.attic.acts().invite()
            await made.until(lambda: bool(list(made.door.conditions())))
            (told,) = made.door.conditions()
            assert "nobody can join" in told.what
            assert not made.door.is_open
        await made.until(lambda: made.door.is_open)
        assert not list(made.door.conditions())


async def test_an_answer_that_is_none_is_refused(tmp_path: Path) -> None:
    """By somebody who has the CA's key, and gives what is not asked for."""
    pi = Pi(tmp_path, "attic")
    pi.create()
    code = pi.acts().invite()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pi.folder.saved_authority)
    answers = iter([b"", b"{}\n", b"nonsense", b'{"certificate": "x", "roster": "{}"}\n'])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(next(answers))
        writer.close()

    server = await asyncio.start_server(serve, LOOPBACK, 0, ssl=context)
    at = Place(LOOPBACK, server.sockets[0].getsockname()[1])
    hall = Pi(tmp_path, "hall")
    async with server:
        for _ in range(4):
            with pytest.raises(GatewayError):
                await asyncio.to_thread(
                    partial(join, hall.folder, "hall", code, at, listen=at, now=NOW)
                )
    assert not hall.folder.is_member


def test_places_are_names_first() -> None:
    listen = Place("0.0.0.0", 7447)
    name = socket.gethostname().partition(".")[0]
    assert own_places(listen, "192.0.2.7") == (f"{name}.local:7447", "192.0.2.7:7447")
    assert own_places(listen, "fe80::1") == (f"{name}.local:7447",)
    assert own_places(listen, "2001:db8::1")[1] == "[2001:db8::1]:7447"
    assert own_places(Place("attic.local", 1), "192.0.2.7") == ("attic.local:1",)


def test_codes_differ_and_are_read_as_they_are_written() -> None:
    codes = {str(new_code(bytes(32))) for _ in range(100)}
    assert len(codes) == 100
    assert all(str(read_code(each)) == each for each in codes)
