"""`rollup`: what is derived from the observations, made anew only where they have changed.

Every batch of `ingest` leaves which (gateway, day) it touched. Those, and the days after them,
which carry a value in, are computed from the rows; the rest of their files is copied, and the files
of these days are swapped in one commit under the transaction ("rollup", batch).
"""

import uuid
from datetime import date, timedelta

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.files import read_json, write_json
from spark_batch.frames import by_day, frame_of
from spark_batch.schema import ROLLUP
from spark_batch.session import Sessions, told
from spark_batch.summary import Progress, Summary, tell_nobody
from spark_batch.transforms.rollup import RESULT, has_text, rollup
from spark_batch.transforms.streams import Flagged, streams_of

DAY = timedelta(days=1)
Dirty = frozenset[tuple[str, date]]


class Rollup:
    """One run of the job. `hold_s`: how long a value holds at most, 1 to 86400."""

    def __init__(
        self,
        archive: Archive,
        sessions: Sessions,
        progress: Progress = tell_nobody,
        hold_s: int = 3600,
    ) -> None:
        if not 1 <= hold_s <= 86_400:
            raise ArchiveError(f"hold is {hold_s} s", "give 1 to 86400")
        self._archive = archive
        self._sessions = sessions
        self._progress = progress
        self._hold_s = hold_s
        self._rules = archive.folder / "rollup.json"

    def run(self, *, full: bool = False, dry_run: bool = False) -> Summary:
        """Bring the rollups up to the newest batch; `full` computes every day that is kept."""
        self._archive.must_exist()
        table = self._archive.rollup
        with self._archive.lock(table, "rollup"):
            self._same_rules(full=full)
            batch = self._archive.committed
            done = 0 if full else table.version("rollup")
            dirty = self._dirty(done, batch)
            summary = Summary("rollup", "done" if dirty else "idle", batch)
            summary.details = {"dirty": len(dirty), "days": len({day for _, day in dirty})}
            if dry_run:
                summary.status = "dry-run"
            elif dirty:
                table.create()
                write_json(self._rules, {"hold_s": self._hold_s})
                with told(self._archive.folder):
                    summary.rows_out = self._recompute(dirty, batch)
        return summary

    def _dirty(self, done: int, batch: int) -> Dirty:
        """What must be computed anew: touched days and the ones after, where they are kept."""
        kept = {file.day for file in self._archive.observations.files()}
        since = self._archive.retained_since()
        touched = self._archive.touched(range(done + 1, batch + 1))
        return frozenset(
            (gateway, day)
            for one, gateways in touched.items()
            for day in (one, one + DAY)
            if day in kept and day >= since
            for gateway in gateways
        )

    def _recompute(self, dirty: Dirty, batch: int) -> int:
        days, table = {day for _, day in dirty}, self._archive.rollup
        files = self._archive.observations.files(days | {day - DAY for day in days})
        count = sum(file.rows for file in files)
        spark = self._sessions(count)
        self._progress(f"rollup of {len(dirty)} days of gateways, up to batch {batch}")
        replaced, needed = table.files(days), F.broadcast(_needed(spark, dirty))
        rows = self._archive.observations.frame(spark, files).join(needed, ["gateway", "day"])
        flagged = Flagged(self._archive.observations.paths(files), RESULT, has_text)
        streams = streams_of(spark, flagged, table.paths(replaced))
        fresh = streams.named(rollup(rows, streams, self._hold_s, count))
        if replaced:
            wanted = needed.where("is_wanted")
            kept = table.frame(spark, replaced).join(wanted, ["gateway", "day"], "left_anti")
            fresh = fresh.unionByName(streams.named(streams.numbered(kept)))
        run = f"rollup{batch:09d}-{uuid.uuid4().hex[:12]}"
        table.discard_runs(f"rollup{batch:09d}")
        placed = by_day(fresh).sortWithinPartitions("day", "grain", *streams.order, "start")
        table.write(placed.select(*ROLLUP.fieldNames(), "day"), run)
        table.commit("rollup", batch, run, replaced)
        return sum(file.rows for file in table.files(days))

    def _same_rules(self, *, full: bool) -> None:
        if full or not self._rules.exists():
            return
        hold_s = read_json(self._rules)["hold_s"]
        if hold_s != self._hold_s:
            raise ArchiveError(
                f"the rollups hold a value for {hold_s} s, not {self._hold_s}",
                f"give --hold {hold_s}, or --full to compute all of them anew",
            )


def _needed(spark: SparkSession, dirty: Dirty) -> DataFrame:
    """Days of gateways that are computed (`is_wanted`), and those that only carry a value in."""
    before = {(gateway, day - DAY) for gateway, day in dirty}
    rows = [(*each, each in dirty) for each in sorted(dirty | before)]
    return frame_of(
        spark, rows, {"gateway": pa.string(), "day": pa.date32(), "is_wanted": pa.bool_()}
    )
