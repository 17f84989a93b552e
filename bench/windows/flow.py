"""Bytewax 0.21 on the same readings: `PYTHON -m bench.windows.flow JSON`, in its environment.

Place on the way of the data: started by `windows`, where `make interop` has made the environment.
Windows of the range, each `step_s`, by sensor: count, sum, least, most and so the mean, folded. It
is told tenths, as integers, and tells when a window closes, which is when a later reading comes.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from time import process_time
from typing import Any, TypeAlias

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.operators.windowing import EventClock, SlidingWindower, TumblingWindower, fold_window
from bytewax.testing import TestingSink, TestingSource, run_main

from bench.windows.readings import START_US, Reading, readings

_SECOND_US = 1_000_000
_START = datetime.fromtimestamp(START_US // _SECOND_US, UTC)

Folded: TypeAlias = tuple[int, int, int, int]
"""Count, sum, least and most."""


def main() -> None:
    """Run the flow and say what it took, and the digest of what it told."""
    case: dict[str, Any] = json.loads(sys.argv[1])
    stream = [*readings(case["sensors"], case["readings"])]
    timed = [(str(each.sensor), (_time(each), each.tenths)) for each in stream]
    told: list[Any] = []
    flow = _flow(timed, told, case["range_s"], case["step_s"])
    started = process_time()
    run_main(flow)
    spent = process_time() - started
    lines = sorted(f"{sensor} {window} {folded}" for sensor, (window, folded) in told)
    expected = sorted(_expected(stream, case["range_s"], case["step_s"]))
    said = {
        "us_per_reading": spent / len(stream) * 1e6,
        "notifications": len(told),
        "digest": _digest(lines),
        "reference": _digest(expected),
    }
    sys.stdout.write(f"{json.dumps(said)}\n")


def _digest(lines: list[str]) -> str:
    return sha256("\n".join(lines).encode()).hexdigest()


def _time(reading: Reading) -> datetime:
    return _START + timedelta(microseconds=reading.time - START_US)


def _flow(timed: list[Any], told: list[Any], range_s: int, step_s: int) -> Dataflow:
    clock = EventClock(lambda item: item[0], wait_for_system_duration=timedelta(0))
    length = timedelta(seconds=range_s)
    windower: SlidingWindower | TumblingWindower = SlidingWindower(
        length=length, offset=timedelta(seconds=step_s), align_to=_START
    )
    if step_s == range_s:
        windower = TumblingWindower(length=length, align_to=_START)
    flow = Dataflow("means")
    source = op.input("readings", flow, TestingSource(timed, batch_size=100))
    folded = fold_window("fold", source, clock, windower, _nothing, _folded, _merged)
    op.output("told", folded.down, TestingSink(told))
    return flow


def _nothing() -> Folded:
    return 0, 0, sys.maxsize, -sys.maxsize


def _folded(state: Folded, item: tuple[datetime, int]) -> Folded:
    count, total, least, most = state
    value = item[1]
    return count + 1, total + value, min(least, value), max(most, value)


def _merged(one: Folded, other: Folded) -> Folded:
    return one[0] + other[0], one[1] + other[1], min(one[2], other[2]), max(one[3], other[3])


def _expected(stream: list[Reading], range_s: int, step_s: int) -> Iterator[str]:
    """Each window that has a reading, by its number, plainly."""
    found: dict[tuple[int, int], Folded] = {}
    step, length = step_s * _SECOND_US, range_s * _SECOND_US
    for each in stream:
        at = each.time - START_US
        for window in range((at - length) // step + 1, at // step + 1):
            state = found.get((each.sensor, window), _nothing())
            found[each.sensor, window] = _folded(state, (_START, each.tenths))
    yield from (f"{sensor} {window} {folded}" for (sensor, window), folded in found.items())


if __name__ == "__main__":
    main()
