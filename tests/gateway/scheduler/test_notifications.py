"""From an UPDATE to the sinks: one road, once, in order, before the answer."""

import threading

import pytest

from gateway.engine import Engine, Notification
from gateway.engine.request import SubscribeRequest, UpdateRequest
from gateway.rdf.dataset import Dataset
from gateway.scheduler.scheduler import Scheduler
from gateway.store.update import compile_update

QUERY = "SELECT ?o { ?s <urn:p> ?o }"


def insert(value: int) -> str:
    return f"INSERT DATA {{ <urn:s> <urn:p> {value} }}"


@pytest.mark.parametrize("workers", [0, 1])
async def test_each_notification_comes_once_and_before_the_answer(workers: int) -> None:
    told = list[Notification]()
    with Scheduler(Engine.open(workers=workers)) as scheduler:
        await scheduler.subscribe(SubscribeRequest(QUERY, is_prompt=True), sink=told.append)
        outcome = await scheduler.update(insert(1))
        assert [each.sequence for each in told] == [0, 1]
        assert outcome.notifications == ()
        await scheduler.update_own([(compile_update(insert(2)), {})])
        await scheduler.update(UpdateRequest(insert(3), using=Dataset()))
        assert [each.sequence for each in told] == [0, 1, 2, 3]


async def test_sinks_are_told_when_the_store_is_free_again() -> None:
    engine = Engine.open()
    free = list[bool]()

    def sink(_: Notification) -> None:
        def take() -> None:
            free.append(engine.store.writing.acquire(timeout=5))
            engine.store.writing.release()

        other = threading.Thread(target=take)
        other.start()
        other.join()

    with Scheduler(engine) as scheduler:
        await scheduler.subscribe(QUERY, sink=sink)
        await scheduler.update(insert(1))
    assert free == [True, True]


async def test_sink_that_raises_costs_the_update_and_the_others_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = list[Notification]()

    def defective(notification: Notification) -> None:
        if notification.sequence:
            raise ZeroDivisionError

    with Scheduler(Engine.open()) as scheduler:
        await scheduler.subscribe(QUERY, sink=defective)
        await scheduler.subscribe(QUERY, sink=told.append)
        outcome = await scheduler.update(insert(1))
    assert len(outcome.delta.added) == 1
    assert [each.sequence for each in told] == [0, 1]
    assert "notification_not_taken" in caplog.text
