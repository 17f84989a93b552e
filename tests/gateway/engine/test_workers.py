"""Parallel mode: order, back-pressure, death and replacement of workers, nothing left behind."""

import logging
import os
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep
from unittest.mock import patch

import pytest
from pyoxigraph import NamedNode

from gateway.engine.compile import TierCompiler
from gateway.engine.engine import Engine
from gateway.engine.lutt import Artq, LuttEntry, matches, quads_then
from gateway.engine.notification import Notification
from gateway.engine.options import EngineOptions
from gateway.engine.request import SubscribeRequest
from gateway.engine.spu import Change, Placed, Subject, Unit, evaluate
from gateway.engine.workers import placement, worker_process
from gateway.engine.workers.context_store import ContextStore
from gateway.engine.workers.worker_link import Link, ProcessLink
from gateway.engine.workers.workers import worker_count
from gateway.errors import GatewayError, StorageError
from gateway.rdf.delta import Delta
from gateway.rdf.rights import Rights
from gateway.rdf.solutions import SolutionBag
from gateway.scheduler.scheduler import Scheduler
from gateway.store.quad_store import QuadStore
from tests.kit.worker_threads import Killed, ThreadLink

COARSE = "SELECT ?x (COUNT(?y) AS ?n) { ?x <urn:p> ?y } GROUP BY ?x"
OPTIONAL = "SELECT * { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } }"


@pytest.fixture(autouse=True)
def _nothing_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "_CHEAP", frozenset())


class Listener:
    """Keeps what it is told, by subscription, and refuses a gap in the sequence."""

    def __init__(self) -> None:
        self.told: defaultdict[str, list[Notification]] = defaultdict(list)
        self.faults: list[str] = []

    def __call__(self, notification: Notification) -> None:
        told = self.told[notification.spuid]
        told.append(notification)
        if notification.sequence != len(told):
            self.faults.append(f"sequence {notification.sequence} is number {len(told)}")

    def rows(self, first: Notification) -> SolutionBag:
        rows = Counter(first.results.added)
        for notification in self.told[first.spuid]:
            assert Counter(notification.results.removed) <= rows
            rows.update(notification.results.added)
            rows.subtract(notification.results.removed)
            rows = +rows
        return rows


def open_engine(
    listener: Listener,
    *,
    workers: int = 1,
    artq: int = 64,
    launch: Callable[[], Link] = ThreadLink,
) -> Engine:
    return Engine(
        QuadStore.open(None),
        workers=workers,
        options=EngineOptions(artq=artq, launch=launch),
        on_notification=listener,
    )


def insert(number: int) -> str:
    return f"INSERT DATA {{ <urn:a{number % 3}> <urn:p> <urn:b{number}> }}"


def pids(engine: Engine) -> list[int]:
    assert engine.workers is not None
    links = [worker.link for worker in engine.workers]
    return [link.pid for link in links if isinstance(link, ProcessLink)]


class SlowLink(ThreadLink):
    """A worker that waits for a sign before it takes a request."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        super().__init__()

    def take(self):  # type: ignore[no-untyped-def]
        request = super().take()
        self.go.acquire()
        return request


def test_an_update_returns_before_the_worker_has_done_it() -> None:
    listener, links = Listener(), list[SlowLink]()

    def launch() -> SlowLink:
        links.append(SlowLink())
        return links[-1]

    engine = open_engine(listener, launch=launch)
    first = engine.subscribe(COARSE)
    outcome = engine.update(insert(1))
    assert outcome.notifications == ()
    assert len(outcome.delta.added) == 1
    assert not listener.told
    links[0].go.release(1000)
    engine.drain()
    (notification,) = listener.told[first.spuid]
    assert (notification.sequence, notification.time) == (1, outcome.time)
    engine.close()


def test_an_update_waits_when_a_worker_has_too_much_to_do() -> None:
    listener, links = Listener(), list[SlowLink]()

    def launch() -> SlowLink:
        links.append(SlowLink())
        return links[-1]

    engine = open_engine(listener, artq=2, launch=launch)
    links[0].go.release(2)  # the Cover and the Register
    first = engine.subscribe(COARSE)
    engine.drain()
    done: list[int] = []

    def update() -> None:
        for number in range(5):
            engine.update(insert(number))
            done.append(number)

    thread = threading.Thread(target=update)
    thread.start()
    thread.join(0.3)
    assert done == [0, 1]
    links[0].go.release(1000)
    thread.join()
    engine.drain()
    assert done == [0, 1, 2, 3, 4]
    assert len(listener.told[first.spuid]) == 5
    engine.close()


def test_who_unsubscribes_while_updates_are_in_flight_is_told_nothing_more() -> None:
    listener, links = Listener(), list[SlowLink]()

    def launch() -> SlowLink:
        links.append(SlowLink())
        return links[-1]

    engine = open_engine(listener, launch=launch)
    gone, stays = engine.subscribe(COARSE), engine.subscribe(OPTIONAL)
    engine.update(insert(1))
    engine.unsubscribe(gone.spuid)
    links[0].go.release(1000)
    again = engine.subscribe(COARSE)
    engine.update(insert(2))
    engine.drain()
    assert not listener.told[gone.spuid]
    assert listener.rows(again) == evaluate(engine.store, Subject(COARSE))
    assert listener.rows(stays) == evaluate(engine.store, Subject(OPTIONAL))
    assert not listener.faults
    engine.close()


def test_subscribers_of_one_spu_have_sequences_of_their_own() -> None:
    listener = Listener()
    engine = open_engine(listener)
    one = engine.subscribe(COARSE, alias="one")
    for number in range(4):
        engine.update(insert(number))
    other = engine.subscribe(COARSE, alias="other")
    for number in range(4, 8):
        engine.update(insert(number))
    engine.drain()
    assert [len(listener.told[each.spuid]) for each in (one, other)] == [8, 4]
    assert {each.alias for each in listener.told[other.spuid]} == {"other"}
    answer = evaluate(engine.store, Subject(COARSE))
    assert listener.rows(one) == listener.rows(other) == answer
    assert not listener.faults
    assert engine.workers is not None
    assert engine.workers.statistics.spus == 1
    engine.close()


def test_cheap_queries_and_those_that_need_the_whole_store_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    listener = Listener()
    engine = open_engine(listener)
    assert engine.workers is not None
    for text in (
        "SELECT ?o { <urn:a0> <urn:p> ?o }",
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "SELECT ?x { ?x <urn:p> ?y } ORDER BY ?y LIMIT 1",
        "SELECT (SAMPLE(?y) AS ?one) { ?x <urn:p> ?y }",
        "SELECT * { ?x <urn:p> ?y BIND(NOW() AS ?now) }",
        "SELECT * { GRAPH ?g { } }",
    ):
        engine.subscribe(text)
        assert engine.workers.statistics.spus == 0, text
    engine.close()


class Poisoned:
    """A unit that ends its worker when a quad with a certain object comes."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def __getattr__(self, name: str) -> object:
        return getattr(self.unit, name)

    def process(self, artq: Artq) -> Iterable[Change]:
        if any("b5" in str(quad.object) for quad in artq.added):
            raise Killed
        return self.unit.process(artq)


class PoisonedCompiler(TierCompiler):
    def place(self, subject: Subject) -> Placed:
        placed = super().place(subject)
        if subject.text != COARSE:
            return placed
        return replace(placed, unit=Poisoned(placed.unit))  # type: ignore[arg-type]


def test_an_spu_that_kills_its_worker_again_and_again_is_given_up_and_the_others_live() -> None:
    listener = Listener()
    ended: list[tuple[str, str]] = []
    with patch.object(worker_process, "TierCompiler", PoisonedCompiler):
        engine = open_engine(listener)
        engine.delivery.on_end = lambda spuid, error: ended.append((spuid, error.code))
        before, poison, after = (
            engine.subscribe(text) for text in (OPTIONAL, COARSE, f"{OPTIONAL} # again")
        )
        for number in range(8):
            engine.update(insert(number))
        engine.drain()
    answer = evaluate(engine.store, Subject(OPTIONAL))
    assert listener.rows(before) == listener.rows(after) == answer
    assert len(listener.told[poison.spuid]) == 5
    assert not listener.faults
    assert engine.workers is not None
    assert engine.workers.statistics.given_up == 1
    assert ended == [(poison.spuid, "subscription_failed")]
    with pytest.raises(GatewayError, match="ended its worker"):
        engine.subscribe(COARSE)
    engine.unsubscribe(poison.spuid)
    engine.close()


def test_killed_processes_are_replaced_and_nobody_notices() -> None:
    listener = Listener()
    engine = open_engine(listener, workers=2, launch=ProcessLink)
    assert engine.workers is not None
    firsts = {text: engine.subscribe(text) for text in (COARSE, OPTIONAL)}
    sums = "SELECT ?x (SUM(?d) AS ?s) { ?x <urn:p> ?y . ?y <urn:q> ?d } GROUP BY ?x"
    firsts[sums] = engine.subscribe(sums)
    for number in range(60):
        engine.update(insert(number))
        engine.update(f"INSERT DATA {{ <urn:b{number}> <urn:q> {number / 7}e0 }}")
        if number % 20 == 10:
            for worker in engine.workers:
                worker.link.kill()
    engine.drain()
    for text in (COARSE, OPTIONAL):
        assert listener.rows(firsts[text]) == evaluate(engine.store, Subject(text))
    assert len(listener.rows(firsts[sums])) == 3
    assert not listener.faults
    assert engine.workers.restarts >= 4
    engine.close()


def test_no_process_is_left_after_close(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_engine(Listener(), workers=2, launch=ProcessLink)
    engine.subscribe(COARSE)
    engine.update(insert(1))
    started = pids(engine)
    engine.close()
    assert len(started) == 2
    assert not any(map(is_alive, started))


_PARENT = """
import sys, time
from gateway.engine.workers import placement
from gateway.engine.engine import Engine
placement._CHEAP = frozenset()
engine = Engine.open(workers=2, on_notification=print)
engine.subscribe("SELECT ?x (COUNT(?y) AS ?n) { ?x <urn:p> ?y } GROUP BY ?x")
print(*(worker.link.pid for worker in engine.workers), flush=True)
time.sleep(60)
"""


@pytest.mark.alone
def test_workers_end_when_the_gateway_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", _PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        children = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(children) == 2
        assert all(map(is_alive, children))
        parent.kill()
    deadline = monotonic() + 10
    while any(map(is_alive, children)) and monotonic() < deadline:
        sleep(0.02)
    assert not any(map(is_alive, children))


def is_alive(pid: int) -> bool:
    """A process that has ended and is not waited for does not count."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.alone
def test_without_workers_no_thread_and_no_process_is_started() -> None:
    before = threading.active_count()
    engine = Engine.open(workers=0)
    assert engine.workers is None
    assert threading.active_count() == before
    engine.drain()
    engine.close()


def test_auto_is_one_worker_for_each_core_but_the_schedulers() -> None:
    assert worker_count("auto") == len(os.sched_getaffinity(0)) - 1
    assert worker_count(0) == 0


def test_a_worker_that_does_not_start_is_told_at_once() -> None:
    def launch() -> Link:
        raise OSError("no more processes")

    with pytest.raises(StorageError, match="no more processes"):
        open_engine(Listener(), launch=launch)


def test_a_listener_that_raises_costs_its_own_notification_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    listener = Listener()

    def take(notification: Notification) -> None:
        listener(notification)
        if notification.sequence == 1:
            raise ValueError("cannot take it")

    engine = Engine(
        QuadStore.open(None),
        workers=1,
        options=EngineOptions(launch=ThreadLink),
        on_notification=take,
    )
    first = engine.subscribe(COARSE)
    with caplog.at_level(logging.ERROR):
        for number in range(3):
            engine.update(insert(number))
        engine.drain()
    assert len(listener.told[first.spuid]) == 3
    assert "notification_not_taken" in caplog.text
    engine.close()


def test_with_a_listener_the_outcome_is_empty_in_both_modes() -> None:
    for workers in (0, 1):
        listener = Listener()
        engine = open_engine(listener, workers=workers)
        first = engine.subscribe("SELECT ?o { <urn:a1> <urn:p> ?o }")
        assert engine.update(insert(1)).notifications == ()
        engine.drain()
        assert len(listener.told[first.spuid]) == 1
        engine.close()


async def test_the_scheduler_tells_who_is_prompt_before_the_update_is_answered() -> None:
    links = list[SlowLink]()

    def launch() -> SlowLink:
        links.append(SlowLink())
        return links[-1]

    prompt, later = list[Notification](), list[Notification]()
    engine = Engine(QuadStore.open(None), workers=1, options=EngineOptions(launch=launch))
    with Scheduler(engine) as scheduler:
        await scheduler.subscribe(SubscribeRequest(OPTIONAL, is_prompt=True), sink=prompt.append)
        spuid = await scheduler.subscribe(OPTIONAL, sink=later.append)
        await scheduler.update(insert(1))
        assert [each.sequence for each in prompt] == [0, 1]
        assert [each.sequence for each in later] == [0]
        links[0].go.release(1000)
        engine.drain()
        assert [each.sequence for each in later] == [0, 1]
        await scheduler.unsubscribe(spuid)
        await scheduler.update(insert(2))
    assert [each.sequence for each in prompt] == [0, 1, 2]
    assert [each.sequence for each in later] == [0, 1]


def quads(*texts: str) -> Iterator[Delta]:
    store = QuadStore.open(None)
    engine = Engine(store)
    for text in texts:
        yield engine.update(text).delta


def test_the_quads_of_then_are_those_of_now_with_the_deltas_undone() -> None:
    store = QuadStore.open(None)
    engine = Engine(store)
    engine.update("INSERT DATA { <urn:a> <urn:p> 1, 2 ; <urn:q> 3 . <urn:b> <urn:p> 1 }")
    entries = (
        LuttEntry(predicate=NamedNode("urn:p"), subject=NamedNode("urn:a")),
        LuttEntry(predicate=NamedNode("urn:q")),
    )
    then = Counter(quads_then(store, entries, ()))
    deltas = [
        engine.update(text).delta
        for text in (
            "DELETE DATA { <urn:a> <urn:p> 1 . <urn:b> <urn:p> 1 }",
            "INSERT DATA { <urn:a> <urn:p> 1 . <urn:c> <urn:q> 1 }",
            "DELETE WHERE { <urn:a> ?p ?o }",
        )
    ]
    assert len(then) == 3
    assert Counter(quads_then(store, entries, deltas)) == then


def test_a_context_store_forgets_what_no_entry_covers_any_more() -> None:
    (delta,) = quads("INSERT DATA { <urn:a> <urn:p> 1 ; <urn:q> 2 . <urn:b> <urn:p> 3 }")
    by_subject, by_predicate = (
        LuttEntry(subject=NamedNode("urn:a")),
        LuttEntry(predicate=NamedNode("urn:p")),
    )
    context = ContextStore()
    context.cover((by_subject, by_predicate), delta.added)
    context.uncover((by_subject,))
    assert len(context.store) == 2
    assert len(list(matches(context.store, by_predicate))) == 2
    context.uncover((by_predicate,))
    assert len(context.store) == 0


def test_who_may_read_some_graphs_is_told_of_those_alone() -> None:
    listener = Listener()
    engine = open_engine(listener)
    rights = Rights(read=frozenset({NamedNode("urn:open")}))
    text = "SELECT ?g (COUNT(?y) AS ?n) { GRAPH ?g { ?x <urn:p> ?y } } GROUP BY ?g"
    mine, everything = engine.subscribe(text, rights=rights), engine.subscribe(text)
    for graph in ("secret", "open", "secret"):
        triple = "{ <urn:x> <urn:p> ?y }"
        engine.update(f"INSERT {{ GRAPH <urn:{graph}> {triple} }} WHERE {{ BIND(UUID() AS ?y) }}")
    engine.drain()
    assert {row[0] for row in listener.rows(mine)} == {NamedNode("urn:open")}
    assert len(listener.told[mine.spuid]) == 1
    assert len(listener.told[everything.spuid]) == 3
    engine.close()


def test_delayed_update_is_told_by_workers_and_clock_subscriptions_alike() -> None:
    listener, now = Listener(), [1_700_000_000_000_000]
    engine = Engine(
        QuadStore.open(None),
        workers=1,
        options=EngineOptions(clock=lambda: now[0], launch=ThreadLink),
        on_notification=listener,
    )
    coarse, clocked = engine.subscribe(COARSE), engine.subscribe("SELECT (NOW() AS ?n) { }")
    engine.update(insert(1), at=timedelta(seconds=1))
    now[0] += 1_000_000
    outcome = engine.run_due()
    assert outcome is not None
    engine.drain()
    assert [each.time for each in listener.told[coarse.spuid]] == [outcome.time]
    assert [each.time for each in listener.told[clocked.spuid]] == [outcome.time]
    engine.close()


def test_quad_that_two_entries_of_a_worker_cover_can_be_removed() -> None:
    listener = Listener()
    engine = open_engine(listener)
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:q> 1 } }")
    firsts = [
        engine.subscribe(query)
        for query in (
            "SELECT ?x { GRAPH <urn:g> { ?x (<urn:p>|<urn:q>) ?y } }",
            "SELECT ?x (MAX(?y) AS ?n) { GRAPH ?g { ?x <urn:q> ?y } } GROUP BY ?x",
        )
    ]
    engine.update("DELETE DATA { GRAPH <urn:g> { <urn:a> <urn:q> 1 } }")
    engine.drain()
    assert [len(first.added) for first in firsts] == [1, 1]
    assert not any(listener.rows(first) for first in firsts)
    engine.close()
