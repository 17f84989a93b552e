"""A table of the archive: Parquet files by Spark, made visible by one entry of a Delta log.

Source: the Delta transaction protocol; facts of the kill tests. Spark writes into a run directory
of its own, `data/<run>/day=…/`; nothing of it exists for a reader until `commit`, which is atomic
and happens once for each (application, number). What a dead run left is removed by `vacuum`.
"""

import json
import math
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from spark_batch.errors import ArchiveError, BusyError
from spark_batch.files import broken, full, is_full
from spark_batch.frames import is_in_one_part, typed_frame
from spark_batch.schema import on_disk

_WRITE_OPTIONS = {
    "compression": "zstd",
    # Small row groups and DELTA encodings: a stream of a day is a few of them.
    "parquet.block.size": str(8 << 20),
    "parquet.writer.version": "v2",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}


@dataclass(frozen=True, slots=True)
class DataFile:
    """One Parquet file of a table; `path` is relative to the table."""

    path: str
    day: date
    size: int
    rows: int


class Table:
    """One table, by `day`; every method raises ArchiveError when the disk does not do its work."""

    def __init__(self, folder: Path, schema: StructType) -> None:
        self.folder = folder.absolute()
        self.schema = schema
        self._delta: DeltaTable | None = None

    @property
    def exists(self) -> bool:
        """Whether anything was ever committed."""
        return DeltaTable.is_deltatable(str(self.folder))

    def version(self, application: str) -> int:
        """The number of an application's newest commit, 0 before the first."""
        return (self._log().transaction_version(application) or 0) if self.exists else 0

    def log_version(self) -> int:
        """The newest version of the log; the table must exist."""
        return self._log().version()

    def files(self, days: Iterable[date] | None = None) -> list[DataFile]:
        """The files of these days (None: all), as the log has them now."""
        if not self.exists:
            return []
        wanted = None if days is None else set(days)
        actions = pa.table(self._log().get_add_actions(flatten=True)).to_pylist()
        files = (
            DataFile(
                action["path"],
                action["partition.day"],
                action["size_bytes"],
                action["num_records"],
            )
            for action in actions
        )
        return sorted(
            (file for file in files if wanted is None or file.day in wanted),
            key=lambda file: (file.day, file.path),
        )

    def files_with(self, values: Mapping[str, frozenset[str]]) -> set[str]:
        """Paths of files that may have these values in these columns, by the log."""
        actions = pa.table(self._log().get_add_actions(flatten=True)).to_pylist()
        return {
            action["path"]
            for action in actions
            if all(_may_have(action, name, wanted) for name, wanted in values.items())
        }

    def read(self, spark: SparkSession, days: Iterable[date] | None = None) -> DataFrame:
        """The rows of these days with their `day`; columns that a file lacks are null."""
        return self.frame(spark, self.files(days))

    def frame(self, spark: SparkSession, files: Sequence[DataFile]) -> DataFrame:
        """The rows of these files, with `day`."""
        if not files:
            return typed_frame(spark, [], on_disk(self.schema))
        rows = spark.read.schema(self.schema).parquet(*map(str, self.paths(files)))
        time_column = "result_time" if "result_time" in self.schema.fieldNames() else "start"
        whole = rows.coalesce(1) if is_in_one_part(spark) else rows
        return whole.withColumn("day", F.to_date(time_column))

    def paths(self, files: Sequence[DataFile]) -> list[Path]:
        """Where files lie."""
        return [self.folder / file.path for file in files]

    def run_folder(self, run: str) -> Path:
        """Where a run writes; nothing there is visible before `commit`."""
        return self.folder / "data" / run

    def write(self, rows: DataFrame, run: str) -> None:
        """Write rows that have `day` into the run's folder; raises what Spark raises."""
        target = str(self.run_folder(run))
        rows.write.options(**_WRITE_OPTIONS).partitionBy("day").parquet(target)

    def written(self, run: str) -> list[Path]:
        """The files that a run wrote."""
        return sorted(self.run_folder(run).glob("day=*/*.parquet"))

    def discard(self, run: str) -> None:
        """Remove what a run wrote that was not committed."""
        shutil.rmtree(self.run_folder(run), ignore_errors=True)

    def discard_runs(self, prefix: str) -> None:
        """Remove what runs of this name that died have left; committed ones stay."""
        folders = list((self.folder / "data").glob(f"{prefix}-*"))
        if folders:
            paths = {file.path for file in self.files()} | self._tombstones(math.inf)
            committed = {path.split("/")[1] for path in paths}
            for folder in folders:
                if folder.name not in committed:
                    self.discard(folder.name)

    def commit(
        self,
        application: str,
        number: int,
        run: str | None = None,
        removed: Sequence[DataFile] = (),
        counts: dict[str, int] | None = None,
        *,
        data_change: bool = True,
    ) -> None:
        """Make the files of a run visible and others invisible, in one entry of the log.

        Raises BusyError when somebody else committed this number meanwhile.
        """
        now = time.time_ns() // 1_000_000
        actions: list[AddAction | RemoveAction] = [
            RemoveAction(file.path, data_change, now, file.size, {"day": file.day.isoformat()})
            for file in removed
        ]
        if run is not None:
            actions += [self._add_action(path, data_change) for path in self.written(run)]
        metadata = {name: str(value) for name, value in (counts or {}).items()}
        properties = CommitProperties(
            custom_metadata=metadata | {"job": application, "batch": str(number)},
            app_transactions=[Transaction(application, number)],
        )
        log = self._log()
        try:
            log.create_write_transaction(
                actions, "append", log.schema(), ["day"], commit_properties=properties
            )
        except CommitFailedError as error:
            raise BusyError(f"{application} {number} was committed by another run") from error
        except (DeltaError, OSError) as error:
            raise self._failed(error) from error
        self._delta = None

    def vacuum(self, keep_hours: float, *, dry_run: bool) -> list[str]:
        """Remove files that no version of the last `keep_hours` refers to; returns which."""
        if not self.exists:
            return []
        kept = {file.path for file in self.files()} | self._tombstones(keep_hours)
        before = time.time() - keep_hours * 3600
        gone: list[str] = []
        for path in sorted(self.folder.glob("data/**/*")):
            # Hadoop puts the checksums of X into `.X.crc`, which lives as long as X.
            owner = path.with_name(path.name.removeprefix(".").removesuffix(".crc"))
            relative = owner.relative_to(self.folder).as_posix()
            if path.is_file() and relative not in kept and path.stat().st_mtime <= before:
                gone.append(path.relative_to(self.folder).as_posix())
                if not dry_run:
                    path.unlink()
        if not dry_run:
            self._remove_empty_folders()
        return gone

    def _tombstones(self, keep_hours: float) -> set[str]:
        """Removed files that readers of an older version may still read."""
        after = (time.time() - keep_hours * 3600) * 1000
        kept: set[str] = set()
        for entry in sorted(self.folder.glob("_delta_log/*.json")):
            for line in entry.read_text(encoding="utf-8").splitlines():
                removed = json.loads(line).get("remove")
                if removed and removed.get("deletionTimestamp", 0) > after:
                    kept.add(removed["path"])
        return kept

    def _remove_empty_folders(self) -> None:
        for folder in sorted(self.folder.glob("data/**/"), reverse=True):
            if folder.name != "data" and not any(folder.iterdir()):
                folder.rmdir()

    def create(self) -> None:
        """Make the table if there is none, and give an older one the columns it lacks."""
        wanted = Schema.from_json(on_disk(self.schema).json())
        try:
            if not self.exists:
                self.folder.mkdir(parents=True, exist_ok=True)
                DeltaTable.create(str(self.folder), wanted, "ignore", ["day"])
            here = {field.name for field in self._log().schema().fields}
            missing = [field for field in wanted.fields if field.name not in here]
            if missing:
                self._log().alter.add_columns(missing)
                self._delta = None
        except OSError as error:
            raise broken(self.folder, error) from error
        except DeltaError as error:
            raise self._failed(error) from error

    def _log(self) -> DeltaTable:
        try:
            if self._delta is None:
                self._delta = DeltaTable(str(self.folder))
            else:
                self._delta.update_incremental()
        except DeltaError as error:
            raise self._failed(error) from error
        return self._delta

    def _failed(self, error: Exception) -> ArchiveError:
        if is_full(str(error)):
            return full(self.folder)
        return ArchiveError(
            f"the table {self.folder} cannot be used: {str(error).split(chr(10))[0]}",
            "look at its log",
        )

    def _add_action(self, path: Path, data_change: bool) -> AddAction:
        status = path.stat()
        return AddAction(
            path.relative_to(self.folder).as_posix(),
            status.st_size,
            {"day": day_of(path).isoformat()},
            int(status.st_mtime * 1000),
            data_change,
            json.dumps(_statistics(pq.read_metadata(path))),
        )


def day_of(path: Path) -> date:
    """The partition of a file that a run wrote."""
    return date.fromisoformat(path.parent.name.removeprefix("day="))


def _may_have(action: Mapping[str, Any], column: str, values: frozenset[str]) -> bool:
    least, greatest = action.get(f"min.{column}"), action.get(f"max.{column}")
    if least is None or greatest is None:
        return True
    return any(least <= value <= greatest for value in values)


def null_counts(footer: pq.FileMetaData) -> Counter[str]:
    """How many nulls each column has, by the footer of its file."""
    counts = Counter[str]()
    for group in range(footer.num_row_groups):
        for index in range(footer.num_columns):
            column = footer.row_group(group).column(index)
            counts[column.path_in_schema] += column.statistics.null_count
    return counts


def _statistics(footer: pq.FileMetaData) -> dict[str, Any]:
    """What the log says of a file, so that readers can leave it out: counts, least, greatest."""
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    partial: set[str] = set()
    for group in range(footer.num_row_groups):
        for index in range(footer.num_columns):
            column = footer.row_group(group).column(index)
            name, figures = column.path_in_schema, column.statistics
            if figures is None or not figures.has_null_count:
                partial.add(name)
                continue
            nulls[name] = nulls.get(name, 0) + figures.null_count
            if figures.has_min_max:
                least[name] = min(least.get(name, figures.min), figures.min)
                greatest[name] = max(greatest.get(name, figures.max), figures.max)
            elif figures.null_count < column.num_values:
                partial.add(name)
    return {
        "numRecords": footer.num_rows,
        "minValues": _bounds(least, partial),
        "maxValues": _bounds(greatest, partial),
        "nullCount": {name: count for name, count in nulls.items() if name not in partial},
    }


def _bounds(values: dict[str, Any], partial: set[str]) -> dict[str, object]:
    """Statistics as JSON; a bound that JSON cannot say is left out: the file is read instead."""
    told: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, datetime):
            text = value.astimezone(UTC).isoformat(timespec="microseconds")
            told[name] = text.replace("+00:00", "Z")
        elif not isinstance(value, float) or math.isfinite(value):
            told[name] = value
    return {name: value for name, value in told.items() if name not in partial}
