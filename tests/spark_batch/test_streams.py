"""Streams by numbers: names come back as they were, whatever they are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from spark_batch.frames import typed_frame
from spark_batch.schema import STREAM
from spark_batch.transforms import streams as streams_module
from spark_batch.transforms.rollup import RESULT, has_text
from spark_batch.transforms.streams import Flagged, Streams, streams_of

Names = tuple[str | None, ...]
PLAIN: list[Names] = [
    ("g", "s", "p", None, "u"),
    ("g", "s", None, "p", "u"),
    ("g", "s", "p", "", "u"),
    ("g", "s", "a", None, None),
]
_HIDDEN: Names = ("g", "s", "p", "\0", "u")
"""Hashed as if the feature was not there."""

Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Files of names, in small row groups, read in small batches."""
    monkeypatch.setattr(streams_module, "_ROWS_READ", 5)

    def write(names: list[Names], *, is_delta: bool = False) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        schema = pa.schema([(name, pa.string()) for name in STREAM])
        rows = [dict(zip(STREAM, each, strict=True)) for each in names]
        # As Spark does: a dictionary, or deltas where few values are alike.
        encoding: dict[str, Any] = (
            {"use_dictionary": False, "column_encoding": dict.fromkeys(STREAM, "DELTA_BYTE_ARRAY")}
            if is_delta
            else {}
        )
        pq.write_table(pa.Table.from_pylist(rows, schema), path, row_group_size=3, **encoding)
        return path

    return write


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


def test_names_come_back_in_their_order(spark: SparkSession, written: Written) -> None:
    files = [written(PLAIN[:2] * 3), written(PLAIN[1:] * 3, is_delta=True)]
    streams = streams_of(spark, Flagged(files))
    assert streams.is_hashed
    assert there_and_back(streams, frame(spark, PLAIN * 3)) == sorted(PLAIN * 3, key=_order)


def test_streams_that_have_one_hash_are_told_apart(spark: SparkSession, written: Written) -> None:
    names = [*PLAIN, _HIDDEN]
    streams = streams_of(spark, Flagged([written(PLAIN)]), [written([_HIDDEN])])
    assert not streams.is_hashed
    assert there_and_back(streams, frame(spark, names)) == sorted(names, key=_order)


def test_rows_are_split_by_the_flag_of_their_streams(spark: SparkSession, written: Written) -> None:
    rows, others = frame(spark, PLAIN[:3]), frame(spark, PLAIN[3:])
    files, kept = [written(PLAIN[:3] * 4)], [written(PLAIN[3:])]
    for wanted, counts in (("p", [1, 2]), ("none", [None, 3])):
        flagged = Flagged(files, (), lambda batch, it=wanted: _is(batch, "feature", it))  # type: ignore[misc]
        streams = streams_of(spark, flagged, kept)
        parts = streams.split(streams.numbered(rows))
        assert [part if part is None else part.count() for part in parts] == counts
        assert there_and_back(streams, others) == PLAIN[3:]


def _is(batch: pa.RecordBatch, column: str, value: str) -> pa.BooleanArray:
    return pc.fill_null(pc.equal(batch.column(column).dictionary_decode(), value), False)


def test_results_that_are_told_as_texts_are_found_as_spark_finds_them() -> None:
    nan, numbers = float("nan"), [1.5, None, float("inf")]
    rows = [
        {"kind": kind, "number": number, "boolean": boolean, **texts}
        for kind in ("observation", "actuation")
        for number in (*numbers, nan)
        for boolean in (True, None)
        for texts in ({}, {"text": "open"}, {"geometry": "POINT (1 2)"}, {"lexical": "NaN"})
    ]
    kinds = {"number": pa.float64(), "boolean": pa.bool_()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in RESULT])
    (batch,) = pa.Table.from_pylist(rows, schema).to_batches()
    told = has_text(batch)
    assert told is not None
    expected = [
        row["kind"] == "observation"
        and len(row) > 3
        and (row["boolean"] is None if row["number"] is None else row["number"] != 1.5)
        for row in rows
    ]
    assert told.to_pylist() == expected
    assert has_text(batch.slice(0, 1)) is None
