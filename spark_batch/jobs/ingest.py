"""`ingest`: landing zone → table `observations`, each line of each good segment exactly once.

Place on the way of the data: the entrance of the archive. A batch is planned (a file), written by
Spark into a run directory, counted, and committed by one entry of the log under the application
transaction ("ingest", n). Whatever dies in between, the next run repeats batch n from its plan.
"""

import shutil
import uuid
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.faults import reach
from spark_batch.files import full, is_full
from spark_batch.jobs.batch import Batch, Counts
from spark_batch.jobs.survey import quarantine_all, survey
from spark_batch.landing import Landing
from spark_batch.plan import Checked, Plan, Planned, make_plan
from spark_batch.quarantine import Report
from spark_batch.segment import Fault, examine
from spark_batch.session import Sessions, is_interrupted, reason
from spark_batch.summary import Progress, Summary, tell_nobody
from spark_batch.table import day_of


class Ingest:
    """One run of the job on one archive."""

    def __init__(
        self,
        archive: Archive,
        landing: Landing,
        sessions: Sessions,
        progress: Progress = tell_nobody,
    ) -> None:
        self._archive = archive
        self._landing = landing
        self._sessions = sessions
        self._progress = progress
        self._reports: list[Report] = []
        self._fetched = archive.folder / "fetched"

    def run(self) -> Summary:
        """End what a run before us began, and take up everything new.

        Raises ArchiveError; what was committed until then stays, nothing else is visible.
        """
        with self._archive.lock(self._archive.observations, "ingest"):
            self._archive.observations.create()
            begun = self._archive.plans.read(self._archive.committed + 1)
            done = [] if begun is None else [self._batch(begun)]
            plan = self._plan(self._archive.committed + 1)
            done.append(self._batch(plan))
        return self._summary(plan, [counts for counts in done if counts is not None])

    def dry_run(self) -> Summary:
        """What `run` would do; nothing is written, not even the archive's folder."""
        number = self._archive.committed + 1
        ledger = self._archive.plans.ledger(number - 1)
        found = survey(self._landing, ledger, self._archive.quarantine)
        plan = make_plan(number, ledger, found.good, found.repeated, found.gaps)
        summary = self._summary(plan, [])
        summary.status = "dry-run"
        summary.rows_in, summary.rows_out = plan.lines, plan.new_lines
        summary.quarantined = len(found.faults)
        summary.details["faults"] = [
            f"{each.place}: {fault} (at byte {fault.offset})" for each, fault in found.faults
        ]
        return summary

    def _plan(self, number: int) -> Plan:
        ledger = self._archive.plans.ledger(number - 1)
        found = survey(self._landing, ledger, self._archive.quarantine)
        self._quarantine([(each.place, fault) for each, fault in found.faults])
        self._archive.labels.take(found.good)
        plan = make_plan(number, ledger, found.good, found.repeated, found.gaps)
        self._progress(
            f"{len(plan.segments)} new segments with {plan.new_lines} new lines, "
            f"{len(plan.repeated)} repeated, {len(found.faults)} faulty"
        )
        if plan.segments:
            self._archive.plans.write(plan)
            reach("planned")
        return plan

    def _batch(self, plan: Plan) -> Counts | None:
        """Write and commit; segments with a fault inside leave the plan, the rest is repeated."""
        self._archive.observations.discard_runs(f"{plan.number:09d}")
        is_doubled = False
        while plan.segments:
            run = f"{plan.number:09d}-{uuid.uuid4().hex[:12]}"
            outcome = self._attempt(plan, run, is_doubled=is_doubled)
            if isinstance(outcome, Counts) and _is_right(outcome, plan, is_doubled=is_doubled):
                self._commit(plan, run, outcome)
                return outcome
            self._archive.observations.discard(run)
            remaining = self._without_faults(plan)
            if remaining == plan and (is_doubled or isinstance(outcome, Exception)):
                raise _unexplained(plan, outcome)
            is_doubled = remaining == plan
            plan = remaining
        return None

    def _attempt(self, plan: Plan, run: str, *, is_doubled: bool) -> Counts | Exception:
        """Write a batch; what Spark raised is for the caller to explain, but a full disk."""
        try:
            return self._write(plan, run, is_doubled=is_doubled)
        except (PySparkException, Py4JError, OSError) as error:
            if is_interrupted(error):
                raise KeyboardInterrupt from error
            if is_full(str(error)):
                self._archive.observations.discard(run)
                raise full(self._archive.folder) from error
            return error

    def _write(self, plan: Plan, run: str, *, is_doubled: bool) -> Counts:
        spark = self._sessions(plan.new_lines)
        self._progress(f"batch {plan.number}: Spark writes {plan.new_lines} rows")
        batch = Batch(plan, self._uri)
        return batch.write(spark, self._archive.observations, run, is_doubled=is_doubled)

    def _uri(self, each: Planned) -> str:
        fetched = self._landing.fetch(each.path, self._fetched)
        return fetched.as_uri().replace("file://", "file:")

    def _without_faults(self, plan: Plan) -> Plan:
        """Read every segment of the plan line by line, and plan again without the faulty ones."""
        self._progress(f"batch {plan.number}: the counts differ, looking at each segment")
        good: list[Checked] = []
        faults: list[tuple[str, Fault]] = []
        for each in plan.segments:
            try:
                with self._landing.open(each.path) as file:
                    examine(each.segment, file)
            except FileNotFoundError:
                self._progress(f"{each.path} has vanished")
            except Fault as fault:
                faults.append((each.path, fault))
            else:
                good.append(Checked(each.segment, each.path, each.minor, each.base))
        if len(good) == len(plan.segments):
            return plan
        self._quarantine(faults)
        ledger = self._archive.plans.ledger(plan.number - 1)
        remaining = make_plan(plan.number, ledger, good, plan.repeated, plan.gaps)
        remaining = replace(remaining, conflicts=tuple({*plan.conflicts, *remaining.conflicts}))
        if remaining.segments:
            self._archive.plans.write(remaining)
        else:
            self._archive.plans.forget(plan.number)
        return remaining

    def _quarantine(self, faults: list[tuple[str, Fault]]) -> None:
        for report in quarantine_all(self._archive.quarantine, self._landing, faults):
            self._reports.append(report)
            self._progress(f"quarantined {report.file}: {report.reason}: {report.detail}")

    def _commit(self, plan: Plan, run: str, counts: Counts) -> None:
        table = self._archive.observations
        self._archive.touch(plan.number, _touched(table.written(run)))
        metadata = {"rows": counts.rows, "late": counts.late, "segments": len(plan.segments)}
        table.commit("ingest", plan.number, run, counts=metadata)
        reach("committed")
        shutil.rmtree(self._fetched, ignore_errors=True)
        self._progress(f"batch {plan.number}: committed {counts.rows} rows")

    def _summary(self, plan: Plan, batches: list[Counts]) -> Summary:
        summary = Summary("ingest", "done" if batches or self._reports else "idle")
        summary.quarantined = len(self._reports)
        summary.details = {
            "segments": len(plan.segments),
            "repeated_segments": len(plan.repeated),
            "conflicts": list(plan.conflicts),
            "quarantine": [f"{each.file}: {each.reason}" for each in self._reports],
        }
        if batches:
            summary.batch = self._archive.committed
            summary.rows_in = sum(counts.lines for counts in batches)
            summary.rows_out = sum(counts.rows for counts in batches)
            summary.late = sum(counts.late for counts in batches)
            summary.details |= {
                "duplicates": summary.rows_in - summary.rows_out,
                "actuations": sum(counts.actuations for counts in batches),
                "unknown_members": sum(counts.unknown for counts in batches),
            }
        return summary


def _is_right(counts: Counts, plan: Plan, *, is_doubled: bool) -> bool:
    """Whether a batch may be committed; looked through, it may have lines that repeat."""
    return counts.complete(plan) if is_doubled else counts.agree(plan)


def _touched(paths: list[Path]) -> dict[date, frozenset[str]]:
    """The gateways in new files, by day."""
    touched: dict[date, frozenset[str]] = {}
    for path in paths:
        day = day_of(path)
        column = pq.ParquetFile(path).read(["gateway"]).column("gateway")
        gateways = frozenset(str(name) for name in pc.unique(column).to_pylist())
        touched[day] = touched.get(day, frozenset()) | gateways
    return touched


def _unexplained(plan: Plan, outcome: Counts | Exception) -> ArchiveError:
    told = reason(outcome) if isinstance(outcome, Exception) else str(outcome)
    return ArchiveError(
        f"batch {plan.number} of {plan.new_lines} rows was not committed: {told}",
        "every segment is good; look at Spark's log and run the job again",
    )
