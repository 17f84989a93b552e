"""`Format` and `Adapter`: what a device family is to the registry, and what decoding gives.

Place on the way: the registry hands payload and streams in, Observation values, faults and notices
come out. No adapter raises for any payload.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from adapters.values.fault import Fault, FaultReason
from adapters.values.mapping import Mapping
from adapters.values.memory import Memory
from adapters.values.notice import Notice
from adapters.values.observation import USUAL, Circumstances, Observation
from adapters.values.payload import MAX_PAYLOAD_BYTES, Payload
from adapters.values.proposal import Propose
from adapters.values.result import Result
from adapters.values.stream import Stream

__all__ = [
    "Adapter",
    "Compile",
    "Decoded",
    "Fault",
    "FaultReason",
    "Findings",
    "Format",
    "missing",
    "stateless",
]


@dataclass(frozen=True, slots=True)
class Decoded:
    """A message's observations, in the order of the mappings, its faults and notices.

    `matched` is false where no mapping knows the topic: the message is then without a fault.
    """

    observations: tuple[Observation, ...] = ()
    faults: tuple[Fault, ...] = ()
    matched: bool = False
    notices: tuple[Notice, ...] = ()


@dataclass(slots=True)
class Findings:
    """What one adapter found: observations, each with its stream's `order`, faults, notices."""

    observations: list[tuple[int, Observation]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    @classmethod
    def of_fault(cls, fault: Fault) -> "Findings":
        """Nothing but a fault of the whole message."""
        return cls([], [fault], [])

    def __bool__(self) -> bool:
        """Whether anything was found."""
        return bool(self.observations or self.faults or self.notices)

    def add(
        self,
        stream: Stream,
        result: Result | Fault,
        time: datetime | Fault | None = None,
        sequence: str | Fault | None = None,
        *,
        unit: str | None = None,
        circumstances: Circumstances = USUAL,
    ) -> None:
        """Adds an observation, or the fault instead; a bad time or sequence costs only itself.

        `unit` is the QUDT unit that the payload itself tells, None where it tells none.
        """
        if isinstance(result, Fault):
            self.faults.append(result.of(stream.mapping))
            return
        if isinstance(time, Fault):
            self.faults.append(time.of(stream.mapping))
            time = None
        if isinstance(sequence, Fault):
            self.faults.append(sequence.of(stream.mapping))
            sequence = None
        seen = stream.observe(result, time, sequence, unit, circumstances)
        if isinstance(seen, Fault):
            self.faults.append(seen.of(stream.mapping))
        else:
            self.observations.append((stream.order, seen))


class Adapter(Protocol):
    """All mappings of one topic filter and one format, compiled together."""

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The findings in `payload`; `streams` are the compiled mappings on this topic, in order.

        `payload.message` has topic, time of reception ("now" to times that are relative) and
        flags. Never raises.
        """
        ...


Hear: TypeAlias = Callable[[Payload, Memory], None]
"""How a family takes up what it publishes about itself; bounded, and never raises."""


class CommandDefect(Protocol):
    """What is wrong with an actuator of a family; empty where nothing is."""

    def __call__(self, topic: str, template: str, *, is_bounded: bool) -> str:
        """What is wrong with a topic and a payload; `is_bounded`: there is a range, or words."""
        ...


Compile: TypeAlias = Callable[[Sequence[Mapping], Memory], Adapter]
"""How a format makes its adapter; raises MappingError for the first bad mapping.

What a stateful family remembers it keeps in the Memory, which outlives the adapter.
"""


def stateless(compile_mappings: Callable[[Sequence[Mapping]], Adapter]) -> Compile:
    """How a format is compiled whose messages each speak for themselves."""
    return lambda mappings, memory: compile_mappings(mappings)  # noqa: ARG005


def _no_companions(topic_filter: str) -> Sequence[str]:  # noqa: ARG001
    return ()


def _text(command: str, sent_at: datetime) -> bytes:  # noqa: ARG001
    return command.encode()


def _any_command(topic: str, template: str, *, is_bounded: bool) -> str:  # noqa: ARG001
    return ""


def _no_templates(template: str) -> Callable[[Payload], Result | Fault]:
    raise ValueError(f"the format has no templates: {template[:100]!a}")


def _same(topic: str) -> str:
    return topic


@dataclass(frozen=True, slots=True)
class Format:
    """A payload format or device family, as the table adapters.families has it.

    `companions` gives, for the topic filter of a mapping, the filters of other messages that
    concern its streams (a last will, a birth). `subject` gives the topic whose levels fill the
    wildcards of the mapping's filter when a message came on a companion's topic. `names` says that
    IRI templates may have `{name}`, `members` that they may have `{$.id}`, and mappings a
    `condition`; `written` that numbers may be texts with a `decimal_sign`. `propose` and
    `announcements`, the topic filters of what the family publishes about itself, are its part in
    discovery; what comes on topics that match `alone` is this family's or nobody's, and no other is
    asked what it may be. `hear` takes the announcements into the registry's Memory, so that what
    was announced before there was a mapping counts for it. Longer payloads than `max_bytes` are
    refused. `encode_command` makes the bytes of a filled-in command payload; ValueError says why
    not. `command_defect` says, of topic and payload of an actuator and whether it has a range or
    words, what is wrong with it; empty where nothing is. `select` compiles a template of a
    mapping's `availabilities`; ValueError says what is wrong.
    """

    compile: Compile
    names: bool = False
    members: bool = False
    written: bool = False
    companions: Callable[[str], Sequence[str]] = _no_companions
    subject: Callable[[str], str] = _same
    propose: Propose | None = None
    announcements: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    hear: Hear | None = None
    max_bytes: int = MAX_PAYLOAD_BYTES
    encode_command: Callable[[str, datetime], bytes] = _text
    command_defect: CommandDefect = _any_command
    select: Callable[[str], Callable[[Payload], Result | Fault]] = _no_templates


def missing(streams: Sequence[Stream]) -> Fault:
    """The one fault of a message in which no mapping found its value."""
    mapping = streams[0].mapping if len(streams) == 1 else None
    return Fault(mapping, FaultReason.MISSING, "no mapping found its value in the payload")
