"""The page of `quality`: what of findings and streams a person wants to see first."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from spark_batch.chart import Curve, Finding
from spark_batch.frames import frame_of
from spark_batch.names import Names
from spark_batch.report import Report, Section
from spark_batch.schema import STREAM
from spark_batch.table import DataFile
from spark_batch.transforms import quality
from spark_batch.transforms.quality import Facts

_SECTIONS = 100
_TOLD = 12
"""Findings of one stream that are told; of more the most severe."""

_POINTS = 160
_DEVICE = STREAM[:2]


def make_report(
    files: Sequence[DataFile],
    seen: DataFrame,
    known: DataFrame,
    found: DataFrame,
    told: tuple[Facts, Mapping[str, int]],
    *,
    names: Names,
) -> Report:
    """The report on these files, their prepared rows, streams and findings; `told` counts these."""
    there, checks = told
    days = Counter[str]()
    for file in files:
        days[file.day.isoformat()] += file.rows
    figures = _figures(seen, there, days.total())
    chosen = _chosen(known, found)
    sections = [*_of_gateways(found, names), *_of_streams(seen, chosen, names)]
    left_out = there.streams - len(chosen)
    return Report(
        "Quality of the archive",
        datetime.now(UTC),
        figures,
        checks,
        dict(sorted(days.items())),
        sections,
        left_out,
    )


def _figures(seen: DataFrame, there: Facts, rows: int) -> dict[str, str]:
    delays = seen.agg(F.percentile_approx(F.col("delay_us") / 1e6, [0.5, 0.99])).collect()[0][0]
    half, most = delays or (0.0, 0.0)
    return {
        "gateways": str(there.gateways),
        "streams": str(there.streams),
        "observations and actuations": str(rows),
        "delay to the gateway": f"{half:.2f} s (median), {most:.2f} s (99 %)",
    }


def _chosen(known: DataFrame, found: DataFrame) -> list[Row]:
    """The streams with the most findings, their own and of their devices; then the busiest."""
    own = _blamed(found.where("property IS NOT NULL"), STREAM, "own")
    of_device = found.where("property IS NULL AND sensor IS NOT NULL")
    device = _blamed(of_device, _DEVICE, "device")
    count = F.coalesce("own_count", F.lit(0)) + F.coalesce("device_count", F.lit(0))
    return (
        known.join(own, _same(STREAM, "own"), "left")
        .join(device, _same(_DEVICE, "device"), "left")
        .withColumn("findings", count)
        .orderBy(F.desc("findings"), F.desc("count"), *STREAM)
        .limit(_SECTIONS)
        .collect()
    )


def _blamed(found: DataFrame, by: Sequence[str], prefix: str) -> DataFrame:
    """How many findings each has, and the most severe of them."""
    told = F.struct(
        (-F.col("amount")).alias("less"),
        "check",
        F.unix_micros("start").alias("start_us"),
        F.unix_micros("end").alias("end_us"),
        "detail",
    )
    return found.groupBy(*(F.col(name).alias(f"{prefix}_{name}") for name in by)).agg(
        F.count(F.lit(1)).alias(f"{prefix}_count"),
        F.slice(F.sort_array(F.collect_list(told)), 1, _TOLD).alias(f"{prefix}_findings"),
    )


def _same(names: Sequence[str], prefix: str) -> Column:
    same = F.lit(True)
    for name in names:
        same &= F.col(name).eqNullSafe(F.col(f"{prefix}_{name}"))
    return same


def _of_gateways(found: DataFrame, names: Names) -> list[Section]:
    """What is wrong with whole gateways."""
    blamed = _blamed(found.where("sensor IS NULL"), STREAM[:1], "own").orderBy("own_gateway")
    sections = []
    for row in blamed.limit(_SECTIONS).collect():
        told = _findings(row["own_findings"])
        name = f"gateway {names.of(row['own_gateway'])}"
        sections.append(Section(name, {}, told, row["own_count"] - len(told)))
    return sections


def _of_streams(seen: DataFrame, chosen: Sequence[Row], names: Names) -> list[Section]:
    points = _points(seen, chosen)
    return [_section(row, points[number], names) for number, row in enumerate(chosen)]


def _section(row: Row, points: list[tuple[int, float, float, float]], names: Names) -> Section:
    told = _findings([*(row["own_findings"] or ()), *(row["device_findings"] or ())])
    unit = names.unit(row["unit"])
    about = {
        "sensor": names.of(row["sensor"]),
        "gateway": names.of(row["gateway"]),
        "unit": unit,
        "observations": str(row["count"]),
        "usually each": "" if not row["usual_us"] else f"{row['usual_us'] / 1e6:.6g} s",
    }
    curve = Curve(row["first_us"], row["last_us"], _POINTS, points, unit) if points else None
    name = ": ".join(filter(None, (names.of(row["feature"]), names.of(row["property"]))))
    return Section(name, about, told, row["findings"] - len(told), curve)


def _findings(told: Iterable[Any]) -> list[Finding]:
    """In the order of their times."""
    found = [
        Finding(each["check"], each["start_us"], each["end_us"], each["detail"]) for each in told
    ]
    return sorted(found, key=lambda each: each.start_us)


def _points(
    seen: DataFrame, chosen: Sequence[Row]
) -> Mapping[int, list[tuple[int, float, float, float]]]:
    """Curves of the chosen streams that have numbers, by their places."""
    columns = dict.fromkeys(STREAM, pa.string())
    columns |= dict.fromkeys(("first_us", "last_us", "number_of_stream"), pa.int64())
    numbered = [
        (*(row[name] for name in STREAM), row["first_us"], row["last_us"], number)
        for number, row in enumerate(chosen)
        if row["minimum"] is not None
    ]
    frame = frame_of(seen.sparkSession, numbered, columns)
    points: defaultdict[int, list[tuple[int, float, float, float]]] = defaultdict(list)
    for row in quality.curves(seen, frame, _POINTS).orderBy("part").collect():
        point = (row["part"], row["mean"], row["least"], row["most"])
        points[row["number_of_stream"]].append(point)
    return points
