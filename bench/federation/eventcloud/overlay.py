"""`Overlay`: who has which zone of a CAN: peers join and leave, and each knows its neighbours.

    join: a zone is halved, dimension after dimension; leave: two halves become one again

Place: the control plane, which the simulation has as a whole; routes are found by what one peer
knows alone (`next_hop`). Source: Ratnasamy et al., "A Scalable Content-Addressable Network", 2001,
section 2, without its torus: the order of texts has two ends.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.federation.eventcloud.space import DIMENSIONS, Box, Point, Zone

Neighbours = Mapping[str, Zone]


@dataclass(slots=True)
class _Node:
    """A zone that a peer has, or that was halved in `dimension`."""

    zone: Zone
    depth: int
    peer: str = ""
    halves: "Sequence[_Node]" = ()

    def leaves(self) -> Iterator["_Node"]:
        if not self.halves:
            yield self
        for half in self.halves:
            yield from half.leaves()


@dataclass(slots=True)
class Overlay:
    """Zones that have no point in common and are the whole space."""

    zones: dict[str, Zone] = field(default_factory=dict)
    _root: _Node | None = None

    def join(self, peer: str, at: Point | None = None) -> str | None:
        """Give a new peer half of the zone at a point, or of the largest; who had it, if anybody.

        Raises ValueError for a peer that is in it already.
        """
        if peer in self.zones:
            raise ValueError(f"{peer} has a zone already")
        if self._root is None:
            self._root = _Node(Zone(), 0, peer)
            self.zones[peer] = self._root.zone
            return None
        leaf = self._largest() if at is None else self._at(at)
        low, high = leaf.zone.halves(leaf.depth % DIMENSIONS)
        other, depth = leaf.peer, leaf.depth + 1
        leaf.halves = (_Node(low, depth, other), _Node(high, depth, peer))
        leaf.peer = ""
        self.zones[other], self.zones[peer] = low, high
        return other

    def leave(self, peer: str) -> frozenset[str]:
        """Have a peer go; who has other zones now: one alone, or one that took over and a third.

        Where its other half was halved again, two that are halves of each other become one, and
        who is free by that takes its place. Raises ValueError for the last peer.
        """
        if len(self.zones) == 1 or self._root is None:
            raise ValueError("the last peer cannot leave")
        parent = self._parent_of(peer, self._root)
        low, high = parent.halves
        gone, sibling = (low, high) if low.peer == peer else (high, low)
        if not sibling.halves:
            self._merge(parent, sibling.peer)
            changed = {sibling.peer}
        else:
            pair = sibling
            while any(half.halves for half in pair.halves):
                pair = next(half for half in pair.halves if half.halves)
            one, two = pair.halves
            stays, moves = one.peer, two.peer
            self._merge(pair, stays)
            gone.peer = moves
            self.zones[moves] = gone.zone
            changed = {stays, moves}
        del self.zones[peer]
        return frozenset(changed)

    def neighbours(self, peer: str) -> Neighbours:
        """Who has a zone beside a peer's."""
        zone = self.zones[peer]
        return {name: other for name, other in self.zones.items() if zone.is_beside(other)}

    def _merge(self, parent: _Node, peer: str) -> None:
        parent.halves, parent.peer = (), peer
        self.zones[peer] = parent.zone

    def _largest(self) -> _Node:
        leaves = self._root.leaves() if self._root else iter(())
        return max(leaves, key=lambda leaf: leaf.zone.size)

    def _at(self, place: Point) -> _Node:
        leaves = self._root.leaves() if self._root else iter(())
        return next(leaf for leaf in leaves if leaf.zone.has(place))

    def _parent_of(self, peer: str, node: _Node) -> _Node:
        for half in node.halves:
            if half.peer == peer:
                return node
        found = next(
            half for half in node.halves if any(leaf.peer == peer for leaf in half.leaves())
        )
        return self._parent_of(peer, found)


def next_hop(zone: Zone, neighbours: Neighbours, box: Box) -> str | None:
    """Who of its neighbours a peer with this zone sends on what is for a box; None if it is there.

    One dimension after the other is put right, and those before it stay so: a neighbour that is
    nearer always exists, and each hop is one, so every route ends.
    """
    for dimension, text in enumerate(box):
        side = zone.sides[dimension]
        if text is None or side.has(text):
            continue
        before = box[:dimension]
        for name, other in neighbours.items():
            next_side = other.sides[dimension]
            is_beyond = (
                next_side.low == side.high if text >= side.low else next_side.high == side.low
            )
            if is_beyond and all(
                each is None or other.sides[place].has(each) for place, each in enumerate(before)
            ):
                return name
        raise LookupError("a space with a hole")
    return None
