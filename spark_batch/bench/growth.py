"""How the jobs grow with gateways: as many observations in all, of one or of a thousand.

A gateway more is a segment more at least: another file to check and to open, an entry of the plan,
and rows that a partition has beside those of others. What it costs must stay small beside them.
"""

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_batch.bench.comparison import ours
from spark_batch.bench.run_way import Stage
from spark_batch.bench.segments import Load
from spark_batch.summary import Progress

_JOBS = ("ingest", "rollup")


@dataclass(frozen=True, slots=True)
class Growth:
    """What one number of gateways cost: seconds of both jobs, files that they made."""

    gateways: int
    segments: int
    wall_s: float
    cpu_s: float
    files: int
    plan_bytes: int


def growths(observations: int, gateways: Sequence[int], tell: Progress) -> list[Growth]:
    """Each number in turn, in a new process; the start of Java is not counted."""
    found = []
    for number in gateways:
        with tempfile.TemporaryDirectory(prefix="sosa-bench-") as folder:
            landing = Path(folder, "landing")
            tell(f"writing segments of {number:,} gateways")
            Load(observations, gateways=number).write(landing)
            stages = ours(landing, Path(folder, "Spark"))
            plan = Path(folder, "Spark", "archive", "plan", "000000001.json")
            segments = len(json.loads(plan.read_text(encoding="utf-8"))["segments"])
            found.append(_growth(number, segments, stages, os.stat(plan).st_size))
    return found


def _growth(number: int, segments: int, stages: Sequence[Stage], plan_bytes: int) -> Growth:
    jobs = [stage for stage in stages if stage.name in _JOBS]
    return Growth(
        number,
        segments,
        sum(stage.wall_s for stage in jobs),
        sum(stage.cpu_s for stage in jobs),
        sum(len(stage.files) for stage in jobs),
        plan_bytes,
    )


def to_text(found: Sequence[Growth]) -> list[str]:
    """A table, and each beside the first."""
    head = f"\n{'gateways':>9}{'segments':>10}{'wall s':>9}{'CPU s':>9}{'files':>7}{'plan kB':>9}"
    return [head, *(_line(each, found[0]) for each in found)]


def _line(each: Growth, first: Growth) -> str:
    return (
        f"{each.gateways:9,}{each.segments:10,}{each.wall_s:9.1f}{each.cpu_s:9.1f}"
        f"{each.files:7,}{each.plan_bytes / 1000:9.1f}"
        f"  {each.cpu_s / first.cpu_s:.2f} times the CPU time of the first"
    )
