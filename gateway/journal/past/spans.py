"""When lines came, as far as a journal's manifest says: of what is sealed, and of what was.

Place: beside what a journal has, for gaps. Source: docs/segments.md, "The manifest".
"""

from bisect import bisect_left, insort
from collections import defaultdict
from typing import NamedTuple

from gateway.journal.events import Events
from gateway.journal.past.taken import Life, Run
from gateway.journal.sealing import Sealed


class Span(NamedTuple):
    """The run of a segment, and when its first and last lines came, µs."""

    first: int
    last: int
    begin: int
    end: int


class Spans(Events):
    """The manifest, and the span of each segment that it ever told of."""

    def __init__(self) -> None:
        super().__init__()
        self._spans: defaultdict[Life, list[Span]] = defaultdict(list)

    def take(self, item: Sealed) -> None:
        """Note a segment with its times; a gap has none."""
        super().take(item)
        if not item.name.is_gap:
            start, last = item.name.start, item.name.last
            span = Span(start.sequence, last.sequence, item.first_time, item.last_time)
            insort(self._spans[item.name.gateway, start.epoch], span)

    def of(self, life: Life, run: Run) -> tuple[int | None, int | None]:
        """From when to when a run came at most; None where nothing before or after it is known.

        >>> spans = Spans(); spans._spans["g", 1] = [Span(1, 4, 10, 40), Span(9, 12, 90, 120)]
        >>> spans.of(("g", 1), (5, 8)), spans.of(("g", 1), (9, 20)), spans.of(("h", 1), (1, 2))
        ((40, 90), (90, None), (None, None))
        """
        known, (first, last) = self._spans.get(life, []), run
        after = bisect_left(known, (first,))
        begin = end = None
        if after < len(known) and known[after].first == first:
            begin = known[after].begin
        elif after:
            before = known[after - 1]
            begin = before.end if before.last < first else before.begin
        following = next((each for each in known[after:] if each.last >= last), None)
        if following is not None:
            end = following.begin if following.first > last else following.end
        return begin, end
