"""What the journal counts, and what is wrong with it and its disk."""

from collections.abc import Iterator, Mapping

from gateway.journal.spool import Journal
from gateway.runtime.alarms import AlarmKind, Condition, Growth, Source
from gateway.runtime.measures import Measure


def journal_measures(journal: Journal) -> tuple[Measure, ...]:
    """What it costs, its segments, how full it is."""
    return (
        Measure("journal_syncs", "fsyncs of the journal", lambda: journal.syncs),
        Measure("journal_writes", "writes of the journal", lambda: journal.writes),
        Measure(
            "journal_writes_per_observation",
            "writes for one observation so far",
            lambda: journal.writes / max(1, journal.records),
            is_counter=False,
        ),
        Measure("journal_written_bytes", "bytes appended", lambda: journal.written_bytes),
        Measure(
            "journal_bytes_per_observation",
            "bytes of one observation in sealed segments",
            lambda: _bytes_per_observation(journal),
            is_counter=False,
        ),
        Measure("journal_actuations", "commands journalled", lambda: journal.actuations),
        Measure("journal_sealed", "segments sealed", lambda: journal.sealings),
        Measure("journal_dropped", "observations dropped unshipped", lambda: journal.space.dropped),
        *_space(journal),
    )


def _space(journal: Journal) -> tuple[Measure, ...]:
    return (
        Measure("journal_bytes", "bytes on disk", lambda: journal.space.taken, is_counter=False),
        Measure(
            "journal_segments",
            "sealed segments and gaps on disk",
            lambda: _segments(journal),
            is_counter=False,
            label="state",
        ),
        Measure(
            "journal_hours_left",
            "until only unshipped segments fill the journal, at the rate of late",
            journal.space.hours_left,
            is_counter=False,
        ),
        Measure(
            "journal_full",
            "1 while nothing is acknowledged for lack of room",
            lambda: bool(journal.alarm),
            is_counter=False,
        ),
    )


def _segments(journal: Journal) -> Mapping[str, float]:
    waiting = len(journal.manifest.unshipped())
    return {"unshipped": waiting, "shipped": len(journal.manifest.sealed()) - waiting}


def _bytes_per_observation(journal: Journal) -> float:
    sealed = [item for item in journal.manifest.sealed() if not item.name.is_gap]
    return sum(item.size for item in sealed) / max(1, sum(item.count for item in sealed))


_SOON_H = 24
_DROPPED_S = 3600.0
_PART = 2
"""The journal is looked at closely when it has taken one part of so many of its room."""


def journal_alarms(journal: Journal) -> Source:
    """Full, full soon, segments lost; the disk with little room."""
    dropped = Growth(lambda: journal.space.dropped, _DROPPED_S)

    def look() -> Iterator[Condition]:
        where = str(journal.folder)
        if journal.alarm:
            hint = "set up [shipping], give [journal] max_bytes more, or allow drop_unshipped"
            yield Condition(AlarmKind.JOURNAL, where, journal.alarm, hint, is_fault=True)
        elif journal.space.taken * _PART > journal.limits.max_bytes:
            hours = journal.space.hours_left()
            if hours < _SOON_H:
                what = f"it is full in about {int(hours)} hours"
                yield Condition(AlarmKind.JOURNAL, where, what, "sosa-gateway journal status")
        if dropped.is_recent:
            what = "observations that were not shipped had to go"
            hint = "look after [shipping], or give [journal] max_bytes more"
            yield Condition(AlarmKind.JOURNAL, f"{where} (dropped)", what, hint)
        yield from _room(journal)

    return look


def _room(journal: Journal) -> Iterator[Condition]:
    kept_free = journal.limits.free_bytes
    if kept_free > 0 and journal.space.free < _PART * kept_free:
        what = f"its disk has less than {_PART * kept_free >> 20} MiB left"
        hint = "make room: at [journal] free_bytes the gateway takes no more messages"
        yield Condition(AlarmKind.DISK, str(journal.folder), what, hint)
