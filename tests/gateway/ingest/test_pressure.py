"""Ingest under pressure: a disk or a scheduler that stands still, a disk that is full, a stop.

Nothing is acknowledged that is not journalled, nothing is lost that was not refused, and what
waits has bounds.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.values.message import Message
from gateway.app.gateway import Gateway
from gateway.engine import Notification
from gateway.errors import StorageError, TooManyRequestsError
from gateway.ingest import ingest
from gateway.ingest.inbox import Delivery, Inbox
from gateway.journal import spool
from gateway.journal.segment import Segment
from gateway.rdf.delta import Delta
from gateway.store.quad_store import QuadStore
from tests.kit.gateways import (
    PREFIXES,
    VALUES,
    WAIT_S,
    Device,
    Publication,
    journal_records,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    update_url,
    watch,
    write_profile,
)
from tests.kit.metrics import metrics, until_metric

BROKER_WINDOW = 20
GROUP = 256
TURN = 64


@asynccontextmanager
async def gateway_on(folder: Path, kind: str = "memory", **limits: int) -> AsyncIterator[Gateway]:
    profile = write_profile(folder, [mapping("v", "box/+", selector="$.v", sequence="$.v")])
    async with running(settings(folder, profile, kind=kind, **limits)) as gateway:
        yield gateway


def readings(count: int, box: str = "a") -> list[Publication]:
    return [(f"box/{box}", f'{{"v":{n}}}'.encode()) for n in range(count)]


def journalled(folder: Path, box: str = "a") -> list[int]:
    return [
        int(each.observation.lexical)
        for each in journal_records(folder)
        if each.observation.sensor.endswith(f":{box}")
    ]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():
            await asyncio.sleep(0.01)


async def received(gateway: Gateway) -> float:
    return (await metrics(gateway))['broker_messages_total{outcome="received"}']


class SlowDisk:
    """Segments of journals are written once it `goes_on`, and fail as often as `full` says."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.waiting = threading.Event()
        self.full = 0

    def segment(self, path: Path, header: bytes) -> Segment:
        """A new one, on this disk."""
        made = Segment(path, header)
        made._file = SlowFile(self, made._file)  # type: ignore[assignment]
        return made


class SlowFile:
    """A file on a slow disk."""

    def __init__(self, disk: SlowDisk, file: Any) -> None:
        self._disk = disk
        self._file = file

    def write(self, data: bytes) -> int:
        disk = self._disk
        disk.waiting.set()
        assert disk.goes_on.wait(WAIT_S)
        if disk.full:
            disk.full -= 1
            return int(self._file.write(data[: len(data) // 2]))
        return int(self._file.write(data))

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    made = SlowDisk()
    monkeypatch.setattr(spool, "Segment", made.segment)
    return made


@contextmanager
def device(port: int, client_id: str = "device") -> Iterator[Device]:
    with Device(port, client_id, window=1000) as made:
        yield made


async def test_a_disk_that_stands_still_acknowledges_nothing(
    tmp_path: Path, disk: SlowDisk
) -> None:
    boxes = ["a", "b", "c"]
    async with gateway_on(tmp_path, inbox=50) as gateway:
        with (
            device(gateway.mqtt_port, "a") as a,
            device(gateway.mqtt_port, "b") as b,
            device(gateway.mqtt_port, "c") as c,
        ):
            for box, client in zip(boxes, (a, b, c), strict=True):
                for topic, payload in readings(300, box):
                    client.send(topic, payload)
            async with asyncio.timeout(WAIT_S):
                while await received(gateway) < len(boxes) * BROKER_WINDOW:
                    await asyncio.sleep(0.01)
            assert await asyncio.to_thread(a.wait_acknowledged, 1, 0.2) == 0
            assert await received(gateway) <= len(boxes) * (BROKER_WINDOW + 1)
            assert journal_records(tmp_path) == []
            disk.goes_on.set()
            for client in (a, b, c):
                assert await asyncio.to_thread(client.wait_acknowledged, 300) == 300
    assert all(journalled(tmp_path, box) == [*range(300)] for box in boxes)


class Brake:
    """A sink in which the scheduler stands still until `released`."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.reached = threading.Event()

    def __call__(self, notification: Notification) -> None:
        if notification.sequence:
            self.reached.set()
            assert self.released.wait(WAIT_S)


async def braked(gateway: Gateway) -> Brake:
    """The scheduler stands still from the next observation or update on."""
    brake = Brake()
    await gateway.scheduler.subscribe("SELECT * { ?s ?p ?o }", sink=brake)
    return brake


async def test_a_scheduler_that_stands_still_holds_publishers_back(tmp_path: Path) -> None:
    """QoS 0 has no acknowledgement: the broker stops reading, TCP tells the publisher. In order."""
    count, inbox, urq = 3000, 30, 10
    async with gateway_on(tmp_path, inbox=inbox, urq=urq) as gateway:
        told, brake = await watch(gateway, VALUES), await braked(gateway)
        with device(gateway.mqtt_port) as client:
            for topic, payload in readings(count):
                client.send(topic, payload, qos=0)
            await until(brake.reached.is_set)
            await until_metric(gateway, "inbox", inbox)
            assert gateway.scheduler.waiting_updates <= urq
            bound = inbox + GROUP + urq + TURN + BROKER_WINDOW + 2
            assert await received(gateway) <= bound
            brake.released.set()
            await told.until(lambda: told.count_added == count)
    assert told.values() == [str(n) for n in range(count)]
    assert journalled(tmp_path) == [*range(count)]


async def test_a_full_journal_disk_acknowledges_nothing_and_then_goes_on(
    tmp_path: Path, disk: SlowDisk
) -> None:
    async with gateway_on(tmp_path) as gateway:
        disk.full = 1
        with device(gateway.mqtt_port) as client:
            for topic, payload in readings(100):
                client.send(topic, payload)
            await until(disk.waiting.is_set)
            assert await asyncio.to_thread(client.wait_acknowledged, 1, 0.1) == 0
            disk.goes_on.set()
            assert await asyncio.to_thread(client.wait_acknowledged, 100) == 100
        assert disk.full == 0
        assert [value for _, value in rows_of(gateway, VALUES)] == ["99"]
    assert journalled(tmp_path) == [*range(100)]


class FullStore:
    """A store that refuses changes as often as `full` says."""

    def __init__(self, store: QuadStore, full: int) -> None:
        self.full = full
        self.refused = threading.Event()
        self._defer = store.defer
        store.defer = self.defer  # type: ignore[method-assign]

    def defer(self, delta: Delta) -> None:
        if self.full:
            self.full -= 1
            self.refused.set()
            raise StorageError("the disk is full")
        self._defer(delta)


async def test_a_full_store_disk_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """What is journalled is tried again in its place, so that retention stays true."""
    async with gateway_on(tmp_path, latest=1) as gateway:
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, readings(3))
        store = FullStore(gateway.scheduler.engine.store, full=3)
        await publish(gateway.mqtt_port, readings(50)[3:])
        assert store.full == 0
        assert [value for _, value in rows_of(gateway, VALUES)] == ["49"]
        assert told.values() == [str(n) for n in range(50)]
        assert gateway.statistics()["duplicates"] == 0
    assert journalled(tmp_path) == [*range(50)]


async def test_a_stop_with_a_full_store_disk_leaves_it_to_the_next_start(tmp_path: Path) -> None:
    async with gateway_on(tmp_path, kind="disk") as gateway:
        await publish(gateway.mqtt_port, readings(3))
        store = FullStore(gateway.scheduler.engine.store, full=1_000_000)
        with device(gateway.mqtt_port) as client:
            for topic, payload in readings(30)[3:]:
                client.send(topic, payload)
            await until(store.refused.is_set)
    assert len(journalled(tmp_path)) > 3
    async with gateway_on(tmp_path, kind="disk") as gateway:
        assert [int(value) for _, value in rows_of(gateway, VALUES)] == journalled(tmp_path)[-1:]
        await publish(gateway.mqtt_port, readings(30))
        assert [value for _, value in rows_of(gateway, VALUES)] == ["29"]
    assert journalled(tmp_path) == [*range(30)]


async def test_a_stop_with_a_full_journal_disk_acknowledges_nothing(
    tmp_path: Path, disk: SlowDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with gateway_on(tmp_path) as gateway:
        disk.goes_on.set()
        disk.full = 1
        monkeypatch.setattr(spool, "raw_path", lambda *_: tmp_path / "no" / "folder")
        client = Device(gateway.mqtt_port)
        with client:
            for topic, payload in readings(30):
                client.send(topic, payload)
            await until(disk.waiting.is_set)
    assert client.wait_acknowledged(1, timeout_s=0.0) == 0
    assert journalled(tmp_path) == []


async def test_a_stop_leaves_what_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left in the inbox is not acknowledged, and comes again."""
    monkeypatch.setattr(ingest, "_LAST_S", 0.0)
    results: list[Exception | None] = []
    async with gateway_on(tmp_path) as gateway:
        await publish(gateway.mqtt_port, readings(3))
        reception = gateway.stages.reception
        reception.ingest.stop()
        for topic, payload in readings(2 * GROUP)[3:]:
            message = Message(topic, payload, datetime.now(UTC), qos=1)
            assert await reception.inbox.put_soon(Delivery(message, results.append))
    assert len(results) == 2 * GROUP - 3
    assert all(isinstance(each, StorageError) for each in results)
    assert journalled(tmp_path) == [0, 1, 2]


async def test_a_stop_settles_what_was_taken(tmp_path: Path) -> None:
    """What is acknowledged is journalled, what is journalled is in the store, no thread is left."""
    client: Device | None = None
    async with gateway_on(tmp_path, kind="disk") as gateway:
        told = await watch(gateway, VALUES)
        client = Device(gateway.mqtt_port, window=1000)
        client.__enter__()
        for topic, payload in readings(2000):
            client.send(topic, payload)
        await told.until(lambda: told.count_added > 100)
    acknowledged = client.wait_acknowledged(2000, timeout_s=0.1)
    client.__exit__(None, None, None)
    numbers = journalled(tmp_path)
    assert numbers == [*range(len(numbers))]
    assert 100 < acknowledged <= len(numbers) < 2000
    assert {thread.name for thread in threading.enumerate()}.isdisjoint({"ingest", "scheduler"})
    assert [int(value) for value in told.values()] == numbers
    async with gateway_on(tmp_path, kind="disk") as gateway:
        assert [int(value) for _, value in rows_of(gateway, VALUES)] == numbers[-1:]
        assert (await metrics(gateway))["observations_replayed_total"] == 0


async def test_updates_beyond_the_urq_are_refused(tmp_path: Path) -> None:
    insert = "INSERT DATA { <urn:s> <urn:p> %d }"
    async with gateway_on(tmp_path, urq=3, srq=2) as gateway:
        brake = await braked(gateway)
        running_update = asyncio.create_task(gateway.scheduler.update(insert % 0))
        await until(brake.reached.is_set)
        queued = [asyncio.create_task(gateway.scheduler.update(insert % n)) for n in (1, 2, 3)]
        await until(lambda: gateway.scheduler.waiting_updates == 3)
        with pytest.raises(TooManyRequestsError):
            await gateway.scheduler.update(insert % 4)
        async with httpx.AsyncClient() as client:
            answer = await client.post(update_url(gateway), data={"update": insert % 5})
        assert (answer.status_code, answer.json()["error"]) == (429, "too_many_requests")
        subscribing = [asyncio.create_task(watch(gateway, VALUES)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequestsError):
            await watch(gateway, VALUES)
        brake.released.set()
        await asyncio.gather(running_update, *queued, *subscribing)
        found = rows_of(gateway, "SELECT ?o { <urn:s> <urn:p> ?o }")
        assert found == [["0"], ["1"], ["2"], ["3"]]


async def test_subscribers_under_load_begin_with_the_whole_answer(tmp_path: Path) -> None:
    """Whenever one comes, its first answer and the steps after it have no gap and no overlap."""
    count = PREFIXES + "SELECT (COUNT(*) AS ?n) { ?o a sosa:Observation }"
    async with gateway_on(tmp_path, latest=5) as gateway:
        sending = asyncio.create_task(publish(gateway.mqtt_port, readings(1500)))
        watches = []
        while not sending.done():
            watches += [await watch(gateway, VALUES), await watch(gateway, count)]
            await asyncio.sleep(0.02)
        await sending
        last = [await watch(gateway, VALUES), await watch(gateway, count)]
        for told in watches:
            numbers = [each.sequence for each in told.notifications]
            assert numbers == [*range(len(numbers))]
        assert len(watches) > 10
        assert all(told.answer == last[0].answer for told in watches[::2])
        assert all(told.answer == last[1].answer for told in watches[1::2])
    values = [[int(value) for value in told.values()] for told in watches[::2]]
    assert all(sorted(each) == [*range(1500)][-len(each) :] for each in values if each)


def delivery(number: int) -> Delivery:
    return Delivery(Message(str(number), b"", datetime.now(UTC)), lambda _: None)


async def test_the_inbox_keeps_the_order_of_those_who_wait_for_room() -> None:
    """One that comes when there is room again does not overtake those that came before."""
    inbox = Inbox(limit=2)
    putting = [asyncio.create_task(inbox.put_soon(delivery(n))) for n in range(6)]
    await asyncio.sleep(0)
    taken = inbox.take(1)
    putting.append(asyncio.create_task(inbox.put_soon(delivery(6))))
    while len(taken) < 7:
        taken += inbox.take(2)
        await asyncio.sleep(0)
    assert [each.message.topic for each in taken] == [str(n) for n in range(7)]
    assert await asyncio.gather(*putting) == [True] * 7


async def test_the_inbox_forgets_who_waited_when_it_closes() -> None:
    inbox = Inbox(limit=1)
    putting = [asyncio.create_task(inbox.put_soon(delivery(n))) for n in range(3)]
    await asyncio.sleep(0)
    inbox.close()
    assert await asyncio.gather(*putting) == [True, False, False]
    assert [each.message.topic for each in inbox.take(9)] == ["0"]
    assert inbox.take(9) == []
