"""`Tables`: quads that somebody above the store keeps in dictionaries, and lends it.

Place: between the subscriptions' joins, which keep them (CTS), and the WHERE of an UPDATE, which
looks up the same predicates. A look-up there costs tenths of a microsecond, in Oxigraph several.
"""

from collections.abc import Iterable
from typing import Protocol

from pyoxigraph import Quad

from gateway.rdf.terms import GraphName, Term


class Tables(Protocol):
    """Their keeper tells the store (`told`) when they have taken up a change."""

    def __bool__(self) -> bool:
        """Whether there are any: else a change need not be told."""

    def at_hand(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad] | None:
        """The quads of a pattern; None where there is no table of it."""
