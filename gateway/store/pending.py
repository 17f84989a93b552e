"""`Pending`: changes that the store shows already and its disk does not have yet.

Readings replace each other many times before anybody asks for one by SPARQL. Their Deltas are kept
here, net, and go to the disk together: an observation that came and went meanwhile never does,
which spares the card of a Raspberry Pi most of its writes. Only changes that the journal can
repeat are kept back like this (engine.md, section 3a). What is here is indexed by subject and by
predicate and object, as look-ups need it.
"""

from collections.abc import Collection, Hashable, Iterable
from typing import TypeVar

from pyoxigraph import Quad

from gateway.rdf.canonical import canonical
from gateway.rdf.delta import Delta
from gateway.rdf.terms import GraphName, Term

Quads = dict[Quad, None]


class Pending:
    """A consolidated Delta relative to the disk. Invariant: `added` and `removed` are disjoint."""

    __slots__ = ("_by_object", "_by_subject", "added", "removed")

    def __init__(self) -> None:
        self.added: Quads = {}
        self.removed: Quads = {}
        self._by_subject: dict[Term, Quads] = {}
        self._by_object: dict[tuple[Term, Term], Quads] = {}

    def __len__(self) -> int:
        return len(self.added) + len(self.removed)

    def delta(self) -> Delta:
        """What the disk lacks."""
        return Delta(tuple(self.added), tuple(self.removed))

    def apply(self, delta: Delta) -> None:
        """Take up another change; it names no created or dropped graphs."""
        for quad in delta.removed:
            if quad in self.added:
                del self.added[quad]
                _drop(self._by_subject, quad.subject, quad)
                _drop(self._by_object, (quad.predicate, quad.object), quad)
            else:
                self.removed[quad] = None
        for quad in delta.added:
            if quad in self.removed:
                del self.removed[quad]
            else:
                self.added[quad] = None
                self._by_subject.setdefault(quad.subject, {})[quad] = None
                self._by_object.setdefault((quad.predicate, quad.object), {})[quad] = None

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> list[Quad]:
        """The added quads of a pattern; linear in all of them only where little is known."""
        candidates = self._candidates(subject, predicate, object_)
        return [
            quad
            for quad in candidates
            if (subject is None or subject == quad.subject)
            and (predicate is None or predicate == quad.predicate)
            and (graph is None or graph == quad.graph_name)
            and (object_ is None or canonical(object_) == quad.object)
        ]

    def _candidates(
        self, subject: Term | None, predicate: Term | None, object_: Term | None
    ) -> Collection[Quad]:
        if subject is not None:
            return self._by_subject.get(subject, ())
        if predicate is not None and object_ is not None:
            return self._by_object.get((predicate, canonical(object_)), ())
        return self.added


Key = TypeVar("Key", bound=Hashable)


def _drop(index: dict[Key, Quads], key: Key, quad: Quad) -> None:
    quads = index[key]
    del quads[quad]
    if not quads:
        del index[key]


def without(quads: Iterable[Quad], removed: Collection[Quad]) -> Iterable[Quad]:
    """The quads that are not removed."""
    return (quad for quad in quads if quad not in removed) if removed else quads
