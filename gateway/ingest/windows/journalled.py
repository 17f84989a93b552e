"""`Journalled`: what the journal has of the observations that windows see which are being opened.

    journal, from its end back -> records -> elements -> the past of each window

Place: in a thread of its own, beside scheduler and ingest. It goes back as far as some window
reaches, or as the journal does; what is not there shows in what a window says is complete.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.values.observation import StreamKey
from gateway.ingest.sosa import ObservationTemplates, result_time
from gateway.ingest.windows.elements import ObservationElements
from gateway.journal import Journal, Position, Record
from gateway.journal.history import AHEAD
from gateway.journal.record import micros
from gateway.journal.walk import Visited, walk_back
from gateway.windows import Element, Filling, Window

_AHEAD = int(AHEAD.total_seconds() * 1_000_000)
_NEVER = 1 << 62


def needed_s(windows: Iterable[Window]) -> float:
    """How long the journal has to keep what is sealed for windows that may be opened, s."""
    return max(((_reach(each) + _AHEAD) / 1e6 for each in windows if each.range), default=0.0)


def _reach(window: Window) -> int:
    """How far behind now a window by range begins at most, µs."""
    return window.lateness + (window.range or 0) + (window.step or 0)


@dataclass(slots=True)
class _Wanted:
    """What one window still wants; `parts` are elements by segment, the newest first.

    `since`: from when on the journal has everything, 0 for ever, None: it has nothing.
    """

    window: Window
    low: int
    keys: Sequence[StreamKey]
    parts: list[list[Element]] = field(default_factory=list)
    is_enough: bool = False
    since: int | None = 0
    count: int = 0
    by_key: Counter[StreamKey] = field(default_factory=Counter)

    def wants(self, record: Record) -> bool:
        """Whether a record may be in it, or moves its clock."""
        window = self.window
        if window.clock != "stream" and not window.sees(record.observation.stream):
            return False
        if window.range is None or window.clock == "stream":
            return True
        time = record.ingested_at if window.time == "arrival" else result_time(record)
        return micros(time) >= self.low

    def took(self, elements: list[Element]) -> None:
        """Note a segment's elements, and whether that is enough."""
        window = self.window
        self.parts.append(elements)
        if window.triples is not None:
            self.count += sum(len(each.triples) for each in elements)
            self.is_enough = self.count >= window.triples
        elif window.elements is not None and window.per is None:
            self.count += len(elements)
            self.is_enough = self.count >= window.elements
        elif window.elements is not None:
            self.by_key.update(each.key for each in elements if each.key is not None)
            self.is_enough = all(self.by_key[key] >= window.elements for key in self.keys)

    def is_before(self, newest: int) -> bool:
        """Whether a segment whose newest line came then has nothing of it."""
        is_timed = self.window.range is not None and self.window.clock == "wall"
        return is_timed and newest < self.low - _AHEAD

    def past(self) -> Iterator[Element]:
        """All that was found, oldest arrival first."""
        for part in reversed(self.parts):
            yield from part


class Journalled:
    """Reads for windows; `first_applied` is what the store had when the gateway started.

    At most `most` elements are read for one window.
    """

    def __init__(
        self, journal: Journal, elements: ObservationElements, most: int, first: Position | None
    ) -> None:
        self._journal = journal
        self._elements = elements
        self._most = most
        self._first_applied = first

    def read(
        self,
        windows: Sequence[Window],
        until: Position | None,
        now: int,
        templates: ObservationTemplates,
        keys: Sequence[StreamKey],
    ) -> Mapping[Window, Filling]:
        """The past of each up to a position; `keys` are the streams that there are.

        Raises StorageError.
        """
        wanted = [self._wanted(window, now, keys) for window in windows]
        if until is not None:
            self._walk(wanted, until, templates)
        return {each.window: Filling(each.window, each.past(), each.since) for each in wanted}

    def _walk(
        self, wanted: Sequence[_Wanted], until: Position, templates: ObservationTemplates
    ) -> None:
        manifest = self._journal.manifest
        gaps = [item.name.start for item in manifest.sealed() if item.name.is_gap]
        last_times = manifest.last_times()
        after, earliest = until, None
        start: Position | None = None
        for visited in walk_back(self._journal.folder, until):
            start = visited.start
            if any(start < gap <= after for gap in gaps):
                _note_gap(wanted, earliest)
            waiting = [each for each in wanted if not each.is_enough]
            newest = last_times.get(visited.name, _NEVER)
            for each in waiting:
                each.is_enough = each.is_before(newest)
            if all(each.is_enough for each in wanted):
                return
            self._take([each for each in waiting if not each.is_enough], visited, templates)
            after = start
            earliest = micros(visited.records[0].ingested_at) if visited.records else earliest
        if not self._is_beginning(start, gaps):
            _note_gap(wanted, earliest)

    def _is_beginning(self, start: Position | None, gaps: Sequence[Position]) -> bool:
        """Whether nothing was before the oldest segment that there is."""
        if self._journal.manifest.has_removed or (
            start is not None and min(gaps, default=start) < start
        ):
            return False
        first = self._first_applied
        return first is None or (start is not None and start <= first)

    def _take(
        self, waiting: Sequence[_Wanted], visited: Visited, templates: ObservationTemplates
    ) -> None:
        parts: list[list[Element]] = [[] for _ in waiting]
        for record in visited.records:
            if record.observation.circumstances.seed:
                continue
            streams = self._elements.streams.of(record.observation.stream)
            found = [
                part
                for part, each in zip(parts, waiting, strict=True)
                if each.window.stream in streams and each.wants(record)
            ]
            if found:
                element = self._elements.element(record, templates)
                for part in found:
                    part.append(element)
        for part, each in zip(parts, waiting, strict=True):
            each.took(part)
            if sum(map(len, each.parts)) > self._most:
                each.is_enough = True  # and more than there is room for

    def _wanted(self, window: Window, now: int, keys: Sequence[StreamKey]) -> _Wanted:
        streams = self._elements.streams
        own = [key for key in keys if window.sees(key) and window.stream in streams.of(key)]
        return _Wanted(window, now - _reach(window), own)


def _note_gap(wanted: Sequence[_Wanted], earliest: int | None) -> None:
    """What was before is not known, for those that have not all that they want."""
    for each in wanted:
        if not each.is_enough and each.since == 0:
            each.since = earliest
