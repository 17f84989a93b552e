"""`analysed`: what a run's record says: notification times, throughput, by channel and in all.

Place on the way of the data: after the runner, before the report. Source: Murth et al.,
"Performance Testing of Semantic Publish/Subscribe Systems", section 2: the notification time is the
mean over rows, the throughput that of strictly sequential publications.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.report import percentile
from bench.sepbm.runner import Run

COMPONENTS = ("update", "reason", "lutt", "booster", "notify")


def analysed(run: Run) -> dict[str, Any]:
    """The members of a run with all its channels together."""
    count = len(run.publish_s)
    return {
        "publications": count,
        "rows": len(run.rows),
        "rows_expected": run.expected,
        "complete": run.is_complete,
        "notification_ms": times([ms for _, ms in run.rows]),
        "publications_per_s": _rate(count, run.seconds),
        "cpu_ms_per_publication": _each(run.publish_cpu_s * 1e3, count),
        "delete_cpu_ms": _each(sum(run.delete_cpu_s) * 1e3, len(run.delete_cpu_s)),
        "components_ms": _components(run, count),
        "channels": [_channel(name, run) for name in sorted(_names(run))],
        "first_answers_s": run.first_answers_s,
        "memory_bytes": run.memory_bytes,
        "problems": run.problems,
    }


def analysed_each(runs: Mapping[str, Run]) -> dict[str, Any]:
    """The members of one run a channel, each alone: rows of all, rates of each."""
    everything = Run()
    for run in runs.values():
        everything.rows += run.rows
        everything.publish_s += run.publish_s
        everything.settle_s += run.settle_s
        everything.publish_cpu_s += run.publish_cpu_s
        everything.delete_cpu_s += run.delete_cpu_s
        everything.expected += run.expected
        everything.first_answers_s += run.first_answers_s
        everything.problems += run.problems
        everything.memory_bytes = run.memory_bytes
        _sum_components(everything, run)
    members = analysed(everything)
    members["channels"] = [
        {
            **_channel(name, run),
            "publications_per_s": _rate(len(run.publish_s), run.seconds),
        }
        for name, run in sorted(runs.items())
    ]
    return members


def times(ms: Sequence[float]) -> dict[str, float | None]:
    """Mean, p50 and p99; None without any."""
    if not ms:
        return dict.fromkeys(("mean", "p50", "p99"))
    ordered = sorted(ms)
    return {
        "mean": sum(ms) / len(ms),
        "p50": percentile(ordered, 0.5),
        "p99": percentile(ordered, 0.99),
    }


def _channel(name: str, run: Run) -> dict[str, Any]:
    found = times([ms for channel, ms in run.rows if channel == name])
    guessed = run.guessed.get(name)
    count, seconds = run.busy.get(name, (0, 0.0))
    return {
        "id": name,
        "rows": sum(channel == name for channel, _ in run.rows),
        "mean_ms": found["mean"],
        "p99_ms": found["p99"],
        "publications_per_s": _rate(count, seconds),
        "hit_rate": _each(guessed["hits"], guessed["rows"]) if guessed else None,
        "tested": guessed["tested"] if guessed else None,
        "wrong": guessed["wrong"] if guessed else None,
        "late": run.late[name] if guessed else None,
    }


def _names(run: Run) -> Iterable[str]:
    return set(run.channels) | set(Counter(channel for channel, _ in run.rows))


def _components(run: Run, count: int) -> dict[str, float | None] | None:
    found = run.components_ms
    if found is None:
        return None
    return {name: _each(found[name], count) if name in found else None for name in COMPONENTS}


def _sum_components(total: Run, run: Run) -> None:
    if run.components_ms is None:
        return
    sums = total.components_ms or dict.fromkeys(run.components_ms, 0.0)
    total.components_ms = {name: sums[name] + run.components_ms[name] for name in sums}


def _each(total: float, count: float) -> float | None:
    return total / count if count else None


def _rate(count: float, seconds: float) -> float | None:
    return count / seconds if seconds else None
