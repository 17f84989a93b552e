"""`SinglePatternUnit`: one triple pattern and plain variables, read off the changed quads."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pyoxigraph import DefaultGraph, Quad, Variable

from gateway.engine.lutt import Artq, LuttEntry
from gateway.engine.spu import Change, Dataset, Spu, evaluate
from gateway.rdf.solutions import ResultsDelta, Row, consolidate, difference
from gateway.sparql.patterns import SinglePattern


class SinglePatternUnit:
    """Each changed quad that matches is a row; nothing of the answer is kept."""

    tier = "single pattern"

    def __init__(
        self, store: Dataset, spu: Spu, lutt: tuple[LuttEntry, ...], single: SinglePattern
    ) -> None:
        self.members = (spu,)
        self.lutt = lutt
        self._store = store
        pattern = single.pattern
        nodes = (pattern.subject, pattern.predicate, pattern.object, single.graph)
        self._wants_named = isinstance(single.graph, Variable)
        places: dict[str, list[int]] = {}
        for place, node in enumerate(nodes):
            if isinstance(node, Variable):
                places.setdefault(node.value, []).append(place)
        self._columns = tuple(places.get(name, [None])[0] for name in spu.variables)
        self._equal = tuple((where[0], other) for where in places.values() for other in where[1:])

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer, from the store."""
        return difference(spu.variables, Counter(), evaluate(self._store, spu.subject))

    def reach(self, artq: Artq) -> int:
        """The one member."""
        del artq
        return 1

    def process(self, artq: Artq) -> Iterable[Change]:
        """A row for each changed quad, netted after projection."""
        (spu,) = self.members
        added, removed = self._rows(artq.added), self._rows(artq.removed)
        return ((spu, consolidate(spu.variables, added, removed)),)

    def _rows(self, quads: Sequence[Quad]) -> list[Row]:
        rows: list[Row] = []
        for quad in quads:
            if self._wants_named and isinstance(quad.graph_name, DefaultGraph):
                continue
            terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)
            if all(terms[first] == terms[second] for first, second in self._equal):
                rows.append(
                    tuple(None if place is None else terms[place] for place in self._columns)  # type: ignore[misc]
                )
        return rows
