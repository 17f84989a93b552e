"""`run`: three jobs in one session, again and again, and what ends a round but not the rounds."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from spark_batch import cli
from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.jobs.derive import Rollup
from spark_batch.jobs.ingest import Ingest
from spark_batch.jobs.quality import Quality
from spark_batch.jobs.rounds import Rounds, Wanted
from spark_batch.landing import landing_zone
from spark_batch.summary import Summary
from tests.spark_batch.truths import reading, rows, write_segment


def no_session(rows: int) -> SparkSession:
    raise AssertionError(f"a session for {rows} rows")


@pytest.fixture
def rounds(archive: Archive, landing: Path, spark: SparkSession) -> Rounds:
    return Rounds(archive, landing_zone(str(landing)), lambda rows: spark)


def _table(archive: Archive, name: str, spark: SparkSession) -> list[str]:
    table = getattr(archive, name)
    return sorted(map(str, table.read(spark).collect()))


def test_a_round_is_the_three_jobs(
    rounds: Rounds, landing: Path, spark: SparkSession, tmp_path: Path
) -> None:
    write_segment(landing, [reading(1), reading(2), reading(3)])
    report = tmp_path / "report.html"
    rounds.wanted = Wanted(report=report)
    summary = rounds.run()
    assert (summary.status, summary.rows_out) == ("done", 3)
    assert [each["job"] for each in summary.details["jobs"]] == ["rollup", "quality"]  # type: ignore[attr-defined]
    assert set(summary.details["phases"]) == {"session", "ingest", "rollup", "quality"}  # type: ignore[call-overload]
    assert report.read_text().startswith("<!doctype html>")
    apart = Archive(tmp_path / "apart")
    Ingest(apart, landing_zone(str(landing)), lambda _: spark).run()
    Rollup(apart, lambda _: spark).run()
    Quality(apart, lambda _: spark).run()
    assert rows(apart) == rows(rounds.archive)
    for name in ("rollup", "quality"):
        assert _table(apart, name, spark) == _table(rounds.archive, name, spark)


def test_a_round_with_nothing_new_starts_no_java(rounds: Rounds, landing: Path) -> None:
    write_segment(landing, [reading(1)])
    rounds.run()
    rounds.sessions = no_session
    assert rounds.run().status == "idle"


def test_what_a_round_left_undone_the_next_one_does(
    rounds: Rounds, landing: Path, archive: Archive, spark: SparkSession
) -> None:
    write_segment(landing, [reading(1), reading(2)])
    Ingest(archive, landing_zone(str(landing)), lambda _: spark).run()
    assert rounds.run().status == "done"
    assert archive.rollup.version("rollup") == archive.committed
    assert Quality(archive, no_session).is_current(Wanted().since)


def test_a_dry_round_writes_nothing(rounds: Rounds, landing: Path) -> None:
    write_segment(landing, [reading(1)])
    summary = rounds.run(dry_run=True)
    assert (summary.status, summary.rows_out) == ("dry-run", 1)
    assert not rounds.archive.folder.exists()


def test_rounds_go_on_after_one_that_failed(
    rounds: Rounds, landing: Path, archive: Archive
) -> None:
    told: list[str] = []
    ended: list[Summary] = []
    rollup = archive.folder / "rollup.json"

    def tell(summary: Summary) -> None:
        ended.append(summary)
        if len(ended) == 1:
            rollup.write_text("{")  # somebody's hand
            write_segment(landing, [reading(2)])
        else:
            raise KeyboardInterrupt

    def mend(line: str) -> None:
        told.append(line)
        if line.startswith("error"):
            rollup.unlink()

    rounds.progress = mend
    write_segment(landing, [reading(1)])
    with pytest.raises(KeyboardInterrupt):
        rounds.every(0, tell)
    assert any("cannot be read" in line for line in told)
    assert [summary.status for summary in ended] == ["done", "done"]
    assert len(rows(archive)) == 2


def test_rounds_end_with_java(
    rounds: Rounds, monkeypatch: pytest.MonkeyPatch, landing: Path
) -> None:
    def dies(rows: int) -> SparkSession:
        raise ArchiveError("Spark failed: Connection refused")

    write_segment(landing, [reading(1)])
    rounds.sessions = dies
    monkeypatch.setattr("spark_batch.jobs.rounds.is_lost", lambda: True)
    with pytest.raises(ArchiveError, match="Java has ended"):
        rounds.every(0, lambda _: pytest.fail("a round"))


def test_ctrl_c_within_a_call_into_java_ends_the_rounds(rounds: Rounds, landing: Path) -> None:
    """There py4j raises an error of its own, as the interrupt's successor."""

    def is_interrupted(rows: int) -> SparkSession:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise Py4JError("Gateway must be connected to send cancel cmd.")  # noqa: B904

    write_segment(landing, [reading(1)])
    job = ["run", "--landing", str(landing), "--archive", str(rounds.archive.folder), "--quiet"]
    with patch.object(cli, "spark_session", lambda *_, **__: is_interrupted(0)):
        assert cli.main(job) == 130
        assert cli.main([*job, "--every", "1h"]) == 130


def test_every_hour_from_the_command_line(landing: Path, tmp_path: Path) -> None:
    write_segment(landing, [reading(1), reading(2)])
    job = [sys.executable, "-m", "spark_batch", "run", "--every", "1h", "--quiet"]
    job += ["--landing", str(landing), "--archive", str(tmp_path / "a")]
    with subprocess.Popen(
        job, stdout=subprocess.PIPE, text=True, env=os.environ, start_new_session=True
    ) as child:
        try:
            assert child.stdout is not None
            text = ""
            while not text.endswith("}\n") or text.count("{") != text.count("}"):
                line = child.stdout.readline()
                assert line, text
                text += line
            assert json.loads(text)["rows_out"] == 2
            child.send_signal(signal.SIGINT)
            assert child.wait(60) == 130
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
