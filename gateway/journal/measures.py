"""What the journal counts."""

from collections.abc import Mapping

from gateway.journal.spool import Journal
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
