"""Findings on random streams, as plain Python says that goes through all rows in their order."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from random import Random
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from spark_batch.frames import typed_frame
from spark_batch.schema import OBSERVATIONS, STREAM
from spark_batch.transforms import quality
from spark_batch.transforms.quality import Limits
from spark_batch.transforms.streams import numbered

LIMITS = Limits(5, 3.0, 4, 1.5, 2.0)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_T = 1_788_220_800_000_000
_DAY = 86_400_000_000
_STREAMS = [
    *(("g", "s", "p", "f", unit) for unit in ("C", None)),
    ("g", "s", "p", None, "C"),
    ("g", "t", "q", "f", None),
    ("h", "t", "q", "f", "C"),
    ("h", "rare", "q", "f", "C"),
]
Finding = tuple[Any, ...]


class Seen(NamedTuple):
    """An observation in the words of the table."""

    stream: tuple[str | None, ...]
    us: int
    sequence: int
    number: float | None
    boolean: bool | None
    counter: str | None
    suspect_us: int | None
    kind: str = "observation"

    @property
    def value(self) -> float | None:
        number = self.number if self.boolean is None else float(self.boolean)
        return number if number is not None and math.isfinite(number) else None

    def row(self) -> tuple[object, ...]:
        told: dict[str, object] = dict(zip(STREAM, self.stream, strict=True))
        told |= {"kind": self.kind, "epoch": 7, "sequence": self.sequence, "delay_us": 0}
        told |= {"result_time": _moment(self.us), "device_clock": self.suspect_us is None}
        told |= {"number": self.number, "boolean": self.boolean, "device_sequence": self.counter}
        told["suspect_time"] = None if self.suspect_us is None else _moment(self.suspect_us)
        return tuple(told.get(name) for name in OBSERVATIONS.fieldNames())


def _moment(us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=us)


def _rows(chance: Random, *, is_sound: bool) -> list[Seen]:
    """Runs of one number, steps, holes, the same time again, nothing finite, other kinds."""
    found: list[Seen] = []
    us, held = _T, 1.0
    for sequence in range(900):
        us += 10_000_000 * chance.choice((0, 1, 1, 1, 1, 1, 1, 1, 1, 30))
        held = chance.choice((held,) * 4 + (held + 0.5, held - 0.5, held + 9, 1.0))
        number: float | None = held
        boolean, counter, suspect_us, kind = None, None, None, "observation"
        stream = chance.choice(_STREAMS[:-1] if sequence % 300 else _STREAMS[-1:])
        if not is_sound:
            number = chance.choice((held,) * 20 + (None, math.nan, math.inf))
            if number is None:
                boolean = chance.choice((True, False))
            counter = chance.choice((None, None, "1"))
            suspect_us = us + 99 * _DAY if chance.random() < 0.02 else None
            kind = "actuation" if chance.random() < 0.02 else kind
        found.append(Seen(stream, us, sequence, number, boolean, counter, suspect_us, kind))
    return found


def _median(values: Sequence[float]) -> float | None:
    """The lower one of two, None of none."""
    return sorted(values)[(len(values) + 1) // 2 - 1] if values else None


def _expected(rows: Sequence[Seen]) -> list[Finding]:
    streams: defaultdict[tuple[str | None, ...], list[Seen]] = defaultdict(list)
    for each in sorted(rows, key=lambda each: (each.us, each.sequence)):
        if each.kind == "observation":
            streams[each.stream].append(each)
    judged = {name: seen for name, seen in streams.items() if len(seen) >= LIMITS.observations}
    newest = max(seen[-1].us for seen in judged.values())
    found: list[Finding] = []
    for name, seen in streams.items():
        found += ((check, *name, *rest) for check, *rest in _repeated(seen))
        if name in judged:
            found += ((check, *name, *rest) for check, *rest in _judged(seen, newest))
    found += _jumps(rows)
    return sorted(found, key=str)


def _judged(seen: Sequence[Seen], newest: int) -> Iterator[Finding]:
    pairs = list(pairwise(seen))
    intervals = [after.us - before.us for before, after in pairs]
    steps = [_step(before, after) for before, after in pairs]
    usual = _median([each for each in intervals if each > 0])
    moved = [abs(each) for each in steps if each]
    usual_step, runs = _median(moved), len(moved) + 1
    if usual is not None:
        for (before, after), interval in zip(pairs, intervals, strict=True):
            if interval > LIMITS.gap_intervals * usual:
                yield "gap", before.us, after.us, interval / usual - 1
        if newest - seen[-1].us > LIMITS.gap_intervals * usual:
            yield "silence", seen[-1].us, newest, (newest - seen[-1].us) / usual
    for here, (to, away) in zip(seen[1:], pairwise(steps), strict=False):
        if here.number is None or not to or not away or usual_step is None:
            continue
        far = min(abs(to), abs(away)) / usual_step
        if (to > 0) != (away > 0) and far > LIMITS.spike_steps:
            yield "spike", here.us, here.us, far
    yield from _stuck(seen, steps, runs)


def _step(before: Seen, after: Seen) -> float | None:
    if before.value is None or after.value is None:
        return None
    return after.value - before.value


def _stuck(seen: Sequence[Seen], steps: Sequence[float | None], runs: int) -> Iterator[Finding]:
    stretches: list[list[Seen]] = []
    for each, step in zip(seen, [None, *steps], strict=True):
        if each.number is None or each.value is None:
            continue
        if step != 0 or not stretches:
            stretches.append([])
        stretches[-1].append(each)
    least = max(LIMITS.stuck_observations, LIMITS.stuck_runs * len(seen) / runs)
    for stretch in stretches:
        if len(stretch) >= least and runs > 1:
            yield "stuck", stretch[0].us, stretch[-1].us, len(stretch)


def _repeated(seen: Sequence[Seen]) -> Iterator[Finding]:
    def told(each: Seen) -> tuple[object, ...]:
        result = each.boolean if each.number is None else str(each.number)  # NaN is NaN here
        return each.us, each.counter, result

    kinds: dict[str, list[Seen]] = {"duplicate": [], "revision": []}
    for before, here in pairwise(seen):
        if told(before) == told(here):
            kinds["duplicate"].append(here)
        elif here.suspect_us is None and here.counter and told(before)[:2] == told(here)[:2]:
            kinds["revision"].append(here)
    for check, found in kinds.items():
        for _, day in groupby(found, lambda each: each.us // _DAY):
            of_day = list(day)
            yield check, of_day[0].us, of_day[-1].us, len(of_day)


def _jumps(rows: Sequence[Seen]) -> Iterator[Finding]:
    days: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for each in rows:
        if each.suspect_us is not None and each.kind == "observation":
            days[(*each.stream[:2], each.us // _DAY)].append(each.us)
    for (gateway, sensor, _), times in days.items():
        yield "clock_jump", gateway, sensor, None, None, None, min(times), max(times), len(times)


def _told(spark: SparkSession, rows: Sequence[Seen]) -> list[Finding]:
    table = typed_frame(spark, [each.row() for each in rows], OBSERVATIONS)
    streams = numbered(spark, table.select(*STREAM).distinct().toArrow())
    seen = quality.prepared(table, streams).cache()
    known = quality.known(seen, streams, LIMITS)
    told = {each.stream for each in rows if each.kind == "observation"}
    assert {tuple(each[name] for name in STREAM) for each in known.figures.to_pylist()} == told
    assert known.gateways == 2
    found = quality.findings(seen, known, LIMITS)
    times = (F.unix_micros("start"), F.unix_micros("end"))
    found = found.where("check NOT IN ('unit_change', 'clock_drift')")
    return sorted(map(tuple, found.select("check", *STREAM, *times, "amount").collect()), key=str)


def _approximate(found: Sequence[Finding]) -> list[Finding]:
    return [(*each[:-1], pytest.approx(each[-1])) for each in found]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("is_sound", [False, True])
def test_findings_are_those_of_plain_python(spark: SparkSession, seed: int, is_sound: bool) -> None:
    rows = _rows(Random(seed), is_sound=is_sound)
    expected = _expected(rows)
    kinds = {each[0] for each in expected}
    assert {"gap", "spike", "stuck"} <= kinds
    assert is_sound or kinds >= {"duplicate", "revision", "clock_jump"}
    found = _told(spark, rows)
    assert [each[:-1] for each in found] == [each[:-1] for each in expected]
    assert found == _approximate(expected)
