"""`ingest`: readings per second from MQTT to a durable commit, with 100 subscriptions.

Place on the way of the data: from the first publish to the engine's last commit; rates are end to
end. Beside them, in the same run: the bare store with the same UPDATE texts, and the gateway's
parts in one thread without MQTT.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pyoxigraph import Store

from bench.readings.inprocess import Timing, result_rows, run_bare, run_loop
from bench.readings.session import BROKERS, Plan, Played, play_behind, reference
from bench.readings.workload import LATEST_QUERY, SENSORS, Workload
from bench.report import Experiment, Figure, Outcome, digest

READINGS = 20_000
BARE_SAMPLE = 1000
LOOP_SAMPLE = 5000

_SUBSCRIPTIONS = "100 subscriptions over one WebSocket: 97 single patterns, 3 joins of two patterns"

_OVER_WINDOWS = (
    "100 more over the last 10 minutes: 50 told of each reading of a sensor, 50 of the mean of one"
)


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """What the rates are compared with, s per reading."""

    bare: Timing
    bare_sample: int
    loop: Timing
    loop_sample: int

    @property
    def bare_rate(self) -> float:
        """Requests/s of the bare store."""
        return self.bare_sample / self.bare.wall_s

    @property
    def loop_cpu_us(self) -> float:
        """CPU of the parts in one thread, µs a reading."""
        return self.loop.cpu_s / self.loop_sample * 1e6

    @property
    def loop_rate(self) -> float:
        """Readings/s of the parts in one thread."""
        return self.loop_sample / self.loop.wall_s


def measure(readings: int = READINGS, brokers: Sequence[str] = BROKERS) -> Iterator[Outcome]:
    """The yardsticks, then the gateway behind each broker."""
    yardsticks, experiment = measure_yardsticks(readings)
    yield experiment
    plan = Plan(Workload(readings))
    report = partial(_experiment, yardsticks)
    for broker in brokers:
        alone = play_behind(broker, "ingest", plan, report)
        yield alone
        if isinstance(alone, Experiment):
            windowed = partial(_windowed, alone)
            yield play_behind(broker, "ingest", replace(plan, windowed=True), windowed)


def measure_yardsticks(readings: int) -> tuple[Yardsticks, Experiment]:
    """The loop on at most `LOOP_SAMPLE` readings, the bare store on at most `BARE_SAMPLE`."""
    workload = Workload(min(readings, LOOP_SAMPLE))
    with TemporaryDirectory(prefix="sosa-gateway-bench-") as name:
        folder = Path(name)
        loop = run_loop(folder, workload, keep=SENSORS + BARE_SAMPLE)
        found, texts = [f"loop {row}" for row in loop.rows], loop.texts
        warm = min(SENSORS, len(texts) // 2)
        store = Store(str(folder / "bare"))
        bare = run_bare(store, texts, warm)
        found += [f"bare {row}" for row in result_rows(store.query(LATEST_QUERY))]
        del store
    yardsticks = Yardsticks(bare, len(texts) - warm, loop.timing, workload.readings)
    expected = [f"loop {sensor} {result}" for sensor, result in workload.latest()]
    expected += [f"bare {sensor} {result}" for sensor, result in Workload(len(texts)).latest()]
    return yardsticks, Experiment(
        "ingest yardsticks",
        tuple(_yardstick_figures(yardsticks)),
        digest(found),
        digest(expected),
        (
            "bare store: position, forget, observe as one text by Store.update, on disk, no fsync",
            "loop: ingest (adapter, duplicates, templates), journal, engine, wire in one thread",
        ),
    )


def _yardstick_figures(yardsticks: Yardsticks) -> Iterator[Figure]:
    bare, count = yardsticks.bare, yardsticks.bare_sample
    sample = f"sample of {count}, extrapolated per reading"
    yield Figure("bare store", yardsticks.bare_rate, "readings/s", sample)
    yield Figure("bare store CPU", bare.cpu_s / count * 1e6, "µs/reading")
    loop, count = yardsticks.loop, yardsticks.loop_sample
    yield Figure("loop", yardsticks.loop_rate, "readings/s", f"{count} readings")
    yield Figure("loop CPU", yardsticks.loop_cpu_us, "µs/reading")
    yield Figure(
        "loop CPU / bare store", loop.cpu_s / count / (bare.cpu_s / yardsticks.bare_sample), "times"
    )
    for name, stage_s in loop.stages_s.items():
        share = f"{stage_s / loop.wall_s:.0%} of its time"
        yield Figure(f"loop {name}", stage_s / count * 1e6, "µs/reading", share)


def _windowed(alone: Experiment, plan: Plan, played: Played) -> Experiment:
    """The same with a hundred more, over windows, beside the way without these."""
    readings = plan.workload.readings
    rate, cpu_us = readings / played.elapsed_s, played.gateway_cpu_s / readings * 1e6
    before = {figure.name: figure.value for figure in alone.figures}
    figures = (
        Figure("readings", readings),
        Figure("rate", rate, "readings/s", "first publish to last commit"),
        Figure("rate / without windows", rate / before["rate"], "times"),
        Figure("gateway CPU", cpu_us, "µs/reading"),
        Figure("gateway CPU / without windows", cpu_us / before["gateway CPU"], "times"),
        Figure("notifications", played.counted["notifications"]),
    )
    return Experiment(
        f"ingest {plan.broker} windowed",
        figures,
        played.digest(),
        reference(plan),
        (_SUBSCRIPTIONS, _OVER_WINDOWS),
    )


def _experiment(yardsticks: Yardsticks, plan: Plan, played: Played) -> Experiment:
    readings = plan.workload.readings
    rate = readings / played.elapsed_s
    cpu_us = played.gateway_cpu_s / readings * 1e6
    bare_cpu_us = yardsticks.bare.cpu_s / yardsticks.bare_sample * 1e6
    figures = (
        Figure("readings", readings),
        Figure("elapsed", played.elapsed_s, "s"),
        Figure("rate", rate, "readings/s", "first publish to last commit"),
        Figure("rate / bare store", rate / yardsticks.bare_rate, "times"),
        Figure("rate / loop", rate / yardsticks.loop_rate, "times"),
        Figure("gateway CPU", cpu_us, "µs/reading"),
        Figure("gateway CPU / bare store", cpu_us / bare_cpu_us, "times"),
        Figure(
            "hand-overs", cpu_us - yardsticks.loop_cpu_us, "µs/reading", "CPU beyond the loop's"
        ),
        Figure("waits of threads", played.switches[0] / readings, "a reading"),
        Figure("switches by force", played.switches[1] / readings, "a reading"),
        Figure("publishers CPU", played.publishers_cpu_s / readings * 1e6, "µs/reading"),
        Figure("notifications", played.counted["notifications"]),
        Figure("merged notifications", played.heard["merged"], "", "for the slow reader"),
    )
    return Experiment(
        f"ingest {plan.broker}", figures, played.digest(), reference(plan), (_SUBSCRIPTIONS,)
    )
