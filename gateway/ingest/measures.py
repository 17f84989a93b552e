"""What ingest counts."""

from gateway.ingest.current_state import CurrentState
from gateway.ingest.inbox import Inbox
from gateway.ingest.quarantine import Quarantine
from gateway.ingest.raw_messages import RawMessages
from gateway.ingest.silence import Absences
from gateway.ingest.statistics import IngestStatistics
from gateway.runtime.measures import Measure


def ingest_measures(
    seen: IngestStatistics, state: CurrentState, inbox: Inbox, raw: RawMessages
) -> tuple[Measure, ...]:
    """What came in, and what became of it."""
    return (
        Measure("messages", "MQTT messages taken from the inbox", lambda: seen.messages),
        Measure("messages_unmapped", "messages that no mapping knows", lambda: seen.unmapped),
        Measure("messages_quarantined", "messages with a fault", lambda: seen.quarantined),
        *_observation_measures(seen, state),
        Measure("heartbeats", "signs of life without a new observation", lambda: seen.heartbeats),
        Measure(
            "retained_passed_over",
            "retained results of streams of which more is known",
            lambda: seen.seeds_dropped,
        ),
        Measure(
            "unit_changes",
            "streams that went over to another unit",
            lambda: state.unit_changes,
        ),
        Measure("inbox", "messages waiting for ingest", lambda: len(inbox), is_counter=False),
        Measure(
            "raw_messages",
            "messages kept as they came",
            lambda: len(raw),
            is_counter=False,
        ),
    )


def _observation_measures(seen: IngestStatistics, state: CurrentState) -> tuple[Measure, ...]:
    return (
        Measure("observations", "observations accepted and journalled", lambda: seen.observations),
        Measure("observations_duplicate", "observations known before", lambda: seen.duplicates),
        Measure(
            "observations_revised",
            "another value under the time and counter of one before",
            lambda: seen.revised,
        ),
        Measure(
            "observations_late",
            "journalled, but older than those kept",
            lambda: state.late,
        ),
        Measure(
            "observations_clock_suspect", "device time in the future", lambda: seen.clock_suspect
        ),
        Measure("observations_failed", "the UPDATE of the profile failed", lambda: seen.failed),
        Measure("observations_replayed", "brought from journal to store", lambda: seen.replayed),
    )


def absence_measures(seen: Absences) -> tuple[Measure, ...]:
    """Streams that fell silent."""
    return (
        Measure(
            "streams_absent",
            "streams that are silent or offline",
            lambda: seen.absent,
            is_counter=False,
        ),
        Measure("absences_raised", "streams fell silent", lambda: seen.raised),
        Measure("absences_cleared", "came back", lambda: seen.cleared),
    )


def quarantine_measures(kept: Quarantine) -> tuple[Measure, ...]:
    """Messages with a fault."""
    return (
        Measure(
            "quarantine",
            "faults by reason",
            lambda: kept.reasons,
            label="reason",
        ),
        Measure(
            "quarantine_kept",
            "messages in quarantine now",
            lambda: len(kept),
            is_counter=False,
        ),
        Measure(
            "quarantine_bytes",
            "of their lines",
            lambda: kept.size_bytes,
            is_counter=False,
        ),
        Measure(
            "quarantine_file_behind",
            "1 while the disk does not take quarantine.jsonl",
            lambda: bool(kept.alarm),
            is_counter=False,
        ),
    )
