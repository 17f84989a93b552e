"""Streams by one number each: what is shuffled, sorted and grouped by, instead of five names.

Place on the way of the data: within a job on many rows, between the table, which has the names in
every row, and what is made of it, which gets them again. Names are 250 of the 330 bytes of a row
that is shuffled, and all that is compared where rows are sorted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_batch.frames import is_in_one_part
from spark_batch.schema import STREAM

_KEY: Final = "stream"
_PLACE: Final = "place_of_stream"
_FEW = 100_000
"""So many are sent to every task, 30 MB; more are joined as rows are."""


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams of some rows; `key` are the columns that tell them apart, `order` sorts them.

    `names` has a row for each: its number, its place in the order of the names, and the flag
    that `found` was asked for. None where rows are few and keep their names.
    """

    key: tuple[str, ...] = STREAM
    order: tuple[str, ...] = STREAM
    names: pa.Table | None = None
    is_hashed: bool = True

    def numbered(self, rows: DataFrame) -> DataFrame:
        """Rows with `key` instead of names."""
        if self.names is None:
            return rows
        return rows.withColumn(_KEY, _number(is_hashed=self.is_hashed)).drop(*STREAM)

    def named(self, rows: DataFrame) -> DataFrame:
        """Rows that have `key` with the names of their streams and what `order` says."""
        if self.names is None:
            return rows
        known = self._known(rows.sparkSession, self.names).drop("flag")
        return rows.join(known, _KEY).drop(_KEY)

    def split(self, rows: DataFrame) -> tuple[DataFrame | None, DataFrame | None]:
        """Numbered rows of streams that have the flag, and of the others; None: there are none."""
        if self.names is None:
            return rows, None
        flagged = self.names.filter(self.names["flag"])
        if flagged.num_rows in {0, self.names.num_rows}:
            return (rows, None) if flagged.num_rows else (None, rows)
        some = self._known(rows.sparkSession, flagged).select(_KEY)
        return rows.join(some, _KEY, "left_semi"), rows.join(some, _KEY, "left_anti")

    def _known(self, spark: SparkSession, names: pa.Table) -> DataFrame:
        frame = spark.createDataFrame(names)
        return F.broadcast(frame) if names.num_rows <= _FEW else frame


def found(rows: DataFrame, flag: Column, others: Sequence[DataFrame] = ()) -> Streams:
    """The streams of rows, flagged where any of theirs is, and of others.

    One pass over the names; the driver holds some hundred bytes a stream.
    """
    if is_in_one_part(rows.sparkSession):
        return Streams()
    each = [rows.select(*STREAM, flag.alias("flag"))]
    each += [other.select(*STREAM, F.lit(False).alias("flag")) for other in others]
    streams = reduce(DataFrame.unionByName, each).groupBy(*STREAM).agg(F.max("flag").alias("flag"))
    for is_hashed in (True, False):
        names = streams.withColumn(_KEY, _number(is_hashed=is_hashed)).toArrow()
        if pc.count_distinct(names[_KEY]).as_py() == names.num_rows:
            break
    names = names.sort_by([(name, "ascending") for name in STREAM])
    names = names.append_column(_PLACE, pa.array(range(names.num_rows), pa.int64()))
    return Streams((_KEY,), (_PLACE,), names, is_hashed)


def _number(*, is_hashed: bool) -> Column:
    """A hash that was seen to tell the streams apart; else one that nobody can make collide."""
    if is_hashed:
        return F.xxhash64(*(F.coalesce(name, F.lit("\0")) for name in STREAM))
    return F.sha2(F.to_json(F.struct(*STREAM)), 256)
