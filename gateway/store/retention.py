"""Retention: the store keeps the latest n observations of a stream, all in one unit.

Latest is by phenomenon time, then by identity; of times by our own clock, which may be set back, by
identity alone. An observation that arrives late, when n newer ones
are there, never enters the store (it is in the journal). The observations of a stream in one unit
are a series: with the first number in another unit those before it leave, and what arrives late in
the unit before does not enter, so the store never has numbers of two units in one stream.
Everything is known before the UPDATE is made, so arriving and leaving are one UPDATE.
"""

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

Stream = tuple[str, str, str]


@dataclass(frozen=True, slots=True, order=True)
class Kept:
    """An observation in the store: its time, its order of arrival, its IRI, a number's unit.

    `is_ours`: the time is that of our own clock, at the arrival.
    """

    time: datetime
    order: tuple[int, int]
    iri: str
    unit: str | None = field(default=None, compare=False)
    is_ours: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class SeriesEnd:
    """The numbers of `stream` are in `after` from `time` on, and were in `before` (unit IRIs)."""

    stream: Stream
    before: str
    after: str
    time: datetime


class Admission(NamedTuple):
    """IRIs that enter the store and that leave it, and the series that end, in order."""

    entering: set[str]
    leaving: list[str]
    ended: list[SeriesEnd]


class Retention:
    """The observations in the store, by stream."""

    def __init__(self, latest: int = 1) -> None:
        self._latest = latest
        self._streams: dict[Stream, list[Kept]] = {}
        self._units: dict[Stream, str] = {}

    def recall(self, stream: Stream, kept: Kept) -> None:
        """Take up an observation that the store already has."""
        observations = self._streams.setdefault(stream, [])
        insort(observations, kept)
        for each in reversed(observations):
            if each.unit is not None:
                self._units[stream] = each.unit
                break

    def recall_unit(self, stream: Stream, unit: str) -> None:
        """The unit that the stream was last told in, where no number of it is left."""
        self._units.setdefault(stream, unit)

    def streams(self) -> list[Stream]:
        """Every stream of which something was told, in no order; in any thread."""
        return list(self._streams)

    def knows(self, stream: Stream) -> bool:
        """Whether the store has an observation of the stream."""
        return bool(self._streams.get(stream))

    def admit(self, arriving: Iterable[tuple[Stream, Kept]]) -> Admission:
        """What these do to the store. What would enter and leave at once does neither."""
        admission = Admission(set(), [], [])
        for stream, arrived in arriving:
            observations = self._streams.setdefault(stream, [])
            kept = _in_order(arrived, observations)
            if kept.unit is not None and kept.unit != self._units.get(stream):
                if observations and self._units.get(stream) and kept < observations[-1]:
                    continue
                self._begin_series(stream, kept, admission)
            insort(observations, kept)
            admission.entering.add(kept.iri)
            while len(observations) > self._latest:
                _leave(observations.pop(0), admission)
        return admission

    def _begin_series(self, stream: Stream, first: Kept, admission: Admission) -> None:
        """Let the numbers in the unit before go, if there was one; `first` is not in yet."""
        before, after = self._units.get(stream), first.unit
        if after is None:
            return
        self._units[stream] = after
        if before is None:
            return
        admission.ended.append(SeriesEnd(stream, before, after, first.time))
        observations = self._streams[stream]
        for each in [each for each in observations if each.unit is not None]:
            observations.remove(each)
            _leave(each, admission)


def _in_order(arriving: Kept, observations: Sequence[Kept]) -> Kept:
    """What our clock says, not before what it said of an arrival before: then it was set back."""
    if not arriving.is_ours or not observations:
        return arriving
    earlier = [each.time for each in observations if each.is_ours and each.order < arriving.order]
    latest = max(earlier, default=arriving.time)
    return arriving if latest <= arriving.time else replace(arriving, time=latest)


def _leave(gone: Kept, admission: Admission) -> None:
    if gone.iri in admission.entering:
        admission.entering.remove(gone.iri)
    else:
        admission.leaving.append(gone.iri)
