"""How much the journal may be and how long it keeps what: [journal] of gateway.toml as values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JournalLimits:
    """Bounds of a segment, of the whole journal, and of what a power cut may cost.

    A segment ends at `segment_observations`, `segment_bytes` (not compressed) or after
    `segment_s`. The journal takes up to `max_bytes` and leaves `free_bytes` of the disk alone.
    With `fsync_interval_s` 0 what is acknowledged is durable; with more, the disk is synced at
    most once in an interval, and a power cut (not a kill) may cost the last one. Without `fsync`
    the kernel decides. What was shipped stays at least `keep_s` after it was sealed, since the
    store's disk follows the journal.
    """

    segment_observations: int = 100_000
    segment_bytes: int = 67_108_864
    segment_s: float = 3600.0
    max_bytes: int = 4_294_967_296
    free_bytes: int = 67_108_864
    keep_s: float = 120.0
    drop_unshipped: bool = False
    fsync: bool = True
    fsync_interval_s: float = 0.0
