"""`rollup`: what is derived from the observations, made anew only where they have changed.

Every batch of `ingest` leaves which (gateway, day) it touched. Those, and the days after them,
which carry a value in, are computed from the rows; the rest of their files is copied, and the files
of these days are swapped in one commit under the transaction ("rollup", batch).
"""

import uuid
from collections.abc import Iterable
from datetime import date, timedelta

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.files import read_json, write_json
from spark_batch.frames import by_day, frame_of
from spark_batch.session import Sessions, told
from spark_batch.summary import Progress, Summary, tell_nobody
from spark_batch.transforms.rollup import rollup

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
        read = sum(file.rows for file in self._archive.observations.files(days))
        spark = self._sessions(read)
        self._progress(f"rollup of {len(dirty)} days of gateways, up to batch {batch}")
        wanted = _pairs(spark, dirty)
        needed = _pairs(spark, dirty | {(gateway, day - DAY) for gateway, day in dirty})
        rows = self._archive.observations.read(spark, days | {day - DAY for day in days})
        rows = rows.join(F.broadcast(needed), ["gateway", "day"], "left_semi")
        fresh = rollup(rows, self._hold_s)
        fresh = fresh.join(F.broadcast(wanted), ["gateway", "day"], "left_semi")
        replaced = table.files(days)
        if replaced:
            old = table.frame(spark, replaced)
            kept = old.join(F.broadcast(wanted), ["gateway", "day"], "left_anti")
            fresh = fresh.unionByName(kept)
        run = f"rollup{batch:09d}-{uuid.uuid4().hex[:12]}"
        table.discard_runs(f"rollup{batch:09d}")
        order = ("day", "grain", "gateway", "sensor", "property", "feature", "unit", "start")
        table.write(by_day(fresh).sortWithinPartitions(*order), run)
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


def _pairs(spark: SparkSession, pairs: Iterable[tuple[str, date]]) -> DataFrame:
    return frame_of(spark, sorted(pairs), {"gateway": pa.string(), "day": pa.date32()})
