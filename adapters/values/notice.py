"""`Notice`: what a message says beyond its observations and faults.

Place on the way: adapters put notices into their Findings, the gateway acts on them; an adapter
sends nothing and keeps no time. Nothing of a notice reaches the store as a result.
"""

from dataclasses import dataclass
from typing import TypeAlias

from adapters.values.observation import StreamKey


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The stream is alive and has no new observation: a value from the sender's cache."""

    stream: StreamKey


@dataclass(frozen=True, slots=True)
class Liveness:
    """Whether the stream's device is there, from a last will, a birth or a promised interval.

    With wildcards in a mapping the stream may be one that never had an observation.

    `expires_after_s`: seconds after which, without another message, the stream counts as absent
    (SenML `ut`); None where nothing is promised.
    """

    stream: StreamKey
    is_online: bool
    expires_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """What the family's protocol wants published now, a rebirth or a status for one.

    Asked again as long as it is needed: who sends it keeps a rate.
    """

    topic: str
    payload: bytes
    reason: str
    qos: int = 0


@dataclass(frozen=True, slots=True)
class UnitChange:
    """The device changed the unit of a stream whose mapping declares none (QUDT unit IRIs).

    The series in `before` ends here and one in `after` begins.
    """

    stream: StreamKey
    before: str
    after: str


Notice: TypeAlias = Heartbeat | Liveness | DeviceRequest | UnitChange
