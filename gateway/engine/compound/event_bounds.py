"""How much a query can make of an event, found before the store is asked, which nobody can stop.

    query, event -> solutions of each group, at most -> asked, or the subscription ends

Place: between `EventQuery` and the store. An event is small, but a query may join it with itself
again and again. Of a pattern whose variables are known in part, no more triples match than the most
frequent value of these has; a product of such numbers bounds a join (compare Atserias, Grohe and
Marx, "Size bounds and query plans for relational joins", 2008, section 1).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pyoxigraph import Variable

from gateway.engine.compound.event import CompoundEvent, Stated
from gateway.errors import TooComplexError
from gateway.rdf.canonical import canonical
from gateway.rdf.terms import Term
from gateway.sparql import algebra, paths
from gateway.sparql.algebra import Element, Group, Query, TriplePattern
from gateway.sparql.scope import walk

MOST_SOLUTIONS = 2_000_000
"""Solutions of all groups of a query together: the store makes some millions a second."""

_ENOUGH = MOST_SOLUTIONS + 1


def require_bounded(query: Query, event: CompoundEvent) -> None:
    """Raise TooComplexError where an event may make a query more than MOST_SOLUTIONS.

    Linear in the patterns, for most events; else in the patterns times the triples.
    """
    patterns = sum(
        len(node.patterns) for node in walk(query) if isinstance(node, algebra.BasicPattern)
    )
    if _is_surely_small(len(event), patterns, query):
        return
    size, total = _Size(event), 0
    for node in walk(query):
        if isinstance(node, Group):
            total += size.of(node, frozenset())
            if total > MOST_SOLUTIONS:
                raise TooComplexError(
                    f"an event of {len(event)} triples may make this query more than "
                    f"{MOST_SOLUTIONS} solutions",
                    "connect its patterns by variables, or name predicates",
                )


def _is_surely_small(triples: int, patterns: int, query: Query) -> bool:
    has_others = any(isinstance(node, algebra.Values) or _is_path(node) for node in walk(query))
    return not has_others and (triples + 1) ** min(patterns, 64) <= MOST_SOLUTIONS


def _is_path(node: object) -> bool:
    return isinstance(node, TriplePattern) and node.is_path


class _Size:
    """Bounds of one event."""

    def __init__(self, event: CompoundEvent) -> None:
        self._event = event
        self._known: dict[tuple[TriplePattern, frozenset[Variable]], int] = {}
        ends = {end for each in event.triples for end in (each.subject, each.object)}
        self._nodes = len(ends)

    def of(self, group: Group, known: frozenset[Variable]) -> int:
        """How many solutions the group has at most for one of these variables' values."""
        found = 1
        patterns = list(_patterns(group.elements))
        while patterns and found < _ENOUGH:
            best = min(patterns, key=lambda each: self._matches(each, known))
            patterns.remove(best)
            found *= self._matches(best, known)
            known |= {
                node
                for node in (best.subject, best.predicate, best.object)
                if isinstance(node, Variable)
            }
        for element in group.elements:
            if found >= _ENOUGH:
                return _ENOUGH
            found *= self._of_element(element, known)
        return min(found, _ENOUGH)

    def _of_element(self, element: Element, known: frozenset[Variable]) -> int:
        match element:
            case Group():
                return self.of(element, known)
            case algebra.Optional(group=inner):
                return max(1, self.of(inner, known))
            case algebra.Union(branches=branches):
                return sum(self.of(branch, known) for branch in branches)
            case algebra.Minus(group=inner):
                return 1 + self.of(inner, frozenset())
            case algebra.SubSelect(query=query):
                return self.of(query.where, frozenset())
            case algebra.Values(rows=rows):
                return max(1, len(rows))
            case algebra.Graph(group=inner):
                return max(1, self.of(Group(tuple(_beyond_patterns(inner.elements))), known))
            case algebra.Filter(expression=expression) | algebra.Bind(expression=expression):
                return self._of_exists(expression, known)
            case _:
                return 1

    def _of_exists(self, expression: object, known: frozenset[Variable]) -> int:
        """What is looked at for each solution."""
        inner = [
            node.group
            for node in walk(expression, (algebra.Exists,))
            if isinstance(node, algebra.Exists)
        ]
        return 1 + sum(self.of(group, known) for group in inner)

    def _matches(self, pattern: TriplePattern, known: frozenset[Variable]) -> int:
        nodes = (pattern.subject, pattern.predicate, pattern.object)
        own = frozenset(node for node in nodes if isinstance(node, Variable) and node in known)
        key = pattern, own
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._counted(pattern, own)
        return found

    def _counted(self, pattern: TriplePattern, known: frozenset[Variable]) -> int:
        if isinstance(pattern.predicate, paths.Path):
            ends = sum(node not in known for node in (pattern.subject, pattern.object))
            nodes: int = max(1, self._nodes**ends)
            return nodes * _walks(pattern.predicate, len(self._event))
        keys = [_key(triple, pattern, known) for triple in self._event.triples]
        return max(Counter(key for key in keys if key is not None).values(), default=0)


def _key(
    triple: Stated, pattern: TriplePattern, known: frozenset[Variable]
) -> tuple[Term, ...] | None:
    """What a triple has where the pattern's variables are known; None where it does not match."""
    found: list[Term] = []
    ends = (
        (pattern.subject, triple.subject),
        (pattern.predicate, triple.predicate),
        (pattern.object, triple.object),
    )
    for node, term in ends:
        if isinstance(node, Variable):
            if node in known:
                found.append(term)
        elif isinstance(node, paths.Path) or canonical(node) != term:
            return None
    return tuple(found)


def _walks(path: paths.Path, triples: int) -> int:
    """How often a path may lead from one node to another: nested sequences multiply."""
    steps = sum(isinstance(node, paths.Link) for node in walk(path))
    walks: int = max(1, triples) ** max(0, steps - 1)
    return min(_ENOUGH, walks)


def _patterns(elements: Iterable[Element]) -> Iterator[TriplePattern]:
    for element in elements:
        match element:
            case algebra.BasicPattern(patterns=patterns):
                yield from patterns
            case algebra.Graph(group=inner):
                yield from _patterns(inner.elements)


def _beyond_patterns(elements: Sequence[Element]) -> Iterator[Element]:
    return (each for each in elements if not isinstance(each, algebra.BasicPattern))
