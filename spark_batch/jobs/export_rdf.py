"""`export-rdf`: the archive as gzipped N-Quads or N-Triples (which is Turtle), with a manifest.

Place on the way of the data: back from the archive to any triple store. What is exported is the
table as one version of its log has it. The folder of an export appears whole or not at all, and the
same export of the same version has the same name: a second run has nothing to do.
"""

import hashlib
import shutil
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pyspark.sql import DataFrame, Observation

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.files import broken, lock, write_json
from spark_batch.jobs.export_contents import Content, content, table_of
from spark_batch.jobs.rdf_check import check_sample
from spark_batch.session import Sessions, told
from spark_batch.summary import Progress, Summary, tell_nobody
from spark_batch.transforms.rdf import foreign_iris, without_foreign
from spark_batch.transforms.shape import load_shapes

FORMATS = {"nquads": "nq", "ntriples": "nt"}
_GZIP = {"compression": "gzip", "zlib.compress.level": "THREE"}
"""Level 3: measured, half the time of the usual 6, and a fifth more bytes."""
_SAMPLE = 50
_ROWS_OF_A_PART = 250_000


@dataclass(frozen=True, slots=True)
class Export:
    """Days from `since` to before `until` of a content, into `out`.

    Observations have the shape of a JSAP profile.
    """

    out: Path
    format: str = "nquads"
    since: date = date.min
    until: date = date.max
    profile: Path | None = None
    of: str = "observations"

    def name(self, version: int) -> str:
        """The name of the folder that this export of a version of the table makes."""
        kind = [] if self.of == "observations" else [self.of]
        parts = [*kind, self.format, f"{version:09d}"]
        for day, always in ((self.since, date.min), (self.until, date.max)):
            if day != always:
                parts.append(day.isoformat())
        if self.profile is not None:
            parts.append(hashlib.sha256(self.profile.read_bytes()).hexdigest()[:8])
        return "-".join(parts)


def export_rdf(
    archive: Archive,
    sessions: Sessions,
    export: Export,
    progress: Progress = tell_nobody,
    *,
    dry_run: bool = False,
) -> Summary:
    """Write the parts and their manifest; raises ArchiveError, and then there is no export."""
    archive.must_exist()
    shapes = load_shapes(export.profile)
    table = table_of(export.of, archive)
    files = [file for file in table.files() if export.since <= file.day < export.until]
    target = export.out.absolute() / export.name(table.log_version())
    summary = Summary("export-rdf", batch=archive.committed, rows_in=sum(f.rows for f in files))
    summary.details["folder"] = str(target)
    if dry_run or target.exists() or not files:
        summary.status = "dry-run" if dry_run else "idle"
        return summary
    with lock(export.out / f".{target.name}.lock", "export-rdf"):
        begun = target.with_name(f".{target.name}.begun")
        shutil.rmtree(begun, ignore_errors=True)
        progress(f"exporting {summary.rows_in} rows to {target}")
        with told(export.out):
            spark = sessions(summary.rows_in)
            chosen = content(export.of, archive, shapes)
            rows = chosen.rows(spark, files)
            tasks = -(-summary.rows_in // _ROWS_OF_A_PART)
            summary.details |= _write(chosen, rows, export, begun, tasks)
        parts = _finish(begun, target, export, summary.details)
        summary.rows_out = int(str(summary.details[export.of]))
        summary.details["parts"] = parts
    return summary


def _write(
    chosen: Content, rows: DataFrame, export: Export, begun: Path, tasks: int
) -> dict[str, object]:
    """Check a sample, write every part, count."""
    quads = export.format == "nquads"
    bad = [row.asDict() for row in foreign_iris(rows, chosen.columns).collect()]
    good = without_foreign(rows, bad)
    sample = chosen.documents(good.limit(_SAMPLE), quads=quads)
    checked = check_sample([row["value"] for row in sample.collect()])
    if checked["conforms"] is False and export.profile is None:
        raise ArchiveError(
            f"a sample does not conform to the shapes: {checked['report']}",
            "the table has values that no gateway writes; look at them",
        )
    counted = Observation("exported")
    seen = _spread(good, tasks).observe(counted, *chosen.counts())
    text = chosen.documents(seen, quads=quads)
    text.write.options(**_GZIP).text(begun.as_uri())
    return {**counted.get, "sample": checked, "left_out_for_their_iris": bad}


def _spread(rows: DataFrame, tasks: int) -> DataFrame:
    """Over many tasks, in order: a few megabytes of Parquet are gigabytes of statements."""
    key = "sequence" if "sequence" in rows.columns else "start"
    return rows if tasks == 1 else rows.repartition(tasks, key)


def _finish(begun: Path, target: Path, export: Export, told_of: dict[str, object]) -> int:
    """Name the parts, write the manifest, and show the whole; returns how many parts."""
    ending = FORMATS[export.format]
    try:
        parts = []
        for number, path in enumerate(sorted(begun.glob("part-*.txt.gz"))):
            part = path.rename(begun / f"part-{number:05d}.{ending}.gz")
            with part.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            parts.append({"name": part.name, "bytes": part.stat().st_size, "sha256": sha256})
        for other in [*begun.glob(".*.crc"), begun / "_SUCCESS"]:
            other.unlink(missing_ok=True)
        manifest = {"format": export.format, **told_of, "parts": parts}
        write_json(begun / "manifest.json", manifest)
        begun.rename(target)
    except OSError as error:
        raise broken(target, error) from error
    return len(parts)
