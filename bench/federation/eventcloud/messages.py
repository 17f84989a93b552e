"""What peers send each other: MessagePack around N-Quads, which the peers between leave unread.

    kind, box, id, head, quads -> bytes -> hop by hop -> the peers whose zones meet the box

Place: between peers. Quads are written and parsed as the product's wire does (gateway/federation/
wire.py), so that a quad costs every way the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack
from pyoxigraph import Quad, RdfFormat, parse, serialize

from bench.federation.eventcloud.patterns import Pattern, as_pattern, as_quad
from bench.federation.eventcloud.space import Box

NOWHERE: Box = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class Message:
    """One message; an `id` is drawn for what more than one peer takes, each once."""

    kind: str
    box: Box = NOWHERE
    id: int = 0
    head: Sequence[Any] = ()
    body: bytes = b""

    def encode(self) -> bytes:
        """The bytes."""
        packed: bytes = msgpack.packb([self.kind, self.box, self.id, self.head, self.body])
        return packed

    @classmethod
    def decode(cls, payload: bytes) -> "Message":
        """The reverse of `encode`."""
        kind, box, id_, head, body = msgpack.unpackb(payload)
        return cls(kind, tuple(box), id_, head, body)

    @property
    def is_for_one(self) -> bool:
        """Whether it is for a point."""
        return None not in self.box


def written(quads: Iterable[Quad]) -> bytes:
    """Quads as N-Quads."""
    return serialize(quads, format=RdfFormat.N_QUADS) or b""


def read(body: bytes) -> Sequence[Quad]:
    """The reverse of `written`."""
    return list(parse(body, format=RdfFormat.N_QUADS))


@dataclass(frozen=True, slots=True)
class Event:
    """A compound event: `count` distinct quads of one graph, published at a time in seconds."""

    time: float
    count: int


@dataclass(frozen=True, slots=True)
class Subscription:
    """Patterns to be matched one after the other, for the peer `home`, of events from a time on.

    One that was rewritten has fewer, and the `count` of quads of the event that it is about.
    """

    number: int
    since: float
    home: str
    patterns: Sequence[Pattern]
    count: int = 0

    @property
    def is_rewritten(self) -> bool:
        """Whether it is about one event."""
        return self.count > 0

    def message(self, box: Box, id_: int) -> Message:
        """As it travels."""
        head = [self.number, self.since, self.home, self.count]
        return Message("subscribe", box, id_, head, written(map(as_quad, self.patterns)))

    @classmethod
    def of(cls, message: Message) -> "Subscription":
        """The reverse of `message`."""
        number, since, home, count = message.head
        return cls(number, since, home, [as_pattern(each) for each in read(message.body)], count)
