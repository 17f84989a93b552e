"""The benchmark: segments of some size, each engine in turn, the same rows or no figures."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from spark_batch.bench import equality
from spark_batch.bench.equality import Digest
from spark_batch.bench.meter import Cost, measured
from spark_batch.bench.run_way import Stage
from spark_batch.bench.segments import START, Load
from spark_batch.errors import ArchiveError
from spark_batch.summary import Progress

_DIGESTS: Mapping[str, Callable[[Sequence[str]], Digest]] = {
    "ingest": equality.of_observations,
    "rollup": equality.of_rollup,
    "export": equality.of_statements,
}
COMMAND = (sys.executable, "-m", "spark_batch.bench.run_way")
"""Runs one way; its arguments follow."""

_MOST_STATEMENTS = 50_000_000
_BEFORE = START + timedelta(days=1)
"""The export is of the first day: a third of the observations."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one engine did with one size, and digests of what it made, by stage."""

    way: str
    cost: Cost
    stages: tuple[Stage, ...]
    digests: Mapping[str, Digest]

    def stage(self, name: str) -> Stage:
        """The stage of that name."""
        return next(stage for stage in self.stages if stage.name == name)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Every engine at one size; the first is ours."""

    observations: int
    segment_bytes: int
    runs: tuple[Run, ...]
    failures: tuple[str, ...] = ()

    @property
    def differences(self) -> list[str]:
        """Where an engine made other rows than the first."""
        ours, *others = self.runs
        return [
            f"{other.way}: {each}"
            for other in others
            for each in differences(ours.digests, other.digests)
        ]


def differences(ours: Mapping[str, Digest], theirs: Mapping[str, Digest]) -> list[str]:
    """What both made, and made differently."""
    return [
        f"{name} is {theirs[name]} where {ours[name]} was expected"
        for name in ours.keys() & theirs.keys()
        if not theirs[name].equals(ours[name])
    ]


def compare(observations: int, ways: Sequence[str], tell: Progress) -> Outcome:
    """Write segments, run each engine on them in a process of its own, compare what they made."""
    with tempfile.TemporaryDirectory(prefix="sosa-bench-") as folder:
        landing = Path(folder, "landing")
        tell(f"writing segments with {observations:,} observations")
        Load(observations).write(landing)
        size = sum(path.stat().st_size for path in landing.rglob("*.gz"))
        runs: list[Run] = []
        failures: list[str] = []
        for way in ways:
            try:
                runs.append(_run(way, landing, Path(folder, way), tell))
            except ArchiveError as error:
                if not runs:
                    raise  # without ours there is nothing to compare with
                failures.append(error.description)
    return Outcome(observations, size, tuple(runs), tuple(failures))


def _run(way: str, landing: Path, folder: Path, tell: Progress) -> Run:
    cost, stages = _measured(way, landing, folder)
    tell(f"{way}: {cost.wall_s:.1f} s; comparing what it made")
    digests = digests_of(stages)
    shutil.rmtree(folder)
    return Run(way, cost, stages, digests)


def ours(landing: Path, folder: Path) -> tuple[Stage, ...]:
    """Spark's stages on a landing zone, in a process of its own; what it made stays."""
    return _measured("Spark", landing, folder)[1]


def _measured(way: str, landing: Path, folder: Path) -> tuple[Cost, tuple[Stage, ...]]:
    result = folder.with_suffix(".json")
    command = [*COMMAND, way, str(landing), str(folder), str(result), _BEFORE.isoformat()]
    with tempfile.TemporaryFile() as output:
        code, cost = measured(command, os.environ, output)
        if code:
            output.seek(0)
            told = _error(output.read().decode(errors="replace"))
            shutil.rmtree(folder, ignore_errors=True)
            raise ArchiveError(f"{way} failed with {code}: {told}", "look at its script")
    return cost, tuple(Stage(**fields) for fields in json.loads(result.read_text()))


def _error(output: str) -> str:
    """What a way died of, in one line."""
    lines = [line for line in output.splitlines() if "Error" in line or "Exception" in line]
    return (lines or output.splitlines() or ["it said nothing"])[-1][:300]


def digests_of(stages: Sequence[Stage]) -> dict[str, Digest]:
    """Digests of what each stage made, unless reading it would take minutes."""
    return dict(_digests(stages))


def _digests(stages: Sequence[Stage]) -> Iterator[tuple[str, Digest]]:
    for stage in stages:
        digest = _DIGESTS.get(stage.name)
        is_large = stage.name == "export" and stage.bytes > 5 * _MOST_STATEMENTS
        if digest is not None and stage.files and not is_large:
            yield stage.name, digest(stage.files)
