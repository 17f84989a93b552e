"""One case in a process of its own: `python -m bench.windows.child JSON`.

Place on the way of the data: started by `windows`, one after the other, on one core. Fills the
windows, subscribes, checks some readings, then measures; says its members as one JSON object.
"""

import gc
import json
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from bench.ctp.child import pin
from bench.report import digest
from bench.windows.case import Case
from bench.windows.readings import Reading, readings
from bench.windows.texts import TRIPLES
from bench.windows.ways import (
    COMPARED,
    Asked,
    Before,
    Sliding,
    TimedWay,
    Way,
    elements_of,
)


def main() -> None:
    """Measure a case and say it."""
    pin()
    case = Case.of(json.loads(sys.argv[1]))
    sys.stdout.write(f"{json.dumps(measured(case))}\n")


def measured(case: Case) -> Mapping[str, Any]:
    """The members of a case that this way can tell."""
    stream = [*readings(case.sensors, case.filled + case.checked + case.readings)]
    filling = stream[: case.filled]
    way = _made(case, filling)
    found: dict[str, Any] = {}
    if isinstance(way, Sliding):
        found |= _filled(way, filling)
    checked = stream[case.filled : case.filled + case.checked]
    found["digest"] = digest(_lines(way, checked))
    if not isinstance(way, Asked):
        found |= _timed(way, stream[case.filled + case.checked :])
    return found


def _made(case: Case, filling: Sequence[Reading]) -> Sliding | Before | Asked:
    match case.way:
        case "sliding":
            return Sliding(case, filling)
        case "before":
            return Before(case, filling)
        case _:
            return Asked(case, filling)


def _filled(way: Sliding, filling: Sequence[Reading]) -> Mapping[str, Any]:
    """Fill the windows and subscribe; how long that takes, and what it takes."""
    before = _resident()
    elements = elements_of(filling)
    started = process_time()
    way.fill(elements)
    spent = process_time() - started
    del elements
    held = _resident()
    started = process_time()
    way.subscribe_all()
    spent += process_time() - started
    aggregates = _resident()
    return {
        "fill_ms": spent * 1000,
        "elements": way.elements,
        "bytes_per_element": (aggregates - before) / way.elements,
        "bytes_per_element_of_aggregates": (aggregates - held) / way.elements,
        "bytes_per_triple": (held - before) / (way.elements * TRIPLES),
    }


def _lines(way: Way, checked: Sequence[Reading]) -> list[str]:
    """What the checked readings let be told, a line each row."""
    return [
        f"{reading.number} {number} {sign} {' '.join(map(str, row))}"
        for reading in checked
        for number, sign, row in way.told(reading)
        if number < COMPARED
    ]


def _timed(way: TimedWay, stream: Sequence[Reading]) -> Mapping[str, Any]:
    gc.collect()
    gc.freeze()  # as in a process that has run for long: what stays is not looked at again
    notifications, spent = way.run(stream)
    return {"us_per_reading": spent / len(stream) * 1e6, "notifications": notifications}


def _resident() -> int:
    gc.collect()
    statm = Path(f"/proc/{os.getpid()}/statm")
    if not statm.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    main()
