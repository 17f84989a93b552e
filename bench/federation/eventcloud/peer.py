"""`Peer`: routes by coordinates what it is not to take, and keeps what its zone has.

    message -> next hop, until its box is met -> taken, and sent on to neighbours that meet it too

Place: below the algorithms, each of which is a kind of peer. A message for more than one peer goes
from neighbour to neighbour within its box; who had it drops it. Answers to a subscriber go straight
to it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from pyoxigraph import Quad

from bench.federation.eventcloud.messages import Message, read, written
from bench.federation.eventcloud.overlay import Neighbours, next_hop
from bench.federation.eventcloud.patterns import Term, as_quad, terms
from bench.federation.eventcloud.space import Box, Zone, coordinate
from bench.federation.eventcloud.stored import StoredQuads, StoredSubscriptions
from bench.federation.simulated.net import TimedNet

if TYPE_CHECKING:
    from bench.federation.eventcloud.home import Home


class Peer:
    """One of an overlay; `find` has another peer by its name."""

    def __init__(self, name: str, net: TimedNet, find: "Callable[[str], Peer]") -> None:
        self.name = name
        self.net = net
        self.zone = Zone()
        self.neighbours: Neighbours = {}
        self.quads = StoredQuads()
        self.subscriptions = StoredSubscriptions()
        self.home: Home | None = None
        self._find = find
        self._ids = count(1)
        self._seen: set[tuple[str, int]] = set()

    def publish(self, quads: Sequence[Quad]) -> None:
        """Have a compound event of one graph in the overlay."""
        raise NotImplementedError

    def take(self, message: Message) -> None:
        """Do what a message says that has come to its box."""
        raise NotImplementedError

    def new_id(self) -> int:
        """A number for a message that several peers take; no other message has it."""
        return next(self._ids) * 1000 + self._place

    def route(self, message: Message, payload: bytes | None = None, sender: str = "") -> None:
        """Bring a message nearer to its box, or take it there."""
        to = next_hop(self.zone, self.neighbours, message.box)
        if to is not None:
            self._send(to, payload or message.encode())
        elif message.is_for_one:
            self.take(message)
        elif (message.kind, message.id) not in self._seen:
            self._seen.add((message.kind, message.id))
            payload = payload or message.encode()
            for name, zone in self.neighbours.items():
                if name != sender and zone.meets(message.box):
                    self._send(name, payload)
            self.take(message)

    def tell(self, home: str, message: Message) -> None:
        """Send a message straight to a peer that has a subscriber."""
        if home == self.name:
            self._told(message)
        else:
            self._send(home, message.encode())

    def fetched(self, graph: Term, home: str) -> None:
        """Tell a subscriber what is here of an event."""
        quads = [as_quad(quad) for quad, _ in self.quads.of(graph)]
        if quads:
            self.tell(home, Message("found", head=[str(graph)], body=written(quads)))

    def _send(self, to: str, payload: bytes) -> None:
        call = partial(self._find(to)._receive, payload, self.name)
        self.net.send(to, len(payload), call)

    def _receive(self, payload: bytes, sender: str) -> None:
        message = Message.decode(payload)
        if message.kind in ("notify", "whole", "found"):
            self._told(message)
        else:
            self.route(message, payload, sender)

    def _told(self, message: Message) -> None:
        if self.home is None:
            raise LookupError(f"nobody subscribes at {self.name}")
        self.home.told(message)

    @property
    def _place(self) -> int:
        return int(self.name.removeprefix("p"))


def event_box(graph: Term) -> Box:
    """Where quads of an event may be."""
    return coordinate(graph), None, None, None


def graph_of(message: Message) -> Sequence[tuple[Term, ...]]:
    """The quads of a message, as terms."""
    return [terms(each) for each in read(message.body)]
