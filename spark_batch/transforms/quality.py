"""What is wrong with the data: one row (`schema.FINDINGS`) for each finding.

Every stream is its own measure: its expected interval is the median of its intervals, a spike is
many of its median steps away from both neighbours, a stuck value stays many of its mean runs.

| check | start, end | amount |
|---|---|---|
| gap | last before, first after | intervals without an observation |
| silence | last one, newest of the archive | intervals without an observation |
| stuck | first, last of equal values | observations |
| spike | its time | distance in median steps |
| clock_drift | of the device's times | parts per million against the gateway's clock |
| clock_jump | of a day | device times that were not believed |
| duplicate | of a day | observations with time, counter and result of the one that came before |
| revision | of a day | observations with time and counter of the one before, and another result |
| unit_change | the first with the new unit | 1 |
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_batch.schema import FINDINGS, STREAM
from spark_batch.transforms.rollup import value
from spark_batch.transforms.streams import KEY, Streams

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_SENSOR = STREAM[:2]
_ORDER = ("us", "epoch", "sequence")
_COUNTED = ("result_time", "device_sequence")
_USUAL = ("usual_us", "usual_step", "runs", "count")


@dataclass(frozen=True, slots=True)
class Limits:
    """From when on something is worth a finding; `observations`: of a stream, to judge it."""

    observations: int = 10
    gap_intervals: float = 3.0
    stuck_observations: int = 30
    stuck_runs: float = 10.0
    spike_steps: float = 10.0
    drift_ppm: float = 50.0
    drift_s: float = 1.0


def prepared(rows: DataFrame, streams: Streams) -> DataFrame:
    """What every check reads of observations and of their neighbours in the stream, and no more.

    `streams` are those of the rows, by numbers. `run` numbers the stretches of a stream in which
    one number stays.
    """
    order = Window.partitionBy(KEY).orderBy(*_ORDER)
    here = streams.numbered(rows.where("kind = 'observation'")).select(
        KEY,
        *("epoch", "sequence", "device_clock", "delay_us"),
        F.unix_micros("result_time").alias("us"),
        F.unix_micros("suspect_time").alias("suspect_us"),
        value().alias("value"),
        (F.col("number").isNotNull() & value().isNotNull()).alias("is_number"),
        _told().alias("told"),
    )
    beside = here.select(
        *(name for name in here.columns if name != "told"),
        (F.col("us") - F.lag("us").over(order)).alias("interval"),
        (F.col("value") - F.lag("value").over(order)).alias("step"),
        (F.lead("value").over(order) - F.col("value")).alias("next_step"),
        "told",
        F.lag("told").over(order).alias("told_before"),
    )
    changed = F.when(F.col("is_number"), F.coalesce((F.col("step") != 0).cast("int"), F.lit(1)))
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return beside.select(
        *(name for name in beside.columns if not name.startswith("told")),
        F.sum(changed).over(so_far).alias("run"),
        F.expr("told <=> told_before").alias("is_repeated"),
        _is_revised().alias("is_revised"),
    )


@dataclass(frozen=True, slots=True)
class Known:
    """The streams of prepared rows: a row of `figures` for each that has any, with its names."""

    streams: Streams
    figures: pa.Table

    @property
    def gateways(self) -> int:
        """How many gateways have a stream."""
        return int(pc.count_distinct(self.figures["gateway"]).as_py())

    @property
    def units(self) -> int:
        """How many units the same names have at most."""
        alike = self.figures.group_by(list(STREAM[:4])).aggregate([([], "count_all")])
        return int(pc.max(alike["count_all"]).as_py() or 0)

    def sum(self, name: str) -> int:
        """How many observations of all streams have something: a column of figures."""
        return int(pc.sum(self.figures[name]).as_py() or 0)


def known(seen: DataFrame, streams: Streams, limits: Limits) -> Known:
    """How much each stream has, from when to when, its usual interval and step.

    One job; the driver holds some hundred bytes a stream.
    """
    positive = F.when(F.col("interval") > 0, F.col("interval"))
    moved = F.when(F.col("step") != 0, F.abs("step"))
    count = F.count(F.lit(1))
    figures = seen.groupBy(KEY).agg(
        count.alias("count"),
        F.min("us").alias("first_us"),
        F.max("us").alias("last_us"),
        F.percentile_approx(positive, 0.5).alias("usual_us"),
        F.percentile_approx(moved, 0.5).alias("usual_step"),
        (F.count_if(F.col("step") != 0) + 1).alias("runs"),
        F.min("value").alias("minimum"),
        F.max("value").alias("maximum"),
        F.count_if("is_repeated").alias("repeated"),
        F.count_if("is_revised").alias("revised"),
        F.count("suspect_us").alias("suspect"),
        F.count_if("device_clock").alias("clocked"),
        (count >= limits.observations).alias("is_judged"),
    )
    return Known(streams, streams.told(figures.toArrow()))


def findings(seen: DataFrame, known: Known, limits: Limits) -> DataFrame:
    """Every finding on `prepared` rows and their streams, with `day`.

    What no stream has is not looked for.
    """
    judged = known.figures.filter(known.figures["is_judged"])
    usual = seen.sparkSession.createDataFrame(judged.select([KEY, *STREAM, *_USUAL, "last_us"]))
    checks = [
        _beside(seen.join(F.broadcast(usual), KEY), limits),
        _stuck(seen, usual, limits),
        _silence(usual, pc.max(judged["last_us"]).as_py(), limits),
    ]
    named = known.streams.named(seen)
    further: list[tuple[int, Callable[[], DataFrame]]] = [
        (known.sum("clocked"), lambda: _drift(named, limits)),
        (known.sum("suspect"), lambda: _jumps(named)),
        (known.sum("repeated"), lambda: _duplicates(named)),
        (known.sum("revised"), lambda: _revisions(named)),
        (known.units - 1, lambda: _unit_changes(named)),
    ]
    checks += [check() for count, check in further if count > 0]
    return reduce(DataFrame.unionAll, checks).withColumn("day", F.to_date("start"))


def curves(seen: DataFrame, chosen: DataFrame, points: int) -> DataFrame:
    """Mean, least and greatest of the chosen streams in `points` equal parts of their time."""
    placed = seen.where("value IS NOT NULL").join(F.broadcast(chosen), KEY)
    span = F.greatest(F.col("last_us") - F.col("first_us"), F.lit(1))
    part = F.least(F.floor((F.col("us") - F.col("first_us")) * points / span), F.lit(points - 1))
    return placed.groupBy(KEY, part.alias("part")).agg(
        F.avg("value").alias("mean"), F.min("value").alias("least"), F.max("value").alias("most")
    )


def _finding(
    check: str, start: Column, end: Column, amount: Column, detail: Column
) -> list[Column]:
    """The columns of FINDINGS; times in µs."""
    told = {
        "check": F.lit(check),
        **{name: F.col(name) for name in STREAM},
        "start": F.timestamp_micros(start),
        "end": F.timestamp_micros(end),
        "amount": amount.cast("double"),
        "detail": detail,
    }
    return [told[name].alias(name) for name in FINDINGS.fieldNames()]


def _beside(placed: DataFrame, limits: Limits) -> DataFrame:
    """Gaps and spikes: what an observation tells beside its neighbours."""
    kinds = (_gap(limits), _spike(limits))
    told = F.array(*(F.when(is_so, F.struct(*finding)) for is_so, finding in kinds))
    found = placed.where(kinds[0][0] | kinds[1][0]).select(F.explode(told).alias("found"))
    return found.where("found IS NOT NULL").select("found.*")


def _gap(limits: Limits) -> tuple[Column, list[Column]]:
    interval, usual = F.col("interval"), F.col("usual_us")
    detail = F.format_string(
        "%.0f s without an observation, usual are %.1f s", interval / _SECOND, usual / _SECOND
    )
    before, intervals = F.col("us") - interval, interval / usual - 1
    is_gap = interval > limits.gap_intervals * usual
    return is_gap, _finding("gap", before, F.col("us"), intervals, detail)


def _silence(judged: DataFrame, newest_us: int | None, limits: Limits) -> DataFrame:
    newest, usual = F.lit(newest_us).cast("bigint"), F.col("usual_us")
    silent = newest - F.col("last_us")
    detail = F.format_string("nothing for %.0f s, up to the newest", silent / _SECOND)
    return judged.where(silent > limits.gap_intervals * usual).select(
        *_finding("silence", F.col("last_us"), newest, silent / usual, detail)
    )


def _stuck(seen: DataFrame, usual: DataFrame, limits: Limits) -> DataFrame:
    """A stream that never moves is a set point as often as a dead sensor: it is not judged."""
    lengths = (
        seen.where("is_number")
        .groupBy(KEY, "run")
        .agg(
            F.count(F.lit(1)).alias("length"),
            F.min("us").alias("first"),
            F.max("us").alias("last"),
            F.min("value").alias("held"),
        )
    )
    long = lengths.where(F.col("length") >= limits.stuck_observations)
    placed = long.join(F.broadcast(usual), KEY)
    least = limits.stuck_runs * F.col("count") / F.col("runs")
    detail = F.format_string("%d times %s", F.col("length"), F.col("held").cast("string"))
    return placed.where((F.col("length") >= least) & (F.col("runs") > 1)).select(
        *_finding("stuck", F.col("first"), F.col("last"), F.col("length"), detail)
    )


def _spike(limits: Limits) -> tuple[Column, list[Column]]:
    step, following, here = F.col("step"), F.col("next_step"), F.col("value")
    away = F.least(F.abs(step), F.abs(following)) / F.col("usual_step")
    alone = ((step > 0) & (following < 0)) | ((step < 0) & (following > 0))
    beside = (F.round(number, 9) for number in (here - step, here + following))
    texts = [number.cast("string") for number in (here, *beside)]
    detail = F.format_string("%s, beside %s and %s", *texts)
    far = F.col("is_number") & alone & (away > limits.spike_steps)
    return far, _finding("spike", F.col("us"), F.col("us"), away, detail)


def _drift(seen: DataFrame, limits: Limits) -> DataFrame:
    """The slope of (ingest time - device time) over time, of each sensor's clock."""
    clocks = (
        seen.where("device_clock")
        .groupBy(*_SENSOR)
        .agg(
            F.count(F.lit(1)).alias("count"),
            (-1e6 * F.regr_slope("delay_us", "us")).alias("ppm"),
            F.regr_r2("delay_us", "us").alias("fit"),
            F.min("us").alias("first"),
            F.max("us").alias("last"),
        )
    )
    gained = F.col("ppm") * (F.col("last") - F.col("first")) / _SECOND / 1e6
    wrong = (
        (F.col("count") >= limits.observations)
        & (F.abs("ppm") >= limits.drift_ppm)
        & (F.abs(gained) >= limits.drift_s)
        & (F.col("fit") >= 0.5)
    )
    detail = F.format_string("the device's clock gained %.1f s", gained)
    return _of_sensors(clocks.where(wrong)).select(
        *_finding("clock_drift", F.col("first"), F.col("last"), F.col("ppm"), detail)
    )


def _jumps(seen: DataFrame) -> DataFrame:
    suspect = seen.where("suspect_us IS NOT NULL")
    days = suspect.groupBy(*_SENSOR, F.floor(F.col("us") / _DAY)).agg(
        F.count(F.lit(1)).alias("count"),
        F.min("us").alias("first"),
        F.max("us").alias("last"),
        F.max(F.col("suspect_us") - F.col("us")).alias("ahead"),
    )
    detail = F.format_string("up to %.0f s ahead", F.col("ahead") / _SECOND)
    return _of_sensors(days).select(
        *_finding("clock_jump", F.col("first"), F.col("last"), F.col("count"), detail)
    )


def _told() -> Column:
    """What a duplicate has in common with the one that came before: time, counter and result.

    Another result under an unchanged time is another reading, and so is the first one after it.
    """
    names = ("number", "boolean", "text", "geometry", "lexical")
    texts = [F.col(name).cast("string") for name in names]
    return F.struct(*_COUNTED, F.coalesce(*texts).alias("result"))


def _duplicates(seen: DataFrame) -> DataFrame:
    detail = F.format_string("%d with the time and result of the one before", F.col("n"))
    return _days("duplicate", seen.where("is_repeated"), detail)


def _is_revised() -> Column:
    """Only a counter of the device's tells a reading corrected from another one under its time."""
    same = [F.col(f"told.{name}") == F.col(f"told_before.{name}") for name in _COUNTED]
    other = ~F.col("told.result").eqNullSafe(F.col("told_before.result"))
    return F.col("device_clock") & same[0] & same[1] & other


def _revisions(seen: DataFrame) -> DataFrame:
    detail = F.format_string(
        "%d with the counter of the one before, and another result", F.col("n")
    )
    return _days("revision", seen.where("is_revised"), detail)


def _days(check: str, seen: DataFrame, detail: Column) -> DataFrame:
    """A finding for each day of a stream that has any of these; `detail` may tell how many, `n`."""
    days = seen.groupBy(*STREAM, F.floor(F.col("us") / _DAY)).agg(
        F.min("us").alias("first"),
        F.max("us").alias("last"),
        F.count(F.lit(1)).alias("n"),
    )
    return days.select(*_finding(check, F.col("first"), F.col("last"), F.col("n"), detail))


def _unit_changes(seen: DataFrame) -> DataFrame:
    order = Window.partitionBy(*STREAM[:4]).orderBy(*_ORDER)
    before, none = F.col("before"), F.lit("none")
    changed = seen.where("value IS NOT NULL").withColumns(
        {"before": F.lag("unit").over(order), "before_us": F.lag("us").over(order)}
    )
    detail = F.concat_ws(" → ", F.coalesce(before, none), F.coalesce(F.col("unit"), none))
    other = F.col("before_us").isNotNull() & ~before.eqNullSafe(F.col("unit"))
    return changed.where(other).select(
        *_finding("unit_change", F.col("us"), F.col("us"), F.lit(1), detail)
    )


def _of_sensors(frame: DataFrame) -> DataFrame:
    """Findings on a whole device: the other names of a stream are null."""
    return frame.withColumns({name: F.lit(None).cast("string") for name in STREAM[2:]})
