"""Exactly once: whatever the landing zone has, in whatever order, the archive is the truth."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest
from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError, BusyError
from spark_batch.jobs import batch
from spark_batch.jobs.ingest import Ingest
from spark_batch.landing import landing_zone
from spark_batch.summary import Summary
from spark_batch.tools.fleet import Fleet
from tests.spark_batch.truths import reading, rows, write_segment

Run = Callable[[], Summary]


def no_session(rows: int) -> SparkSession:
    raise AssertionError("an idle run starts no JVM")


def test_faulty_landing_zone_gives_the_truth_and_a_second_run_nothing(
    landing: Path, archive: Archive, ingest: Run
) -> None:
    truth = Fleet(seed=3).write(landing)
    summary = ingest()
    assert rows(archive) == truth
    assert summary.rows_out == len(truth)
    reasons = {str(report["reason"]) for report in archive.quarantine.reports()}
    assert {"checksum", "foreign_name"} <= reasons
    assert summary.quarantined == len(archive.quarantine.reports())
    assert summary.exit_code == 3
    again = Ingest(archive, landing_zone(str(landing)), no_session).run()
    assert (again.status, again.rows_out, again.exit_code) == ("idle", 0, 0)


def test_deliveries_in_any_order_and_number_of_batches_give_the_same(
    landing: Path, archive: Archive, ingest: Run, tmp_path: Path
) -> None:
    depot = tmp_path / "depot"
    truth = Fleet(gateways=2, days=1, seed=5).write(depot)
    files = sorted(path for path in depot.rglob("*") if path.is_file())
    random.Random(5).shuffle(files)
    for start in range(0, len(files), len(files) // 3 + 1):
        for path in files[start : start + len(files) // 3 + 1]:
            target = landing / str(start) / path.name
            target.parent.mkdir(exist_ok=True)
            shutil.copy(path, target)
        ingest()
    assert archive.committed == 3
    assert rows(archive) == truth


def test_late_rows_are_counted(landing: Path, ingest: Run) -> None:
    day = 86_400_000_000
    write_segment(landing, [reading(1), reading(2)], gateway="early")
    ingest()
    t = 1_788_220_800_000_000
    lines = [reading(1, t=t - day), reading(2, t=t + day)]
    write_segment(landing, lines, gateway="late")
    assert ingest().late == 1


def test_overlapping_segments_give_only_the_lines_that_are_new(
    landing: Path, archive: Archive, ingest: Run
) -> None:
    write_segment(landing, [reading(n) for n in range(10, 20)])
    ingest()
    write_segment(landing, [reading(n) for n in range(5, 25)])
    summary = ingest()
    assert (summary.rows_in, summary.rows_out) == (20, 10)
    assert [row.sequence for row in rows(archive)] == list(range(5, 25))


def test_a_large_batch_is_shared_by_the_cores(
    landing: Path, archive: Archive, ingest: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A union of scans may be one task, which nothing but time would tell."""
    monkeypatch.setattr(batch, "_FEW_LINES", 10)
    for name in ("a", "b"):
        write_segment(landing, [reading(n) for n in range(1, 11)], gateway=name)
    ingest()
    assert len(archive.observations.files()) == 2
    assert len(rows(archive)) == 20


def test_line_that_a_segment_has_twice_comes_once(
    landing: Path, archive: Archive, ingest: Run
) -> None:
    write_segment(landing, [reading(1), reading(2), reading(2), reading(3)], count=3)
    summary = ingest()
    assert (summary.rows_in, summary.rows_out, summary.quarantined) == (4, 3, 0)
    assert [row.sequence for row in rows(archive)] == [1, 2, 3]


def test_fault_inside_costs_only_its_segment_and_is_told_with_line_and_offset(
    landing: Path, archive: Archive, ingest: Run
) -> None:
    bad = write_segment(landing, [reading(1), reading(2, v=None), reading(3)])
    write_segment(landing, [reading(n) for n in range(1, 4)], gateway="good")
    summary = ingest()
    assert (summary.rows_out, summary.quarantined) == (3, 1)
    (report,) = archive.quarantine.reports()
    assert (report["file"], report["reason"], report["line"]) == (str(bad), "line", 3)
    assert int(str(report["offset"])) > 100
    copies = list((archive.folder / "quarantine").glob(f"*/{bad.name}"))
    assert [copy.read_bytes() for copy in copies] == [bad.read_bytes()]


def test_missing_line_made_up_by_another_is_found(
    landing: Path, archive: Archive, ingest: Run
) -> None:
    write_segment(landing, [reading(1), reading(2), reading(2, v="9"), reading(3)], gateway="a")
    write_segment(landing, [reading(1), reading(2), reading(3), reading(4)], gateway="b")
    ingest()
    assert {row.gateway for row in rows(archive)} == {"b"}


def test_lines_whose_number_and_sum_are_right_and_which_are_others_are_found(
    landing: Path, archive: Archive, ingest: Run
) -> None:
    write_segment(landing, [reading(n, v=f"{n}.{k}") for k, n in enumerate((1, 2, 2, 5, 5, 6))])
    write_segment(landing, [reading(n) for n in range(1, 7)], gateway="good")
    assert ingest().quarantined == 1
    assert {row.gateway for row in rows(archive)} == {"good"}


def test_name_that_promises_a_billion_lines_costs_only_itself(
    landing: Path, archive: Archive, ingest: Run
) -> None:
    write_segment(landing, [reading(1), reading(2)], count=999_999_999)
    write_segment(landing, [reading(1)], gateway="good")
    assert ingest().quarantined == 1
    assert {row.gateway for row in rows(archive)} == {"good"}


def test_mended_segment_follows_its_damaged_copy(
    landing: Path, archive: Archive, ingest: Run
) -> None:
    path = write_segment(landing, [reading(1), reading(2)])
    content = path.read_bytes()
    path.write_bytes(content[:-9])
    assert ingest().quarantined == 1
    assert ingest().status == "idle"
    path.write_bytes(content)
    assert ingest().rows_out == 2


def test_values_keep_type_and_digits(landing: Path, archive: Archive, ingest: Run) -> None:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    wkt = "http://www.opengis.net/ont/geosparql#wktLiteral"
    values = [
        *(("21.50", xsd + "decimal"), ("21.5", xsd + "decimal"), ("-7", xsd + "integer")),
        *(("9007199254740993", xsd + "integer"), ("1E400", xsd + "double")),
        *(("NaN", xsd + "double"), ("-INF", xsd + "double"), ("1.5E-9", xsd + "double")),
        *(("-0.0", xsd + "double"), ("true", xsd + "boolean"), ("0", xsd + "boolean")),
        *(('o"p\\en\n', xsd + "string"), ("POINT(9 45)", wkt), ("", xsd + "string")),
        *(("0.00001", xsd + "decimal"), ("12345678901234567890", xsd + "integer")),
    ]
    lines = [reading(n, v=v, d=d) for n, (v, d) in enumerate(values, 1)]
    write_segment(landing, lines)
    ingest()
    assert [(row.lexical, row.datatype) for row in rows(archive)] == values


def test_newer_minor_schema_keeps_what_is_unknown(
    landing: Path, archive: Archive, ingest: Run, spark: SparkSession
) -> None:
    write_segment(landing, [reading(1), reading(2)], gateway="old")
    lines = [reading(1, h="urn:platform", battery=3), reading(2, n=17, extra={"a": [1]})]
    write_segment(landing, lines, schema="1.5")
    ingest()
    found = archive.observations.read(spark).where("gateway = 'kitchen'").orderBy("sequence")
    got = found.select("platform", "ext", "device_sequence").collect()
    assert [row[0] for row in got] == ["urn:platform", None]
    assert [json.loads(row[1]) for row in got] == [{"battery": "3"}, {"extra": '{"a":[1]}'}]
    assert got[1][2] == "17"


def test_days_are_utc_wherever_spark_runs(
    landing: Path, archive: Archive, ingest: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    midnight = 1_788_220_800_000_000  # 2026-09-01T00:00:00Z
    write_segment(landing, [reading(1, t=midnight - 1), reading(2, t=midnight)])
    ingest()
    assert [str(file.day) for file in archive.observations.files()] == [
        "2026-08-31",
        "2026-09-01",
    ]


def test_time_that_no_calendar_has_is_not_believed(
    landing: Path, archive: Archive, ingest: Run
) -> None:
    write_segment(landing, [reading(1, t=9_000_000_000_000_000_000, i=1_788_220_800_000_000)])
    ingest()
    assert [row.result_us for row in rows(archive)] == [1_788_220_800_000_000]


def test_dry_run_changes_nothing(landing: Path, archive: Archive) -> None:
    write_segment(landing, [reading(1), reading(2)])
    (landing / "alien.txt").write_text("?")
    summary = Ingest(archive, landing_zone(str(landing)), no_session).dry_run()
    assert (summary.status, summary.rows_out, summary.quarantined) == ("dry-run", 2, 1)
    assert not archive.folder.exists()


def test_two_runs_at_once_are_refused(landing: Path, archive: Archive) -> None:
    with archive.lock(archive.observations, "ingest"), pytest.raises(BusyError):
        Ingest(archive, landing_zone(str(landing)), no_session).run()


def test_landing_zone_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="not a folder"):
        landing_zone(str(tmp_path / "nowhere"))


def test_landing_zone_of_fsspec_is_fetched(archive: Archive, spark: SparkSession) -> None:
    memory = fsspec.filesystem("memory")
    local = archive.folder.parent / "sealed"
    local.mkdir()
    good = write_segment(local, [reading(1), reading(2)])
    bad = write_segment(local, [reading(1)], gateway="torn")
    memory.pipe(f"/zone/kitchen/{good.name}", good.read_bytes())
    memory.pipe(f"/zone/kitchen/{good.name}.part", b"begun")
    memory.pipe(f"/zone/torn/{bad.name}", bad.read_bytes()[:-5])
    landing = landing_zone("memory://zone")
    summary = Ingest(archive, landing, lambda _: spark).run()
    assert (summary.rows_out, summary.quarantined) == (2, 1)
    assert not (archive.folder / "fetched").exists()
    assert len(list((archive.folder / "quarantine").glob(f"*/{bad.name}"))) == 1
    assert Ingest(archive, landing, no_session).run().status == "idle"


def test_segment_that_vanishes_costs_only_itself(
    landing: Path, archive: Archive, spark: SparkSession
) -> None:
    gone = write_segment(landing, [reading(1)], gateway="gone")
    write_segment(landing, [reading(1), reading(2)])

    def sessions(rows: int) -> SparkSession:
        gone.unlink(missing_ok=True)
        return spark

    summary = Ingest(archive, landing_zone(str(landing)), sessions).run()
    assert (summary.rows_out, summary.quarantined) == (2, 0)
