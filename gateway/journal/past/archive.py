"""`Archive`: an archive of `spark_batch` read in process: the Delta log, and Parquet by DuckDB.

    need -> files that the log's statistics leave -> rows | rollups

Place: the past of a query over time. The archive may be written meanwhile: what is read is one
version of a table, and where its files have gone (`vacuum`), the newest version is read instead.
Source: docs/archive.md, which says what its tables have.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar

import duckdb
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from gateway.journal.past.row import Row
from gateway.journal.past.taken import Taken, read_taken
from gateway.journal.record import micros
from jsap.shapes.bounds import Needed
from jsap.shapes.patterns import KEYS
from jsap.shapes.plan import Need

_LOOKS = 4
"""How often another version is tried because files have gone."""

_BATCH = 2_000
_COLUMNS = (
    *("base", "gateway", "epoch", "sequence", "sequence - coalesce(message_lag, 0)"),
    *("sensor", "property", "feature", "lexical", "text", "geometry", "number", "boolean"),
    *("datatype", "unit", "epoch_us(result_time)", "delay_us"),
    *("device_clock", "clock", "ext", "suspect_time IS NOT NULL"),
)
_LATER = {
    "observations": (
        *(("clock", "VARCHAR"), ("ext", "VARCHAR"), ("suspect_time", "TIMESTAMPTZ")),
        ("historical", "BOOLEAN"),
    )
}
"""Columns that files of older releases may lack."""

_MOST_LOGS = 8
_MOST_DAYS = 1_000_000
_DAYS = {
    "filename": "VARCHAR",
    **dict.fromkeys(("grain", "gateway", "sensor", "property", "feature", "unit"), "VARCHAR"),
    "start": "TIMESTAMPTZ",
    "count": "BIGINT",
    **dict.fromkeys(("minimum", "maximum", "mean"), "DOUBLE"),
}
"""Columns of the days that are kept in memory, with the file that each is from."""

_EXACT = 2.0**53
_NAMES = ("sensor", "property", "feature")
_MOST_LISTED = 100
_OWN = re.compile(r".*/([^/]+)/observation/([0-9]{1,18})-([0-9]{1,18})(?:/[a-z]+)?")

Needs = Sequence[tuple[Need, Mapping[str, frozenset[str]]]]
"""Rows that a query needs, each with what else narrows its marks."""

T = TypeVar("T")


class ArchiveAwayError(Exception):
    """The archive, or a part of it, cannot be read now; `str` says why."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a table; bounds of its columns as the log has them."""

    path: str
    day: date
    rows: int
    bounds: Mapping[str, Any]

    def may_have(self, column: str, values: frozenset[str]) -> bool:
        """Whether the log's statistics allow one of these values."""
        least, most = self.bounds.get(f"min.{column}"), self.bounds.get(f"max.{column}")
        if least is None or most is None:
            return True
        return any(least <= value <= most for value in values)


class Archive:
    """One archive, for one thread."""

    def __init__(self, folder: Path, memory_bytes: int) -> None:
        """Nothing is installed, loaded or spilled; `memory_bytes` is DuckDB's own limit."""
        self.folder = folder
        self._days: set[str] = set()
        self._files: dict[tuple[str, int], list[_File]] = {}
        self._taken: tuple[int, Taken] | None = None
        self._logs: dict[tuple[str, int | None], DeltaTable] = {}
        self._database = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "memory_limit": f"{memory_bytes >> 20}MiB",
                "parquet_metadata_cache": "true",
                "threads": "1",
                "temp_directory": "",
            }
        )

    def taken(self) -> Taken:
        """What it has ingested now. Raises ArchiveAwayError."""
        return self.reading(lambda: self.taken_of(self.log("observations")))

    def taken_of(self, log: DeltaTable, application: str = "ingest") -> Taken:
        """What was ingested by the last commit of an application that a version has."""
        committed = log.transaction_version(application) or 0
        if self._taken is None or self._taken[0] != committed:
            self._taken = committed, read_taken(self.folder, committed)
        return self._taken[1]

    def retained_since(self) -> date | None:
        """The first day that was never dropped; None where none was."""
        path = self.folder / "retained.json"
        if not path.exists():
            return None
        return date.fromisoformat(json.loads(path.read_bytes())["since"])

    def rows(self, needs: Needs, most: int, take: Callable[[Iterable[Row]], None]) -> Taken:
        """Have the observations that needs ask for taken; gives what was ingested by then.

        Some come twice, where needs overlap or files went meanwhile; of one need so many at most,
        and one more. Raises ArchiveAwayError, and what `take` raises.
        """
        return self.reading(lambda: self._rows(needs, most, take))

    def _rows(self, needs: Needs, most: int, take: Callable[[Iterable[Row]], None]) -> Taken:
        log = self.log("observations")
        taken, files = self.taken_of(log), _files(log)
        for need, values in needs:
            take(self._found(files, need, values, most + 1))
        return taken

    def _found(
        self,
        files: Sequence[_File],
        need: Need,
        values: Mapping[str, frozenset[str]],
        most: int,
    ) -> Iterator[Row]:
        needed = need.within(values)
        names = {mark: needed.values[mark] for mark in _NAMES if mark in needed.values}
        kept = [
            str(self.folder / "observations" / file.path)
            for file in self._kept(files, (needed.first, needed.last), names)
        ]
        identities = identities_of(needed)
        if not kept or identities == frozenset():
            return
        where = Where(["kind = 'observation'"])
        where.times(needed.low, needed.high)
        for column, found in names.items():
            where.among(column, found)
        if identities is not None:
            where.identities(identities)
        if need.scan.suspect:
            where.terms.append("suspect_time IS NOT NULL")
        is_named = need.distinct and all(mark in _NAMES for mark in need.distinct)
        once = f"DISTINCT ON ({', '.join(need.distinct)}) " if is_named else ""
        columns = ", ".join(_COLUMNS)
        source = self.source("observations", where.parameter(kept))
        text = f"SELECT {once}{columns} FROM {source} WHERE {where} LIMIT {most}"  # noqa: S608
        asked = self._database.execute(text, where.parameters)
        while batch := asked.fetchmany(_BATCH):
            yield from map(_row, batch)

    def log(self, table: str, version: int | None = None) -> DeltaTable:
        """A table at a version, None: the newest. Raises DeltaError, OSError."""
        known = self._logs.get((table, version))
        if known is None:
            known = DeltaTable(str(self.folder / table), version=version)
            self._logs = {(table, version): known, **dict(list(self._logs.items())[:_MOST_LOGS])}
        elif version is None:
            known.update_incremental()
        return known

    def files_of(
        self,
        table: str,
        version: int | None,
        days: tuple[date, date],
        values: Mapping[str, frozenset[str]],
    ) -> Mapping[date, list[str]]:
        """The paths of files with rows of these days that may have these values, by day."""
        found: defaultdict[date, list[str]] = defaultdict(list)
        log = self.log(table, version)
        key = table, log.version()
        if key not in self._files:
            self._files = {key: _files(log)}
        for file in self._kept(self._files[key], days, values):
            found[file.day].append(str(self.folder / table / file.path))
        return found

    def _kept(
        self,
        files: Sequence[_File],
        days: tuple[date, date],
        values: Mapping[str, frozenset[str]],
    ) -> list[_File]:
        return [
            file
            for file in files
            if days[0] <= file.day <= days[1]
            and all(file.may_have(column, found) for column, found in values.items())
        ]

    def days(self, paths: Sequence[str]) -> str:
        """The days of all streams in files of `rollup`, which are `$files`, in SQL.

        They are kept in memory, since they are few and a year of them is in as many files.
        """
        unknown = [path for path in paths if path not in self._days]
        if unknown:
            count = self.execute("SELECT count(*) FROM days", {})[0][0] if self._days else 0
            if not self._days or count > _MOST_DAYS:
                self._days.clear()
                columns = ", ".join(f'"{name}" {kind}' for name, kind in _DAYS.items())
                self.execute(f"CREATE OR REPLACE TABLE days ({columns})", {})
                unknown = list(paths)
            names = ", ".join(f'"{name}"' for name in _DAYS)
            read = f"{self.source('rollup', '$files')[:-1]}, filename = true)"
            text = f"INSERT INTO days SELECT {names} FROM {read} WHERE grain = 'day'"  # noqa: S608
            self.execute(text, {"files": unknown})
            self._days.update(unknown)
        return "(SELECT * FROM days WHERE filename IN (SELECT unnest($files)))"

    def source(self, table: str, paths: str) -> str:
        """The files of a parameter in SQL; with columns that older ones lack."""
        read = f"read_parquet({paths}, union_by_name = true, hive_partitioning = false)"
        later = ", ".join(f"NULL::{kind} AS {name}" for name, kind in _LATER.get(table, ()))
        if not later:
            return read
        return f"(SELECT * FROM {read} UNION ALL BY NAME SELECT {later} WHERE false)"  # noqa: S608

    def execute(self, text: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of a statement. Raises duckdb.Error."""
        return self._database.execute(text, parameters).fetchall()

    def reading(self, read: Callable[[], T]) -> T:
        """What is read of the newest version; another one where its files have gone."""
        failure: Exception | None = None
        for _ in range(_LOOKS):
            try:
                return read()
            except duckdb.OutOfMemoryException as error:
                raise MemoryError from error
            except (duckdb.Error, DeltaError, OSError, ValueError, KeyError) as error:
                failure = error
        raise ArchiveAwayError(_reason(self.folder, failure)) from failure


class Where:
    """Conditions of a statement, with the values that they name."""

    def __init__(self, terms: Sequence[str]) -> None:
        self.terms = list(terms)
        self.parameters: dict[str, Any] = {}

    def parameter(self, value: object) -> str:
        """The name of a value."""
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"

    def times(self, low: datetime | None, high: datetime | None) -> None:
        """Result times, both ends included."""
        for operation, moment in ((">=", low), ("<=", high)):
            if moment is not None:
                name = self.parameter(micros(moment.astimezone(UTC)))
                self.terms.append(f"result_time {operation} make_timestamptz({name}::BIGINT)")

    def between(self, column: str, low: int | None, high: int | None) -> None:
        """Times of a column in µs, the end not included."""
        for operation, time in ((">=", low), ("<", high)):
            if time is not None:
                name = self.parameter(time)
                self.terms.append(f"{column} {operation} make_timestamptz({name}::BIGINT)")

    def among(self, column: str, values: frozenset[str]) -> None:
        """A column has one of these values."""
        if len(values) > _MOST_LISTED:
            self.terms.append(f"{column} IN (SELECT unnest({self.parameter(sorted(values))}))")
            return
        listed = ", ".join(map(self.parameter, sorted(values))) or "NULL"
        self.terms.append(f"{column} IN ({listed})")

    def identities(self, found: Collection[tuple[str, int, int]]) -> None:
        """The row is one of these."""
        rows = (
            f"({self.parameter(gateway)}, {epoch}, {sequence})"
            for gateway, epoch, sequence in sorted(found)
        )
        self.terms.append(f"(gateway, epoch, sequence) IN ({', '.join(rows)})")

    def __str__(self) -> str:
        return " AND ".join(self.terms)


def identities_of(needed: Needed) -> frozenset[tuple[str, int, int]] | None:
    """The rows that a need names by what is made of their identity; None where it names none."""
    found: frozenset[tuple[str, int, int]] | None = None
    for mark in KEYS & needed.values.keys():
        names = filter(None, map(_OWN.fullmatch, needed.values[mark]))
        here = frozenset((each[1], int(each[2]), int(each[3])) for each in names)
        found = here if found is None else found & here
    return found


def _row(values: tuple[Any, ...]) -> Row:
    """A row of `_COLUMNS`."""
    base, gateway, epoch, sequence, message, sensor, observed_property, feature = values[:8]
    lexical, text, geometry, number, boolean, datatype, unit, time, delay = values[8:17]
    is_device, clock, unknown, is_suspect = values[17:]
    return Row(
        base,
        gateway,
        epoch,
        sequence,
        message,
        sensor,
        observed_property,
        feature,
        lexical_of(lexical, text, geometry, number, boolean),
        datatype,
        unit,
        time,
        time + delay,
        (clock or _told_clock(unknown)) if is_device else "GatewayClock",
        is_suspect,
    )


def _told_clock(unknown: str | None) -> str:
    """Rows of older releases have it among unknown members."""
    told = None if unknown is None else json.loads(unknown).get("z")
    return str(told or "DeviceClock")


def lexical_of(
    lexical: str | None,
    text: str | None,
    geometry: str | None,
    number: float | None,
    boolean: bool | None,
) -> str:
    """The result as the device sent it: whole numbers without a point, else as few digits as do."""
    for told in (lexical, text, geometry):
        if told is not None:
            return told
    if number is not None:
        return str(int(number)) if number.is_integer() and abs(number) < _EXACT else repr(number)
    return "true" if boolean else "false"


def _files(log: DeltaTable) -> list[_File]:
    actions: Any = log.get_add_actions(flatten=True)
    names = actions.column_names
    columns = [actions.column(name).to_pylist() for name in names]
    files = []
    for values in zip(*columns, strict=True):
        told = dict(zip(names, values, strict=True))
        day = told["partition.day"]
        day = day if isinstance(day, date) else date.fromisoformat(str(day))
        files.append(_File(told["path"], day, told["num_records"] or 0, told))
    return files


def _reason(folder: Path, error: Exception | None) -> str:
    if not folder.exists():
        return f"{folder} is not there"
    first = str(error).strip().split("\n")[0][:200]
    return f"{folder} cannot be read now: {first}"
