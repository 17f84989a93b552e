"""What units look up in: quads of a pattern, and the quads of one predicate many times.

Kept by the store, by the CTS, and by the states before and after a Delta; a unit asks any of them
alike.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Protocol

from pyoxigraph import Quad

from gateway.rdf.terms import GraphName, Term


class Quads(Protocol):
    """Something that has quads: the store, the CTS."""

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; None is a wildcard."""


LookUp = Callable[[Term | None, Term | None], Iterable[Quad]]
"""The quads of one predicate and graph with this subject and object; None is a wildcard."""


class Tables(ABC):
    """Quads that are looked up faster where predicate and graph are said once for many."""

    @abstractmethod
    def look_up(self, predicate: Term, graph: GraphName) -> LookUp:
        """To be used before the next change."""
