"""Bounds of the federation as values, for the configuration and for what keeps them."""

from dataclasses import dataclass

REPLICA_QUADS = 200_000
"""Quads that are kept of one member."""

AT_ONCE = 10_000
"""Entries, digests or event queries that one part of a hello has at most."""

NEAR = 8
"""So many others a gateway keeps in touch with even where nothing is asked of them."""

DROP_S = 30.0
"""Who is away for so long leaves an answer that is to be without them."""


SAID_AGAIN = 5
"""Of so many ticks in which a beat or an acknowledgement would be as it was, it is sent in one."""

PATIENCE = 2
"""So many ticks an answer may take before it is asked again, where it takes no longer as a rule."""

LONGEST_PATIENCE = 64
"""So many it may take at most."""

SILENT = 40
"""So many ticks nothing may come of a member that is up and beats or acknowledges each fifth; then
the links to it are opened again."""

HEARD_AWAY = 4
"""In so many ticks something may come of a member that is away: what was on its way."""

SILENT_LONGEST = 640
"""So many at most, where that has not helped."""

REPEATED = 2
"""So often an acknowledgement is sent again at once: without one a full stream waits."""


@dataclass(frozen=True, slots=True)
class OutgoingLimits:
    """How much may be on its way to one member, and what it may ask for.

    Beyond `batches` or `bytes` that are not acknowledged, changes merge and events wait; beyond
    `quads` of these the stream ends. A member has at most `entries`. Who acknowledges nothing of
    `unheard` streams, one after the other, is none. A snapshot comes in parts of `part_quads`,
    what this gateway needs itself in parts of `at_once`.
    """

    batches: int = 256
    bytes: int = 1_048_576
    quads: int = 100_000
    entries: int = 300_000
    unheard: int = 3
    part_quads: int = 512
    at_once: int = AT_ONCE


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """`wait_s` for sequence 0, `tick_s` between looks for losses, `bytes` that wait to be taken.

    What waits for more of its kind waits `flush_s`.
    """

    wait_s: float = 5.0
    tick_s: float = 0.5
    flush_s: float = 0.005
    bytes: int = 67_108_864


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """What one member may do before its link is closed for `hold_s`, twice that the next time.

    `messages` and `bytes` of it wait at most to be read. Within `window_s` its demands may take
    `work_s` of work, its queries of events `event_work_s`, and its stream may have `misses` holes.
    """

    messages: int = 4096
    bytes: int = 33_554_432
    work_s: float = 15.0
    event_work_s: float = 40.0
    misses: int = 120
    window_s: float = 60.0
    hold_s: float = 10.0
    longest_hold_s: float = 3600.0
