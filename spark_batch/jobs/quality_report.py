"""The page of `quality`: what of findings and streams a person wants to see first."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from spark_batch.frames import frame_of
from spark_batch.report import Curve, Report
from spark_batch.schema import STREAM
from spark_batch.table import DataFile
from spark_batch.transforms import quality

_SHOWN = 1000
_CURVES = 24
_POINTS = 160


def make_report(
    files: Sequence[DataFile],
    seen: DataFrame,
    known: DataFrame,
    found: DataFrame,
    checks: Mapping[str, int],
) -> Report:
    """The report on these files, their prepared rows, streams and findings."""
    days = Counter[str]()
    for file in files:
        days[file.day.isoformat()] += file.rows
    rows = _first_findings(found)
    return Report(
        "Quality of the archive",
        datetime.now(UTC),
        _figures(seen, known, days.total()),
        checks,
        dict(sorted(days.items())),
        ("check", "stream", "from", "to", "amount", "detail"),
        rows,
        max(0, sum(checks.values()) - len(rows)),
        _curves(seen, known, found),
    )


def _figures(seen: DataFrame, known: DataFrame, rows: int) -> dict[str, str]:
    delays = seen.agg(F.percentile_approx(F.col("delay_us") / 1e6, [0.5, 0.99])).collect()[0][0]
    half, most = delays or (0.0, 0.0)
    streams = known.agg(F.count_distinct("gateway"), F.count(F.lit(1))).collect()[0]
    return {
        "gateways": str(streams[0]),
        "streams": str(streams[1]),
        "observations and actuations": str(rows),
        "delay to the gateway": f"{half:.2f} s (median), {most:.2f} s (99 %)",
    }


def _first_findings(found: DataFrame) -> list[list[str]]:
    """The findings with the largest amounts of each check, as texts."""
    times = [F.date_format(name, "yyyy-MM-dd HH:mm:ss").alias(name) for name in ("start", "end")]
    order = [F.col("check"), F.desc("amount"), *map(F.col, STREAM), F.col("start")]
    told = found.orderBy(*order).limit(_SHOWN).select("check", *STREAM, *times, "amount", "detail")
    return [
        [row["check"], _name(row), row["start"], row["end"], f"{row['amount']:.1f}", row["detail"]]
        for row in told.collect()
    ]


def _curves(seen: DataFrame, known: DataFrame, found: DataFrame) -> list[Curve]:
    """Curves of the numeric streams with the most findings, or else the most observations."""
    chosen = _chosen(known, found)
    columns = dict.fromkeys(STREAM, pa.string())
    columns |= dict.fromkeys(("first_us", "last_us", "number_of_stream"), pa.int64())
    numbered = [
        (*(row[name] for name in STREAM), row["first_us"], row["last_us"], number)
        for number, row in enumerate(chosen)
    ]
    frame = frame_of(seen.sparkSession, numbered, columns)
    points: defaultdict[int, list[tuple[int, float, float, float]]] = defaultdict(list)
    for row in quality.curves(seen, frame, _POINTS).orderBy("part").collect():
        point = (row["part"], row["mean"], row["least"], row["most"])
        points[row["number_of_stream"]].append(point)
    return [
        Curve(_name(row), _POINTS, points[number], _marks(row)) for number, row in enumerate(chosen)
    ]


def _chosen(known: DataFrame, found: DataFrame) -> list[Row]:
    blamed = (
        found.where("property IS NOT NULL")
        .groupBy(*(F.col(name).alias(f"its_{name}") for name in STREAM))
        .agg(
            F.count(F.lit(1)).alias("findings"),
            F.slice(F.collect_list(F.unix_micros("start")), 1, 100).alias("starts"),
        )
    )
    return (
        known.where("minimum IS NOT NULL")
        .join(blamed, quality.same_stream(), "left")
        .orderBy(F.desc_nulls_last("findings"), F.desc("count"), *STREAM)
        .limit(_CURVES)
        .collect()
    )


def _name(row: Row) -> str:
    return " · ".join(str(row[name]) for name in STREAM if row[name] is not None)


def _marks(row: Row) -> list[float]:
    span = max(row["last_us"] - row["first_us"], 1)
    return [(start - row["first_us"]) / span for start in row["starts"] or []]
