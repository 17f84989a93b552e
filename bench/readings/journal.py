"""`journal`: what it costs to append, to seal and to keep an observation.

Place on the way of the data: between ingest and shipping, without them. The data is that of a house
whose 50 devices tell temperature, humidity, pressure and motion; half of the streams carry the
device's own time. Times are CPU times.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time

from adapters.values.observation import XSD, Observation
from bench.report import Experiment, Figure, Outcome, digest
from gateway.journal import Journal, JournalLimits, Origin, Record

OBSERVATIONS = 100_000
_GROUP = 32
_BASE = "https://sosa-gateway.example/id/"
_KINDS = ("temperature", "humidity", "pressure", "motion")
_STREAMS = 200

Seen = tuple[Observation, datetime]


def measure(observations: int = OBSERVATIONS) -> Iterator[Outcome]:
    """One journal filled in groups as ingest makes them, each made durable, then sealed."""
    seen = list(_house(observations))
    with TemporaryDirectory(prefix="sosa-gateway-bench-") as folder:
        limits = JournalLimits(segment_observations=observations)
        with Journal(Path(folder), Origin("house", _BASE), limits) as journal:
            append_s = _append(journal, seen)
            written, writes, syncs = journal.written_bytes, journal.writes, journal.syncs
            journal.rotate()
            started = process_time()
            journal.seal()
            seal_s = process_time() - started
            size = sum(item.size for item in journal.manifest.sealed())
        found = list(_rows(Path(folder)))
    figures = (
        Figure("observations", observations, "", f"{_STREAMS} streams, groups of {_GROUP}"),
        Figure("append CPU", append_s / observations * 1e6, "µs/observation"),
        Figure("seal CPU", seal_s / observations * 1e6, "µs/observation", "beside ingest"),
        Figure("CPU", (append_s + seal_s) / observations * 1e6, "µs/observation"),
        Figure("raw", written / observations, "bytes/observation"),
        Figure("sealed", size / observations, "bytes/observation"),
        Figure("writes", writes / observations, "1/observation"),
        Figure("fsyncs", syncs / observations, "1/observation"),
    )
    expected = [_row(number, each) for number, each in enumerate(seen, 1)]
    yield Experiment("journal", figures, digest(found), digest(expected))


def _append(journal: Journal, seen: Sequence[Seen]) -> float:
    started = process_time()
    for begin in range(0, len(seen), _GROUP):
        records = []
        for observation, at in seen[begin : begin + _GROUP]:
            position = journal.next_position()
            records.append(Record(position, position.sequence, observation, at))
        journal.append(records)
        journal.sync()
    return process_time() - started


def _house(count: int) -> Iterator[Seen]:
    """Readings that wander, about one a second, told up to 200 ms after they were made."""
    chance = Random(1)  # noqa: S311  the same house every time
    levels = [20 + 5 * chance.random() for _ in range(_STREAMS)]
    now = datetime(2026, 3, 2, tzinfo=UTC)
    for _ in range(count):
        stream = chance.randrange(_STREAMS)
        now += timedelta(microseconds=chance.randrange(1000, 2_000_000))
        levels[stream] += chance.gauss(0, 0.1)
        delay = timedelta(milliseconds=chance.randrange(200))
        yield _observation(stream, levels[stream], now - delay if stream % 2 else None), now


def _observation(stream: int, level: float, time: datetime | None) -> Observation:
    kind = _KINDS[stream % len(_KINDS)]
    is_motion = kind == "motion"
    return Observation(
        f"{_BASE}house/sensor/zigbee-{stream // 4:04d}",
        f"{_BASE}property/{kind}",
        f"{_BASE}house/room/{stream // 16}",
        ("true" if level > 22 else "false") if is_motion else f"{level:.2f}",
        XSD + ("boolean" if is_motion else "decimal"),
        None if is_motion else "http://qudt.org/vocab/unit/DEG_C",
        time and time.replace(microsecond=time.microsecond // 1000 * 1000),
    )


def _row(number: int, seen: Seen) -> str:
    observation, at = seen
    return f"{number} {observation.sensor} {observation.lexical} {at:%FT%T.%f}"


def _rows(folder: Path) -> Iterator[str]:
    """What the sealed segments have, read by the standard library alone."""
    for path in folder.glob("*.jsonl.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for fields in map(json.loads, lines):
                if "q" in fields:
                    at = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=fields["i"])
                    yield f"{fields['q']} {fields['s']} {fields['v']} {at:%FT%T.%f}"
