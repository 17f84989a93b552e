"""The messages of members: batches of parts, each with its own quads; MessagePack and N-Quads.

    parts -> Batch -> bytes -> another member -> Batch -> parts

Place: between what members have to say and the carrier. A batch is `[life, number, messages,
quads]`: the life of a stream is drawn when it begins, its batches are numbered from 0. The quads of
all parts are one text, which costs one call of a parser; each part says how many are its own. What
comes is not trusted: everything that is wrong with it raises WireError, and its size is bounded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import msgpack
from pyoxigraph import Quad, Triple

from gateway.federation.n_quads import Quads, read, written
from gateway.journal.event_position import EventPosition

PROTOCOL = 1

MOST_BYTES = 16_777_216
"""A batch that is longer is refused; longer things come in parts."""

_MOST_PARTS = 100_000

Members = Mapping[str, object]


class WireError(Exception):
    """A message that no member of this protocol sends; says why."""


_NO_MEMBERS: Members = MappingProxyType({})


class Part(NamedTuple):
    """One thing that a member says: its kind, its members, and quads that it adds and removes.

    `triples` are added quads of the default graph, before they travel.
    """

    kind: str
    members: Members = _NO_MEMBERS
    added: Sequence[Quad] = ()
    removed: Sequence[Quad] = ()
    triples: Sequence[Triple | Quad] = ()

    @property
    def size(self) -> int:
        """How many quads travel with it."""
        return len(self.triples) + len(self.added) + len(self.removed)

    def text(self, name: str) -> str:
        """A member that is a text. Raises WireError."""
        value = self.members.get(name)
        if not isinstance(value, str):
            raise WireError(f"{self.kind}: {name} is no text")
        return value

    def number(self, name: str) -> int:
        """A member that is a number from 0 on. Raises WireError."""
        value = self.members.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise WireError(f"{self.kind}: {name} is no number")
        return value

    def position(self) -> EventPosition:
        """Where the sender stands. Raises WireError."""
        try:
            return EventPosition.parse(self.text("position"))
        except ValueError as error:
            raise WireError(f"{self.kind}: {error}") from error


@dataclass(frozen=True, slots=True)
class Batch:
    """Parts that travel together, the `number`th batch of a stream's `life`.

    One that `has_nodes` may have blank nodes, and one that `has_types` literals of a datatype,
    whose forms may differ.
    """

    life: str
    number: int
    parts: Sequence[Part]
    has_nodes: bool = True
    has_types: bool = True

    def encode(self) -> bytes:
        """The bytes."""
        quads: list[Quad | Triple] = []
        messages = []
        for part in self.parts:
            kind, members, added, removed, triples = part
            quads += triples
            quads += added
            quads += removed
            plain = members if type(members) is dict else dict(members)
            messages.append((kind, plain, len(triples) + len(added), len(removed)))
        text = written(quads)
        packed: bytes = msgpack.packb([PROTOCOL, self.life, self.number, messages, text])
        return packed

    @classmethod
    def decode(cls, payload: bytes) -> "Batch":
        """The reverse of `encode`. Raises WireError."""
        if len(payload) > MOST_BYTES:
            raise WireError(f"{len(payload)} bytes are more than {MOST_BYTES}")
        try:
            protocol, life, number, messages, text = _unpacked(payload)
        except (ValueError, TypeError, msgpack.UnpackException, RecursionError) as error:
            raise WireError(f"no batch: {error!r:.200}") from error
        if protocol != PROTOCOL:
            raise WireError(f"protocol {protocol!r:.20}, and this is {PROTOCOL}")
        if not isinstance(life, str) or not isinstance(number, int):
            raise WireError("a life or number that is none")
        if not isinstance(messages, list) or not isinstance(text, bytes):
            raise WireError("messages or quads that are none")
        quads, has_nodes, has_types = _quads(text)
        parts, taken = [], 0
        for message in messages:
            part, taken = _part(message, quads, taken)
            parts.append(part)
        if taken != len(quads):
            raise WireError("quads that belong to no part")
        return cls(life, number, parts, has_nodes, has_types)


def _unpacked(payload: bytes) -> Sequence[object]:
    found = msgpack.unpackb(
        payload, strict_map_key=True, max_array_len=_MOST_PARTS, max_map_len=1000
    )
    if not isinstance(found, list):
        raise TypeError("no list")
    return found


def _quads(text: bytes) -> Quads:
    try:
        return read(text)
    except (SyntaxError, ValueError) as error:
        raise WireError(f"no N-Quads: {error}") from error


def _part(message: object, quads: Sequence[Quad], taken: int) -> tuple[Part, int]:
    """A part, and how many quads are taken with its own."""
    if type(message) is not list or len(message) != 4:
        raise WireError(f"no part: {message!r:.80}")
    kind, members, added, removed = message
    if type(kind) is not str or type(members) is not dict:
        raise WireError(f"no part: {message!r:.80}")
    if type(added) is not int or type(removed) is not int or added < 0 or removed < 0:
        raise WireError(f"no part: {message!r:.80}")
    between = taken + added
    until = between + removed
    if until > len(quads):
        raise WireError(f"{kind:.40}: fewer quads than it says")
    return Part(kind, members, quads[taken:between], quads[between:until]), until


def own_label(member: str) -> str:
    """What the labels of a member's blank nodes begin with at others."""
    return f"{member.encode().hex()}x"
