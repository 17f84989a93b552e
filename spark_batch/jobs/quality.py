"""`quality`: findings on the observations as a table, and as a report for the browser.

A run looks at the days from `since` on, and replaces what earlier runs found there.
"""

import uuid
from datetime import UTC, date, datetime
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_batch.archive import Archive
from spark_batch.files import read_json, write_json, write_whole
from spark_batch.frames import by_day, interpreted, typed_frame
from spark_batch.jobs.blamed import blamed
from spark_batch.jobs.quality_report import Delays, make_report
from spark_batch.names import Names
from spark_batch.schema import FINDINGS, STREAM, on_disk
from spark_batch.session import Sessions, told
from spark_batch.summary import Progress, Summary, tell_nobody
from spark_batch.table import DataFile
from spark_batch.transforms import quality
from spark_batch.transforms.streams import all_streams


class Quality:
    """One run of the job; `report` is where the HTML goes, None: nowhere."""

    def __init__(
        self,
        archive: Archive,
        sessions: Sessions,
        progress: Progress = tell_nobody,
        limits: quality.Limits | None = None,
    ) -> None:
        self._archive = archive
        self._sessions = sessions
        self._progress = progress
        self._limits = limits or quality.Limits()
        self._judged = archive.folder / "quality.json"

    def run(
        self,
        since: date = date.min,
        report: Path | None = None,
        *,
        labels: Path | None = None,
        dry_run: bool = False,
    ) -> Summary:
        """Judge every stream; idempotent.

        The report calls things as their gateways do, or as `labels` does, a Turtle file.
        """
        self._archive.must_exist()
        table = self._archive.quality
        with self._archive.lock(table, "quality"):
            judged = self._seen(since)
            files = [file for file in self._archive.observations.files() if file.day >= since]
            given = {} if labels is None else Names.read(labels).labels
            names = Names({**self._archive.labels.known(), **given})
            summary = Summary("quality", "done" if files else "idle", self._archive.committed)
            summary.rows_in = sum(file.rows for file in files)
            if dry_run:
                summary.status = "dry-run"
            elif files:
                table.create()
                with told(self._archive.folder):
                    spark = self._sessions(summary.rows_in)
                    with interpreted(spark, summary.rows_in):
                        self._judge(spark, {file.day for file in files}, summary, (report, names))
                write_json(self._judged, judged)
        return summary

    def is_current(self, since: date) -> bool:
        """Whether the findings from `since` on are of the newest batch, and of these days."""
        return self._judged.exists() and read_json(self._judged) == self._seen(since)

    def _seen(self, since: date) -> dict[str, object]:
        """What findings depend on: the newest batch, and the first day that is looked at."""
        first = max(since, self._archive.retained_since())
        return {"batch": self._archive.committed, "since": first.isoformat()}

    def _judge(
        self,
        spark: SparkSession,
        days: set[date],
        summary: Summary,
        wanted: tuple[Path | None, Names],
    ) -> None:
        report, names = wanted
        self._progress(f"looking at {summary.rows_in} rows of {len(days)} days")
        table = self._archive.observations
        files, delays = table.files(days), Delays()
        streams = all_streams(spark, table.paths(files))
        seen = quality.prepared(table.frame(spark, files), streams).cache()
        try:
            passing = seen if report is None else delays.of(seen)
            known = quality.known(passing, streams, self._limits)
            found = quality.findings(seen, known, self._limits)
            written = self._replace(found.unionAll(self._missing(spark, days)), min(days))
            counted = blamed(self._archive.quality.paths(written))
            summary.rows_out = sum(file.rows for file in written)
            summary.details = {"streams": known.figures.num_rows, "findings": counted.checks}
            if report is not None:
                page = make_report(files, seen, known, counted, delays, names=names)
                write_whole(report, page.html())
                summary.details["report"] = str(report)
        finally:
            seen.unpersist()

    def _missing(self, spark: SparkSession, days: set[date]) -> DataFrame:
        """Sequences that never came (yet), by the ledger, and those that gateways gave up."""
        at = datetime.combine(max(days), datetime.min.time(), UTC)
        ledger = self._archive.ledger()
        rows = [
            _lost("missing", gateway, at, last - first + 1, f"epoch {epoch}: {first} to {last}")
            for gateway, epoch, (first, last) in ledger.missing()
        ]
        rows += [
            _lost("lost", gap.gateway, at, gap.count, f"epoch {gap.epoch}: from {gap.first}: {why}")
            for gap, why in ledger.told_gaps()
        ]
        schema = on_disk(FINDINGS)
        frame = typed_frame(spark, rows, schema)
        return frame.select(*FINDINGS.fieldNames(), "day")

    def _replace(self, found: DataFrame, since: date) -> list[DataFile]:
        """Swap the findings from a day on; gives the files that have them then."""
        table = self._archive.quality
        number = table.version("quality") + 1
        run = f"quality{number:06d}-{uuid.uuid4().hex[:12]}"
        table.discard_runs(f"quality{number:06d}")
        # A gap may begin before the days that were read; their findings begin on the first.
        kept = found.withColumn("day", F.greatest("day", F.lit(since)))
        table.write(by_day(kept).sortWithinPartitions("day", "check", *STREAM), run)
        replaced = [file for file in table.files() if file.day >= since]
        table.commit("quality", number, run, replaced)
        return [file for file in table.files() if file.day >= since]


def _lost(check: str, gateway: str, at: datetime, amount: int, detail: str) -> tuple[object, ...]:
    row = {"day": at.date(), "check": check, "gateway": gateway, "start": at, "end": at}
    row |= {"amount": float(amount), "detail": detail}
    return tuple(row.get(name) for name in on_disk(FINDINGS).fieldNames())
