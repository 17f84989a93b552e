"""An archive of a year of one gateway, for what is measured on an archive and not by its jobs."""

import tempfile
from pathlib import Path

from spark_batch.archive import Archive
from spark_batch.bench.segments import Load
from spark_batch.jobs.derive import Rollup
from spark_batch.jobs.ingest import Ingest
from spark_batch.landing import landing_zone
from spark_batch.session import spark_session
from spark_batch.summary import Progress


def make_year(observations: int, folder: Path, tell: Progress) -> int:
    """Observations and their rollups; how many. What is ingested already stays."""
    archive = Archive(folder)
    with tempfile.TemporaryDirectory(prefix="sosa-bench-") as landing:
        tell(f"writing segments with {observations:,} observations")
        Load.of_a_year(observations).write(Path(landing))
        spark = spark_session("sosa-archive-bench", rows=observations)
        ingested = Ingest(archive, landing_zone(landing), lambda _: spark, tell).run()
    Rollup(archive, lambda _: spark, tell).run()
    return ingested.rows_out
