"""`query`: a SPARQL SELECT over the observations of the archive, answered by Spark.

Place on the way of the data: beside exports; what an export has as RDF can be asked without making
it. What the filters rule out is not read: days by the folder, names by the statistics of the log.
"""

import io
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from jsap.profile import load_profile
from jsap.shapes.bounds import Needed
from jsap.shapes.parse import Query, parse
from spark_batch.archive import Archive
from spark_batch.files import broken
from spark_batch.session import Sessions, told
from spark_batch.sparql.answers import Writer, answers, write_csv, write_json, write_table
from spark_batch.sparql.refusal import told_as_usage
from spark_batch.sparql.solutions import Solutions
from spark_batch.sparql.translation import Translation
from spark_batch.summary import Progress, Summary, tell_nobody
from spark_batch.table import DataFile, Table
from spark_batch.transforms.shape import load_shapes

WRITERS: dict[str, Writer] = {"table": write_table, "json": write_json, "csv": write_csv}


@dataclass(frozen=True, slots=True)
class Question:
    """A query's text, how and where (None: standard output) to write its answer."""

    text: str
    form: str = "table"
    out: Path | None = None
    profile: Path | None = None


class Reads:
    """The source of a translation: files of one version of the table, and which were needed."""

    def __init__(self, table: Table, spark: SparkSession) -> None:
        self._table = table
        self._spark = spark
        self._all = table.files()
        self.scans: list[dict[str, object]] = []
        self.files: dict[str, DataFile] = {}

    def __call__(self, needed: Needed) -> DataFrame:
        """The rows of the files that may have what a scan needs."""
        kept = self._table.files_with(needed.values)
        files = [
            file
            for file in self._all
            if needed.first <= file.day <= needed.last and file.path in kept
        ]
        self.files |= {file.path: file for file in files}
        days = sorted({file.day.isoformat() for file in files})
        self.scans.append(
            {
                "files": len(files),
                "of_files": len(self._all),
                "bytes": sum(file.size for file in files),
                "rows": sum(file.rows for file in files),
                "days": f"{days[0]} to {days[-1]}" if days else "none",
            }
        )
        return self._table.frame(self._spark, files)


def query(
    archive: Archive,
    sessions: Sessions,
    question: Question,
    progress: Progress = tell_nobody,
    *,
    explain: bool = False,
    dry_run: bool = False,
) -> Summary:
    """Write the answer; raises QueryError for what is not in the subset, ArchiveError otherwise.

    `explain` writes what would be read and Spark's plan instead; `dry_run` checks the query alone.
    """
    archive.must_exist()
    shapes = load_shapes(question.profile)
    with told_as_usage():
        asked = parse(question.text, _namespaces(question.profile))
    summary = Summary("query", batch=archive.committed)
    rows = sum(file.rows for file in archive.observations.files())
    reads = Reads(archive.observations, sessions(rows))
    with told(archive.folder), told_as_usage():
        found = Translation(shapes, reads).solutions(asked.algebra)
        summary.details |= {"columns": list(asked.columns), "scans": reads.scans}
        summary.rows_in = sum(file.rows for file in reads.files.values())
        if dry_run:
            summary.status = "dry-run"
        elif explain:
            sys.stdout.write(_plan(found.rows))
        else:
            progress(f"reading {len(reads.files)} files with {summary.rows_in} rows")
            summary.rows_out = _write(question, asked, found)
    return summary


def _write(question: Question, asked: Query, found: Solutions) -> int:
    """Write the answer, into a file whole or not at all; returns the number of rows."""
    rows = answers(found, asked.columns)
    writer = WRITERS[question.form]
    if question.out is None:
        return writer(asked.columns, rows, sys.stdout)
    begun = question.out.with_name(f".{question.out.name}.part")
    try:
        with begun.open("w", encoding="utf-8", newline="") as out:
            count = writer(asked.columns, rows, out)
        begun.replace(question.out)
    except OSError as error:
        raise broken(question.out, error) from error
    finally:
        begun.unlink(missing_ok=True)
    return count


def _plan(rows: DataFrame) -> str:
    """Spark's plan: what is read of the files, and what Parquet itself is asked to leave out."""
    with redirect_stdout(io.StringIO()) as told_plan:
        rows.explain("formatted")
    return told_plan.getvalue()


def _namespaces(profile: Path | None) -> dict[str, str]:
    with resources.as_file(resources.files("jsap") / "profiles/observations.jsap") as shipped:
        return dict(load_profile(profile or shipped).namespaces)
