"""`Delta`: the net change of one UPDATE, a value with an algebra.

Invariant: what is in `added` was absent before the UPDATE and present after it; what is in
`removed` the other way round. So the two are disjoint and an UPDATE that changes nothing has
an empty Delta.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pyoxigraph import BlankNode, NamedNode, Quad

GraphNode = NamedNode | BlankNode


@dataclass(frozen=True, slots=True, init=False)
class Delta:
    """Quads and named graphs that an UPDATE added and removed.

    >>> Delta().is_empty
    True
    """

    added: tuple[Quad, ...] = ()
    removed: tuple[Quad, ...] = ()
    graphs_created: tuple[GraphNode, ...] = ()
    graphs_dropped: tuple[GraphNode, ...] = ()

    def __init__(
        self,
        added: tuple[Quad, ...] = (),
        removed: tuple[Quad, ...] = (),
        graphs_created: tuple[GraphNode, ...] = (),
        graphs_dropped: tuple[GraphNode, ...] = (),
    ) -> None:
        """By the slots themselves: half the time of what a frozen dataclass makes."""
        _set_added(self, added)
        _set_removed(self, removed)
        _set_created(self, graphs_created)
        _set_dropped(self, graphs_dropped)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed at all."""
        return not (self.added or self.removed or self.graphs_created or self.graphs_dropped)

    @property
    def counts(self) -> tuple[int, int]:
        """How many quads were added and removed."""
        return len(self.added), len(self.removed)

    def negate(self) -> "Delta":
        """The change that undoes this one."""
        return Delta(self.removed, self.added, self.graphs_dropped, self.graphs_created)

    def __len__(self) -> int:
        return len(self.added) + len(self.removed)


_Set = Callable[[Delta, tuple[Any, ...]], None]
_slots: Any = Delta
_set_added: _Set = _slots.added.__set__
_set_removed: _Set = _slots.removed.__set__
_set_created: _Set = _slots.graphs_created.__set__
_set_dropped: _Set = _slots.graphs_dropped.__set__


def quads_delta(added: Iterable[Quad] = (), removed: Iterable[Quad] = ()) -> Delta:
    """A Delta of quads alone, consolidated: a quad on both sides is no change."""
    plus, minus = dict.fromkeys(added), dict.fromkeys(removed)
    return Delta(
        tuple(quad for quad in plus if quad not in minus),
        tuple(quad for quad in minus if quad not in plus),
    )
