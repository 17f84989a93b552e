"""`ingest`: landing zone → table `observations`, each line of each good segment exactly once.

Place on the way of the data: the entrance of the archive. A batch is planned (a file), written by
Spark into a run directory, counted, and committed by one entry of the log under the application
transaction ("ingest", n). Whatever dies in between, the next run repeats batch n from its plan.
"""

import shutil
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.faults import reach
from spark_batch.files import full, is_full
from spark_batch.jobs.survey import quarantine_all, survey
from spark_batch.landing import Landing
from spark_batch.plan import Checked, Plan, Planned, make_plan
from spark_batch.quarantine import Report
from spark_batch.schema import LINES
from spark_batch.segment import MINOR, Fault, examine
from spark_batch.session import reason
from spark_batch.summary import Progress, Summary, tell_nobody
from spark_batch.table import day_of, null_counts
from spark_batch.transforms.duplicates import in_layout
from spark_batch.transforms.lines import is_broken, is_header, observations, with_unknown_members

Sessions = Callable[[], SparkSession]
"""Gives the session, and starts the JVM only when called."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What was read and written of a batch: by Spark, and by the footers of its files."""

    lines: int
    broken: int
    offsets: int
    rows: int
    late: int
    actuations: int
    unknown: int

    def agree(self, plan: Plan) -> bool:
        """Every promised line was read, every new one written, none twice."""
        return self.lines == plan.lines and self.complete(plan)

    def complete(self, plan: Plan) -> bool:
        """Every new line was written once; some may have been read twice."""
        return not self.broken and self.rows == plan.new_lines and self.offsets == _offsets(plan)


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
        while plan.segments:
            run = f"{plan.number:09d}-{uuid.uuid4().hex[:12]}"
            outcome = self._attempt(plan, run)
            remaining = plan
            if isinstance(outcome, Exception) or not outcome.agree(plan):
                remaining = self._without_faults(plan)
            if remaining == plan:
                return self._settle(plan, run, outcome)
            self._archive.observations.discard(run)
            plan = remaining
        return None

    def _attempt(self, plan: Plan, run: str) -> Counts | Exception:
        """Write a batch; what Spark raised is for the caller to explain, but a full disk."""
        try:
            return self._write(plan, run)
        except (PySparkException, Py4JError, OSError) as error:
            if is_full(str(error)):
                self._archive.observations.discard(run)
                raise full(self._archive.folder) from error
            return error

    def _settle(self, plan: Plan, run: str, outcome: Counts | Exception) -> Counts:
        """Commit what is complete; every segment is known to be good."""
        if isinstance(outcome, Exception) or not outcome.complete(plan):
            self._archive.observations.discard(run)
            raise _unexplained(plan, outcome)
        self._commit(plan, run, outcome)
        shutil.rmtree(self._fetched, ignore_errors=True)
        return outcome

    def _write(self, plan: Plan, run: str) -> Counts:
        spark = self._sessions()
        self._progress(f"batch {plan.number}: Spark writes {plan.new_lines} rows")
        table = self._archive.observations
        newest = max((file.day for file in table.files()), default=date.min)
        read, written = Observation("read"), Observation("written")
        lines = self._lines(spark, plan).observe(
            read,
            F.count_if(~is_header()).alias("lines"),
            F.count_if(is_broken()).alias("broken"),
        )
        rows = in_layout(_new_rows(lines, _segments(spark, plan))).where("NOT is_repeated")
        rows = rows.observe(written, F.coalesce(F.try_sum("offset"), F.lit(-1)).alias("offsets"))
        table.write(rows.drop("is_repeated", "offset"), run)
        reach("written")
        return Counts(**(read.get | written.get), **_in_footers(table.written(run), newest))

    def _lines(self, spark: SparkSession, plan: Plan) -> DataFrame:
        """Lines with `name`; files of a newer minor version are read in the way that keeps all."""
        plain = [each for each in plan.segments if each.minor <= MINOR]
        newer = [each for each in plan.segments if each.minor > MINOR]
        name = F.col("_metadata.file_name").alias("name")
        frames = []
        if plain:
            raw = spark.read.schema(LINES).option("columnNameOfCorruptRecord", "_corrupt")
            frame = raw.json(self._paths(plain)).select("*", name)
            frames.append(frame.withColumn("ext", F.lit(None).cast("string")))
        if newer:
            raw_text = spark.read.text(self._paths(newer)).select("value", name)
            frames.append(with_unknown_members(raw_text))
        return frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])

    def _paths(self, segments: list[Planned]) -> list[str]:
        return [
            self._landing.fetch(each.path, self._fetched).as_uri().replace("file://", "file:")
            for each in segments
        ]

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


def _segments(spark: SparkSession, plan: Plan) -> DataFrame:
    """What is known of each file, a row for each run of it that is new."""
    rows = [
        (each.name, each.segment.gateway, each.segment.epoch, each.base, first, last)
        for each in plan.segments
        for first, last in each.keep
    ]
    columns = (
        "name string, gateway string, epoch long, base string, keep_first long, keep_last long"
    )
    return spark.createDataFrame(rows, columns)


def _new_rows(lines: DataFrame, segments: DataFrame) -> DataFrame:
    """The lines that this batch adds, as rows of the archive, with their `offset` in their run."""
    wanted = F.col("q").between(F.col("keep_first"), F.col("keep_last"))
    told = lines.where(~is_header() & ~is_broken()).join(F.broadcast(segments), "name")
    placed = told.where(wanted).withColumn("offset", F.col("q") - F.col("keep_first"))
    return observations(placed, "offset")


def _offsets(plan: Plan) -> int:
    lengths = (last - first + 1 for each in plan.segments for first, last in each.keep)
    return sum(count * (count - 1) // 2 for count in lengths)


def _in_footers(paths: list[Path], newest: date) -> dict[str, int]:
    """Rows, and those of days before `newest`, of actuations, and with unknown members."""
    counts = Counter({"rows": 0, "late": 0, "actuations": 0, "unknown": 0})
    for path in paths:
        footer = pq.read_metadata(path)
        nulls = null_counts(footer)
        counts["rows"] += footer.num_rows
        counts["late"] += footer.num_rows if day_of(path) < newest else 0
        counts["actuations"] += footer.num_rows - nulls["topic"]
        counts["unknown"] += footer.num_rows - nulls["ext"]
    return dict(counts)


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
