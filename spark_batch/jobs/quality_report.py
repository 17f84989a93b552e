"""The page of `quality`: what of findings and streams a person wants to see first."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from spark_batch.chart import Curve, Finding
from spark_batch.jobs.blamed import Blamed, Owner
from spark_batch.names import Names
from spark_batch.report import Report, Section
from spark_batch.schema import STREAM
from spark_batch.table import DataFile
from spark_batch.transforms import quality
from spark_batch.transforms.quality import Known
from spark_batch.transforms.streams import KEY

_SECTIONS = 100
_TOLD = 12
"""Findings of one stream that are told; of more the most severe."""

_POINTS = 160
_Stream = Mapping[str, Any]
_Points = Mapping[object, list[tuple[int, float, float, float]]]


class Delays:
    """How late observations came to their gateway, seen by whatever job passes through them."""

    def __init__(self) -> None:
        self._seen = Observation("delays")

    def of(self, seen: DataFrame) -> DataFrame:
        """The same rows; to be run once."""
        half_and_most = F.percentile_approx(F.col("delay_us") / 1e6, [0.5, 0.99])
        return seen.observe(self._seen, half_and_most.alias("delays"))

    def text(self) -> str:
        """For a person, when these rows have passed."""
        half, most = self._seen.get["delays"] or (0.0, 0.0)
        return f"{half:.2f} s (median), {most:.2f} s (99 %)"


def make_report(
    files: Sequence[DataFile],
    seen: DataFrame,
    known: Known,
    found: Blamed,
    delays: Delays,
    *,
    names: Names,
) -> Report:
    """The report on these files, their prepared rows, streams and findings."""
    days = Counter[str]()
    for file in files:
        days[file.day.isoformat()] += file.rows
    figures = {
        "gateways": str(known.gateways),
        "streams": str(known.figures.num_rows),
        "observations and actuations": str(days.total()),
        "delay to the gateway": delays.text(),
    }
    chosen = _chosen(known, found)
    sections = [*_of_gateways(found, names), *_of_streams(seen, chosen, found, names)]
    return Report(
        "Quality of the archive",
        datetime.now(UTC),
        figures,
        found.checks,
        dict(sorted(days.items())),
        sections,
        known.figures.num_rows - len(chosen),
    )


def _chosen(known: Known, found: Blamed) -> list[_Stream]:
    """The streams with the most findings, their own and of their devices; then the busiest."""

    def order(stream: _Stream) -> tuple[object, ...]:
        names = ((name is not None, name or "") for name in _names(stream))
        return (-_count(stream, found), -stream["count"], *names)

    return sorted(known.figures.to_pylist(), key=order)[:_SECTIONS]


def _names(stream: _Stream) -> Owner:
    return tuple(stream[name] for name in STREAM)


def _blaming(stream: _Stream) -> tuple[Owner, Owner]:
    """Whose findings are told of a stream: its own, and those of its device."""
    return _names(stream), _names(stream)[:2]


def _count(stream: _Stream, found: Blamed) -> int:
    return sum(found.owners.get(owner, 0) for owner in _blaming(stream))


def _of_gateways(found: Blamed, names: Names) -> list[Section]:
    """What is wrong with whole gateways."""
    gateways = sorted(owner for owner in found.owners if len(owner) == 1)[:_SECTIONS]
    worst = found.worst(gateways, _TOLD)
    sections = []
    for gateway in gateways:
        told = _in_time(worst[gateway])
        name = f"gateway {names.of(gateway[0])}"
        sections.append(Section(name, {}, told, found.owners[gateway] - len(told)))
    return sections


def _of_streams(
    seen: DataFrame, chosen: Sequence[_Stream], found: Blamed, names: Names
) -> list[Section]:
    points = _points(seen, chosen)
    worst = found.worst((owner for stream in chosen for owner in _blaming(stream)), _TOLD)
    sections = []
    for stream in chosen:
        told = _in_time([each for owner in _blaming(stream) for each in worst.get(owner, ())])
        more = _count(stream, found) - len(told)
        sections.append(_section(stream, points[stream[KEY]], names, told, more))
    return sections


def _section(
    row: _Stream,
    points: list[tuple[int, float, float, float]],
    names: Names,
    told: Sequence[Finding],
    more: int,
) -> Section:
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
    return Section(name, about, told, more, curve)


def _in_time(found: Iterable[Finding]) -> list[Finding]:
    return sorted(found, key=lambda each: each.start_us)


def _points(seen: DataFrame, chosen: Sequence[_Stream]) -> _Points:
    """Curves of the chosen streams that have numbers, by their keys."""
    columns = (KEY, "first_us", "last_us")
    rows = [
        {name: stream[name] for name in columns}
        for stream in chosen
        if stream["minimum"] is not None
    ]
    points: defaultdict[object, list[tuple[int, float, float, float]]] = defaultdict(list)
    if rows:
        frame = seen.sparkSession.createDataFrame(pa.Table.from_pylist(rows))
        for row in quality.curves(seen, frame, _POINTS).orderBy("part").collect():
            points[row[KEY]].append((row["part"], row["mean"], row["least"], row["most"]))
    return points
