"""`Flushed`: bundles that the disk has as they came, so that they leave without being looked up.

Place: in `QuadStore`, between a reading and what the one before it left on the disk: RocksDB is
asked for each of its three subjects otherwise, which takes longer than all else that a reading does
to the store.
"""

from collections.abc import Iterable

from pyoxigraph import NamedNode, Quad

from gateway.rdf.delta import Delta
from gateway.store.bundles.bundle import Bundle
from gateway.store.bundles.reading_delta import ReadingDelta

MOST_FLUSHED = 16_384
"""Quads of such bundles: those of a thousand streams. Who comes later is looked up; the first stay,
since streams that are told in turn would push each other out. Only what they are made of is kept,
5 MB less than with them; to make those of a reading again takes some 25 us."""


class Flushed:
    """Bundles by each of the IRIs that they are about.

    Exact as long as every change of the store is told to `forget` before the next look: whatever
    names one of these subjects ends what is known of its bundle.
    """

    __slots__ = ("_bundles", "_quads")

    def __init__(self) -> None:
        self._bundles: dict[str, Bundle] = {}
        self._quads = 0

    def get(self, iri: str) -> Bundle | None:
        """The bundle that has all quads about an IRI in the default graph, where that is known."""
        return self._bundles.get(iri)

    def take(self, bundles: Iterable[Bundle]) -> None:
        """Take up what has been written to the disk."""
        for each in bundles:
            if self._quads + len(each) <= MOST_FLUSHED:
                self._quads += len(each)
                each.forget_quads()
                self._bundles.update(dict.fromkeys(each.iris, each))

    def forget(self, delta: Delta) -> None:
        """Something has been, or may have been, changed."""
        if not self._bundles:
            return
        if isinstance(delta, ReadingDelta):
            for bundle in delta.leaving:
                self._forget(bundle.iris[0])
            delta = delta.rest
        for quads in (delta.added, delta.removed):
            self._forget_subjects(quads)

    def _forget_subjects(self, quads: Iterable[Quad]) -> None:
        for quad in quads:
            subject = quad.subject
            if isinstance(subject, NamedNode):
                self._forget(subject.value)

    def _forget(self, iri: str) -> None:
        bundle = self._bundles.get(iri)
        if bundle is not None:
            self._quads -= len(bundle)
            for each in bundle.iris:
                del self._bundles[each]
