"""What is replayed, in which order: the rows of a selection, a day at a time.

Place on the way of the data: the entrance of `replay`. The order is by result time, then identity:
total, so one row says how far a replay has come. Spark sorts a day and gives it up bit by bit;
nothing is collected.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jsap.shapes.shape import Shapes
from spark_batch.replay.position import Position
from spark_batch.table import DataFile, Table
from spark_batch.transforms.lines import lexical_form
from spark_batch.transforms.rdf import is_named, with_statements

ORDER = ("result_us", "gateway", "epoch", "sequence")


@dataclass(frozen=True, slots=True)
class Row:
    """An observation as it is sent; `statements` are N-Triples where they are asked for."""

    result_us: int
    gateway: str
    epoch: int
    sequence: int
    sensor: str
    observed_property: str
    feature: str
    unit: str | None
    lexical: str
    datatype: str
    statements: str

    @property
    def position(self) -> Position:
        """Where a replay is that has sent this row last."""
        return Position(self.result_us, self.gateway, self.epoch, self.sequence)


@dataclass(frozen=True, slots=True)
class Selection:
    """Observations from `since` to before `until`, of these gateways, sensors … (none: of all)."""

    since: datetime | None = None
    until: datetime | None = None
    gateways: tuple[str, ...] = ()
    sensors: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    features: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The same for the same selection."""
        text = json.dumps(asdict(self), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def names(self) -> dict[str, frozenset[str]]:
        """The columns that must have one of some values."""
        columns = {
            "gateway": self.gateways,
            "sensor": self.sensors,
            "property": self.properties,
            "feature": self.features,
        }
        return {name: frozenset(values) for name, values in columns.items() if values}

    def files(self, table: Table, after: Position | None) -> list[DataFile]:
        """The files that may have rows of it behind a position."""
        kept = table.files_with(self.names)
        first = date.min if self.since is None else self.since.date()
        first = first if after is None else max(first, after.day)
        last = date.max if self.until is None else self.until.date()
        return [file for file in table.files() if file.path in kept and first <= file.day <= last]

    def rows(
        self,
        table: Table,
        spark: SparkSession,
        files: Sequence[DataFile],
        after: Position | None,
        shapes: Shapes | None,
    ) -> Iterator[Row]:
        """The rows in their order, with their statements if there are shapes."""
        for day in sorted({file.day for file in files}):
            frame = table.frame(spark, [file for file in files if file.day == day])
            chosen = self._chosen(frame, after)
            for row in _columns(chosen, shapes).orderBy(*ORDER).toLocalIterator():
                yield Row(*row)

    def streams(
        self, table: Table, spark: SparkSession, files: Sequence[DataFile]
    ) -> list[tuple[str, str, str, str, str | None]]:
        """Every (gateway, sensor, property, feature, unit) of it."""
        columns = ("gateway", "sensor", "property", "feature", "unit")
        found = self._chosen(table.frame(spark, files), None).select(*columns).distinct()
        return sorted((tuple(row) for row in found.collect()), key=str)

    def _chosen(self, frame: DataFrame, after: Position | None) -> DataFrame:
        rows = frame.where("kind = 'observation'").where(is_named())
        if self.since is not None:
            rows = rows.where(F.col("result_time") >= self.since)
        if self.until is not None:
            rows = rows.where(F.col("result_time") < self.until)
        for name, values in self.names.items():
            rows = rows.where(F.col(name).isin(*sorted(values)))
        rows = rows.withColumn("result_us", F.unix_micros("result_time"))
        return rows if after is None else rows.where(_behind(after))


def _behind(position: Position) -> Column:
    """In the order after a position: lexicographic."""
    equal = F.lit(True)
    cases = []
    for name in ORDER:
        value = F.lit(getattr(position, name))
        cases.append(equal & (F.col(name) > value))
        equal &= F.col(name) == value
    return reduce(Column.__or__, cases)


def _columns(rows: DataFrame, shapes: Shapes | None) -> DataFrame:
    if shapes is None:
        told = rows.withColumn("statements", F.lit(""))
    else:
        told = with_statements(rows, shapes)
    return told.select(
        *ORDER,
        *("sensor", "property", "feature", "unit"),
        lexical_form().alias("lexical"),
        "datatype",
        "statements",
    )
