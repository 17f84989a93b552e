"""Points of a stream read from an archive: SQL over one version of a table.

Place: in the process of archives, at the other end of `series`. Source: docs/streams.md,
"Behind the journal".
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from gateway.journal.past.archive import Archive, Where, lexical_of
from gateway.journal.past.series import (
    SeriesAsked,
    SeriesPage,
    SeriesPoint,
    State,
    StateAsked,
    reads_rollups,
)

_STREAM = ("gateway", "sensor", "property", "feature")
_FIRST_DAYS = 2
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


def page_of(archive: Archive, asked: SeriesAsked) -> SeriesPage:
    """The newest points. Raises ArchiveAwayError."""
    return archive.reading(lambda: _page(archive, asked))


def _page(archive: Archive, asked: SeriesAsked) -> SeriesPage:
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
    rows: list[tuple[Any, ...]] = []
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
    make = _bucket if every else _observation
    points = [make(row) for row in rows]
    return SeriesPage(points, points[0].time_ms if len(points) >= asked.most else None)


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


def _bucket(row: Sequence[Any]) -> SeriesPoint:
    time, unit, mean, least, most, count = row
    return SeriesPoint(time, "", "", unit, False, False, mean, least, most, count)


def _observation(row: Sequence[Any]) -> SeriesPoint:
    time, *result, datatype, unit, historical, is_suspect = row
    return SeriesPoint(time, lexical_of(*result), datatype, unit, bool(historical), is_suspect)
