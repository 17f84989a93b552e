"""The table: read by others, small, prunable, kept in order."""

import os
import time
from collections.abc import Callable
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError, BusyError
from spark_batch.jobs import upkeep
from spark_batch.schema import OBSERVATIONS, on_disk
from spark_batch.summary import Summary
from spark_batch.table import Table
from spark_batch.tools.fleet import Fleet
from tests.spark_batch.truths import reading, rows, write_segment

Run = Callable[[], Summary]


@pytest.fixture
def filled(landing: Path, archive: Archive, ingest: Run) -> list[object]:
    """Two batches over two days."""
    truth: list[object] = []
    for seed in (1, 2):
        fleet = Fleet(gateways=2, days=2, seed=seed, faults=False)
        folder = landing / str(seed)
        if seed == 2:
            fleet = Fleet(gateways=3, days=2, seed=seed, faults=False)
        truth += fleet.write(folder) if seed == 1 else fleet.write(folder)[len(truth) :]
        ingest()
    return truth


def test_duckdb_polars_pandas_and_plain_spark_read_the_table(
    filled: list[object], archive: Archive, spark: SparkSession
) -> None:
    table = DeltaTable(str(archive.observations.folder))
    frame = table.to_pandas()
    assert len(frame) == len(filled)
    mean = frame[frame.property == "urn:fleet:temperature"].number.mean()
    with duckdb.connect() as connection:
        warm = "avg(number) FILTER (property = 'urn:fleet:temperature')"
        t = connection.from_arrow(table.to_pyarrow_dataset())
        assert t.aggregate(f"count(*), {warm}").fetchall() == [(len(filled), pytest.approx(mean))]
    lazy = pl.scan_delta(str(archive.observations.folder))
    rooms = lazy.filter(pl.col("property") == "urn:fleet:temperature")
    assert rooms.select(pl.col("number").mean()).collect().item() == pytest.approx(mean)
    by_day = lazy.group_by("day").len().collect()
    plain = spark.read.parquet(*table.file_uris())
    assert plain.count() == len(filled)
    assert plain.groupBy("sensor").count().count() == frame.sensor.nunique()
    counts = {
        row["day"]: row["count"]
        for row in archive.observations.read(spark).groupBy("day").count().collect()
    }
    assert counts == dict(by_day.iter_rows())


def test_log_has_statistics_that_leave_files_out(filled: list[object], archive: Archive) -> None:
    actions = DeltaTable(str(archive.observations.folder)).get_add_actions(flatten=True)
    for column in ("gateway", "sensor", "result_time", "number", "sequence"):
        assert all(value is not None for value in actions.column(f"min.{column}").to_pylist())
    lazy = pl.scan_delta(str(archive.observations.folder))
    day = lazy.filter(pl.col("day") == date(2026, 9, 2)).select(pl.len()).collect().item()
    assert 0 < day < len(filled)


def test_compaction_keeps_the_rows_and_orders_each_day(
    filled: list[object], archive: Archive, spark: SparkSession
) -> None:
    before, files = rows(archive), archive.observations.files()
    assert len(files) > 2
    compaction = upkeep.Compaction(files=1)
    dry = upkeep.compact(archive, lambda _: spark, compaction, dry_run=True)
    assert (dry.status, archive.observations.files()) == ("dry-run", files)
    summary = upkeep.compact(archive, lambda _: spark, compaction)
    after = archive.observations.files()
    assert (summary.rows_out, len(after)) == (len(filled), 2)
    assert rows(archive) == before
    for file in after:
        column = pq.read_table(archive.observations.folder / file.path, columns=["sensor"])
        assert column["sensor"].to_pylist() == sorted(column["sensor"].to_pylist())
    assert upkeep.compact(archive, lambda _: spark, compaction).status == "idle"


def test_large_day_becomes_files_that_follow_each_other(
    filled: list[object], archive: Archive, spark: SparkSession
) -> None:
    before = rows(archive)
    upkeep.compact(archive, lambda _: spark, upkeep.Compaction(files=1, rows=600))
    actions = DeltaTable(str(archive.observations.folder)).get_add_actions(flatten=True)
    columns = ("partition.day", "min.gateway", "max.gateway")
    files = sorted(zip(*(actions.column(name).to_pylist() for name in columns), strict=True))
    assert len(files) == 4
    for one, following in pairwise(files):
        assert one[0] < following[0] or one[2] <= following[1]
    assert rows(archive) == before


def test_stale_compaction_is_refused(filled: list[object], archive: Archive) -> None:
    stale = Table(archive.observations.folder, OBSERVATIONS)
    assert stale.version("compact") == 0
    log = stale._log()
    archive.observations.commit("compact", 1)
    stale._log = lambda: log  # type: ignore[method-assign]  # as a reader of an older version
    with pytest.raises(BusyError):
        stale.commit("compact", 1)


def test_retention_drops_whole_days_and_vacuum_their_files(
    filled: list[object], archive: Archive
) -> None:
    second = date(2026, 9, 2)
    kept = [row for row in rows(archive) if row.result_us >= 1_788_307_200_000_000]
    assert upkeep.retain(archive, second, dry_run=True).details["files"]
    upkeep.retain(archive, second)
    assert rows(archive) == kept
    old = time.time() - 7200
    for path in archive.observations.folder.glob("data/**/*.parquet"):
        os.utime(path, (old, old))
    assert upkeep.vacuum(archive, 1.0).details["observations"] == 0, "tombstones are young"
    assert upkeep.vacuum(archive, 0.0).details["observations"]
    assert rows(archive) == kept
    assert upkeep.retain(archive, second).status == "idle"
    assert upkeep.retain(archive, second + timedelta(days=9)).rows_in == len(kept)


def test_retained_days_do_not_come_back(
    filled: list[object], archive: Archive, ingest: Run
) -> None:
    upkeep.retain(archive, date(2027, 1, 1))
    assert ingest().status == "idle"
    assert rows(archive) == []


def test_table_of_an_older_release_gets_the_columns_it_lacks(
    landing: Path, archive: Archive, ingest: Run, spark: SparkSession
) -> None:
    older = StructType(on_disk(OBSERVATIONS).fields[:-3])
    folder = archive.observations.folder
    DeltaTable.create(str(folder), Schema.from_json(older.json()), partition_by=["day"])
    write_segment(landing, [reading(1), reading(2)])
    ingest()
    names = [field.name for field in DeltaTable(str(folder)).schema().fields]
    assert names == on_disk(OBSERVATIONS).fieldNames()
    assert archive.observations.read(spark).select("ext").count() == 2


def test_damaged_file_stops_a_compaction_before_its_commit(
    filled: list[object], archive: Archive, spark: SparkSession
) -> None:
    files = archive.observations.files()
    short, other = (archive.observations.folder / file.path for file in files[:2])
    short.write_bytes(other.read_bytes())
    short.with_name(f".{short.name}.crc").unlink()
    if files[0].rows == files[1].rows:
        pytest.fail("the two files must differ")
    with pytest.raises(ArchiveError, match="compaction read"):
        upkeep.compact(archive, lambda _: spark, upkeep.Compaction(files=1))
    assert archive.observations.files() == files


def test_job_on_a_folder_without_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="has no archive"):
        upkeep.vacuum(Archive(tmp_path), 1.0)
