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

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_batch.schema import ROLLUP, STREAM

GRAINS = {"minute": 60, "hour": 3600, "day": 86_400}
"""Seconds of each."""

_SECOND = 1_000_000
_STREAM_ORDER = f"OVER (PARTITION BY {', '.join(STREAM)} ORDER BY result_time, epoch, sequence)"


def rollup(rows: DataFrame, hold_s: int) -> DataFrame:
    """The buckets that rows of the archive fall into; needs the day before for what is carried in.

    `hold_s` is at most a day.
    """
    buckets = F.inline(F.array(*(_bucket(name, hold_s) for name in GRAINS)))
    parts = _neighbours(rows).select("*", buckets)
    figures = parts.groupBy(*STREAM, "grain", "start_us").agg(*_figures())
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


def _neighbours(rows: DataFrame) -> DataFrame:
    """Observations with their value and those before and after, as (us, value)."""
    valued = rows.where("kind = 'observation'").withColumns(
        {"us": F.unix_micros("result_time"), "value": value()}
    )
    here = valued.withColumn("here", F.when(F.col("value").isNotNull(), F.struct("us", "value")))
    return here.withColumns(
        {
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
    us = F.col("us")
    start = us - F.pmod(us, length)
    end = F.least(F.coalesce(F.col("after.us"), us + hold), us + hold, start + length)
    carried = F.least(us, F.col("before.us") + hold) - start
    is_first = F.col("before.us") < start
    return F.struct(
        F.lit(grain).alias("grain"),
        start.alias("start_us"),
        F.when(F.col("value").isNotNull(), end - us).alias("held"),
        F.when(F.col("value").isNotNull() & is_first & (carried > 0), carried).alias("carried"),
    )


def _figures() -> list[Column]:
    order = F.struct("us", "epoch", "sequence")
    valued = F.col("value").isNotNull()
    held, carried = (F.coalesce(name, F.lit(0)) / _SECOND for name in ("held", "carried"))
    before = F.coalesce("before.value", F.lit(0.0))
    text = F.coalesce("text", "geometry", "lexical")
    return [
        F.count(F.lit(1)).alias("count"),
        F.min("value").alias("minimum"),
        F.max("value").alias("maximum"),
        F.avg("value").alias("mean"),
        (F.var_pop("value") * F.count("value")).alias("m2"),
        F.stddev_samp("value").alias("stddev"),
        F.min_by("value", F.when(valued, order)).alias("first"),
        F.min(F.when(valued, F.col("result_time"))).alias("first_time"),
        F.max_by("value", F.when(valued, order)).alias("last"),
        F.max(F.when(valued, F.col("result_time"))).alias("last_time"),
        F.max_by(text, F.when(text.isNotNull(), order)).alias("last_text"),
        F.sum(F.when(valued, F.col("value") * held + before * carried)).alias("integral"),
        F.sum(F.when(valued, held + carried)).alias("covered_s"),
        F.sum(F.when(F.col("step") < 0, F.col("value")).otherwise(F.col("step"))).alias("increase"),
        F.count_if(F.col("step") < 0).alias("resets"),
    ]
