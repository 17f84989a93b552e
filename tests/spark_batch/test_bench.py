"""The benchmark: the engines make the same rows of a small load, and costs are those of a tree."""

import os
import sys
import tempfile
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.bench import meter
from spark_batch.bench.comparison import Outcome, Run, compare, differences, digests_of
from spark_batch.bench.day import days
from spark_batch.bench.day import to_text as day_text
from spark_batch.bench.growth import growths
from spark_batch.bench.growth import to_text as growth_text
from spark_batch.bench.meter import Cost, measured
from spark_batch.bench.report import to_members, to_text
from spark_batch.bench.run_way import WAYS, Stage, run_stages
from spark_batch.bench.segments import Load
from spark_batch.bench.year import make_year
from spark_batch.cli import main
from spark_batch.errors import ArchiveError

SIZE = 50_000


def test_every_engine_makes_the_same_rows_and_the_report_says_so(
    spark: SparkSession, tmp_path: Path
) -> None:
    landing = tmp_path / "landing"
    Load(SIZE).write(landing)
    lines = sum(int(path.name.split("-")[-2]) for path in landing.rglob("*.gz"))
    assert lines > SIZE, "some come twice"
    runs = []
    for way in WAYS:
        (tmp_path / way).mkdir()
        stages = tuple(run_stages(way, landing, tmp_path / way, date(2026, 9, 2)))
        runs.append(Run(way, Cost(9.0, 8.0, 7), stages, digests_of(stages)))
    outcome = Outcome(SIZE, 1, tuple(runs))
    assert outcome.differences == []
    ours, duckdb, polars = (run.digests for run in runs)
    assert ours["ingest"].rows == SIZE
    assert set(ours) == set(duckdb) == {*polars, "export"}
    assert differences(ours, {"ingest": ours["rollup"]})
    assert any("made the same rows" in line for line in to_text(outcome))
    sizes = to_members(outcome)["runs"]
    assert isinstance(sizes, dict)
    assert sizes["Spark"]["bytes_per_observation"] <= 12


def test_engine_that_fails_is_told_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = {"Spark": "duckdb_way.DuckDb", "Polars": "missing.Way"}
    program = "import spark_batch.bench.run_way as w; import sys; w.WAYS |= {}; sys.exit(w.main())"
    command = [sys.executable, "-c", program.replace("{}", repr(kinds))]
    monkeypatch.setattr("spark_batch.bench.comparison.COMMAND", command)
    told: list[str] = []
    outcome = compare(2000, ["Spark", "Polars"], told.append)
    assert [run.way for run in outcome.runs] == ["Spark"]
    assert "Polars failed with 1: ModuleNotFoundError" in outcome.failures[0]
    assert any("Polars failed" in line for line in to_text(outcome))


@pytest.mark.alone
def test_cost_is_that_of_the_whole_tree(tmp_path: Path) -> None:
    burn = "import time\nx = bytearray(50_000_000)\nwhile time.process_time() < 1: pass"
    both = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {burn!r}])\n{burn}"
    with tempfile.TemporaryFile() as output:
        code, cost = measured([sys.executable, "-c", both], os.environ, output)
    assert code == 0
    assert cost.cpu_s > 1.6  # the end of each may go unseen
    assert cost.wall_s >= 1
    assert cost.peak_bytes > 40_000_000


def test_a_process_just_forked_has_the_memory_of_its_parent() -> None:
    jvm, forked, other = (1, 900, 50), (2, 900, 50), (2, 40, 7)
    assert meter.resident_pages({2: jvm, 3: forked, 4: other}) == 57


def test_growth_is_beside_the_first_number_of_gateways(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    """The segments are as told, and each gateway has some; jobs run here, not in processes."""

    def here(landing: Path, folder: Path) -> tuple[Stage, ...]:
        folder.mkdir()
        return tuple(run_stages("Spark", landing, folder, date(2026, 9, 2)))

    monkeypatch.setattr("spark_batch.bench.growth.ours", here)
    one, many = found = growths(2000, (1, 50), lambda _: None)
    assert (one.gateways, many.gateways) == (1, 50)
    assert many.segments > one.segments > 0
    assert many.plan_bytes > one.plan_bytes
    assert one.files > 0
    assert "1.00 times" in growth_text(found)[1]


_STAND_IN = """
import json, sys, time
from pathlib import Path
job, told = sys.argv[1], dict(zip(sys.argv[3::2], sys.argv[4::2]))
if job != "run" or "--every" not in told:
    sys.exit(0)
landing, seen = Path(told["--landing"]), 0
while True:
    there = len(list(landing.iterdir()))
    rows = 100 * (there - seen)
    phases = {"session": 0.5, "ingest": 0.25}
    print(json.dumps({"rows_in": rows, "phases": phases, "seconds": 1.5}, indent=2), flush=True)
    seen = there
    time.sleep(0.05)
"""


def test_a_day_is_by_three_jobs_and_by_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line is one that tells rows as days are there; idle rounds count for nothing."""
    monkeypatch.setattr("spark_batch.bench.day.COMMAND", (sys.executable, "-c", _STAND_IN))
    told: list[str] = []
    found = list(days(1_000, 2, told.append))
    assert len(found) == 2
    for each in found:
        assert list(each.jobs) == ["ingest", "rollup", "quality"]
        assert (each.first.rows, each.second.rows) == (100, 100)
        assert each.first.cost.wall_s > 0
        assert each.second.cost.wall_s == 1.5
        assert each.apart.wall_s == sum(cost.wall_s for cost in each.jobs.values())
    text = "\n".join(day_text(found[0]))
    assert "second round: session 0.5, ingest 0.2 s" in text


def test_a_run_that_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys; print('no Java'); sys.exit('--every' in sys.argv)"
    monkeypatch.setattr("spark_batch.bench.day.COMMAND", (sys.executable, "-c", program))
    with pytest.raises(ArchiveError, match="no Java"):
        list(days(1_000, 1, lambda _: None))


def test_a_year_is_within_a_year(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One of its own would leave its settings to the session of the tests.
    monkeypatch.setattr("spark_batch.bench.year.spark_session", lambda *_, **__: spark)
    rows = make_year(2_000, tmp_path / "archive", lambda _: None)
    archive = Archive(tmp_path / "archive")
    found = sorted(file.day for file in archive.observations.files())
    assert rows == 2_000
    assert 300 < (found[-1] - found[0]).days < 366
    assert archive.rollup.version("rollup") == archive.committed


@pytest.mark.parametrize(
    "option",
    ["--observations=10", "--observations=x", "--ways=oracle", "--gateways=0", "--days=0"],
)
def test_wrong_usage_is_told(option: str) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["bench", option])
    assert exit_.value.code == 2
