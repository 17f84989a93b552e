"""Bounds of the federation as values, for the configuration and for what keeps them."""

from dataclasses import dataclass

REPLICA_QUADS = 200_000
"""Quads that are kept of one member."""


@dataclass(frozen=True, slots=True)
class OutgoingLimits:
    """How much may be on its way to one member, and what it may ask for.

    Beyond `batches` that are not acknowledged, changes merge; beyond `quads` of these the stream
    ends. A member has at most `entries`.
    """

    batches: int = 256
    quads: int = 100_000
    entries: int = 300_000


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """`wait_s` for sequence 0, `tick_s` between looks for losses, `bytes` that wait to be taken."""

    wait_s: float = 5.0
    tick_s: float = 0.5
    bytes: int = 67_108_864
