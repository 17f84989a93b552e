"""`Streams`: what a gateway observes, by stream: a glance at each, and its history.

Place: between the gates and what ingest and the journal keep. All methods may be called in any
thread; listing and reading take a while.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from adapters.values.observation import StreamKey
from adapters.values.result import BOOLEAN, INTEGER
from gateway.errors import NotFoundError, StorageError
from gateway.ingest.sosa import stream_id
from gateway.ingest.sparklines import Sparkline, Sparklines, number
from gateway.journal.history import LastTimes, Seen, Stretch, Window, stretch, time_of
from gateway.journal.past.series import ArchivedSeries, Bucket, Part, SeriesPoint, State
from gateway.journal.record import Position, micros

MOST_RECORDS = 20_000
"""Observations that one request adds up to buckets."""

LONGEST_TEXT = 1_000
"""Characters of a text in a history; more are cut off."""

_EXACT = 2**53
"""Integers up to here are what a reader of JSON takes them for."""

_NO_FLAGS: frozenset[str] = frozenset()

Value = float | int | bool | str | None


@dataclass(frozen=True, slots=True)
class Told:
    """A stream with its line; `id` is the last part of its IRI."""

    id: str
    stream: StreamKey
    line: Sparkline


@dataclass(slots=True)  # frozen ones take thrice the time to make, and a month has 43,200 minutes
class Point:
    """An observation at `time_ms` (since 1970), or what those of a bucket add up to.

    Of a bucket `value` is the mean of its `count` numbers, and None where it has none.
    """

    time_ms: int
    value: Value
    unit: str | None
    flags: frozenset[str] = _NO_FLAGS
    least: float | None = None
    most: float | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ends: in the journal before a position, or in the archive before a time (µs).

    `version` is that of the archive which a walk reads, None without one.
    """

    before: Position | None = None
    version: int | None = None
    until: int | None = None


BEGIN = Cursor()


@dataclass(frozen=True, slots=True)
class Page:
    """Points in the order of their times; `next` is where the next page ends, None at the end.

    `damaged` names the segments that could not be read whole; `missing` says why the archive is not
    in it, "" where it is or there is none.
    """

    points: Sequence[Point]
    next: Cursor | None
    damaged: Sequence[str] = ()
    missing: str = ""


@dataclass(frozen=True, slots=True)
class HistoryAsked:
    """What of a stream; `every_ms` 0 asks for each observation, else for buckets so long."""

    window: Window = field(default_factory=Window)
    every_ms: int = 0
    limit: int = 500
    cursor: Cursor = BEGIN


@dataclass(frozen=True, slots=True)
class Streams:
    """What there is: `known` are all streams, `last_times` as the journal's manifest has them.

    Behind the journal there may be an `archive`.
    """

    known: Callable[[], Sequence[StreamKey]]
    sparklines: Sparklines
    journal: Path
    last_times: Callable[[], LastTimes]
    archive: ArchivedSeries | None = None

    def list(
        self, sensor: str | None, observed_property: str | None, after: str, most: int
    ) -> tuple[Sequence[Told], bool]:
        """A page behind `after` by ids, and whether there are more."""
        found = sorted(
            (id_, stream)
            for stream in self.known()
            if sensor in {None, stream[0]} and observed_property in {None, stream[1]}
            if (id_ := stream_id(stream)) > after
        )
        told = [Told(id_, stream, self.sparklines.of(stream)) for id_, stream in found[:most]]
        return told, len(found) > most

    def find(self, id_: str) -> Told:
        """One of them. Raises NotFoundError."""
        for stream in self.known():
            if stream_id(stream) == id_:
                return Told(id_, stream, self.sparklines.of(stream))
        raise NotFoundError(f"there is no stream {id_[:40]!r}", "GET /streams has them")

    def history(
        self, stream: StreamKey, asked: HistoryAsked, look: Callable[[], None] = lambda: None
    ) -> Page:
        """A page, the newest first; `look` raises where nobody waits. Raises StorageError."""
        archive, cursor, missing = self.archive, asked.cursor, ""
        state: State | None = None
        if archive is not None:
            try:
                state = archive.state(asked.every_ms, cursor.version)
                missing = _waiting(state)
            except StorageError as error:
                missing = error.description
        page = Page((), None)
        if cursor.until is None:
            page = self._journalled(stream, asked, state, look)
        if archive is None or state is None:
            return replace(page, missing=missing)
        if page.next is not None:
            cursor = replace(page.next, version=state.version)
            return replace(page, next=cursor, missing=missing)
        if page.points:
            cursor = Cursor(None, state.version, _end(asked.window))
            return replace(page, next=cursor, missing=missing)
        found = self._archived(archive, stream, asked, state.version, look)
        return replace(found, damaged=page.damaged, missing=missing)

    def _journalled(
        self,
        stream: StreamKey,
        asked: HistoryAsked,
        state: State | None,
        look: Callable[[], None],
    ) -> Page:
        """What the journal has, but what the archive has too."""
        archive = self.archive

        def skips(first: Position, last: Position) -> bool:
            return archive is not None and state is not None and archive.has(state, first, last)

        try:
            found = stretch(
                self.journal,
                stream,
                asked.window,
                before=asked.cursor.before,
                most=MOST_RECORDS if asked.every_ms else asked.limit,
                last_times=self.last_times(),
                look=look,
                skips=skips,
            )
        except OSError as error:
            raise StorageError(
                f"the journal cannot be read: {error.strerror or error}", "see `sosa-gateway check`"
            ) from error
        return _bucketed(found, asked) if asked.every_ms else _plain(found)

    def _archived(
        self,
        archive: ArchivedSeries,
        stream: StreamKey,
        asked: HistoryAsked,
        version: int,
        look: Callable[[], None],
    ) -> Page:
        """What the archive has before the cursor's time."""
        begin, until = asked.window.begin, asked.cursor.until
        low = None if begin is None else micros(begin)
        high = _end(asked.window) if until is None else min(until, _NEVER)

        def is_wanted() -> bool:
            look()
            return True

        part = Part(low, high, asked.every_ms, version, asked.limit)
        found = archive.page(stream, part, is_wanted)
        points = [*map(_archived_bucket, found.buckets), *map(_archived_point, found.points)]
        if found.until_ms is None:
            return Page(points, None)
        return Page(points, Cursor(None, version, found.until_ms * 1000))


def _waiting(state: State) -> str:
    """What a walk over rollups lacks, "" for nothing."""
    if not state.waiting:
        return ""
    return f"{state.waiting} ingested batches are in no rollup yet: the journal has what it kept"


_NEVER = 253_402_300_799_999_999
"""µs: the end of the year 9999."""


def _end(window: Window) -> int:
    """In µs; a time that nothing has where there is none."""
    return _NEVER if window.end is None else micros(window.end)


def _archived_bucket(found: Bucket) -> Point:
    time_ms, unit, mean, least, most, count = found
    return Point(time_ms, mean, unit, _NO_FLAGS, least, most, count)


def _archived_point(found: SeriesPoint) -> Point:
    value, is_cut = _value(found.lexical, found.datatype)
    told = {"buffered": found.is_historical, "clock": found.is_suspect, "cut": is_cut}
    return Point(found.time_ms, value, found.unit, frozenset(n for n, so in told.items() if so))


def _plain(found: Stretch) -> Page:
    points = sorted(map(_point, found.seen), key=lambda point: point.time_ms)
    return _page(points, found.before, found)


def _page(points: Sequence[Point], before: Position | None, found: Stretch) -> Page:
    return Page(points, None if before is None else Cursor(before), found.damaged)


def _point(seen: Seen) -> Point:
    observation = seen.record.observation
    value, is_cut = _value(observation.lexical, observation.datatype)
    flags = _flags(seen) | {"cut"} if is_cut else _flags(seen)
    return Point(_time_ms(seen), value, observation.unit, flags)


def _time_ms(seen: Seen) -> int:
    return micros(time_of(seen.record)) // 1000


def _flags(seen: Seen) -> frozenset[str]:
    """What the line says of how it came about."""
    record = seen.record
    told = {
        "buffered": record.observation.circumstances.historical,
        "clock": record.clock_suspect,
        "revised": seen.is_revised,
    }
    return frozenset(name for name, is_so in told.items() if is_so)


def _value(lexical: str, datatype: str) -> tuple[Value, bool]:
    """The result as JSON has it, and whether it was cut; what is too large for that is a text."""
    value = number(lexical, datatype)
    if value is None:
        return lexical[:LONGEST_TEXT], len(lexical) > LONGEST_TEXT
    if datatype == BOOLEAN:
        return value == 1.0, False
    if datatype == INTEGER and abs(value) < _EXACT:
        return int(lexical), False
    return value, False


class _Bucket:
    """What observations of one unit within one time add up to."""

    __slots__ = ("count", "flags", "least", "most", "others", "total")

    def __init__(self) -> None:
        self.count = self.others = 0
        self.total = 0.0
        self.least = self.most = 0.0
        self.flags: frozenset[str] = frozenset()

    def add(self, seen: Seen) -> None:
        """Count one in; of what is no number the count alone."""
        self.flags |= _flags(seen)
        observation = seen.record.observation
        value = number(observation.lexical, observation.datatype)
        if value is None:
            self.others += 1
            return
        self.least = min(value, self.least) if self.count else value
        self.most = max(value, self.most) if self.count else value
        self.total += value
        self.count += 1

    def point(self, time_ms: int, unit: str | None) -> Point:
        """As it is told."""
        if not self.count:
            return Point(time_ms, None, unit, self.flags, count=self.others)
        mean = self.total / self.count
        return Point(time_ms, mean, unit, self.flags, self.least, self.most, self.count)


def _bucketed(found: Stretch, asked: HistoryAsked) -> Page:
    """As many buckets as are asked for, from the journal's end back."""
    buckets: dict[tuple[int, str, bool], _Bucket] = {}
    before = found.before
    for index in range(len(found.seen) - 1, -1, -1):
        seen = found.seen[index]
        observation = seen.record.observation
        is_number = number(observation.lexical, observation.datatype) is not None
        time_ms = _time_ms(seen)
        key = (time_ms - time_ms % asked.every_ms, observation.unit or "", is_number)
        bucket = buckets.get(key)
        if bucket is None:
            if len(buckets) == asked.limit:
                before = found.seen[index + 1].record.position
                break
            bucket = buckets[key] = _Bucket()
        bucket.add(seen)
    points = [each.point(key[0], key[1] or None) for key, each in sorted(buckets.items(), key=_key)]
    return _page(points, before, found)


def _key(item: tuple[tuple[int, str, bool], _Bucket]) -> tuple[int, str, bool]:
    return item[0]
