"""`GraphSS`: what is similar is told by the structure of graphs (a reconstruction).

Place on the way of the data: a `Guessing` adapter. Publications are similar whose main resource has
the same types and the same set of properties. For each channel and kind of publication it learns
where every variable comes from: the resource itself, the value of a property, or always the same
term. What two notifications contradict is no source; a variable without one is never guessed again.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product

from bench.sepbm.adapters.guessing import Guessing, TextRow
from bench.sepbm.lubm import RDF_TYPE, Statement

MOST_CANDIDATES = 64

_Source = tuple[str, str]
"""`resource`, `property` with its name, or `term` with the term."""

_PREFERRED = ("resource", "property", "term")


class GraphSS(Guessing):
    """Similar is what has the same types and properties."""

    def __init__(self, namespace: str, truth: str = "naive") -> None:
        super().__init__(namespace, truth)
        self._sources: dict[tuple[str, object], list[set[_Source]]] = {}

    def candidates(self, channel: str, graph: Sequence[Statement]) -> Iterable[TextRow]:
        """Every choice of values of the properties that variables come from."""
        sources = self._sources.get((channel, _kind(graph)))
        if sources is None or not all(sources):
            return ()
        values = [_values(min(found, key=_order), graph) for found in sources]
        rows = product(*values)
        return dict.fromkeys(row for row, _ in zip(rows, range(MOST_CANDIDATES), strict=False))

    def learn(self, channel: str, graph: Sequence[Statement], row: TextRow) -> None:
        """Keep the sources that explain this row too."""
        of = defaultdict[str, set[_Source]](set)
        for subject, name, value in graph:
            of[subject].add(("resource", ""))
            of[value].add(("property", name))
        found = [{*of[term], ("term", term)} for term in row]
        key = channel, _kind(graph)
        before = self._sources.get(key, found)
        self._sources[key] = [old & new for old, new in zip(before, found, strict=True)]


def _kind(graph: Sequence[Statement]) -> object:
    types = frozenset(o for _, p, o in graph if p == RDF_TYPE)
    return types, frozenset(p for _, p, _ in graph)


def _values(source: _Source, graph: Sequence[Statement]) -> Sequence[str]:
    kind, name = source
    if kind == "resource":
        return [graph[0][0]]
    return [o for _, p, o in graph if p == name] if kind == "property" else [name]


def _order(source: _Source) -> tuple[int, str]:
    return _PREFERRED.index(source[0]), source[1]
