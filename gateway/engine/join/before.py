"""`Before`: the state before a Delta, for the look-ups of a join.

Place: within the BOOSTER, which finds removed rows there.
"""

from collections.abc import Collection, Iterable, Sequence

from pyoxigraph import Quad

from gateway.engine.dataset import (
    AskedColumn,
    Column,
    LookUp,
    Objects,
    Quads,
    Tables,
    look_up_in,
    objects_in,
)
from gateway.rdf.terms import GraphName, Term


class Before(Tables):
    """The state before a Delta: (now without `added`) and `removed`."""

    def __init__(self, now: Quads, added: Sequence[Quad], removed: Sequence[Quad]) -> None:
        self._now = now
        self._looks: dict[tuple[Term, GraphName], LookUp] = {}
        self._added = frozenset(added)
        self._removed = removed
        self._predicates = {quad.predicate for quad in (*added, *removed)}

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern in that state."""
        found = self._now.match(subject, predicate, object_, graph)
        if predicate is not None and predicate not in self._predicates:
            return found
        quads = [quad for quad in found if quad not in self._added]
        quads += [
            quad
            for quad in self._removed
            if (subject is None or subject == quad.subject)
            and (predicate is None or predicate == quad.predicate)
            and (object_ is None or object_ == quad.object)
            and (graph is None or graph == quad.graph_name)
        ]
        return quads

    def look_up(self, predicate: Term, graph: GraphName) -> LookUp:
        """The quads of one predicate and graph in that state."""
        look = self._looks.get((predicate, graph))
        if look is None:
            now = look_up_in(self._now, predicate, graph)
            look = now if predicate not in self._predicates else self._look(now, predicate, graph)
            self._looks[predicate, graph] = look
        return look

    def _look(self, now: LookUp, predicate: Term, graph: GraphName) -> LookUp:
        added = self._added
        back = [
            (quad.subject, quad.object, quad)
            for quad in self._removed
            if quad.predicate == predicate and quad.graph_name == graph
        ]

        def look(subject: Term | None, object_: Term | None) -> Iterable[Quad]:
            found = now(subject, object_)
            if added:
                found = [quad for quad in found if quad not in added]
            gone = [
                quad
                for one, other, quad in back
                if (subject is None or subject == one) and (object_ is None or object_ == other)
            ]
            return [*found, *gone] if gone else found

        return look

    def objects(self, predicate: Term, graph: GraphName) -> Objects:
        """What subjects had with one predicate in one graph."""
        now = objects_in(self._now, predicate, graph)
        if predicate not in self._predicates:
            return now
        new = _ends(self._added, predicate, graph)
        gone = _ends(self._removed, predicate, graph)

        def objects(subject: Term) -> Collection[Term]:
            found = now(subject)
            if subject in new:
                own = new[subject]
                found = [each for each in found if each not in own]
            return [*found, *gone[subject]] if subject in gone else found

        return objects

    def column(self, predicate: Term, graph: GraphName) -> Column:
        """What subjects had; this state does not change."""
        return AskedColumn(self.objects(predicate, graph))


def _ends(quads: Iterable[Quad], predicate: Term, graph: GraphName) -> dict[Term, dict[Term, None]]:
    """The objects of quads with this predicate and graph, by subject."""
    found: dict[Term, dict[Term, None]] = {}
    for quad in quads:
        if quad.predicate == predicate and quad.graph_name == graph:
            found.setdefault(quad.subject, {})[quad.object] = None
    return found
