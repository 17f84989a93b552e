"""`Minted`: a namespace in which one part makes new subjects, so that most need not be looked up.

Place: in `QuadStore`, between an UPDATE that adds quads and the disk, which takes microseconds to
say that it has none of them. Exact whoever else writes into the namespace: the subjects in it that
Oxigraph has are counted at the start and kept count of with every change.
"""

from collections import Counter
from collections.abc import Iterable
from typing import cast

from pyoxigraph import NamedNode, Quad, QuerySolutions, Store

from gateway.rdf.delta import Delta
from gateway.rdf.terms import Term

_SUBJECTS = """SELECT ?s (COUNT(*) AS ?quads) {{
  {{ ?s ?p ?o }} UNION {{ GRAPH ?g {{ ?s ?p ?o }} }}
  FILTER(ISIRI(?s) && STRSTARTS(STR(?s), {prefix}))
}} GROUP BY ?s"""


class Minted:
    """The subjects of a namespace that Oxigraph has, each with its number of quads."""

    def __init__(self, prefix: str, stored: Counter[str]) -> None:
        self._prefix = prefix
        self._stored = stored

    @classmethod
    def none(cls) -> "Minted":
        """No namespace: nothing is known of any subject."""
        return cls("\0", Counter())

    @classmethod
    def of(cls, prefix: NamedNode, store: Store) -> "Minted":
        """Those of the IRIs that begin with `prefix`; linear in the store."""
        found = cast(QuerySolutions, store.query(_SUBJECTS.format(prefix=f'"{prefix.value}"')))
        stored = {row["s"].value: int(row["quads"].value) for row in found}
        return cls(prefix.value, Counter(stored))

    def is_new(self, subject: Term) -> bool:
        """Whether Oxigraph surely has no quad of the subject."""
        if not isinstance(subject, NamedNode):
            return False
        iri = subject.value
        return iri.startswith(self._prefix) and iri not in self._stored

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
            if isinstance(subject, NamedNode) and subject.value.startswith(self._prefix):
                yield subject.value
