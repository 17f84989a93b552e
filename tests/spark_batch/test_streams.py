"""Streams by numbers: names come back as they were, whatever they are."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from spark_batch.frames import typed_frame
from spark_batch.schema import STREAM
from spark_batch.transforms.streams import Streams, found

Names = tuple[str | None, ...]
PLAIN: list[Names] = [
    ("g", "s", "p", None, "u"),
    ("g", "s", None, "p", "u"),
    ("g", "s", "p", "", "u"),
    ("g", "s", "a", None, None),
]
_HIDDEN: Names = ("g", "s", "p", "\0", "u")
"""Hashed as if the feature was not there."""


def frame(spark: SparkSession, names: list[Names]) -> DataFrame:
    columns = StructType([StructField(name, StringType()) for name in STREAM])
    return typed_frame(spark, names, columns)


def there_and_back(streams: Streams, rows: DataFrame) -> list[Names]:
    numbered = streams.numbered(rows)
    assert numbered.columns == ["stream"]
    named = streams.named(numbered).orderBy(*streams.order).select(*STREAM)
    return [tuple(row) for row in named.collect()]


def _order(names: Names) -> list[tuple[bool, str]]:
    return [(name is None, name or "") for name in names]


def test_names_come_back_in_their_order(spark: SparkSession) -> None:
    rows = frame(spark, PLAIN * 3)
    streams = found(rows, F.lit(False))
    assert streams.is_hashed
    assert there_and_back(streams, rows) == sorted(PLAIN * 3, key=_order)


def test_streams_that_have_one_hash_are_told_apart(spark: SparkSession) -> None:
    rows = frame(spark, [*PLAIN, _HIDDEN])
    streams = found(rows, F.lit(False))
    assert not streams.is_hashed
    assert there_and_back(streams, rows) == sorted([*PLAIN, _HIDDEN], key=_order)


def test_rows_are_split_by_the_flag_of_their_streams(spark: SparkSession) -> None:
    rows, others = frame(spark, PLAIN[:3]), frame(spark, PLAIN[3:])
    for flag, counts in (("p", [1, 2]), ("none", [None, 3])):
        streams = found(rows, F.coalesce(F.col("feature") == flag, F.lit(False)), [others])
        parts = streams.split(streams.numbered(rows))
        assert [part if part is None else part.count() for part in parts] == counts
        assert there_and_back(streams, others) == PLAIN[3:]
