"""`Cloud`: peers of one algorithm, each with its zone; quads and subscriptions move with zones.

Place: what a benchmark or test drives: peers join and leave, events are published at one, and a
client subscribes at one.
"""

from collections.abc import Callable, Iterable

from bench.federation.eventcloud.overlay import Overlay
from bench.federation.eventcloud.patterns import Terms, box_of
from bench.federation.eventcloud.peer import Peer
from bench.federation.eventcloud.space import Point, coordinate
from bench.federation.simulated.net import TimedNet

Make = Callable[[str, TimedNet, Callable[[str], Peer]], Peer]


class Cloud:
    """Peers by their names, on a net."""

    def __init__(self, net: TimedNet, make: Make) -> None:
        self.net = net
        self.overlay = Overlay()
        self.peers: dict[str, Peer] = {}
        self._make = make
        self._places = 0

    def join(self, at: Point | None = None) -> int:
        """One more peer, with half of a zone; how many quads moved to it."""
        name = f"p{self._places}"
        self._places += 1
        self.peers[name] = self._make(name, self.net, self.peers.__getitem__)
        other = self.overlay.join(name, at)
        self._know()
        return self._settle([] if other is None else [self.peers[other]])

    def leave(self, name: str) -> int:
        """A peer goes, what it had is with others; how many quads moved. Raises ValueError."""
        changed = self.overlay.leave(name)
        gone = self.peers.pop(name)
        self._know()
        return self._settle([gone, *(self.peers[each] for each in changed)])

    def owner(self, quad: Terms) -> Peer:
        """Whose zone a quad is in."""
        graph, subject, predicate, object_ = map(coordinate, quad)
        place = (graph, subject, predicate, object_)
        return next(each for each in self.peers.values() if each.zone.has(place))

    def _know(self) -> None:
        """Let each know its zone and those beside it."""
        for name, peer in self.peers.items():
            peer.zone = self.overlay.zones[name]
            peer.neighbours = self.overlay.neighbours(name)

    def _settle(self, changed: Iterable[Peer]) -> int:
        """Bring what peers have to those in whose zones it is now."""
        moved = 0
        for peer in changed:
            for known in list(peer.quads.by_graph.values()):
                for quad, event in list(known.items()):
                    owner = self.owner(quad)
                    if owner is not peer:
                        del known[quad]
                        owner.quads.add(quad, event)
                        moved += 1
            kept = list(peer.subscriptions)
            peer.subscriptions = type(peer.subscriptions)()
            for each in kept:
                for other in self.peers.values():
                    is_there = each in other.subscriptions
                    if other.zone.meets(box_of(each.patterns[0])) and not is_there:
                        other.subscriptions.add(each)
        return moved


class Flood(Cloud):
    """Peers that all know each other, and have no zones."""

    def _know(self) -> None:
        zones = self.overlay.zones
        for name, peer in self.peers.items():
            peer.neighbours = {other: zone for other, zone in zones.items() if other != name}
