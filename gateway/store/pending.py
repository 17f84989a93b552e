"""`Pending`: changes that the store shows already and that Oxigraph does not have yet.

Readings replace each other many times before anybody asks for one by SPARQL. Their Deltas are kept
here, net, and go to the store together: an observation that came and went meanwhile never does,
which spares the card of a Raspberry Pi most of its writes. On disk, only changes that the journal
can repeat are kept back like this (docs/engine.md); in memory there is nothing to lose.
"""

from pyoxigraph import Quad

from gateway.rdf.delta import Delta
from gateway.store.quad_index import QuadIndex, Quads


class Pending:
    """A consolidated Delta relative to Oxigraph. Invariant: added and removed are disjoint."""

    __slots__ = ("added", "index", "removed")

    def __init__(self) -> None:
        self.index = QuadIndex()
        self.added: Quads = self.index.quads
        self.removed: Quads = {}

    def __len__(self) -> int:
        return len(self.added) + len(self.removed)

    def delta(self) -> Delta:
        """What Oxigraph lacks, as a Delta."""
        return Delta(tuple(self.added), tuple(self.removed))

    def apply(self, delta: Delta) -> None:
        """Take up another change; it names no created or dropped graphs."""
        added, removed, index = self.added, self.removed, self.index
        for quad in delta.removed:
            if quad in added:
                index.discard(quad)
            else:
                removed[quad] = None
        back = {quad for quad in delta.added if quad in removed} if removed else ()
        for quad in back:
            del removed[quad]
        index.add([quad for quad in delta.added if quad not in back] if back else delta.added)


def without(quads: list[Quad], removed: Quads) -> list[Quad]:
    """The quads that are not removed."""
    return [quad for quad in quads if quad not in removed] if removed else quads
