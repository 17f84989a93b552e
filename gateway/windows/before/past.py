"""What a window knows of the time before it was opened, and whether another one knows the same.

A content knows its `past` and what comes after, nothing else. Two contents share a timeline where
that makes no difference: what the timeline has in the range of the new one is what its past has,
and what its past has more is before all others begin.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gateway.windows.element import Element
from gateway.windows.owners import Record
from gateway.windows.timeline import Timeline
from gateway.windows.watermark import Watermark
from gateway.windows.window import Window


class PastElement(NamedTuple):
    """An element that arrived earlier; `is_seen`: by the window, not only its stream's clock."""

    element: Element
    arrival: int
    order: int
    is_seen: bool


class Past(NamedTuple):
    """How far the window has come, what is in it or waits; `since`: from when on that is all."""

    watermark: Watermark
    records: list[Record]
    since: int | None


def past_of(window: Window, elements: Sequence[PastElement], now: int, since: int | None) -> Past:
    """The past of a window by range."""
    watermark = Watermark(window)
    records = []
    for element, arrival, order, is_seen in elements:
        watermark.hear(element, arrival)
        time = watermark.time(element, arrival)
        if is_seen and not watermark.is_dropped(time, arrival):
            records.append(Record(element, time, order, element.weight()))
    upper = watermark.upper(now)
    if upper is not None:
        low = watermark.low(upper, window.range or 0)
        records = [record for record in records if record.time >= low]
    return Past(watermark, records, known_since(since, watermark, now))


def known_since(since: int | None, watermark: Watermark, now: int) -> int | None:
    """From when on everything is known, where it is not known of before; None: not yet."""
    if since is not None:
        return since
    return watermark.greatest if watermark.is_of_stream else now


def missing_in(timeline: Timeline, past: Past, window: Window, now: int) -> list[Record] | None:
    """The records that the timeline lacks for the window; None: it knows something else."""
    is_due = timeline.due is not None and timeline.due <= now
    upper = past.watermark.upper(now)
    if is_due or past.watermark.greatest != timeline.watermark.greatest:
        return None
    if upper is None:
        return [] if not timeline.elements else None
    low = past.watermark.low(upper, window.range or 0)
    known = Counter(
        _identity(record) for record in timeline.records[timeline.base :] if record.time >= low
    )
    missing = []
    for record in past.records:
        identity = _identity(record)
        if known[identity]:
            known[identity] -= 1
        elif record.time < timeline.lowest:
            missing.append(record)
        else:
            return None
    return None if any(known.values()) else missing


def _identity(record: Record) -> tuple[object, ...]:
    element = record.element
    return record.time, element.key, element.unit, element.is_moving, element.triples
