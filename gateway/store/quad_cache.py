"""`QuadCache`: quads that somebody above the store keeps in dictionaries, for it to look up too.

Place: between the subscriptions' joins, which keep them (CTS), and the WHERE of an UPDATE, which
looks up the same predicates. A look-up there costs tenths of a microsecond, in Oxigraph several.
"""

from collections.abc import Iterable
from typing import Protocol

from pyoxigraph import Quad

from gateway.rdf.terms import GraphName, Term


class QuadCache(Protocol):
    """A cache of the store; its keeper calls `mark_current` when it has taken up a change."""

    def __bool__(self) -> bool:
        """Whether anything is cached; else no change need be taken up."""

    def cached_match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad] | None:
        """The quads of a pattern; None where they are not cached."""
