"""What ingest counts, for /metrics."""

from dataclasses import dataclass


@dataclass(slots=True)
class IngestStatistics:
    """Counters since the start."""

    messages: int = 0
    unmapped: int = 0
    observations: int = 0
    duplicates: int = 0
    revised: int = 0
    quarantined: int = 0
    clock_suspect: int = 0
    replayed: int = 0
    failed: int = 0
    heartbeats: int = 0
    seeds_dropped: int = 0
