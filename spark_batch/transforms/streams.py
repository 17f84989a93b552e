"""Streams by one number each: what is shuffled, sorted and grouped by, instead of five names.

Place on the way of the data: within a job on many rows, between the table, which has the names in
every row, and what is made of it, which gets them again. Names are 250 of the 330 bytes of a row
that is shuffled, and all that is compared where rows are sorted. Which there are the driver reads
from the dictionaries of the files: a tenth of what Spark takes to group all rows by them.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_batch.frames import is_in_one_part
from spark_batch.schema import STREAM

KEY: Final = "stream"
"""The column that has the number of a row's stream."""

_PLACE: Final = "place_of_stream"
_FEW = 100_000
"""So many are sent to every task, 30 MB; more are joined as rows are."""

_ROWS_READ = 262_144
_ROWS_A_PART = 250_000
"""So many are sorted and grouped by a task within its share of 1 GB, without a disk."""


@dataclass(frozen=True, slots=True)
class Flagged:
    """Files of a table; a stream is flagged where `flag` says so of a row of these `columns`.

    It may say None of a batch: no row.
    """

    files: Sequence[Path]
    columns: Sequence[str] = ()
    flag: Callable[[pa.RecordBatch], pa.BooleanArray | None] = lambda _: None


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
        return rows.withColumn(KEY, _number(is_hashed=self.is_hashed)).drop(*STREAM)

    def placed(self, rows: DataFrame, count: int) -> DataFrame:
        """Numbered rows, of which there are `count`, with all of a stream in one part."""
        if self.names is None:
            return rows
        least = 2 * rows.sparkSession.sparkContext.defaultParallelism
        return rows.repartition(max(least, -(-count // _ROWS_A_PART)), *self.key)

    def named(self, rows: DataFrame) -> DataFrame:
        """Rows that have `key` with the names of their streams and what `order` says."""
        if self.names is None:
            return rows
        known = self._known(rows.sparkSession, self.names).drop("flag")
        return rows.join(known, KEY).drop(KEY)

    def told(self, figures: pa.Table) -> pa.Table:
        """A row for each stream, by `KEY`, with its names in front."""
        if self.names is None:
            return figures
        return self.names.select([*STREAM, KEY]).join(figures, KEY, join_type="inner")

    def split(self, rows: DataFrame) -> tuple[DataFrame | None, DataFrame | None]:
        """Numbered rows of streams that have the flag, and of the others; None: there are none."""
        if self.names is None:
            return rows, None
        flagged = self.names.filter(self.names["flag"])
        if flagged.num_rows in {0, self.names.num_rows}:
            return (rows, None) if flagged.num_rows else (None, rows)
        some = self._known(rows.sparkSession, flagged).select(KEY)
        return rows.join(some, KEY, "left_semi"), rows.join(some, KEY, "left_anti")

    def _known(self, spark: SparkSession, names: pa.Table) -> DataFrame:
        frame = spark.createDataFrame(names)
        return F.broadcast(frame) if names.num_rows <= _FEW else frame


def streams_of(spark: SparkSession, flagged: Flagged, others: Sequence[Path] = ()) -> Streams:
    """The streams in files of tables: their names, and flags where the first ones have them.

    One pass over the names; the driver holds some hundred bytes a stream.
    """
    if is_in_one_part(spark):
        return Streams()
    return numbered(spark, _names([flagged, Flagged(others)]))


def all_streams(spark: SparkSession, files: Sequence[Path]) -> Streams:
    """The streams in files of a table, by numbers however few rows there are."""
    return numbered(spark, _names([Flagged(files)]))


def numbered(spark: SparkSession, names: pa.Table) -> Streams:
    """Streams of a table that has a row for each, in the order of their names, and a flag."""
    for is_hashed in (True, False):
        # Of a table that the driver has: no job, no task.
        numbers = spark.createDataFrame(names).select(_number(is_hashed=is_hashed).alias(KEY))
        told = names.append_column(KEY, numbers.toArrow()[KEY])
        if pc.count_distinct(told[KEY]).as_py() == names.num_rows:
            break
    places = pa.array(range(names.num_rows), pa.int64())
    return Streams((KEY,), (_PLACE,), told.append_column(_PLACE, places), is_hashed)


_Names = tuple[str | None, ...]
_Flags = dict[_Names, bool]


def _names(sources: Sequence[Flagged]) -> pa.Table:
    """A row for each stream, in the order of the names."""
    flags: _Flags = {}
    with ThreadPoolExecutor(4, "streams") as pool:
        for source in sources:
            for seen in pool.map(partial(_names_in, source), source.files):
                for stream, is_flagged in seen.items():
                    flags[stream] = is_flagged or flags.get(stream, False)
    rows = [dict(zip(STREAM, each, strict=True)) | {"flag": flags[each]} for each in flags]
    schema = pa.schema([*((name, pa.string()) for name in STREAM), ("flag", pa.bool_())])
    return pa.Table.from_pylist(rows, schema).sort_by([(name, "ascending") for name in STREAM])


def _names_in(source: Flagged, path: Path) -> _Flags:
    flags: _Flags = {}
    with pq.ParquetFile(path, read_dictionary=_dictionaries(pq.read_metadata(path))) as file:
        for batch in file.iter_batches(_ROWS_READ, columns=[*STREAM, *source.columns]):
            for stream in _streams_in(batch):
                flags.setdefault(stream, False)
            flagged = source.flag(batch)
            if flagged is not None:
                flags |= dict.fromkeys(_streams_in(batch.filter(flagged)), True)
    return flags


def _dictionaries(footer: pq.FileMetaData) -> list[str]:
    """Names that are written as dictionaries throughout; where few are alike, Spark writes none."""
    columns = [
        footer.row_group(group).column(index)
        for group in range(footer.num_row_groups)
        for index in range(footer.num_columns)
    ]
    others = {each.path_in_schema for each in columns if "DELTA_BYTE_ARRAY" in each.encodings}
    return [name for name in STREAM if name not in others]


def _streams_in(batch: pa.RecordBatch) -> Iterator[_Names]:
    """The stream of each row that has another one than the row before: in a table, of few."""
    if not batch.num_rows:
        return
    columns = [batch.column(name) for name in STREAM]
    others = reduce(pc.or_, map(_changes, columns))
    starts = pa.concat_arrays([pa.array([0]), pc.add(pc.indices_nonzero(others), 1)])
    yield from zip(*(column.take(starts).to_pylist() for column in columns), strict=True)


def _changes(column: pa.Array) -> pa.BooleanArray:
    """Whether each value but the first is another one than that before."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    indices = column.indices.fill_null(-1)
    return pc.not_equal(indices[1:], indices[:-1])


def _number(*, is_hashed: bool) -> Column:
    """A hash that was seen to tell the streams apart; else one that nobody can make collide."""
    if is_hashed:
        return F.xxhash64(*(F.coalesce(name, F.lit("\0")) for name in STREAM))
    return F.sha2(F.to_json(F.struct(*STREAM)), 256)
