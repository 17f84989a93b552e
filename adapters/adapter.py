"""`Adapter`: what a format is to the registry, and what decoding a message gives.

Place on the way: the registry hands payload and streams in, Observation values and faults come
out. No adapter raises for any payload.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from adapters.fault import Fault, FaultReason
from adapters.mapping import Mapping
from adapters.observation import Observation
from adapters.payload import Payload
from adapters.result import Result
from adapters.stream import Stream

__all__ = ["Adapter", "Compile", "Decoded", "Fault", "FaultReason", "Findings", "missing"]


@dataclass(frozen=True, slots=True)
class Decoded:
    """A message's observations, in the order of the mappings, and its faults.

    `matched` is false where no mapping knows the topic: the message is then without a fault.
    """

    observations: tuple[Observation, ...] = ()
    faults: tuple[Fault, ...] = ()
    matched: bool = False


class Findings(NamedTuple):
    """What one adapter found: observations, each with its stream's `order`, and faults."""

    observations: list[tuple[int, Observation]]
    faults: list[Fault]

    def add(
        self,
        stream: Stream,
        result: Result | Fault,
        time: datetime | Fault | None = None,
        sequence: str | Fault | None = None,
    ) -> None:
        """Adds an observation, or the fault instead; a bad time or sequence costs only itself."""
        if isinstance(result, Fault):
            self.faults.append(result.of(stream.mapping))
            return
        if isinstance(time, Fault):
            self.faults.append(time.of(stream.mapping))
            time = None
        if isinstance(sequence, Fault):
            self.faults.append(sequence.of(stream.mapping))
            sequence = None
        self.observations.append((stream.order, stream.observe(result, time, sequence)))


class Adapter(Protocol):
    """All mappings of one topic filter and one format, compiled together."""

    def decode(
        self, payload: Payload, received_at: datetime, streams: Sequence[Stream]
    ) -> Findings:
        """The findings in `payload`; `streams` are the compiled mappings on this topic, in order.

        `received_at` (aware UTC) is "now" to times that are relative. Never raises.
        """
        ...


Compile = Callable[[Sequence[Mapping]], Adapter]
"""How a format makes its adapter; raises MappingError for the first bad mapping."""


def missing(streams: Sequence[Stream]) -> Fault:
    """The one fault of a message in which no mapping found its value."""
    mapping = streams[0].mapping if len(streams) == 1 else None
    return Fault(mapping, FaultReason.MISSING, "no mapping found its value in the payload")
