"""`Pending`: changes that the store shows already and that Oxigraph does not have yet.

Readings replace each other many times before anybody asks for one by SPARQL. Their Deltas are kept
here, net, and go to the store together: an observation that came and went meanwhile never does,
which spares the card of a Raspberry Pi most of its writes. On disk, only changes that the journal
can repeat are kept back like this (docs/engine.md); in memory there is nothing to lose.
"""

from collections.abc import Iterable

from pyoxigraph import NamedNode, Quad

from gateway.rdf.delta import Delta
from gateway.rdf.terms import Term
from gateway.store.bundles.bundle import Bundle
from gateway.store.bundles.reading_delta import ReadingDelta
from gateway.store.quad_index import QuadIndex, Quads


class Pending:
    """A consolidated Delta relative to Oxigraph. Invariant: added and removed are disjoint.

    `bundles` are added too, by each of the IRIs that they are about, of which nothing else is added
    in the default graph: before somebody looks up quads of such a subject, `expose` puts its bundle
    among the others. `is_written` says of other IRIs of `namespace` whether they may be subjects.
    """

    __slots__ = (
        "_bundled",
        "_written",
        "added",
        "bundles",
        "index",
        "namespace",
        "removed",
    )

    def __init__(self, namespace: str = "") -> None:
        """Subjects are noted where they begin with `namespace`; "" is nowhere."""
        self.index = QuadIndex()
        self.added: Quads = self.index.quads
        self.removed: Quads = {}
        self.bundles: dict[str, Bundle] = {}
        self._bundled = 0
        self.namespace = namespace
        self._written: set[str] = set()

    def __len__(self) -> int:
        return len(self.added) + len(self.removed) + self._bundled

    def is_written(self, iri: str) -> bool:
        """Whether quads about an IRI of the namespace may be added here."""
        return iri in self.bundles or iri in self._written

    def delta(self) -> Delta:
        """What Oxigraph lacks, as a Delta."""
        bundled = [quad for each in self.each_bundle() for quad in each.quads()]
        return Delta((*self.added, *bundled), tuple(self.removed))

    def apply(self, delta: Delta) -> None:
        """Take up another change; it names no created or dropped graphs."""
        if isinstance(delta, ReadingDelta):
            self._apply_reading(delta)
            return
        if self.bundles:
            for quad in (*delta.added, *delta.removed):
                self.expose(quad.subject)
        self._apply(delta.added, delta.removed)

    def _apply_reading(self, delta: ReadingDelta) -> None:
        """Take up and forget bundles as they are; by their quads, where they are no longer here."""
        bundles = self.bundles
        removed = delta.rest.removed
        for each in delta.leaving:
            if all(bundles.get(iri) is each for iri in each.iris):
                self._forget(each)
            else:
                removed += tuple(each.quads())
        self._apply(delta.rest.added, removed)
        for each in delta.entering:
            for iri in each.iris:
                bundles[iri] = each
            self._bundled += len(each)

    def _apply(self, new: Iterable[Quad], gone: Iterable[Quad]) -> None:
        added, removed, index = self.added, self.removed, self.index
        for quad in gone:
            if quad in added:
                index.discard(quad)
            else:
                removed[quad] = None
        if removed:
            back = [quad for quad in new if quad in removed]
            if back:
                new = [quad for quad in new if quad not in removed]
            for quad in back:
                del removed[quad]
        self._add(new)

    def _add(self, quads: Iterable[Quad]) -> None:
        self.index.add(quads)
        namespace = self.namespace
        for quad in quads if namespace else ():
            subject = quad.subject
            if isinstance(subject, NamedNode) and subject.value.startswith(namespace):
                self._written.add(subject.value)

    def expose(self, subject: Term | None, predicate: Term | None = None) -> None:
        """Let what bundles have of a pattern be looked up in `added` and `index`; None is any."""
        found: Iterable[Bundle | None] = ()
        if isinstance(subject, NamedNode):
            found = (self.bundles.get(subject.value),)
        elif subject is None:
            found = [
                each
                for each in self.each_bundle()
                if predicate is None or each.shape.has(predicate)
            ]
        for each in filter(None, found):
            self._forget(each)
            self._add(each.quads())

    def each_bundle(self) -> list[Bundle]:
        """The bundles, each once."""
        return list(dict.fromkeys(self.bundles.values()))

    def _forget(self, bundle: Bundle) -> None:
        for iri in bundle.iris:
            del self.bundles[iri]
        self._bundled -= len(bundle)


def without(quads: list[Quad], removed: Quads) -> list[Quad]:
    """The quads that are not removed."""
    return [quad for quad in quads if quad not in removed] if removed else quads
