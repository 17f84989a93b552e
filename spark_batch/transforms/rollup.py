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

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_batch.schema import ROLLUP, STREAM

GRAINS = {"minute": 60, "hour": 3600, "day": 86_400}
"""The grains with their seconds."""

_SECOND = 1_000_000
_BUCKET = (*STREAM, "grain", "start_us")
_STREAM_ORDER = f"OVER (PARTITION BY {', '.join(STREAM)} ORDER BY result_time, epoch, sequence)"


def rollup(rows: DataFrame, hold_s: int) -> DataFrame:
    """The buckets that rows of the archive fall into; needs the day before for what is carried in.

    `hold_s` is at most a day.
    """
    seen = rows.where("kind = 'observation'").withColumns(
        {"us": F.unix_micros("result_time"), "value": value()}
    )
    buckets = F.inline(F.array(*(_bucket(name, hold_s) for name in GRAINS)))
    parts = _neighbours(seen).select("*", buckets)
    figures = parts.groupBy(*_BUCKET).agg(*_figures()).join(_texts(seen), _same_bucket(), "left")
    return figures.withColumns(
        {
            "start": F.timestamp_micros("start_us"),
            "time_weighted_mean": F.try_divide("integral", "covered_s"),
        }
    ).select(*ROLLUP.fieldNames(), F.to_date("start").alias("day"))


def value() -> Column:
    """The result as a finite number, or null."""
    number = F.coalesce("number", F.col("boolean").cast("int").cast("double"))
    return F.when(F.abs(number) < float("inf"), number)


def _texts(seen: DataFrame) -> DataFrame:
    """The last result of each bucket that is no finite number, where there is one.

    By itself: a text among the figures would have all rows sorted by bucket instead of hashed.
    """
    text = F.coalesce("text", "geometry", "lexical")
    grains = [F.struct(F.lit(g).alias("grain"), _start(g).alias("start_us")) for g in GRAINS]
    told = seen.where(F.col("value").isNull() & text.isNotNull()).select(
        "*", F.inline(F.array(*grains))
    )
    last = F.max_by(text, F.struct("us", "epoch", "sequence")).alias("last_text")
    found = told.groupBy(*_BUCKET).agg(last)
    return found.select(*(F.col(name).alias(f"its_{name}") for name in _BUCKET), "last_text")


def _same_bucket() -> Column:
    same = [F.col(name).eqNullSafe(F.col(f"its_{name}")) for name in _BUCKET]
    return reduce(Column.__and__, same)


def _neighbours(seen: DataFrame) -> DataFrame:
    """Observations with their place in the stream and the values before and after, (us, value)."""
    here = seen.withColumn("here", F.when(F.col("value").isNotNull(), F.struct("us", "value")))
    return here.withColumns(
        {
            "place": F.expr(f"row_number() {_STREAM_ORDER}"),
            "before": F.expr(f"lag(here) IGNORE NULLS {_STREAM_ORDER}"),
            "after": F.expr(f"lead(here) IGNORE NULLS {_STREAM_ORDER}"),
        }
    ).withColumn("step", _step())


def _step() -> Column:
    """By how much the value grew since the one before, which is of this day or the day before."""
    day = F.lit(86_400 * _SECOND)
    recent = F.floor(F.col("us") / day) - F.floor(F.col("before.us") / day) <= 1
    return F.when(recent, F.col("value") - F.col("before.value"))


def _bucket(grain: str, hold_s: int) -> Column:
    """The bucket of an observation, and for how long it and the value carried in hold there."""
    length, hold = F.lit(GRAINS[grain] * _SECOND), F.lit(hold_s * _SECOND)
    us, start = F.col("us"), _start(grain)
    end = F.least(F.coalesce(F.col("after.us"), us + hold), us + hold, start + length)
    carried = F.least(us, F.col("before.us") + hold) - start
    is_first = F.col("before.us") < start
    return F.struct(
        F.lit(grain).alias("grain"),
        start.alias("start_us"),
        F.when(F.col("value").isNotNull(), end - us).alias("held"),
        F.when(F.col("value").isNotNull() & is_first & (carried > 0), carried).alias("carried"),
    )


def _start(grain: str) -> Column:
    """The start of the bucket that an observation falls into."""
    us = F.col("us")
    return us - F.pmod(us, F.lit(GRAINS[grain] * _SECOND))


def _figures() -> list[Column]:
    """Sums and extremes of numbers only, which is what Spark hashes."""
    valued = F.col("value").isNotNull()
    held, carried = (F.coalesce(name, F.lit(0)) / _SECOND for name in ("held", "carried"))
    before = F.coalesce("before.value", F.lit(0.0))
    return [
        F.count(F.lit(1)).alias("count"),
        F.min("value").alias("minimum"),
        F.max("value").alias("maximum"),
        F.avg("value").alias("mean"),
        (F.var_pop("value") * F.count("value")).alias("m2"),
        F.stddev_samp("value").alias("stddev"),
        F.min_by("value", F.when(valued, F.col("place"))).alias("first"),
        F.min(F.when(valued, F.col("result_time"))).alias("first_time"),
        F.max_by("value", F.when(valued, F.col("place"))).alias("last"),
        F.max(F.when(valued, F.col("result_time"))).alias("last_time"),
        F.sum(F.when(valued, F.col("value") * held + before * carried)).alias("integral"),
        F.sum(F.when(valued, held + carried)).alias("covered_s"),
        F.sum(F.when(F.col("step") < 0, F.col("value")).otherwise(F.col("step"))).alias("increase"),
        F.count_if(F.col("step") < 0).alias("resets"),
    ]
