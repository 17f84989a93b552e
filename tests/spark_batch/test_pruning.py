"""What a query need not open: files are taken away, and the answer is still there.

"All streams of a day" and "one stream over years", by every reader that knows the log, after
compaction.
"""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.jobs import upkeep
from spark_batch.summary import Summary
from tests.spark_batch.truths import reading, write_segment

FIRST = date(2023, 9, 1)
DAYS = tuple(FIRST + timedelta(days=180 * number) for number in range(7))
GATEWAYS = ("attic", "cellar", "garage", "kitchen")
SENSORS = ("urn:a", "urn:b", "urn:c")
READINGS = 5


def us(day: date) -> int:
    return (day - date(1970, 1, 1)).days * 86_400_000_000


@pytest.fixture
def years(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> Archive:
    """Three years, a batch for each gateway, two files a day after compaction."""
    moments = [(day, s, n) for day in DAYS for s in SENSORS for n in range(READINGS)]
    for gateway in GATEWAYS:
        lines = [
            reading(q, s=f"{s}:{gateway}", t=us(day) + n, i=us(day) + n)
            for q, (day, s, n) in enumerate(moments, 1)
        ]
        write_segment(landing, lines, gateway=gateway)
        ingest()
    rows_of_a_day = len(GATEWAYS) * len(SENSORS) * READINGS
    compaction = upkeep.Compaction(files=1, rows=rows_of_a_day * 2 // 3)
    upkeep.compact(archive, lambda _: spark, compaction)
    assert len(archive.observations.files()) == 2 * len(DAYS)
    return archive


def keep_only(archive: Archive, needed: ds.Expression) -> int:
    """Take away every file that the log's statistics rule out; how many are left."""
    folder = archive.observations.folder
    fragments = DeltaTable(str(folder)).to_pyarrow_dataset().get_fragments(needed)
    left = {Path(fragment.path).name for fragment in fragments}
    for file in archive.observations.files():
        path = folder / file.path
        if path.name not in left:
            path.unlink()
    return len(left)


def counted(archive: Archive, needed: ds.Expression, sql: str, frame: pl.Expr) -> set[int]:
    """The number of rows by pyarrow, DuckDB and Polars."""
    folder = str(archive.observations.folder)
    dataset = DeltaTable(folder).to_pyarrow_dataset()
    with duckdb.connect() as connection:
        found = connection.from_arrow(dataset).filter(sql).aggregate("count(*)").fetchall()
    return {
        dataset.count_rows(filter=needed),
        found[0][0],
        pl.scan_delta(folder).filter(frame).select(pl.len()).collect().item(),
    }


def test_all_streams_of_a_day_open_the_files_of_that_day(
    years: Archive, spark: SparkSession
) -> None:
    day = DAYS[3]
    needed = ds.field("day") == day
    assert keep_only(years, needed) == 2
    expected = len(GATEWAYS) * len(SENSORS) * READINGS
    assert counted(years, needed, f"day = DATE '{day}'", pl.col("day") == day) == {expected}
    assert years.observations.read(spark, [day]).count() == expected


def test_one_stream_over_years_opens_one_file_a_day(years: Archive) -> None:
    sensor = "urn:b:attic"
    needed = (ds.field("gateway") == "attic") & (ds.field("sensor") == sensor)
    assert keep_only(years, needed) == len(DAYS)
    expected = len(DAYS) * READINGS
    sql = f"gateway = 'attic' AND sensor = '{sensor}'"
    frame = (pl.col("gateway") == "attic") & (pl.col("sensor") == sensor)
    assert counted(years, needed, sql, frame) == {expected}
