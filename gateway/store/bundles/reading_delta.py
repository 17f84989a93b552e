"""`ReadingDelta`: a Delta of whole bundles, and of the few quads beside them.

Place: from `reading`, which makes it, to the pending changes of the store and the LUTT index, which
take it bundle by bundle. For all others it is a Delta like any.
"""

from collections.abc import Sequence
from typing import Any

from pyoxigraph import Quad

from gateway.rdf.delta import Delta, GraphNode
from gateway.store.bundles.bundle import Bundle


class ReadingDelta(Delta):
    """The bundles that come and that go, and a Delta of the `rest`.

    `added` and `removed` make the quads of the bundles when they are read.
    """

    __slots__ = ("entering", "leaving", "rest")

    entering: Sequence[Bundle]
    leaving: Sequence[Bundle]
    rest: Delta
    graphs_created: tuple[GraphNode, ...] = ()
    graphs_dropped: tuple[GraphNode, ...] = ()

    def __init__(self, entering: Sequence[Bundle], leaving: Sequence[Bundle], rest: Delta) -> None:
        _set_entering(self, entering)
        _set_leaving(self, leaving)
        _set_rest(self, rest)

    @property
    def added(self) -> tuple[Quad, ...]:
        """All quads that come."""
        return (*self.rest.added, *_quads(self.entering))

    @property
    def removed(self) -> tuple[Quad, ...]:
        """All quads that go."""
        return (*self.rest.removed, *_quads(self.leaving))

    @property
    def counts(self) -> tuple[int, int]:
        """How many quads were added and removed."""
        added, removed = self.rest.counts
        return added + sum(map(len, self.entering)), removed + sum(map(len, self.leaving))

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed at all."""
        return not (self.entering or self.leaving) and self.rest.is_empty

    def __len__(self) -> int:
        return sum(self.counts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Delta) and self._plain() == (
            other._plain() if isinstance(other, ReadingDelta) else other
        )

    def __hash__(self) -> int:
        return hash(self._plain())

    def __reduce__(self) -> tuple[type[Delta], tuple[object, ...]]:
        return Delta, (self.added, self.removed)

    def _plain(self) -> Delta:
        return Delta(self.added, self.removed)


_slots: Any = ReadingDelta
_set_entering = _slots.entering.__set__
_set_leaving = _slots.leaving.__set__
_set_rest = _slots.rest.__set__


def _quads(bundles: Sequence[Bundle]) -> list[Quad]:
    return [quad for bundle in bundles for quad in bundle.quads()]
