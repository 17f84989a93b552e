"""The gate to an external broker against a broker that does what a good one never would."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from gateway.gates.mqtt.external.broker import _TURN_PACKETS, ExternalBroker
from gateway.gates.mqtt.external.session_filters import SessionFilters
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.ingest.inbox import Delivery, Inbox
from tests.kit.gateways import LOOPBACK, WAIT_S

CONNACK = bytes([0x20, 3, 0, 0, 0])
DISCONNECT = bytes([0xE0, 0])
MARK = b"\x26" + 2 * (b"\0\x0csosa-gateway")
"""The user property of our own messages."""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.gates.mqtt.external.broker._PAUSE_S", 0.01)
    monkeypatch.setattr("gateway.gates.mqtt.external.broker._CONNECT_S", 5.0)


def publish(
    payload: bytes, qos: int = 1, packet_id: int = 0, *, topic: bytes = b"t", mark: bytes = b""
) -> bytes:
    """A PUBLISH packet, shorter than 128 bytes."""
    number = packet_id.to_bytes(2, "big") if qos else b""
    body = len(topic).to_bytes(2, "big") + topic + number + bytes([len(mark)]) + mark + payload
    return bytes([0x30 | qos << 1, len(body)]) + body


def puback(packet_id: int) -> bytes:
    return b"\x40\x02" + packet_id.to_bytes(2, "big")


class ScriptedBroker:
    """Accepts connections; the test reads and writes their bytes."""

    def __init__(self) -> None:
        self.arrived: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = (
            asyncio.Queue()
        )
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter
        self._writers: list[asyncio.StreamWriter] = []

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        self.arrived.put_nowait((reader, writer))

    async def close(self) -> None:
        for writer in self._writers:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def accept(self, answer: bytes = CONNACK) -> None:
        """Take the next connection, read its CONNECT, say something."""
        async with asyncio.timeout(WAIT_S):
            self.reader, self.writer = await self.arrived.get()
            assert await self.packet() == 1
        self.writer.write(answer)

    async def packet(self) -> int:
        """Read a packet, which is short; its type."""
        first, length = await self.reader.readexactly(2)
        await self.reader.readexactly(length)
        return first >> 4

    async def read(self, count: int) -> bytes:
        async with asyncio.timeout(WAIT_S):
            return await self.reader.readexactly(count)

    def send(self, *numbers: int, qos: int = 1) -> None:
        """Messages of QoS 1, their number being packet id and payload."""
        self.writer.write(b"".join(publish(b"%d" % n, qos, n) for n in numbers))


@asynccontextmanager
async def gate(
    inbox: Inbox, session: Path = Path("no such folder", "session.json")
) -> AsyncIterator[tuple[ExternalBroker, ScriptedBroker]]:
    broker = ScriptedBroker()
    server = await asyncio.start_server(broker.take, LOOPBACK, 0)
    port = server.sockets[0].getsockname()[1]
    external = ExternalBroker(ExternalSettings(LOOPBACK, port), inbox, SessionFilters(session))
    external.start()
    try:
        yield external, broker
    finally:
        inbox.close()
        await asyncio.to_thread(external.close)
        await broker.close()
        server.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():
            await asyncio.sleep(0.005)


def numbers(taken: list[Delivery]) -> list[int]:
    return [int(each.message.payload) for each in taken]


async def test_acknowledgements_keep_the_order_of_arrival() -> None:
    inbox = Inbox(10)
    async with gate(inbox) as (_, broker):
        await broker.accept()
        broker.send(1, 2, 3)
        await until(lambda: len(inbox) == 3)
        first, second, third = inbox.take(10)
        third.settle(None)
        second.settle(None)
        await asyncio.sleep(0.05)
        first.settle(None)
        assert await broker.read(12) == b"".join(map(puback, (1, 2, 3)))


async def test_what_is_settled_is_acknowledged_before_the_good_bye() -> None:
    inbox = Inbox(10)
    async with gate(inbox) as (external, broker):
        await broker.accept()
        broker.send(1, 2)
        await until(lambda: len(inbox) == 2)
        first, _ = inbox.take(10)
        first.settle(None)
        inbox.close()
        closing = asyncio.create_task(asyncio.to_thread(external.close))
        assert await broker.read(5) == puback(1) + b"\xe0"
        await closing


async def test_what_is_not_committed_holds_back_those_behind_it() -> None:
    inbox = Inbox(10)
    async with gate(inbox) as (_, broker):
        await broker.accept()
        broker.send(1, 2, 3)
        await until(lambda: len(inbox) == 3)
        first, second, third = inbox.take(10)
        first.settle(None)
        second.settle(OSError("the disk is full"))
        third.settle(None)
        assert await broker.read(4) == puback(1)
        broker.writer.close()
        await broker.accept()
        broker.send(2)
        await until(lambda: len(inbox) == 1)
        second.settle(None)  # of the connection that is gone
        inbox.take(1)[0].settle(None)
        assert await broker.read(4) == puback(2)
        broker.writer.close()


async def test_a_full_inbox_stops_the_reading_and_loses_nothing() -> None:
    """QoS 0 knows no Receive Maximum: only TCP can hold the broker up."""
    inbox = Inbox(limit=5)
    many = 100_000
    async with gate(inbox) as (external, broker):
        await broker.accept()
        broker.send(*range(many), qos=0)
        taken: list[int] = []
        while len(taken) < 100:
            await until(lambda: len(inbox) > 0)
            assert len(inbox) <= 5
            assert len(external._arrived) <= _TURN_PACKETS
            taken += numbers(inbox.take(5))
        while len(taken) < many:
            await until(lambda: len(inbox) > 0)
            taken += drained(inbox)
        assert taken == [*range(many)]


def drained(inbox: Inbox) -> list[int]:
    """Everything that is there, with room for all the rest from now on."""
    inbox._limit = 1_000_000
    return numbers(inbox.take(1_000_000))


async def test_a_stop_with_a_full_inbox_leaves_the_rest_to_the_broker() -> None:
    inbox = Inbox(limit=1)
    async with gate(inbox) as (_, broker):
        await broker.accept()
        broker.send(1, 2, 3)
        await until(lambda: len(inbox) == 1)
    assert numbers(inbox.take(9)) == [1]
    assert inbox.take(9) == []


async def test_our_own_message_is_acknowledged_in_its_turn_and_not_ingested() -> None:
    inbox = Inbox(10)
    async with gate(inbox) as (external, broker):
        await broker.accept()
        broker.send(1)
        broker.writer.write(publish(b"2", 1, 2, mark=MARK))
        await until(lambda: external.echoes == 1)
        (only,) = inbox.take(10)
        only.settle(None)
        assert await broker.read(8) == puback(1) + puback(2)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (bytes([0x20, 3, 0, 0x86, 0]), "refused us: Bad user name or password"),
        (bytes([0x20, 2, 0, 0]), "MQTT 5"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "MQTT 5"),
        (bytes([0x30, 0xFF, 0xFF, 0xFF, 0x7F]), "MQTT 5"),
    ],
)
async def test_who_is_no_mqtt_5_broker_or_refuses_is_tried_again(
    answer: bytes, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with gate(Inbox(10)) as (external, broker):
        await broker.accept(answer)
        await broker.accept()
        await until(lambda: external.is_connected)
    (record, *_) = [each for each in caplog.records if each.message == "broker_unreachable"]
    assert reason in vars(record)["reason"]


async def test_a_silent_broker_is_given_up() -> None:
    keep_alive_1_s = bytes([0x20, 6, 0, 0, 3, 0x13, 0, 1])
    async with gate(Inbox(10)) as (external, broker):
        await broker.accept(keep_alive_1_s)
        assert await broker.packet() == 12  # PINGREQ
        await broker.accept()
        await until(lambda: external.is_connected)
        assert external.connections == 2


async def test_a_command_without_acknowledgement_is_sent_again_after_a_reconnection() -> None:
    length = len(publish(b"on", topic=b"fan", mark=MARK))
    async with gate(Inbox(10)) as (external, broker):
        await broker.accept()
        external.publish("fan", b"on", 1, retain=False)
        first = await broker.read(length)
        broker.writer.close()
        await broker.accept()
        again = await broker.read(len(first))
        assert again == bytes([first[0] | 8]) + first[1:]
        packet_id = int.from_bytes(first[7:9], "big")
        broker.writer.write(puback(packet_id))
        await until(lambda: not external._commands.waiting)


async def test_at_the_end_the_broker_is_told() -> None:
    async with gate(Inbox(10)) as (external, broker):
        await broker.accept()
        await until(lambda: external.is_connected)
    assert await broker.read(2) == DISCONNECT


async def test_a_filter_removed_while_we_were_away_leaves_the_session(tmp_path: Path) -> None:
    session = tmp_path / "session.json"
    async with gate(Inbox(10), session) as (external, broker):
        external.set_filters(["kept", "gone"])
        await broker.accept()
        assert await broker.packet() == 8  # SUBSCRIBE
    async with gate(Inbox(10), session) as (external, broker):
        external.set_filters(["kept"])
        await broker.accept(bytes([0x20, 3, 1, 0, 0]))  # the session is still there
        assert await broker.packet() == 8  # what is wanted is asked for first: nothing is missed
        unsubscribe = await broker.read(11)
        assert (unsubscribe[0] >> 4, unsubscribe[-6:]) == (10, b"\0\x04gone")
    assert SessionFilters(session).load() == {"kept"}


async def test_a_new_session_is_told_only_what_is_wanted(tmp_path: Path) -> None:
    session = tmp_path / "session.json"
    SessionFilters(session).save(frozenset({"gone"}))
    async with gate(Inbox(10), session) as (external, broker):
        external.set_filters(["kept"])
        await broker.accept()
        assert await broker.packet() == 8
    assert SessionFilters(session).load() == {"kept"}


@pytest.mark.parametrize("text", ["", "{", "1", "null"])
def test_a_file_that_is_not_ours_is_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "session.json"
    path.write_text(text, encoding="utf-8")
    assert SessionFilters(path).load() == frozenset()
    SessionFilters(tmp_path / "no" / "folder").save(frozenset({"a"}))
