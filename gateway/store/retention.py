"""Retention: the store keeps the latest n observations of a stream; older ones leave.

Latest is by phenomenon time, then by identity. An observation that arrives late, when n newer ones
are there, never enters the store (it is in the journal). Everything is known before the UPDATE is
made, so arriving and leaving are one UPDATE.
"""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

Stream = tuple[str, str, str]


@dataclass(frozen=True, slots=True, order=True)
class Kept:
    """An observation in the store: its time, its order of arrival, its IRI."""

    time: datetime
    order: tuple[int, int]
    iri: str


class Retention:
    """The observations in the store, by stream."""

    def __init__(self, latest: int = 1) -> None:
        self._latest = latest
        self._streams: dict[Stream, list[Kept]] = {}

    def recall(self, stream: Stream, kept: Kept) -> None:
        """Take up an observation that the store already has."""
        insort(self._streams.setdefault(stream, []), kept)

    def knows(self, stream: Stream) -> bool:
        """Whether the store has an observation of the stream."""
        return bool(self._streams.get(stream))

    def admit(self, arriving: Iterable[tuple[Stream, Kept]]) -> tuple[set[str], list[str]]:
        """Which of these enter the store and which IRIs leave it.

        What would enter and leave at once does neither.
        """
        entering: set[str] = set()
        leaving: list[str] = []
        for stream, kept in arriving:
            observations = self._streams.setdefault(stream, [])
            insort(observations, kept)
            entering.add(kept.iri)
            while len(observations) > self._latest:
                gone = observations.pop(0).iri
                if gone in entering:
                    entering.remove(gone)
                else:
                    leaving.append(gone)
        return entering, leaving
