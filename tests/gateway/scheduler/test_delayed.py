"""The scheduler runs delayed UPDATEs by itself, in their place among the others."""

import asyncio
from datetime import timedelta

import pytest

from gateway.engine import Engine, Notification
from gateway.engine.request import UpdateRequest
from gateway.errors import NotFoundError, StorageError
from gateway.rdf.delta import Delta
from gateway.scheduler.scheduler import Scheduler


class Inbox:
    """A sink whose notifications can be awaited."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Notification] = asyncio.Queue()

    def __call__(self, notification: Notification) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, notification)

    async def next(self) -> Notification:
        return await asyncio.wait_for(self._queue.get(), 60)


async def test_due_update_runs_and_its_subscribers_are_told() -> None:
    with Scheduler(Engine.open()) as scheduler:
        inbox = Inbox()
        await scheduler.subscribe("SELECT ?o { ?s <urn:p> ?o }", sink=inbox)
        scheduler.start_timers()
        assert (await inbox.next()).sequence == 0
        outcome = await scheduler.update(
            UpdateRequest("INSERT DATA { <urn:s> <urn:p> 1 }", at=timedelta(milliseconds=50))
        )
        told = await inbox.next()
        assert told.sequence == 1
        assert told.time >= outcome.time + 50_000
        assert await scheduler.delayed() == ()


async def test_late_updates_wait_for_the_subscribers_of_the_start() -> None:
    now = 1_700_000_000_000_000
    engine = Engine.open(clock=lambda: now)
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }", at=now)
    with Scheduler(engine) as scheduler:
        inbox = Inbox()
        await scheduler.subscribe("SELECT ?o { ?s <urn:p> ?o }", sink=inbox)
        assert not (await inbox.next()).added
        scheduler.start_timers()
        assert len((await inbox.next()).added) == 1


async def test_cancelled_update_is_not_run() -> None:
    with Scheduler(Engine.open()) as scheduler:
        scheduler.start_timers()
        outcome = await scheduler.update(UpdateRequest("INSERT DATA {}", at=timedelta(hours=1)))
        (waiting,) = await scheduler.delayed()
        assert waiting.id == outcome.id
        await scheduler.cancel(waiting.id)
        with pytest.raises(NotFoundError):
            await scheduler.cancel(waiting.id)
        assert await scheduler.delayed() == ()


async def test_clock_that_jumps_is_noticed() -> None:
    time = [1_700_000_000_000_000]
    with Scheduler(Engine.open(clock=lambda: time[0])) as scheduler:
        inbox = Inbox()
        await scheduler.subscribe("SELECT ?o { ?s <urn:p> ?o }", sink=inbox)
        await inbox.next()
        scheduler.start_timers()
        await scheduler.update(
            UpdateRequest("INSERT DATA { <urn:s> <urn:p> 1 }", at=timedelta(days=1))
        )
        time[0] += 86_400_000_000
        assert len((await inbox.next()).added) == 1


async def test_disk_that_does_not_take_it_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }", at=timedelta())
    apply, refusals = engine.store.apply, [1]

    def refuse_once(delta: Delta) -> None:
        if refusals:
            refusals.pop()
            raise StorageError("the disk is full", "make room")
        apply(delta)

    monkeypatch.setattr(engine.store, "apply", refuse_once)
    with Scheduler(engine) as scheduler:
        inbox = Inbox()
        await scheduler.subscribe("SELECT ?o { ?s <urn:p> ?o }", sink=inbox)
        await inbox.next()
        scheduler.start_timers()
        assert len((await inbox.next()).added) == 1
    assert (engine.statistics.delayed_executed, engine.statistics.delayed_failed) == (1, 0)
