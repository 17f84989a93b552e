"""Frames of what the driver knows, and of what is small enough for one task.

What is in one part has nothing to be shuffled for: sorts, windows, groups and joins follow each
other in one stage. That is how jobs on few rows are planned (`session.SMALL_ROWS`).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

ONE_PART = "1"
"""The session's `spark.sql.shuffle.partitions` when its jobs are small."""

_FEW_ROWS = 30_000
"""Up to here expressions are walked through in less time than Java takes to compile them."""

_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def is_in_one_part(spark: SparkSession) -> bool:
    """Whether the session's jobs are small."""
    return spark.conf.get("spark.sql.shuffle.partitions") == ONE_PART


@contextmanager
def interpreted(spark: SparkSession, rows: int) -> Iterator[None]:
    """Walk through expressions instead of generating Java of them, where jobs and rows are few.

    For a job of many plans, which take longer to compile than to run.
    """
    if rows > _FEW_ROWS or not is_in_one_part(spark):
        yield
        return
    before = {name: str(spark.conf.get(name)) for name in _INTERPRETED}
    try:
        for name, value in _INTERPRETED.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def by_day(rows: DataFrame) -> DataFrame:
    """Rows with all of a `day` in one part, to be written as one file."""
    return rows.coalesce(1) if is_in_one_part(rows.sparkSession) else rows.repartition("day")


def typed_frame(
    spark: SparkSession, rows: Iterable[tuple[object, ...]], schema: StructType
) -> DataFrame:
    """As `frame_of`, of columns as Spark names them; times are UTC."""
    columns = to_arrow_schema(schema, timezone="UTC")
    return frame_of(spark, rows, dict(zip(columns.names, columns.types, strict=True)))


def frame_of(
    spark: SparkSession, rows: Iterable[tuple[object, ...]], columns: Mapping[str, pa.DataType]
) -> DataFrame:
    """A frame of rows that have these columns.

    Through Arrow: from a list Spark would start Python workers, 1 s and 160 MB for a few names.
    """
    named = [dict(zip(columns, row, strict=True)) for row in rows]
    return spark.createDataFrame(pa.Table.from_pylist(named, pa.schema(columns)))
