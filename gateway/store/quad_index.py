"""`QuadIndex`: some quads in memory, looked up by pattern.

Place: under `Pending` and `Working`, which lie over the store. Indexed by subject and by predicate
with object, once a look-up needs it; an index takes quads up when it is asked the first time after
they came, since many leave again before anybody asks.
"""

from collections.abc import Callable, Hashable, Iterable

from pyoxigraph import Quad

from gateway.rdf.canonical import canonical
from gateway.rdf.terms import GraphName, Term

Quads = dict[Quad, None]
"""A set of quads in the order in which they came."""


class QuadIndex:
    """A set of quads.

    >>> from pyoxigraph import NamedNode
    >>> a, p = NamedNode("urn:a"), NamedNode("urn:p")
    >>> index = QuadIndex()
    >>> index.add([Quad(a, p, a)])
    >>> len(index.match(None, p, a, None)), len(index.match(p, None, None, None))
    (1, 0)
    """

    __slots__ = ("_by_object", "_by_subject", "quads")

    def __init__(self) -> None:
        self.quads: Quads = {}
        self._by_subject: _Index | None = None
        self._by_object: _Index | None = None

    def __len__(self) -> int:
        return len(self.quads)

    def __contains__(self, quad: Quad) -> bool:
        return quad in self.quads

    def add(self, quads: Iterable[Quad]) -> None:
        """Take up quads that are not here."""
        new = dict.fromkeys(quads)
        self.quads.update(new)
        if self._by_subject is not None:
            self._by_subject.waiting.update(new)
        if self._by_object is not None:
            self._by_object.waiting.update(new)

    def discard(self, quad: Quad) -> None:
        """Forget a quad that is here."""
        del self.quads[quad]
        if self._by_subject is not None:
            self._by_subject.discard(quad)
        if self._by_object is not None:
            self._by_object.discard(quad)

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> list[Quad]:
        """The quads of a pattern; linear in all of them only where little is known."""
        if subject is not None:
            if self._by_subject is None:
                self._by_subject = _Index(_subject, self.quads)
            found: Iterable[Quad] = self._by_subject.get(subject)
        elif predicate is not None and object_ is not None:
            if self._by_object is None:
                self._by_object = _Index(_predicate_object, self.quads)
            found = self._by_object.get((predicate, canonical(object_)))
        else:
            found = self.quads
        if not found:
            return []
        if predicate is not None:
            found = [quad for quad in found if quad.predicate == predicate]
        if object_ is not None:
            wanted = canonical(object_)
            found = [quad for quad in found if quad.object == wanted]
        if graph is not None:
            found = [quad for quad in found if quad.graph_name == graph]
        return list(found)


def _subject(quad: Quad) -> Hashable:
    return quad.subject


def _predicate_object(quad: Quad) -> Hashable:
    return quad.predicate, quad.object


class _Index:
    """Quads by a key that they have; `waiting` are those not taken up yet."""

    __slots__ = ("_key", "_quads", "waiting")

    def __init__(self, key: Callable[[Quad], Hashable], quads: Quads) -> None:
        self._key = key
        self._quads: dict[Hashable, Quads] = {}
        self.waiting: Quads = dict(quads)

    def get(self, key: Hashable) -> Iterable[Quad]:
        if self.waiting:
            for quad in self.waiting:
                self._quads.setdefault(self._key(quad), {})[quad] = None
            self.waiting.clear()
        return self._quads.get(key, ())

    def discard(self, quad: Quad) -> None:
        if quad in self.waiting:
            del self.waiting[quad]
            return
        key = self._key(quad)
        quads = self._quads[key]
        del quads[quad]
        if not quads:
            del self._quads[key]
