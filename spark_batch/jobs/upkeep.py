"""`compact`, `retain`, `vacuum`: what keeps the table small and quick over years.

Compaction writes the days that have many files anew, ordered over the whole day, and swaps the
files in one commit under the transaction ("compact", k): without one, two stale swaps were seen to
double rows. Retention drops whole days. Vacuum removes what no version refers to any more.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.session import Sessions, told
from spark_batch.summary import Progress, Summary, tell_nobody
from spark_batch.table import DataFile, Table
from spark_batch.transforms.layout import LAYOUT

PLANS_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Compaction:
    """Days with more than `files` files become files of about `rows` rows."""

    files: int = 4
    rows: int = 4_000_000

    def crowded(self, files: Iterable[DataFile]) -> list[DataFile]:
        """The files of all days that are worth it."""
        by_day: defaultdict[date, list[DataFile]] = defaultdict(list)
        for file in files:
            by_day[file.day].append(file)
        return [
            file
            for day in by_day.values()
            if len(day) > max(self.files, sum(file.rows for file in day) // self.rows + 1)
            for file in day
        ]


def compact(
    archive: Archive,
    sessions: Sessions,
    compaction: Compaction,
    progress: Progress = tell_nobody,
    *,
    dry_run: bool = False,
) -> Summary:
    """Rewrite crowded days; the rows stay the same, which is counted before the commit."""
    archive.must_exist()
    table = archive.observations
    with archive.lock(table, "compact"):
        crowded = compaction.crowded(table.files())
        rows = sum(file.rows for file in crowded)
        summary = Summary("compact", "done" if crowded else "idle", rows_in=rows)
        summary.details["files_before"] = len(crowded)
        summary.details["days"] = sorted({file.day.isoformat() for file in crowded})
        if dry_run:
            summary.status = "dry-run"
            return summary
        archive.plans.fold(archive.committed, PLANS_KEPT)
        if crowded:
            progress(f"compacting {len(crowded)} files with {rows} rows")
            with told(archive.folder):
                after = _rewrite(archive, sessions(rows), crowded, compaction)
            summary.details["files_after"] = after
            summary.rows_out = rows
    return summary


def _rewrite(
    archive: Archive, spark: SparkSession, crowded: Sequence[DataFile], compaction: Compaction
) -> int:
    table = archive.observations
    number = table.version("compact") + 1
    run = f"compact{number:06d}-{uuid.uuid4().hex[:12]}"
    table.discard_runs(f"compact{number:06d}")
    expected = sum(file.rows for file in crowded)
    counted = Observation("compacted")
    rows = _ordered(table, spark, crowded, compaction.rows)
    rows = rows.observe(counted, F.count(F.lit(1)).alias("rows"))
    table.write(rows, run)
    if counted.get["rows"] != expected:
        table.discard(run)
        raise ArchiveError(
            f"compaction read {counted.get['rows']} rows where the log has {expected}",
            "nothing was changed; a file of the table may be damaged",
        )
    after = len(table.written(run))
    table.commit("compact", number, run, crowded, {"rows": expected}, data_change=False)
    return after


def _ordered(
    table: Table, spark: SparkSession, crowded: Sequence[DataFile], rows: int
) -> DataFrame:
    """One partition for each ordinary day, several that follow each other for a large one."""
    days = Counter[date]()
    for file in crowded:
        days[file.day] += file.rows
    order = ("day", "gateway", *LAYOUT)
    ordinary = [file for file in crowded if days[file.day] <= rows]
    frames = [table.frame(spark, ordinary).repartition("day")] if ordinary else []
    for day, count in days.items():
        if count > rows:
            large = table.frame(spark, [file for file in crowded if file.day == day])
            frames.append(large.repartitionByRange(count // rows + 1, *order))
    return reduce(DataFrame.unionAll, frames).sortWithinPartitions(*order)


def retain(archive: Archive, before: date, *, dry_run: bool = False) -> Summary:
    """Drop the observations of all days before one; rollups stay."""
    archive.must_exist()
    table = archive.observations
    with archive.lock(table, "retain"):
        old = [file for file in table.files() if file.day < before]
        summary = Summary("retain", "done" if old else "idle", rows_in=sum(f.rows for f in old))
        summary.details = {"before": before.isoformat(), "files": len(old)}
        if dry_run:
            summary.status = "dry-run"
        elif old:
            _must_be_rolled_up(archive)
            archive.retain_since(before)
            table.commit("retain", table.version("retain") + 1, removed=old)
    return summary


def _must_be_rolled_up(archive: Archive) -> None:
    if archive.rollup.exists and archive.rollup.version("rollup") < archive.committed:
        raise ArchiveError(
            "the rollups do not have the newest batches yet",
            "run `rollup` first: it reads the days that are to be dropped",
        )


def vacuum(archive: Archive, keep_hours: float, *, dry_run: bool = False) -> Summary:
    """Remove files of all tables that no version of the last hours refers to."""
    archive.must_exist()
    summary = Summary("vacuum", "dry-run" if dry_run else "done")
    for table in (archive.observations, archive.rollup, archive.quality):
        with archive.lock(table, "vacuum"):
            removed = table.vacuum(keep_hours, dry_run=dry_run)
        summary.details[table.folder.name] = len(removed)
    return summary
