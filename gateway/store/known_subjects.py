"""`KnownSubjects`: what the store knows of the subjects on its disk without asking it.

Place: in `QuadStore`, between an UPDATE that adds quads and the disk: RocksDB takes 4 to 10 µs to
say that it has none of them. What was found out holds until the disk is written; what a
`FreshNamespace` says always holds.
"""

from collections import Counter
from collections.abc import Iterable
from typing import cast

from pyoxigraph import BlankNode, NamedNode, Quad, QuerySolutions, Store, Triple

from gateway.rdf.delta import Delta
from gateway.rdf.terms import Term

_SUBJECTS = """SELECT ?s (COUNT(*) AS ?quads) {{
  {{ ?s ?p ?o }} UNION {{ GRAPH ?g {{ ?s ?p ?o }} }}
  FILTER(ISIRI(?s) && STRSTARTS(STR(?s), {prefix}))
}} GROUP BY ?s"""


MOST_FOUND = 10_000
"""Quads that are remembered to be on the disk until it is written: those of sensors, mostly."""


class FreshNamespace:
    """A namespace in which one part makes new subjects, so that most need not be looked up.

    Exact whoever else writes into it: the subjects in it that Oxigraph has are counted at the
    start, each with its number of quads, and kept count of with every change.
    """

    def __init__(self, prefix: str, stored: Counter[str]) -> None:
        self.prefix = prefix
        self._stored = stored

    @classmethod
    def none(cls) -> "FreshNamespace":
        """No namespace: nothing is known of any subject."""
        return cls("\0", Counter())

    @classmethod
    def of(cls, prefix: NamedNode, store: Store) -> "FreshNamespace":
        """The namespace of the IRIs that begin with `prefix`; linear in the store."""
        found = cast(QuerySolutions, store.query(_SUBJECTS.format(prefix=f'"{prefix.value}"')))
        stored = {row["s"].value: int(row["quads"].value) for row in found}
        return cls(prefix.value, Counter(stored))

    def is_new(self, subject: Term) -> bool:
        """Whether Oxigraph surely has no quad of the subject."""
        if not isinstance(subject, NamedNode):
            return False
        return self.is_new_iri(subject.value)

    def is_new_iri(self, iri: str) -> bool:
        """The same by its IRI."""
        return iri.startswith(self.prefix) and iri not in self._stored

    def learn(self, delta: Delta) -> None:
        """Take note of what Oxigraph has now; the Delta is net, relative to what it had."""
        self._stored.update(self._subjects(delta.added))
        for iri in self._subjects(delta.removed):
            self._stored[iri] -= 1
            if not self._stored[iri]:
                del self._stored[iri]

    def _subjects(self, quads: Iterable[Quad]) -> Iterable[str]:
        for quad in quads:
            subject = quad.subject
            if isinstance(subject, NamedNode) and subject.value.startswith(self.prefix):
                yield subject.value


class KnownSubjects:
    """Which subjects the disk has something of, nothing of, or is not known to.

    `absent` are subjects that it has nothing of; it is always the same set. In the `namespace` new
    ones are expected.
    """

    __slots__ = ("_lacking", "_present", "_quads", "absent", "namespace")

    def __init__(self) -> None:
        self.absent: set[Term] = set()
        self._lacking: set[Term] = set()
        self._present: set[Term] = set()
        self._quads: set[Quad] = set()
        self.namespace = FreshNamespace.none()

    def expect_new(self, prefix: NamedNode, store: Store) -> None:
        """Expect new subjects whose IRIs begin with `prefix`; linear in the store, once."""
        self.namespace = FreshNamespace.of(prefix, store)

    def has(self, quad: Quad, store: Store) -> bool:
        """Whether the disk has a quad; it is asked only where nothing known says so."""
        subject = quad.subject
        if subject in self.absent or (subject in self._lacking and self._is_absent(subject, store)):
            return False
        if quad in self._quads:
            return True
        if self.namespace.is_new(subject):
            self.absent.add(subject)
            return False
        if quad in store:
            if len(self._quads) < MOST_FOUND:
                self._quads.add(quad)
            return True
        self._lacking.add(subject)
        return False

    def _is_absent(self, subject: NamedNode | BlankNode | Triple, store: Store) -> bool:
        """Whether the disk has nothing of a subject: asked when it lacks a second quad of it."""
        if subject in self._present:
            return False
        self._lacking.discard(subject)
        if next(iter(store.quads_for_pattern(subject, None, None)), None) is not None:
            self._present.add(subject)
            return False
        self.absent.add(subject)
        return True

    def forget(self) -> None:
        """The disk is about to be written: only the namespace is still known."""
        self.absent.clear()
        self._lacking.clear()
        self._present.clear()
        self._quads.clear()

    def learn(self, delta: Delta) -> None:
        """Take note of what was written; the Delta is net, relative to what was there."""
        self.namespace.learn(delta)
