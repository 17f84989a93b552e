"""What the engine counts, and which subscriptions could not be served any more."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from time import monotonic

from gateway.engine.engine import Engine
from gateway.engine.windowed.window_measures import window_measures
from gateway.runtime.alarms import AlarmKind, Condition, Source
from gateway.runtime.measures import Measure


def engine_measures(engine: Engine) -> tuple[Measure, ...]:
    """UPDATEs, SPUs and notifications; of workers and of the performance model where they are."""
    return (
        *_updates(engine),
        *_spus(engine),
        *window_measures(engine.windowed),
        *_workers(engine),
        *performance_measures(engine),
    )


def _updates(engine: Engine) -> tuple[Measure, ...]:
    seen = engine.statistics
    return (
        Measure("updates", "UPDATE requests executed", lambda: seen.updates),
        Measure("quads_added", "quads added, net", lambda: seen.quads_added),
        Measure("quads_removed", "quads removed, net", lambda: seen.quads_removed),
        Measure(
            "store_failing",
            "1 while the disk does not take what is to be stored",
            lambda: bool(engine.store.alarm),
            is_counter=False,
        ),
        Measure(
            "delayed",
            "delayed UPDATEs that wait",
            lambda: engine.waiting_delayed,
            is_counter=False,
        ),
        Measure("delayed_executed", "delayed UPDATEs taken", lambda: seen.delayed_executed),
        Measure("delayed_late", "due while the gateway was down", lambda: seen.delayed_late),
        Measure("delayed_failed", "delayed UPDATEs that failed", lambda: seen.delayed_failed),
    )


def _spus(engine: Engine) -> tuple[Measure, ...]:
    seen, beside = engine.statistics, engine.workers_statistics
    return (
        Measure(
            "lutt_hits", "SPUs that an UPDATE reached", lambda: seen.lutt_hits + beside.lutt_hits
        ),
        Measure(
            "lutt_misses",
            "SPUs that an UPDATE did not reach",
            lambda: seen.lutt_misses + beside.seen - beside.lutt_hits,
        ),
        Measure(
            "notifications",
            "notifications made",
            lambda: seen.notifications + engine.delivery.late,
        ),
        Measure(
            "spu_failures",
            "evaluations of an SPU that failed",
            lambda: seen.failures + beside.failures,
        ),
        Measure("subscriptions", "subscriptions now", lambda: seen.subscriptions, is_counter=False),
        Measure("spus", "SPUs by tier", lambda: seen.spus, is_counter=False, label="tier"),
    )


def _workers(engine: Engine) -> tuple[Measure, ...]:
    workers = engine.workers
    if workers is None:
        return ()
    seen = workers.statistics
    return (
        Measure("workers", "worker processes up", lambda: workers.alive, is_counter=False),
        Measure("worker_restarts", "workers that died and were replaced", lambda: workers.restarts),
        Measure("worker_spus", "SPUs in workers", lambda: seen.spus, is_counter=False),
        Measure(
            "worker_outstanding",
            "requests that workers have not done",
            lambda: workers.outstanding,
            is_counter=False,
        ),
        Measure("spus_given_up", "SPUs that ended their worker too often", lambda: seen.given_up),
    )


def performance_measures(engine: Engine) -> tuple[Measure, ...]:
    """The engine's performance model, where its option is on."""
    performance, seen = engine.performance, engine.statistics
    if performance is None:
        return ()
    return (
        Measure("updates_timed", "UPDATE requests timed", lambda: performance.updates),
        Measure(
            "update_seconds",
            "time of UPDATEs by component",
            lambda: {name: ns / 1e9 for name, ns in asdict(performance.totals).items()},
            label="component",
        ),
        Measure(
            "kpi",
            "performance indicators of the engine",
            lambda: asdict(performance.kpi(seen.subscriptions)),
            is_counter=False,
            label="indicator",
        ),
        Measure(
            "lutt_hit_rate",
            "part of pairs of UPDATE and SPU let through",
            lambda: performance.lutt_hit_rate,
            is_counter=False,
        ),
    )


_SHOWN = 120
_TOLD_S = 3600.0


def engine_alarms(engine: Engine, clock: Callable[[], float] = monotonic) -> Source:
    """For an hour, each by the text of its query."""

    def look() -> Iterator[Condition]:
        for failed in tuple(engine.delivery.failed):
            if clock() - failed.at < _TOLD_S:
                where = " ".join(failed.text.split())[:_SHOWN]
                error = failed.error
                yield Condition(AlarmKind.SUBSCRIPTION_FAILED, where, error.description, error.hint)

    return look
