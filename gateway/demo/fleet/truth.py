"""`Truth`: what must have become of all that the fleet has sent.

A reading is observed once, whenever it first arrived whole; what is wrong in a message is one entry
of the quarantine for each reason; a stream of which a device or its mapping has promised another
value, or of which a device says that it is gone, is absent until its next sign of life
(docs/truth.md, told again here in other code).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from gateway.demo.fleet.acts import Expected, Sent, StreamKey

SILENCE, OFFLINE = "Silence", "Offline"

Wrong: TypeAlias = tuple[datetime, str, str, int]
"""Time of reception, topic, reason, and how many bytes the payload has."""


@dataclass(frozen=True, slots=True)
class Observed:
    """An observation, and when the gateway has heard of it."""

    expected: Expected
    ingested_at: datetime

    @property
    def result_time(self) -> datetime:
        """The device's time where it tells one that can be."""
        told = self.expected.time
        return self.ingested_at if told is None or self.expected.suspect else told

    @property
    def unit(self) -> str:
        """The unit of a number, as the store has it; empty for what is none."""
        is_number = self.expected.datatype in {"decimal", "integer", "double"}
        return (self.expected.unit or "UNITLESS") if is_number else ""

    @property
    def anonymous(self) -> "Observed":
        """Without the reading, which only the device can tell from others."""
        return replace(self, expected=replace(self.expected, reading=""))


@dataclass(frozen=True, slots=True, order=True)
class Raised:
    """An absence: what the graph says of it, and when it was raised."""

    stream: StreamKey
    since: datetime
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, order=True)
class Cleared:
    """The end of an absence."""

    stream: StreamKey
    at: datetime


@dataclass(frozen=True, slots=True)
class Series:
    """The observations of a stream in one unit, from a change of unit on."""

    stream: StreamKey
    unit: str
    began: datetime | None = None
    ended: datetime | None = None
    next_unit: str = ""


@dataclass(slots=True)
class _Stream:
    heard: datetime
    promise_s: float | None = None
    absent: bool = False
    offline: bool = False


@dataclass(slots=True)
class Truth:
    """Takes down everything, in the order in which it is sent.

    `wrong` counts entries of the quarantine; `messages` by dialect, `labels` are the
    dialects by topic and by stream.
    """

    messages: Counter[str] = field(default_factory=Counter)
    labels: dict[str | StreamKey, str] = field(default_factory=dict)
    observed: dict[tuple[StreamKey, str], Observed] = field(default_factory=dict)
    wrong: Counter[Wrong] = field(default_factory=Counter)
    raised: list[Raised] = field(default_factory=list)
    cleared: list[Cleared] = field(default_factory=list)
    _watched: dict[StreamKey, _Stream] = field(default_factory=dict)

    def advance(self, now: datetime) -> None:
        """Let the time be `now`: streams whose promise is over are absent."""
        for stream, known in self._watched.items():
            if known.promise_s is None or known.absent or known.offline:
                continue
            if known.heard + timedelta(seconds=known.promise_s) <= now:
                known.absent = True
                self.raised.append(Raised(stream, known.heard, SILENCE, now))

    def restart(self, now: datetime) -> None:
        """The gateway has started anew: so do promises; who is absent stays so until heard of."""
        for stream, known in list(self._watched.items()):
            if known.absent:
                continue
            known.heard = now
            if known.promise_s is None:
                del self._watched[stream]

    def take(self, sent: Sent, now: datetime, label: str) -> None:
        """A message of a device of this dialect arrives now."""
        self.messages[label] += 1
        self.labels[sent.topic] = label
        for each in sent.observed:
            self.labels.setdefault(each.stream, label)
        size = len(sent.payload)
        self.wrong.update((now, sent.topic, reason, size) for reason in sent.wrong)
        for stream, promise_s in sent.promises.items():
            self._watch(stream, now).promise_s = promise_s
            self._hear(stream, now)
        for stream in (*self._new(sent, now), *sent.alive):
            self._hear(stream, now)
        for stream in sent.gone:
            self._lose(stream, now)

    @property
    def series(self) -> list[Series]:
        """The series of streams whose unit has changed, as far as the store shows."""
        latest: dict[StreamKey, Observed] = {}
        found: dict[StreamKey, dict[str, Series]] = {}
        for (stream, _), each in self.observed.items():
            known = latest.get(stream)
            if known is not None and each.result_time < known.result_time:
                continue
            latest[stream] = each
            if known is not None and known.unit != each.unit and each.unit:
                _change(found.setdefault(stream, {}), stream, known.unit, each)
        return [series for of_stream in found.values() for series in of_stream.values()]

    @property
    def absences(self) -> list[Raised | Cleared]:
        """What was raised and what was cleared."""
        return [*self.raised, *self.cleared]

    @property
    def absent(self) -> set[StreamKey]:
        """The streams that are absent now."""
        return {stream for stream, known in self._watched.items() if known.absent}

    @property
    def latest(self) -> dict[StreamKey, Observed]:
        """What the store must have: the latest observation of each stream, of equals the last."""
        found: dict[StreamKey, Observed] = {}
        for (stream, _), each in self.observed.items():
            known = found.get(stream)
            if known is None or each.result_time >= known.result_time:
                found[stream] = each
        return found

    def _new(self, sent: Sent, now: datetime) -> Iterator[StreamKey]:
        """Streams of readings that were not known; history is no news of now."""
        for expected in sent.observed:
            key = (expected.stream, expected.reading)
            if key not in self.observed:
                self.observed[key] = Observed(expected, now)
                if not expected.historical:
                    yield expected.stream

    def _watch(self, stream: StreamKey, now: datetime) -> _Stream:
        return self._watched.setdefault(stream, _Stream(now))

    def _hear(self, stream: StreamKey, now: datetime) -> None:
        known = self._watched.get(stream)
        if known is None:
            return
        known.heard, known.offline = now, False
        if known.absent:
            known.absent = False
            self.cleared.append(Cleared(stream, now))

    def _lose(self, stream: StreamKey, now: datetime) -> None:
        known = self._watch(stream, now)
        known.offline = True
        if not known.absent:
            known.absent = True
            self.raised.append(Raised(stream, now, OFFLINE, now))


def _change(of_stream: dict[str, Series], stream: StreamKey, before: str, first: Observed) -> None:
    """The series in `before` ends with `first`, and one in its unit begins or goes on."""
    at = first.result_time
    ended = of_stream.get(before, Series(stream, before))
    of_stream[before] = replace(ended, ended=at, next_unit=first.unit)
    of_stream[first.unit] = Series(stream, first.unit, at)
