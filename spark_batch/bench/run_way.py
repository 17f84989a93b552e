"""One engine doing the three jobs, in a process of its own (`-m spark_batch.bench.run_way`)."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib import import_module
from pathlib import Path

from spark_batch.bench.meter import Meter
from spark_batch.bench.way import Made, Way

WAYS = {"Spark": "ours.Ours", "DuckDB": "duckdb_way.DuckDb", "Polars": "polars_way.Polars"}


@dataclass(frozen=True, slots=True)
class Stage:
    """One job of one engine."""

    name: str
    wall_s: float
    cpu_s: float
    rows: int
    bytes: int
    files: list[str]


def run_stages(name: str, landing: Path, folder: Path, before: date) -> list[Stage]:
    """Every job in turn; the first stage is what the engine takes to be there."""
    meter = Meter(os.getsid(0))
    stages: list[Stage] = []
    way: Way

    def stage(named: str, work: Callable[[], Made]) -> None:
        meter.look()
        started, used = time.monotonic(), meter.cpu_s
        made = work()
        meter.look()
        size = sum(Path(file).stat().st_size for file in made.files)
        wall = time.monotonic() - started
        stages.append(Stage(named, wall, meter.cpu_s - used, made.rows, size, made.files))

    def start() -> Made:
        nonlocal way
        module, kind = WAYS[name].split(".")
        build = getattr(import_module(f"spark_batch.bench.{module}"), kind)
        way = build(landing, folder, len(os.sched_getaffinity(0)))
        return Made(0, [])

    stage("start", start)
    stage("ingest", way.ingest)
    stage("rollup", way.rollup)
    stage("export", lambda: way.export(before))
    return stages


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one engine; the stages go to a file as JSON."""
    parser = argparse.ArgumentParser("spark_batch.bench.run_way")
    parser.add_argument("way", choices=WAYS)
    for name in ("landing", "folder", "result"):
        parser.add_argument(name, type=Path)
    parser.add_argument("before", type=date.fromisoformat)
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True)
    stages = run_stages(options.way, options.landing, options.folder, options.before)
    options.result.write_text(json.dumps([asdict(stage) for stage in stages]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
