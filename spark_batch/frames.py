"""Rows that the driver knows, as a frame.

Through Arrow: from a list Spark would start Python workers, 1 s and 160 MB for a few names.
"""

from collections.abc import Iterable, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession


def frame_of(
    spark: SparkSession, rows: Iterable[tuple[object, ...]], columns: Mapping[str, pa.DataType]
) -> DataFrame:
    """A frame of rows that have these columns."""
    named = [dict(zip(columns, row, strict=True)) for row in rows]
    return spark.createDataFrame(pa.Table.from_pylist(named, pa.schema(columns)))
