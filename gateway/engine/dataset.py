"""What units look up in: quads of a pattern, and the quads of one predicate many times.

Kept by the store, by the CTS, and by the states before and after a Delta; a unit asks any of them
alike.
"""

from collections.abc import Callable, Collection, Iterable
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


Objects = Callable[[Term], Collection[Term]]
"""The objects that a subject has with one predicate in one graph."""


class Column(Protocol):
    """The objects of one predicate in one graph, for who asks again after many a change."""

    look: Callable[[Term], Collection[Term] | None] | None
    """As `objects` and sooner, with None for nothing; None where `objects` has to be asked."""

    def objects(self, subject: Term) -> Collection[Term]:
        """What a subject has now."""


class Tables:
    """Quads that are looked up faster where predicate and graph are said once for many.

    No abstract class: each look-up asks whether it has one before it, and of those that takes long.
    """

    def look_up(self, predicate: Term, graph: GraphName) -> LookUp:
        """To be used before the next change."""
        raise NotImplementedError

    def objects(self, predicate: Term, graph: GraphName) -> Objects:
        """To be used before the next change."""
        raise NotImplementedError

    def column(self, predicate: Term, graph: GraphName) -> Column:
        """To be used as long as these are."""
        raise NotImplementedError


def look_up_in(quads: Quads, predicate: Term, graph: GraphName) -> LookUp:
    """The quads of one predicate and graph, by a table where there is one."""
    if isinstance(quads, Tables):
        return quads.look_up(predicate, graph)
    match = quads.match
    return lambda subject, object_: match(subject, predicate, object_, graph)


def objects_in(quads: Quads, predicate: Term, graph: GraphName) -> Objects:
    """What subjects have with one predicate in one graph, by a table where there is one."""
    if isinstance(quads, Tables):
        return quads.objects(predicate, graph)
    match = quads.match
    return lambda subject: [quad.object for quad in match(subject, predicate, None, graph)]


def column_in(quads: Quads, predicate: Term, graph: GraphName) -> Column:
    """What subjects have with one predicate in one graph, by a table as long as there is one."""
    if isinstance(quads, Tables):
        return quads.column(predicate, graph)
    return AskedColumn(objects_in(quads, predicate, graph))


class AskedColumn:
    """Objects that are asked for each time."""

    look: Callable[[Term], Collection[Term] | None] | None = None

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
