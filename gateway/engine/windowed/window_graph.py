"""`WindowGraph`: a window's triples as the quads of a named graph, as far as a LUTT wants them."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pyoxigraph import NamedNode, Quad, Triple

from gateway.engine.lutt import LuttEntry
from gateway.rdf.namespaces import GW
from gateway.rdf.terms import Term
from gateway.store.quad_index import QuadIndex
from gateway.windows.content import Change, Content
from gateway.windows.parted import Spo

_START, _END = NamedNode(GW + "windowStart"), NamedNode(GW + "windowEnd")


class WindowGraph:
    """One window under one name. It keeps the quads of wanted predicates, and nothing before.

    `users` counts the SPUs that have it.
    """

    def __init__(self, node: NamedNode, content: Content) -> None:
        self.node = node
        self.content = content
        self.users = 0
        self._wanted: Counter[Term | None] = Counter()
        self._index = QuadIndex()
        self._bounds: tuple[Quad, ...] = bound_quads(node, content)
        self.match = self._index.match

    def __len__(self) -> int:
        """The quads that it keeps."""
        return len(self._index.quads)

    @property
    def is_wanted(self) -> bool:
        """Whether any quad of it is to be kept."""
        return bool(self._wanted)

    def want(self, entries: Iterable[LuttEntry]) -> bool:
        """Keep what these match from now on; whether that is more than before."""
        predicates = [entry.predicate for entry in entries if self._is_of(entry)]
        new = {each for each in predicates if not self._keeps(each)}
        self._wanted.update(predicates)
        self.content.want(predicates)
        if new:
            of = None if None in new else frozenset(each for each in new if each is not None)
            self._index.add(map(self._quad, self.content.having(of)))
            self._index.add(quad for quad in self._bounds if of is None or quad.predicate in of)
        return bool(new)

    def unwant(self, entries: Iterable[LuttEntry]) -> None:
        """The reverse of `want`."""
        predicates = [entry.predicate for entry in entries if self._is_of(entry)]
        self._wanted.subtract(predicates)
        self._wanted += Counter()
        self.content.unwant(predicates)
        for quad in [each for each in self._index.quads if not self._keeps(each.predicate)]:
            self._index.discard(quad)

    def take(self, change: Change) -> tuple[Sequence[Quad], Sequence[Quad]]:
        """Take up what entered and left; the quads of it that are wanted: added, removed."""
        if not self._wanted:
            return (), ()
        removed, added = self._kept(change.removed), self._kept(change.added)
        if self.content.window.bounds:
            before, self._bounds = self._bounds, bound_quads(self.node, self.content)
            removed += [q for q in before if q not in self._bounds and self._keeps(q.predicate)]
            added += [q for q in self._bounds if q not in before and self._keeps(q.predicate)]
        for quad in removed:
            self._index.discard(quad)
        self._index.add(added)
        return added, removed

    def quads(self) -> Iterable[Quad]:
        """All that it keeps."""
        return self._index.quads

    def _is_of(self, entry: LuttEntry) -> bool:
        return entry.graph is None or entry.graph == self.node

    def _keeps(self, predicate: Term | None) -> bool:
        return predicate in self._wanted or None in self._wanted

    def _kept(self, triples: Iterable[Spo]) -> list[Quad]:
        node, keeps = self.node, self._keeps
        return [
            Quad(subject, predicate, value, node)  # type: ignore[arg-type]  # they make a triple
            for subject, predicate, value in triples
            if keeps(predicate)
        ]

    def _quad(self, triple: Triple) -> Quad:
        return Quad(triple.subject, triple.predicate, triple.object, self.node)


def bound_quads(node: NamedNode, content: Content) -> tuple[Quad, ...]:
    """What the graph of a window says of its start and end, where that was asked for."""
    bounds = content.bounds
    if bounds is None:
        return ()
    return tuple(
        Quad(node, predicate, value, node)
        for predicate, value in zip((_START, _END), bounds, strict=True)
    )
