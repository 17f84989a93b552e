"""`EventLog`: the compound events of requests that are no messages, to be told again.

Place on the way of the data: beside the journal, which has the messages. What a request states is
appended before the store commits it with its position: so after kill -9 what lies behind the
position that the store knows was never answered, and is cut at the start. A power cut may take the
last of it, as it may of the store. Segments are JSON Lines; the name of each says behind which
position it begins. The oldest go where the log is too long or too old.
"""

import logging
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, parse, serialize

from gateway.errors import StorageError
from gateway.journal.event_position import EventPosition
from gateway.journal.record import Fields, encode_fields, read_fields
from gateway.journal.segment import Segment, cut_torn_lines, seek_behind, sync_folder
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName

log = logging.getLogger(__name__)

_SCHEMA = "events-1"
_NAME = re.compile(r"([0-9]{1,12})-([0-9]{1,18})\.([0-9]{1,18})\.jsonl")
_HEADER = b'{"schema"'
_PARTS = 16
"""The log is in so many segments, so that as much of it goes at once."""


class LoggedEvent(NamedTuple):
    """What a request stated in a graph; `time` is in µs since the epoch."""

    position: EventPosition
    time: int
    graph: GraphName
    triples: Sequence[Triple]

    def encode(self) -> bytes:
        """One line."""
        graph = self.graph
        text = serialize(self.triples, format=RdfFormat.N_TRIPLES) or b""
        fields: Fields = {"p": str(self.position), "t": self.time, "n": text.decode()}
        if isinstance(graph, NamedNode):
            fields["g"] = graph.value
        elif isinstance(graph, BlankNode):
            fields["b"] = graph.value
        return encode_fields(fields)

    @classmethod
    def decode(cls, line: bytes) -> "LoggedEvent":
        """The reverse of `encode`. Raises ValueError."""
        fields = read_fields(line)
        graph: GraphName = DEFAULT_GRAPH
        if "g" in fields:
            graph = NamedNode(str(fields["g"]))
        elif "b" in fields:
            graph = BlankNode(str(fields["b"]))
        quads = parse(str(fields.get("n")), format=RdfFormat.N_TRIPLES)
        triples = tuple(Triple(each.subject, each.predicate, each.object) for each in quads)
        position = EventPosition.parse(str(fields.get("p")))
        return cls(position, int(str(fields.get("t"))), graph, triples)


@dataclass(frozen=True, slots=True)
class EventLogLimits:
    """The log has about `bytes` at most, and nothing older than `seconds` and a sixteenth."""

    bytes: int = 67_108_864
    seconds: float = 86_400.0


class EventLog:
    """For one thread that appends; `after` and the properties are for any.

    `appended` are the bytes of events that were taken up since it was opened.
    What lies behind `recorded`, the position that the store knows, is cut; None cuts nothing.
    `start` is where the gateway goes on. Raises StorageError.
    """

    def __init__(
        self,
        folder: Path,
        start: EventPosition,
        recorded: EventPosition | None = None,
        limits: EventLogLimits | None = None,
    ) -> None:
        self._folder = folder
        self._limits = limits or EventLogLimits()
        self._last_size = 0
        self.appended = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in self._paths():
                cut_torn_lines(path)
            if recorded is not None:
                self._cut(recorded)
            self._begin(start)
            self._drop()
        except OSError as error:
            raise self._broken(error) from error

    @property
    def oldest(self) -> EventPosition:
        """What lies behind this position is in the log."""
        return _begins(self._paths()[0])

    @property
    def size(self) -> int:
        """How long it is, in bytes."""
        return sum(map(_size, self._paths()))

    def append(self, events: Iterable[LoggedEvent]) -> None:
        """Take up the events of one request, whose position is behind all others.

        Raises StorageError; then none is taken.
        """
        lines = [each.encode() for each in events]
        try:
            self._rotate_when_due(lines)
            self._last_size = self._segment.size
            self._segment.write(lines, fsync=False)
        except OSError as error:
            raise self._broken(error) from error
        self.appended += self._segment.size - self._last_size

    def begin_at(self, start: EventPosition) -> None:
        """Go on behind a position that is behind all others. Raises StorageError."""
        try:
            self._segment.close()
            self._begin(start)
        except OSError as error:
            raise self._broken(error) from error

    def take_back(self) -> None:
        """Forget what was appended last: the store did not take it. Raises StorageError."""
        self.appended -= self._segment.size - self._last_size
        try:
            self._segment.cut(self._last_size)
        except OSError as error:
            raise self._broken(error) from error

    def close(self) -> None:
        """Close the file."""
        self._segment.close()

    def after(self, position: EventPosition, until: EventPosition) -> Iterator[LoggedEvent]:
        """The events behind a position up to another, oldest first; what is gone is passed over.

        Linear in these.
        """
        paths = self._paths()
        for path, following in zip(paths, [*paths[1:], None], strict=True):
            if following is not None and _begins(following) <= position:
                continue
            for event in _read(path, position):
                if event.position > until:
                    return
                if event.position > position:
                    yield event

    def _paths(self) -> list[Path]:
        found = [each for each in self._folder.iterdir() if _NAME.fullmatch(each.name)]
        return sorted(found, key=_begins)

    def _begin(self, start: EventPosition) -> None:
        self._begun_at = time.monotonic()
        self._last = start
        header = encode_fields({"schema": _SCHEMA})
        self._segment = Segment(self._folder / f"{start}.jsonl", header)
        if self._segment.size == 0:
            self._segment.write([], fsync=False)  # an empty one says from where on all is here

    def _rotate_when_due(self, lines: Sequence[bytes]) -> None:
        segment, limits = self._segment, self._limits
        is_old = time.monotonic() - self._begun_at > limits.seconds / _PARTS
        is_long = segment.size + sum(map(len, lines)) > limits.bytes / _PARTS
        if segment.records and (is_old or is_long or segment.is_broken):
            last = max((each.position for each in _read(segment.path)), default=self._last)
            segment.close()
            self._begin(last)
            self._drop()

    def _drop(self) -> None:
        """Remove the oldest segments that are too much or too old, never the one appended to."""
        paths, total = self._paths(), self.size
        for path in paths[:-1]:
            age_s = time.time() - path.stat().st_mtime
            if total <= self._limits.bytes and age_s <= self._limits.seconds:
                return
            total -= _size(path)
            path.unlink()

    def _cut(self, recorded: EventPosition) -> None:
        for path in reversed(self._paths()):
            kept = [each for each in _lines(path) if _is_kept(each, recorded)]
            if _begins(path) > recorded:
                path.unlink()
            elif sum(map(len, kept)) < _size(path):
                with path.open("r+b") as file:
                    file.truncate(sum(map(len, kept)))
        sync_folder(self._folder)

    def _broken(self, error: OSError) -> StorageError:
        return StorageError(
            f"the log of events in {self._folder} cannot be written: {error.strerror or error}",
            "free disk space or mend the disk, or set [events] log = false",
        )


def newest_epoch(folder: Path) -> int:
    """The highest epoch that a log there knows; 0 for none."""
    names = map(
        _NAME.fullmatch, (each.name for each in folder.iterdir()) if folder.is_dir() else ()
    )
    return max((int(name[1]) for name in names if name), default=0)


def _begins(path: Path) -> EventPosition:
    return EventPosition.parse(path.name.removesuffix(".jsonl"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _lines(path: Path, behind: EventPosition | None = None) -> Iterator[bytes]:
    """The whole lines, of those in order at least all that are behind a position."""
    try:
        with path.open("rb") as lines:
            if behind is not None:
                seek_behind(lines, lambda line: _is_up_to(line, behind))
            yield from (line for line in lines if line.endswith(b"\n"))
    except FileNotFoundError:  # it has become too old meanwhile
        return


def _read(path: Path, behind: EventPosition | None = None) -> Iterator[LoggedEvent]:
    for line in _lines(path, behind):
        if line.startswith(_HEADER):
            continue
        try:
            yield LoggedEvent.decode(line)
        except (ValueError, SyntaxError):
            log.warning("event_line_damaged", extra={"segment": path.name})


def _is_kept(line: bytes, recorded: EventPosition) -> bool:
    """Whether the store has what a line says; the header stays."""
    return line.startswith(_HEADER) or _is_up_to(line, recorded) is True


def _is_up_to(line: bytes, position: EventPosition) -> bool | None:
    """Whether a line is an event up to a position; None where it is no event."""
    if line.startswith(_HEADER):
        return None
    try:
        return EventPosition.parse(str(read_fields(line).get("p"))) <= position
    except ValueError:
        return None
