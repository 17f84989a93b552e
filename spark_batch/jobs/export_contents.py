"""What can be exported as RDF: observations, commands that were sent, rollups.

Place on the way of the data: between the tables and `export-rdf`, which is the same for all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jsap.shapes.shape import Shapes
from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.table import DataFile, Table
from spark_batch.transforms import rdf, rdf_actuations, rdf_rollups
from spark_batch.transforms.ntriples import iri, lines
from spark_batch.transforms.terms import graph_iri

DEFAULT_BASE = "https://sosa-gateway.example/id/"
"""What a gateway's IRIs begin with that was not told otherwise; for rollups of gateways whose
observations are all gone."""


@dataclass(frozen=True, slots=True)
class Content:
    """One kind of rows: where they are, which columns become IRIs, and their statements."""

    name: str
    table: Table
    rows: Callable[[SparkSession, Sequence[DataFile]], DataFrame]
    columns: tuple[str, ...]
    told: Callable[[DataFrame, Column | None], DataFrame]
    size: Column
    graphs: str = ""

    def documents(self, rows: DataFrame, *, quads: bool) -> DataFrame:
        """One row of text, a statement a line, for each row whose names are all there."""
        graph = iri(graph_iri(self.graphs)) if quads else None
        told = self.told(rows, graph).select(F.col("statements").alias("value"))
        return told.where("value IS NOT NULL")

    def counts(self) -> list[Column]:
        """How many rows, and how many statements they become."""
        total = F.coalesce(F.sum(self.size), F.lit(0))
        return [F.count(F.lit(1)).alias(self.name), total.alias("statements")]


CONTENTS = ("observations", "actuations", "rollups")


def content(name: str, archive: Archive, shapes: Shapes) -> Content:
    """What a name of `CONTENTS` stands for; needs a session. Raises ArchiveError."""
    if name == "observations":
        rows = _of_kind(archive.observations, "observation")

        def told(rows: DataFrame, graph: Column | None) -> DataFrame:
            return rdf.with_statements(rows, shapes, graph)

        size = rdf.size(shapes)
        return Content(name, archive.observations, rows, rdf.IRI_COLUMNS, told, size)
    if name == "actuations":
        of_command = rdf_actuations.actuations
        return Content(
            name,
            archive.observations,
            _commands(archive.observations),
            rdf_actuations.IRI_COLUMNS,
            _each(of_command),
            lines(of_command(None)),
            "actuations/",
        )
    of_rollup = rdf_rollups.rollups
    return Content(
        name,
        archive.rollup,
        _with_base(archive),
        rdf_rollups.IRI_COLUMNS,
        _each(of_rollup),
        lines(of_rollup(None)),
        "rollups/",
    )


def _each(
    text: Callable[[Column | None], Column],
) -> Callable[[DataFrame, Column | None], DataFrame]:
    return lambda rows, graph: rows.withColumn("statements", text(graph))


def table_of(name: str, archive: Archive) -> Table:
    """The table that has a content; raises ArchiveError where there is none yet."""
    table = archive.rollup if name == "rollups" else archive.observations
    if not table.exists:
        raise ArchiveError("the archive has no rollups", "run `rollup` first")
    return table


def _of_kind(table: Table, kind: str) -> Callable[[SparkSession, Sequence[DataFile]], DataFrame]:
    return lambda spark, files: table.frame(spark, files).where(F.col("kind") == kind)


def _commands(table: Table) -> Callable[[SparkSession, Sequence[DataFile]], DataFrame]:
    return lambda spark, files: rdf_actuations.with_outcomes(table.frame(spark, files))


def _with_base(archive: Archive) -> Callable[[SparkSession, Sequence[DataFile]], DataFrame]:
    def rows(spark: SparkSession, files: Sequence[DataFile]) -> DataFrame:
        observed = archive.observations.read(spark)
        bases = observed.groupBy("gateway").agg(F.max("base").alias("base"))
        joined = archive.rollup.frame(spark, files).join(F.broadcast(bases), "gateway", "left")
        return joined.withColumn("base", F.coalesce("base", F.lit(DEFAULT_BASE)))

    return rows
