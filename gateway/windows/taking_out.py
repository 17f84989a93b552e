"""Taking elements out of the midst of a timeline, each pointer staying where it was.

Place: beside `timeline`, for what leaves before its time: numbers of a series in another unit.
"""

from bisect import bisect_left
from itertools import compress
from typing import TYPE_CHECKING

from gateway.windows.owners import Record

if TYPE_CHECKING:
    from gateway.windows.timeline import Timeline

_MANY = 64
"""Beyond so many it is quicker to keep the others than to take out one after the other."""


def take_out(timeline: "Timeline", doomed: list[Record]) -> None:
    """Be without these, which have no owned triples any more."""
    if len(doomed) > _MANY:
        _close_up(timeline, doomed)
    else:
        for record in doomed:
            _take_out(timeline, record)
    for record in doomed:
        timeline.let_go(record)


def _take_out(timeline: "Timeline", record: Record) -> None:
    """Be without one; what is behind it moves up, a few bytes each."""
    times, records = timeline.times, timeline.records
    place = bisect_left(times, record.time, timeline.base)
    while records[place] is not record:
        place += 1
    del records[place], times[place]
    timeline.end -= place < timeline.end
    for content in timeline.contents:
        if place < content.start:
            content.start -= 1
        else:
            content.expired += 1


def _close_up(timeline: "Timeline", doomed: list[Record]) -> None:
    """Keep all records but these."""
    gone = set(doomed)
    records = timeline.records
    before = [0]
    for record in records:
        before.append(before[-1] + (record in gone))
    for content in timeline.contents:
        content.expired += before[-1] - before[content.start]
        content.start -= before[content.start]
    timeline.end -= before[timeline.end]
    timeline.base -= before[timeline.base]
    kept = [record not in gone for record in records]
    timeline.records = list(compress(records, kept))
    timeline.times = list(compress(timeline.times, kept))
