"""What ingest submits: an UPDATE, and what is tried in its place where it is refused."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode

from gateway.engine import Engine, Outcome, UpdateRequest
from gateway.engine.request import Update
from gateway.errors import GatewayError, StorageError
from gateway.scheduler.scheduler import Scheduler, Submission, is_refused
from gateway.store.update import BoundUpdate, compile_update
from tests.kit.gateways import WAIT_S

REFUSED: Sequence[BoundUpdate] = [(compile_update("LOAD <http://nowhere.invalid/>"), {})]
INSERT = "INSERT DATA { <urn:s> <urn:p> %d }"
Result = Outcome | GatewayError


def inserting(value: str) -> Sequence[BoundUpdate]:
    """An UPDATE that is not refused."""
    return [(compile_update("INSERT DATA { <urn:s> <urn:p> ?o }".replace("?o", f'"{value}"')), {})]


def values(engine: Engine) -> set[str]:
    found = engine.store.match(NamedNode("urn:s"), None, None, None)
    return {quad.object.value for quad in found if isinstance(quad.object, Literal)}


async def ended(
    scheduler: Scheduler, updates: Sequence[BoundUpdate], *instead: Sequence[BoundUpdate]
) -> tuple[Result, Result]:
    told: list[tuple[Result, Result]] = []
    submission = Submission(updates, lambda first, last: told.append((first, last)), instead)
    scheduler.submit([submission])
    await scheduler.settled()
    (results,) = told
    return results


async def test_first_fallback_that_is_not_refused_takes_the_place() -> None:
    engine = Engine.open()
    with Scheduler(engine) as scheduler:
        first, last = await ended(scheduler, REFUSED, REFUSED, inserting("a"), inserting("b"))
        assert is_refused(first)
        assert isinstance(last, Outcome)
        assert values(engine) == {"a"}


async def test_without_a_refusal_no_fallback_is_tried() -> None:
    engine = Engine.open()
    with Scheduler(engine) as scheduler:
        first, last = await ended(scheduler, inserting("a"), inserting("b"))
        assert first is last
        assert values(engine) == {"a"}


async def test_where_all_are_refused_both_results_are_told() -> None:
    with Scheduler(Engine.open()) as scheduler:
        first, last = await ended(scheduler, REFUSED, REFUSED)
        assert is_refused(first)
        assert is_refused(last)
        assert first is not last


async def test_fallbacks_have_the_place_of_what_was_refused() -> None:
    engine = Engine.open()
    told: list[set[str]] = []
    with Scheduler(engine) as scheduler:
        scheduler.submit(
            [
                Submission(REFUSED, lambda *_: told.append(values(engine)), [inserting("a")]),
                Submission(inserting("b"), lambda *_: told.append(values(engine))),
            ]
        )
        await scheduler.settled()
    assert told == [{"a"}, {"a", "b"}]


async def test_disk_that_does_not_come_back_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine.open()

    def broken(*_: object, **__: object) -> Outcome:
        raise StorageError("no disk", "")

    with Scheduler(engine) as scheduler:
        monkeypatch.setattr(engine, "update", broken)
        scheduler.give_up()
        first, last = await asyncio.wait_for(ended(scheduler, inserting("a"), inserting("b")), 60)
        assert first is last
        assert isinstance(first, StorageError)


def test_once_the_scheduler_stops_what_is_submitted_is_not_tried() -> None:
    engine = Engine.open()
    told: list[Result] = []
    scheduler = Scheduler(engine)
    with scheduler:
        pass
    scheduler.submit([Submission(inserting("a"), lambda *results: told.extend(results))])
    assert [type(each) for each in told] == [StorageError, StorageError]


async def test_others_are_told_while_a_submission_waits_for_the_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that wait behind it and those that come later; what is to be settled stays."""
    engine, room = Engine.open(), threading.Event()
    update = engine.update

    def full(request: Update | UpdateRequest) -> Outcome:
        if room.is_set():
            return update(request)
        raise StorageError("no room", "")

    told: list[Result] = []
    with Scheduler(engine) as scheduler:
        monkeypatch.setattr(engine, "update", full)
        behind = [asyncio.ensure_future(scheduler.update(INSERT % n)) for n in range(3)]
        scheduler.submit([Submission(inserting("a"), lambda first, _: told.append(first))])
        behind += [asyncio.ensure_future(scheduler.update(INSERT % n)) for n in range(3, 100)]
        for each in behind:
            with pytest.raises(StorageError, match="no room"):
                await asyncio.wait_for(each, WAIT_S)
        settled = asyncio.ensure_future(scheduler.settled())
        with pytest.raises(StorageError, match="no room"):
            await asyncio.wait_for(scheduler.update(INSERT % 100), WAIT_S)
        assert not told
        assert not settled.done()
        room.set()
        await asyncio.wait_for(settled, WAIT_S)
        await scheduler.update(INSERT % 101)
    assert [type(each) for each in told] == [Outcome]


def test_flush_that_fails_is_repeated_without_another_request(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("gateway.scheduler.scheduler._FLUSH_S", 0.01)
    engine, repeated = Engine.open(tmp_path / "store"), threading.Event()
    flush, failures = engine.flush, iter(range(2))

    def full() -> None:
        if next(failures, None) is not None:
            raise StorageError("no room", "")
        flush()
        repeated.set()

    monkeypatch.setattr(engine, "flush", full)
    with Scheduler(engine) as scheduler:
        scheduler.submit([Submission(inserting("a"), lambda *_: None)])
        assert repeated.wait(WAIT_S)
        assert not engine.store.is_pending
