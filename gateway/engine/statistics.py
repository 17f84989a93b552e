"""`EngineStatistics`: what the engine counts, for metrics and benchmarks."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class EngineStatistics:
    """Counters since the start; `lutt_hits` counts SPUs that an update reached."""

    updates: int = 0
    quads_added: int = 0
    quads_removed: int = 0
    lutt_hits: int = 0
    lutt_misses: int = 0
    notifications: int = 0
    failures: int = 0
    subscriptions: int = 0
    delayed_executed: int = 0
    delayed_late: int = 0
    """Delayed UPDATEs that fell due before this engine was opened."""
    delayed_failed: int = 0
    spus: dict[str, int] = field(default_factory=dict)
    """SPUs now, by tier."""
