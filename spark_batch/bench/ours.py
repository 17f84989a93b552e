"""The jobs of the archive as a way of the benchmark: one session for all three."""

from datetime import date
from pathlib import Path

from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.bench.way import Made
from spark_batch.jobs.derive import Rollup
from spark_batch.jobs.export_rdf import Export, export_rdf
from spark_batch.jobs.ingest import Ingest
from spark_batch.landing import landing_zone
from spark_batch.session import spark_session

NOTE = (
    "Spark: 1 GB heap of the JVM; seals, faults, every line and identity checked; Delta commits; "
    "exports with gzip at level 3"
)


class Ours:
    """What `sosa-gateway archive ingest`, `rollup` and `export-rdf` do, in one process."""

    def __init__(self, landing: Path, folder: Path, cores: int) -> None:
        self._landing = landing_zone(str(landing))
        self._archive = Archive(folder / "archive")
        settings = {"spark.master": f"local[{cores}]", "spark.driver.memory": "1g"}
        self._spark: SparkSession = spark_session("sosa-archive-bench", settings)

    def ingest(self) -> Made:
        """Segments to the table."""
        summary = Ingest(self._archive, self._landing, lambda _: self._spark).run()
        table = self._archive.observations
        return Made(summary.rows_out, [str(table.folder / file.path) for file in table.files()])

    def rollup(self) -> Made:
        """Minutes, hours, days."""
        summary = Rollup(self._archive, lambda _: self._spark).run()
        table = self._archive.rollup
        return Made(summary.rows_out, [str(table.folder / file.path) for file in table.files()])

    def export(self, before: date) -> Made:
        """N-Triples of the days before one."""
        export = Export(self._archive.folder / "rdf", "ntriples", until=before)
        summary = export_rdf(self._archive, lambda _: self._spark, export)
        parts = sorted(Path(str(summary.details["folder"])).glob("*.gz"))
        return Made(int(str(summary.details["statements"])), [str(part) for part in parts])
