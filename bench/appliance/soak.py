"""`soak`: millions of readings at full speed on one core and 512 MB, in parts that can be resumed.

Place on the way of the data: all of it, embedded broker, store on disk, journal with fsync, bounded
and allowed to drop. `folder` keeps the gateway's data and what each part found; given again, the
next part goes on behind the last. What has to stay as it is: memory and file descriptors after the
first million, the bytes of store and journal, and the time until a message is acknowledged.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from bench.appliance.confined import Confinement, confined
from bench.appliance.proc import of_status, open_files, size_of
from bench.processes import ChildFailedError
from bench.readings.device import Device
from bench.readings.service import Service, running_service, service_config
from bench.readings.workload import SENSORS, Workload
from bench.report import Experiment, Figure, Outcome, digest, percentile
from gateway.config.journal import JournalSettings
from gateway.config.settings import Config
from gateway.demo.devices import Publication

READINGS, PART_S = 10_000_000, 7_200
MEMORY_BYTES = 512 * 2**20
JOURNAL_BYTES = 256 * 2**20
_FIRST = 1_000_000
_START_S = 300.0
_SAMPLE_S = 10.0
_PROBE_S = 0.1
_CHUNK = 1_000
_WINDOW = 100
_MB = 1e6


@dataclass(frozen=True, slots=True)
class Sample:
    """The gateway after so many readings."""

    readings: int
    resident: int
    files: int
    store: int
    journal: int


@dataclass(frozen=True, slots=True)
class Part:
    """Readings `first` up to and without `end`, and what was seen meanwhile."""

    first: int
    end: int
    seconds: float
    cpu_s: float
    p99_ms: float
    date: str
    how: str
    dropped: float
    samples: tuple[Sample, ...] = field(default=())


def measure(folder: Path, readings: int = READINGS, part_s: float = PART_S) -> Iterator[Outcome]:
    """One more part; the report of all of them is written to `folder`/report.md."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "parts.jsonl"
    parts = _parts(kept)
    begin = parts[-1].end if parts else 0
    if begin < readings:
        with confined(MEMORY_BYTES) as bounds:
            part = _play(folder, begin, readings, part_s, bounds)
        parts = [*parts, part]
        _keep(kept, parts)
    (folder / "report.md").write_text(report(parts, readings), encoding="utf-8")
    yield _experiment(parts, readings)


def _parts(kept: Path) -> list[Part]:
    """What earlier parts found; a part that did not end is none, and its readings come again."""
    parts = []
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        try:
            members = json.loads(line)
        except ValueError:
            continue
        samples = tuple(Sample(**each) for each in members.pop("samples"))
        parts.append(Part(**members, samples=samples))
    return parts


def _keep(kept: Path, parts: Sequence[Part]) -> None:
    """All of them or those before, whenever it ends."""
    fresh = kept.with_suffix(".new")
    lines = (json.dumps(asdict(part)) + "\n" for part in parts)
    fresh.write_text("".join(lines), encoding="utf-8")
    fresh.replace(kept)


def _config(folder: Path) -> Config:
    config = service_config(folder, None)
    journal = JournalSettings(max_bytes=JOURNAL_BYTES, drop_unshipped=True)
    return config.model_copy(update={"journal": journal})


def _play(folder: Path, begin: int, readings: int, part_s: float, bounds: Confinement) -> Part:
    with running_service(_config(folder), _START_S, bounds.within) as service:
        before, cpu_s, started = service.counters(), service.child.cpu_s(), monotonic()
        samples: list[Sample] = []
        with _Probe(service.mqtt_port) as probe:
            end = _publish(service, folder, (begin, readings), started + part_s, samples)
        after = service.wait_until("updates", before["updates"] + end - begin + probe.count)
        counted = after["observations"] - before["observations"] - probe.count
        if counted != end - begin:
            raise ChildFailedError(f"{end - begin} readings gave {counted:g} observations")
        return Part(
            begin,
            end,
            monotonic() - started,
            service.child.cpu_s() - cpu_s,
            percentile(sorted(probe.times_ms), 0.99),
            datetime.now(UTC).strftime("%Y-%m-%d"),
            bounds.how,
            after["journal_dropped"],
            tuple(samples),
        )


def _publish(
    service: Service, folder: Path, span: tuple[int, int], until: float, samples: list[Sample]
) -> int:
    """As fast as it goes, until all are sent or the time is over; where it ended."""
    index, readings = span
    workload, due = Workload(readings), monotonic()
    with Device(service.mqtt_port, "soak", _WINDOW) as device:
        while index < readings and (index == span[0] or monotonic() < until):
            last = min(index + _CHUNK, readings)
            for each in range(index, last):
                device.publish(workload.publication(each))
            index = last
            if monotonic() >= due:
                samples.append(_sample(service, folder, index))
                due = monotonic() + _SAMPLE_S
        device.drain()
    samples.append(_sample(service, folder, index))
    return index


def _sample(service: Service, folder: Path, readings: int) -> Sample:
    pid, data = service.child.pid, folder / "data"
    return Sample(
        readings,
        of_status(pid, "VmRSS"),
        open_files(pid),
        size_of(data / "store"),
        size_of(data / "journal"),
    )


class _Probe:
    """A client that publishes ten times a second and waits for each PUBACK; a context manager."""

    def __init__(self, port: int) -> None:
        self.times_ms: list[float] = []
        self._device = Device(port, "probe", 1)
        self._ended = Event()
        self._thread = Thread(target=self._run, name="probe")
        self._fault: Exception | None = None

    @property
    def count(self) -> int:
        """How many it has sent, each a reading of its own."""
        return len(self.times_ms)

    def __enter__(self) -> "_Probe":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._fault is not None:
            raise ChildFailedError(f"the probe failed: {self._fault}")

    def _run(self) -> None:
        # Counters go on over parts, so that none of its readings was told before.
        number = int(datetime.now(UTC).timestamp() * 1000)
        try:
            with self._device as device:
                while not self._ended.is_set() or not self.times_ms:
                    number += 1
                    payload = f'{{"value":1.5,"sequence":{number}}}'.encode()
                    started = monotonic()
                    device.publish(Publication("probe", f"bench/{SENSORS}", payload))
                    device.drain()
                    self.times_ms.append((monotonic() - started) * 1000)
                    self._ended.wait(_PROBE_S)
        except (OSError, ChildFailedError) as error:
            self._fault = error


def _steady(parts: Sequence[Part]) -> list[Sample]:
    """Samples after the first million; the last ones where it is not reached."""
    samples = [each for part in parts for each in part.samples]
    return [each for each in samples if each.readings >= _FIRST] or samples[-1:]


def _growth(parts: Sequence[Part]) -> float:
    """The most memory after the first million, by that at the first million."""
    steady = _steady(parts)
    return max(each.resident for each in steady) / steady[0].resident


def _experiment(parts: Sequence[Part], readings: int) -> Experiment:
    last, steady = parts[-1], _steady(parts)
    rows = [f"from {part.first} to {part.end}" for part in parts]
    ends = [0, *(part.end for part in parts)]
    expected = [f"from {first} to {end}" for first, end in pairwise(ends)]
    figures = (
        Figure("readings", last.end, "", f"of {readings:,}; given again it goes on"),
        Figure("parts", len(parts)),
        Figure("rate", (last.end - last.first) / last.seconds, "readings/s", "of this part"),
        Figure("CPU", last.cpu_s / max(1, last.end - last.first) * 1e6, "µs/reading"),
        Figure("memory", last.samples[-1].resident / _MB, "MB"),
        Figure("memory / at the first million", _growth(parts), "times", "goal: flat"),
        Figure("file descriptors", steady[-1].files),
        Figure("store", last.samples[-1].store / _MB, "MB"),
        Figure(
            "journal", last.samples[-1].journal / _MB, "MB", f"bound: {JOURNAL_BYTES / _MB:.0f}"
        ),
        Figure("p99 of a PUBACK", last.p99_ms, "ms"),
        Figure("p99 / of the first part", last.p99_ms / parts[0].p99_ms, "times", "goal: 1.2"),
    )
    label = f"emulated, uncalibrated: {last.how}"
    return Experiment("soak", figures, digest(rows), digest(expected), (label,))


def report(parts: Sequence[Part], readings: int) -> str:
    """What there is to be kept in docs: a table of the parts."""
    lines = [
        f"# Soak: {parts[-1].end:,} of {readings:,} readings, {parts[-1].date}",
        "",
        f"One core, 512 MB, emulated and uncalibrated ({parts[-1].how}); QoS 1, no subscriber.",
        "",
        "| part | readings | readings/s | CPU µs | p99 of PUBACK, ms | memory, MB "
        "| descriptors | store, MB | journal, MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for number, part in enumerate(parts, 1):
        end, count = part.samples[-1], part.end - part.first
        lines.append(
            f"| {number} | {part.first:,} to {part.end:,} | {count / part.seconds:,.0f} "
            f"| {part.cpu_s / max(1, count) * 1e6:,.0f} | {part.p99_ms:.1f} "
            f"| {end.resident / _MB:.0f} | {end.files} | {end.store / _MB:.1f} "
            f"| {end.journal / _MB:.1f} |"
        )
    lines += ["", f"Memory after the first million, by that at it: {_growth(parts):.2f}.", ""]
    return "\n".join(lines)
