"""Minutes, hours and days of each stream: what a chart reads instead of a billion rows.

The rules, which a test recomputes with another engine:

- A stream is (gateway, sensor, property, feature, unit). A bucket without observations has no row.
- Booleans count as 0 and 1. What is not finite or no number is counted, and nothing else.
- Mean and M2 (sum of squared deviations) instead of a sum of squares, which cancels.
- The time-weighted mean holds each value until the next one, for `hold_s` seconds at most, also
  over the edge of a bucket; `covered_s` says how much of the bucket is known that way.
- The increase of a counter is the sum of its steps; a step down is a reset, after which it counts
  from zero. The step from the day before belongs to the later observation, older ones to none.
"""

from collections.abc import Iterator, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_batch.transforms.streams import Streams

GRAINS = {"minute": 60, "hour": 3600, "day": 86_400}
"""The grains with their seconds."""

RESULT = ("kind", "number", "boolean", "text", "geometry", "lexical")
"""Columns of a result, and whether it is one."""

_SECOND = 1_000_000
_TEXTS = ("text", "geometry", "lexical")


def has_text(batch: pa.RecordBatch) -> pa.BooleanArray | None:
    """Which rows of a batch of `RESULT` have a result that is told as a text; None: no row."""
    there = [batch.column(name) for name in _TEXTS]
    if all(each.null_count == len(each) for each in there):
        return None
    number, boolean = batch.column("number"), batch.column("boolean")
    is_valued = pc.if_else(number.is_valid(), pc.is_finite(number), boolean.is_valid())
    is_told = reduce(pc.or_, [each.is_valid() for each in there])
    is_seen = pc.equal(batch.column("kind"), "observation")
    return reduce(pc.and_, [is_seen, is_told, pc.invert(is_valued)])


def rollup(rows: DataFrame, streams: Streams, hold_s: int, count: int) -> DataFrame:
    """The buckets that rows of the archive fall into where these are wanted (`is_wanted`).

    The rows of the day before are needed too, for what is carried in.
    `streams` are those of the `count` rows, flagged where one `has_text`; `hold_s` is at most a
    day. A text among the figures has rows sorted by bucket instead of hashed, so it is only there
    where a stream has any.
    """
    seen = streams.numbered(rows.where("kind = 'observation'")).select(
        *streams.key,
        *("epoch", "sequence", "is_wanted"),
        F.unix_micros("result_time").alias("us"),
        value().alias("value"),
        F.when(value().isNull(), F.coalesce(*_TEXTS)).alias("text"),
    )
    told, silent = streams.split(seen)
    parts: list[DataFrame] = []
    if told is not None:
        text = F.max_by("text", F.when(F.col("text").isNotNull(), F.col("place")))
        told = streams.placed(told, count)
        parts.append(_buckets(told, streams.key, hold_s, text.alias("last_text")))
    if silent is not None:
        silent = streams.placed(silent.drop("text"), count)
        untold = F.lit(None).cast("string")
        parts.append(_buckets(silent, streams.key, hold_s).withColumn("last_text", untold))
    return reduce(DataFrame.unionByName, parts)


def value() -> Column:
    """The result as a finite number, or null."""
    number = F.coalesce("number", F.col("boolean").cast("int").cast("double"))
    return F.when(F.abs(number) < float("inf"), number)


def _buckets(seen: DataFrame, key: Sequence[str], hold_s: int, *further: Column) -> DataFrame:
    """Buckets of streams with this key; `further` is aggregated beside the figures."""
    lengths = F.array(*(F.lit(seconds * _SECOND) for seconds in GRAINS.values()))
    wanted = _neighbours(seen, key).where("is_wanted").drop("is_wanted")
    parts = wanted.select("*", F.explode(lengths).alias("length"))
    parts = parts.withColumn("start_us", F.col("us") - F.pmod("us", "length"))
    held = parts.withColumns(_held(F.lit(hold_s * _SECOND)))
    figures = held.groupBy(*key, "length", "start_us").agg(*_figures(), *further)
    grain = F.element_at(F.create_map(*_names_of_grains()), F.col("length"))
    derived = {
        "grain": grain,
        "start": F.timestamp_micros("start_us"),
        "day": F.to_date(F.timestamp_micros("start_us")),
        "stddev": F.sqrt(F.try_divide("m2", F.col("valued") - 1)),
        "time_weighted_mean": F.try_divide("integral", "covered_s"),
        "first_time": F.timestamp_micros("first_us"),
        "last_time": F.timestamp_micros("last_us"),
    }
    unwanted = ("length", "start_us", "valued", "integral", "first_us", "last_us")
    return figures.withColumns(derived).drop(*unwanted)


def _names_of_grains() -> Iterator[Column]:
    for name, seconds in GRAINS.items():
        yield from (F.lit(seconds * _SECOND), F.lit(name))


def _neighbours(seen: DataFrame, key: Sequence[str]) -> DataFrame:
    """Observations with their place in the stream and the values before and after, (us, value)."""
    order = f"OVER (PARTITION BY {', '.join(key)} ORDER BY us, epoch, sequence)"
    here = seen.withColumn("here", F.when(F.col("value").isNotNull(), F.struct("us", "value")))
    return here.withColumns(
        {
            "place": F.expr(f"row_number() {order}"),
            "before": F.expr(f"lag(here) IGNORE NULLS {order}"),
            "after": F.expr(f"lead(here) IGNORE NULLS {order}"),
        }
    ).withColumn("step", _step())


def _step() -> Column:
    """By how much the value grew since the one before, which is of this day or the day before."""
    day = F.lit(86_400 * _SECOND)
    recent = F.floor(F.col("us") / day) - F.floor(F.col("before.us") / day) <= 1
    return F.when(recent, F.col("value") - F.col("before.value"))


def _held(hold: Column) -> dict[str, Column]:
    """For how long an observation and the value carried in hold in its bucket."""
    us, start = F.col("us"), F.col("start_us")
    end = F.least(F.coalesce(F.col("after.us"), us + hold), us + hold, start + F.col("length"))
    carried = F.least(us, F.col("before.us") + hold) - start
    is_first = F.col("before.us") < start
    is_valued = F.col("value").isNotNull()
    return {
        "held": F.when(is_valued, end - us),
        "carried": F.when(is_valued & is_first & (carried > 0), carried),
    }


def _figures() -> list[Column]:
    """Sums and extremes of numbers only, which is what Spark hashes."""
    valued = F.col("value").isNotNull()
    held, carried = (F.coalesce(name, F.lit(0)) / _SECOND for name in ("held", "carried"))
    before = F.coalesce("before.value", F.lit(0.0))
    return [
        F.count(F.lit(1)).alias("count"),
        F.count("value").alias("valued"),
        F.min("value").alias("minimum"),
        F.max("value").alias("maximum"),
        F.avg("value").alias("mean"),
        (F.var_pop("value") * F.count("value")).alias("m2"),
        F.min_by("value", F.when(valued, F.col("place"))).alias("first"),
        F.min(F.when(valued, F.col("us"))).alias("first_us"),
        F.max_by("value", F.when(valued, F.col("place"))).alias("last"),
        F.max(F.when(valued, F.col("us"))).alias("last_us"),
        F.sum(F.when(valued, F.col("value") * held + before * carried)).alias("integral"),
        F.sum(F.when(valued, held + carried)).alias("covered_s"),
        F.sum(F.when(F.col("step") < 0, F.col("value")).otherwise(F.col("step"))).alias("increase"),
        F.count_if(F.col("step") < 0).alias("resets"),
    ]
