"""Where a stream's unit changes, as plain Python says that goes through all rows in their order."""

from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from random import Random

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from spark_batch.frames import frame_of
from spark_batch.schema import STREAM
from spark_batch.transforms.quality import _unit_changes

_START = datetime(2026, 9, 1, tzinfo=UTC)
_COLUMNS = {
    **dict.fromkeys(STREAM, pa.string()),
    "value": pa.float64(),
    "result_time": pa.timestamp("us", tz="UTC"),
    "epoch": pa.int64(),
    "sequence": pa.int64(),
    "us": pa.int64(),
}
_Row = tuple[str | None, str | None, str | None, str | None, str | None, float | None, int, int]


def _rows(chance: Random) -> list[_Row]:
    """Names that are alike but for one, none at all, many units and times that are the same."""
    streams = [
        *(("g", "s", "p", feature, units) for feature, units in (("f", "abc"), (None, "a"))),
        ("g", "s", None, None, ("a", None)),
        ("h", "s", "p", "f", (None,)),
        ("g", "t", "p", "", "ab"),
    ]
    found: list[_Row] = []
    for sequence in range(1000):
        gateway, sensor, observed, feature, units = chance.choice(streams)
        value = chance.choice((None, 1.0, 2.0))
        names = (gateway, sensor, observed, feature, chance.choice(units))
        found.append((*names, value, chance.randrange(200), sequence))
    return found


def _expected(rows: list[_Row]) -> list[tuple[object, ...]]:
    def order(row: _Row) -> tuple[object, ...]:
        return (*(row[:4][i] or f"\0{row[:4][i]}" for i in range(4)), row[6], row[7])

    found: list[tuple[object, ...]] = []
    measured = sorted((row for row in rows if row[5] is not None), key=order)
    for names, group in groupby(measured, key=lambda row: row[:4]):
        of_stream = list(group)
        for before, here in pairwise(of_stream):
            if before[4] != here[4]:
                found.append(
                    (*names, here[4], here[6], f"{before[4] or 'none'} → {here[4] or 'none'}")
                )
    return sorted(found, key=str)


def test_units_change_where_they_do(spark: SparkSession) -> None:
    rows = _rows(Random(24))
    told = [
        (*row[:6], _START + timedelta(seconds=row[6]), 7, row[7], row[6] * 1_000_000)
        for row in rows
    ]
    seen = frame_of(spark, told, _COLUMNS)
    seen = seen.withColumn("day", F.to_date("result_time"))
    found = sorted(
        (
            (*(row[name] for name in STREAM), row["us"], row["detail"])
            for row in _unit_changes(seen)
            .withColumn("us", F.unix_micros("start") / 1_000_000)
            .collect()
        ),
        key=str,
    )
    expected = _expected(rows)
    assert [(*row[:5], int(row[5]), row[6]) for row in found] == expected
    assert len(expected) > 100
