"""Points of a stream read from an archive: SQL over one version of a table.

Place: in the process of archives, at the other end of `series`. Source: docs/streams.md,
"Behind the journal".
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from operator import itemgetter
from typing import Any

from gateway.journal.past.archive import Archive, Where, lexical_of
from gateway.journal.past.series import (
    Bucket,
    SeriesAsked,
    SeriesPage,
    SeriesPoint,
    State,
    StateAsked,
    reads_rollups,
)

_STREAM = ("gateway", "sensor", "property", "feature")
_FIRST_DAYS = 2
_PAGES = 8
"""So many are read at once of rollups where a walk goes on: it asks for them one by one."""

_MOST_WALKS = 4
_GRAINS = {"day": 86_400_000, "hour": 3_600_000, "minute": 60_000}

_RAW = (
    "SELECT epoch_us(result_time) // 1000 AS t, lexical, text, geometry, number, boolean, "
    "datatype, unit, historical, suspect_time IS NOT NULL FROM {source} WHERE {where}"
)
_BUCKETED = (
    "SELECT epoch_us(result_time) // 1000 // {every} * {every} AS t, unit, avg(n), min(n), "
    "max(n), count(*) FROM (SELECT *, coalesce(CASE WHEN isfinite(number) THEN number END, "
    "boolean::INT) AS n FROM {source} WHERE {where}) "
    "GROUP BY t, unit, n IS NULL"
)
_NEWEST = "SELECT * FROM ({text}) QUALIFY rank() OVER (ORDER BY t DESC) <= {most} ORDER BY t"
"""All that begin with the last one are there, so that the next page ends before it."""

_ROLLED = (
    "SELECT epoch_us(start) // 1000 // {every} * {every} AS t, unit, "
    "sum(mean * count) / sum(CASE WHEN mean IS NOT NULL THEN count END), min(minimum), "
    "max(maximum), sum(count)::BIGINT FROM {source} WHERE {where} GROUP BY t, unit"
)


def state_of(archive: Archive, asked: StateAsked) -> State:
    """The version to read, and what it has. Raises ArchiveAwayError."""
    table, application = _table(asked)

    def read() -> State:
        log = archive.log(table, asked.version)
        taken = archive.taken_of(log, application)
        waiting = 0
        if table == "rollup" and asked.version is None:
            ingested = archive.log("observations").transaction_version("ingest") or 0
            waiting = ingested - (log.transaction_version(application) or 0)
        return State(log.version(), taken, waiting)

    return archive.reading(read)


_Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class _Ahead:
    """Rows that a walk over rollups has not asked for yet, up to the one where its page ended.

    A version of a table never changes, so they are what would be read. `is_all`: none are older.
    """

    rows: _Rows
    is_all: bool


class SeriesReader:
    """The pages of series of one archive, for one thread; it keeps what walks will ask next."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._walks: dict[SeriesAsked, _Ahead] = {}

    def page(self, asked: SeriesAsked) -> SeriesPage:
        """The newest points. Raises ArchiveAwayError."""
        ahead = self._walks.pop(_next(asked, asked.high), None)
        if ahead is None or (len(ahead.rows) < asked.most and not ahead.is_all):
            ahead = self._read(asked, 1 if ahead is None else _PAGES)
        page, older = _split(ahead.rows, asked.most)
        until_ms = page[0][0] if older or not ahead.is_all else None
        if until_ms is not None and _table(asked.state)[0] == "rollup":
            self._walks[_next(asked, until_ms * 1000)] = _Ahead(older, ahead.is_all)
            if len(self._walks) > _MOST_WALKS:
                del self._walks[next(iter(self._walks))]
        if asked.state.every_ms:
            return SeriesPage([_bucket(row) for row in page], [], until_ms)
        return SeriesPage([], [_observation(row) for row in page], until_ms)

    def _read(self, asked: SeriesAsked, pages: int) -> _Ahead:
        many = replace(asked, most=asked.most * pages)
        rows = self._archive.reading(lambda: _rows(self._archive, many))
        return _Ahead(rows, len(rows) < many.most)


def _next(asked: SeriesAsked, high: int | None) -> SeriesAsked:
    """What a walk asks that goes on before a time, whatever the size of its pages."""
    return replace(asked, high=high, most=0)


def _split(rows: _Rows, most: int) -> tuple[_Rows, _Rows]:
    """The newest, with all that begin with the last of them, and the older ones."""
    if len(rows) <= most:
        return rows, []
    at = bisect_left(rows, rows[-most][0], key=itemgetter(0))
    return rows[at:], rows[:at]


def _rows(archive: Archive, asked: SeriesAsked) -> _Rows:
    """The newest rows, with all that begin with the last of them, in the order of their times."""
    every, (table, _) = asked.state.every_ms, _table(asked.state)
    where, low = Where([]), asked.low
    names = {
        column: frozenset({value})
        for column, value in zip(_STREAM, (asked.gateway, *asked.stream), strict=True)
    }
    for column, values in names.items():
        where.among(column, values)
    if table == "rollup":
        grain = next(name for name, length in _GRAINS.items() if every % length == 0)
        where.among("grain", frozenset({grain}))
        low = None if low is None else low - low % (_GRAINS[grain] * 1000)
    else:
        where.terms.append("kind = 'observation'")
    where.between("start" if table == "rollup" else "result_time", low, asked.high)
    days = _day(low, date.min), _day(asked.high, date.max)
    files = archive.files_of(table, asked.state.version, days, names)
    shape = _RAW if not every else _ROLLED if table == "rollup" else _BUCKETED
    rows: _Rows = []
    for chunk in _chunks(files, every):
        known = dict(where.parameters)
        if table == "rollup" and every % _GRAINS["day"] == 0:
            source = archive.days(chunk)
        else:
            source = archive.source(table, "$files")
        text = shape.format(every=every, source=source, where=where)
        newest = _NEWEST.format(text=text, most=asked.most - len(rows))
        rows = archive.execute(newest, known | {"files": chunk}) + rows
        if len(rows) >= asked.most:
            break
    return rows


def _chunks(files: Mapping[date, list[str]], every_ms: int) -> Iterator[list[str]]:
    """Files to read together, the newest days first; all where a bucket may be of two days."""
    if every_ms and (every_ms > _GRAINS["hour"] or _GRAINS["day"] % every_ms):
        if files:
            yield [path for paths in files.values() for path in paths]
        return
    newest, begin, size = sorted(files, reverse=True), 0, _FIRST_DAYS
    while begin < len(newest):
        yield [path for day in newest[begin : begin + size] for path in files[day]]
        begin, size = begin + size, size * 2


def _table(asked: StateAsked) -> tuple[str, str]:
    """The table that has it, and the application whose commits say up to where."""
    return ("rollup", "rollup") if reads_rollups(asked.every_ms) else ("observations", "ingest")


def _day(time_us: int | None, otherwise: date) -> date:
    return (
        otherwise if time_us is None else datetime.fromtimestamp(time_us // 1_000_000, UTC).date()
    )


def _bucket(row: Sequence[Any]) -> Bucket:
    time, unit, mean, least, most, count = row
    return time, unit, mean, least, most, count


def _observation(row: Sequence[Any]) -> SeriesPoint:
    time, *result, datatype, unit, historical, is_suspect = row
    return SeriesPoint(time, lexical_of(*result), datatype, unit, bool(historical), is_suspect)
