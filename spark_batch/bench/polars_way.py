"""The jobs in Polars' lazy frames, run by its streaming engine as far as it goes."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import polars as pl

from spark_batch.bench.plain import known_files
from spark_batch.bench.way import Made
from spark_batch.schema import BOOLEAN, LINES, NUMERIC, STREAM, WKT

NOTE = (
    "Polars: its streaming engine, which takes the memory it wants; what is wrong in a line stops "
    "it; no seals, quarantine, log or increments; texts are not rolled up; no export"
)
_TYPES = {"bigint": pl.Int64(), "string": pl.String()}
_GRAINS = {"minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000}
_HOLD_US = 3_600_000_000
_ORDER = ("day", "gateway", "sensor", "property", "feature", "result_time", "epoch", "sequence")


class Polars:
    """Frames from files to files."""

    def __init__(self, landing: Path, folder: Path, cores: int) -> None:  # noqa: ARG002
        self._landing, self._folder = landing, folder

    def ingest(self) -> Made:
        """Scan, type, take each identity once, sort, write by day."""
        known = known_files(self._landing)
        files = pl.LazyFrame(known, ["file", "gateway", "epoch", "base"], orient="row")
        schema = {field.name: _TYPES[field.dataType.simpleString()] for field in LINES.fields[:-2]}
        lines = pl.scan_ndjson([row[0] for row in known], schema=schema, include_file_paths="file")
        told = lines.filter(pl.col("q").is_not_null()).join(files, on="file")
        once = told.unique(["gateway", "epoch", "q"], keep="any")
        return self._made("observations", _rows(once).sort(*_ORDER))

    def rollup(self) -> Made:
        """One sort by stream and time, then each grain."""
        seen = _neighbours(pl.scan_parquet(self._folder / "observations", hive_partitioning=False))
        grains = [_buckets(seen, grain, length) for grain, length in _GRAINS.items()]
        return self._made("rollup", pl.concat(grains))

    def export(self, before: date) -> Made:  # noqa: ARG002
        """Nothing: Polars has no export."""
        return Made(0, [])

    def _made(self, table: str, rows: pl.LazyFrame) -> Made:
        folder = self._folder / table
        rows.sink_parquet(
            pl.PartitionBy(folder, key="day", include_key=False), mkdir=True, engine="streaming"
        )
        files = [str(path) for path in sorted(folder.rglob("*.parquet"))]
        return Made(pl.scan_parquet(files).select(pl.len()).collect().item(), files)


def _rows(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Rows of the archive."""
    t, i = pl.col("t"), pl.col("i")
    believed = t.is_not_null() & pl.col("c").ne_missing(1)
    us = pl.when(believed).then(t).otherwise(i)
    return lines.select(
        "gateway",
        "epoch",
        pl.col("q").alias("sequence"),
        pl.when(pl.col("a") == 1)
        .then(pl.lit("actuation"))
        .otherwise(pl.lit("observation"))
        .alias("kind"),
        pl.col("s").alias("sensor"),
        pl.col("p").alias("property"),
        pl.col("f").alias("feature"),
        pl.col("h").alias("platform"),
        pl.col("w").alias("place"),
        _time(us).alias("result_time"),
        (i - us).alias("delay_us"),
        believed.alias("device_clock"),
        _time(pl.when(pl.col("c") == 1).then(t)).alias("suspect_time"),
        *_results(),
        pl.col("u").alias("unit"),
        (pl.col("q") - pl.col("m")).alias("message_lag"),
        pl.col("n").alias("device_sequence"),
        pl.col("o").alias("topic"),
        pl.col("r").alias("rule"),
        "base",
        pl.col("z").alias("clock"),
        (pl.col("l") == 1).alias("historical"),
        _time(us).dt.date().alias("day"),
    )


def _results() -> Sequence[pl.Expr]:
    """The columns that have the result, by its datatype."""
    value, datatype = pl.col("v"), pl.col("d")
    is_number, is_boolean = datatype.is_in(NUMERIC), datatype == BOOLEAN
    number = pl.when(is_number).then(value.cast(pl.Float64, strict=False))
    boolean = pl.when(is_boolean).then(value.is_in(["true", "1"]))
    whole = (number == number.floor()) & (number.abs() < 2**53)
    digits = pl.when(whole).then(number.cast(pl.Int64, strict=False).cast(pl.String))
    plain = pl.coalesce(digits.otherwise(number.cast(pl.String)), boolean.cast(pl.String))
    is_text = ~is_number & ~is_boolean & (datatype != WKT)
    return (
        number.alias("number"),
        boolean.alias("boolean"),
        pl.when(is_text).then(value).alias("text"),
        pl.when(datatype == WKT).then(value).alias("geometry"),
        pl.when(plain != value).then(value).alias("lexical"),
        datatype.alias("datatype"),
    )


def _time(us: pl.Expr) -> pl.Expr:
    return us.cast(pl.Datetime("us", "UTC"))


def _neighbours(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Finite values, by stream and time, beside those before and after."""
    here = rows.filter(pl.col("kind") == "observation").select(
        *STREAM,
        pl.col("result_time").dt.timestamp("us").alias("us"),
        pl.coalesce("number", pl.col("boolean").cast(pl.Float64)).alias("v"),
        "epoch",
        "sequence",
    )
    placed = here.filter(pl.col("v").is_finite()).sort(*STREAM, "us", "epoch", "sequence")
    same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(1)) for name in STREAM)
    follows = same.shift(-1, fill_value=False)
    return placed.with_columns(
        pl.when(same).then(pl.col("v").shift(1)).alias("v0"),
        pl.when(same).then(pl.col("us").shift(1)).alias("us0"),
        pl.when(follows).then(pl.col("us").shift(-1)).alias("us1"),
    )


def _buckets(seen: pl.LazyFrame, grain: str, length: int) -> pl.LazyFrame:
    """Figures of each bucket of one grain."""
    us, us0, v = pl.col("us"), pl.col("us0"), pl.col("v")
    start, day = us - us % length, _GRAINS["day"]
    end = pl.min_horizontal(pl.coalesce("us1", us + _HOLD_US), us + _HOLD_US, start + length)
    carried = pl.max_horizontal(pl.lit(0), pl.min_horizontal(us, us0 + _HOLD_US) - start)
    held = pl.when(us0 < start).then(carried).otherwise(0) / 1e6
    own, step = (end - us) / 1e6, pl.when(us // day - us0 // day <= 1).then(v - pl.col("v0"))
    parts = seen.with_columns(start=start, own=own, held=held, step=step)
    figures = parts.group_by(*STREAM, "start", maintain_order=False).agg(*_figures())
    return figures.select(
        pl.lit(grain).alias("grain"),
        *STREAM,
        _time(pl.col("start")).alias("start"),
        *("count", "minimum", "maximum", "mean", "m2", "stddev", "first"),
        _time(pl.col("first_time")).alias("first_time"),
        "last",
        _time(pl.col("last_time")).alias("last_time"),
        pl.when(pl.col("covered_s") > 0)
        .then(pl.col("integral") / pl.col("covered_s"))
        .alias("time_weighted_mean"),
        "covered_s",
        pl.when(pl.col("steps") > 0).then(pl.col("increase")).alias("increase"),
        "resets",
        _time(pl.col("start")).dt.date().alias("day"),
    )


def _figures() -> Sequence[pl.Expr]:
    """Sums and extremes over the values of a bucket."""
    us, v, step = pl.col("us"), pl.col("v"), pl.col("step")
    own, held = pl.col("own"), pl.col("held")
    in_order = v.sort_by("us", "epoch", "sequence")
    return (
        pl.len().cast(pl.Int64).alias("count"),
        v.min().alias("minimum"),
        v.max().alias("maximum"),
        v.mean().alias("mean"),
        (v.var(ddof=0) * pl.len()).alias("m2"),
        v.std().alias("stddev"),
        in_order.first().alias("first"),
        us.min().alias("first_time"),
        in_order.last().alias("last"),
        us.max().alias("last_time"),
        (v * own + pl.col("v0").fill_null(0) * held).sum().alias("integral"),
        (own + held).sum().alias("covered_s"),
        pl.when(step < 0).then(v).otherwise(step).sum().alias("increase"),
        (step < 0).sum().cast(pl.Int64).alias("resets"),
        step.count().alias("steps"),
    )
