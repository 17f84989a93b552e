"""A day of one gateway: `run` beside its three jobs one by one, and the round of the next day.

    two days of segments -> the first: ingest, rollup, quality, each a process | run --every 1s
                         -> the second moves into the landing zone of `run`: its second round

What somebody with one gateway waits for is the start of Java and what it compiles, not rows; so
this is measured as it is started, by the command line, after a run that nobody measures.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_batch.bench.meter import Cost, Running, measured
from spark_batch.errors import ArchiveError
from spark_batch.summary import Progress
from spark_batch.tools.fleet import Fleet

COMMAND = (sys.executable, "-m", "spark_batch")
_JOBS = ("ingest", "rollup", "quality")
_SENSORS = 10
_LINES = 1_000


@dataclass(frozen=True, slots=True)
class Round:
    """What one round of `run` cost, and the seconds of its phases."""

    rows: int
    cost: Cost
    phases: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Day:
    """The same day by three jobs and by `run`, and `run` going on with the next day."""

    jobs: Mapping[str, Cost]
    first: Round
    second: Round

    @property
    def apart(self) -> Cost:
        """The three jobs together."""
        costs = self.jobs.values()
        return Cost(
            sum(each.wall_s for each in costs),
            sum(each.cpu_s for each in costs),
            max(each.peak_bytes for each in costs),
        )


def days(observations: int, times: int, tell: Progress) -> Iterator[Day]:
    """As often as said: the jobs and `run` in turns, on about so many observations a day."""
    with tempfile.TemporaryDirectory(prefix="sosa-bench-") as made:
        folder = Path(made)
        interval_s = max(1, round(86_400 * _SENSORS / observations))
        fleet = Fleet(1, _SENSORS, 2, interval_s, _LINES, faults=False)
        fleet.write(folder / "shipped")
        today, tomorrow = sorted((folder / "shipped").glob("*/*"))[:2]
        tell("once before, so that Java's classes are kept and files are in memory")
        _jobs_of(("run",), _landing(folder / "before", today), folder / "before-archive")
        for number in range(times):
            own = folder / str(number)
            jobs = _jobs_of(_JOBS, _landing(own / "apart", today), own / "apart-archive")
            rounds = _rounds(_landing(own / "run", today), own / "run-archive", tomorrow)
            yield Day(jobs, *rounds)
            shutil.rmtree(own)


def _landing(folder: Path, shipped: Path) -> Path:
    """A landing zone with the segments of one day."""
    shutil.copytree(shipped, folder / shipped.name)
    return folder


def _command(job: str, landing: Path, archive: Path) -> list[str]:
    command = [*COMMAND, job, "--quiet", "--archive", str(archive)]
    if job in ("ingest", "run"):
        command += ["--landing", str(landing)]
    if job in ("quality", "run"):
        command += ["--report", str(archive.with_suffix(".html"))]
    return command


def _jobs_of(jobs: Sequence[str], landing: Path, archive: Path) -> dict[str, Cost]:
    costs = {}
    for job in jobs:
        with tempfile.TemporaryFile() as output:
            code, costs[job] = measured(_command(job, landing, archive), os.environ, output)
            if code:
                output.seek(0)
                raise ArchiveError(f"{job} failed: {output.read().decode()[-500:]}", "see why")
    return costs


def _rounds(landing: Path, archive: Path, tomorrow: Path) -> tuple[Round, Round]:
    """The first round, and the one that has the second day."""
    moving = archive.with_name("tomorrow")
    shutil.copytree(tomorrow, moving)
    command = [*_command("run", landing, archive), "--every", "1s"]
    told = archive.with_suffix(".told")
    with told.open("wb") as output, Running(command, os.environ, output) as running:
        first, before = _round(running, told, 1), running.cost
        moving.rename(landing / tomorrow.name)
        second = _round(running, told, 2)
        spent = running.cost.cpu_s - before.cpu_s
    phases, wall_s = second["phases"], float(second["seconds"])
    return (
        Round(first["rows_in"], before, first["phases"]),
        Round(second["rows_in"], Cost(wall_s, spent, before.peak_bytes), phases),
    )


def _round(running: Running, told: Path, number: int) -> dict[str, Any]:
    """What a round told that took something, when it has."""
    found: list[dict[str, Any]] = []

    def has_told() -> bool:
        found[:] = [each for each in _summaries(told.read_text()) if each["rows_in"]]
        return len(found) >= number

    if not running.until(has_told):
        raise ArchiveError(f"run ended: {told.read_text()[-500:]}", "see why")
    return found[number - 1]


def _summaries(text: str) -> Iterator[dict[str, Any]]:
    """The objects in a text that may end within one."""
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            told, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            return
        yield told


def to_text(day: Day) -> Iterator[str]:
    """A table, and what `run` saves."""
    yield f"\n{day.first.rows:,} observations of a day{'wall s':>14}{'CPU s':>9}"
    costs = {**day.jobs, "three jobs": day.apart, "run": day.first.cost}
    for name, cost in (costs | {"second round": day.second.cost}).items():
        yield f"{name:34}{cost.wall_s:14.1f}{cost.cpu_s:9.1f}"
    if day.apart.cpu_s:  # else they were shorter than what the kernel counts in
        share = day.first.cost.cpu_s / day.apart.cpu_s
        yield f"  run takes {share:.2f} of the CPU time of the three jobs"
    for name, each in (("run", day.first), ("second round", day.second)):
        phases = ", ".join(f"{phase} {s:.1f}" for phase, s in each.phases.items())
        yield f"  {name}: {phases} s"
