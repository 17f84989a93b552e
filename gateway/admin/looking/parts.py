"""The parts of a query that can be the reason why it has no rows, in the order of evaluation.

Place: asked by `quiet`. A part is a triple pattern, a GRAPH block, a FILTER, or anything else that
can take rows away. Patterns are joined in an order in which each meets those before it, where the
query has one: the rows are the same, and no product of all with all is counted on the way.
OPTIONAL and BIND take nothing away: they are joined, and are no parts. FILTERs come last, as in
the specification; `&&` is several of them. Source: SPARQL 1.1 Query Language, section 18.2.2.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import Variable

from gateway.sparql import algebra
from gateway.sparql.algebra import Element, Filter, Group, Query, TriplePattern, visible_variables
from gateway.sparql.scope import free_variables, walk

Elements = tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part, and what is asked about it: `alone`, and `joined` with those before it.

    A FILTER alone is asked of all patterns; `before` is what it, or a pattern, is joined with.
    """

    element: Element
    before: Elements
    alone: Elements
    joined: Elements

    @property
    def pattern(self) -> TriplePattern | None:
        """The triple pattern that it is, perhaps of a named graph."""
        element = self.element
        if isinstance(element, algebra.Graph) and len(element.group.elements) == 1:
            (element,) = element.group.elements
        if isinstance(element, algebra.BasicPattern) and len(element.patterns) == 1:
            return element.patterns[0]
        return None


def parts_of(query: Query) -> list[Part]:
    """The parts of the WHERE, of an only sub-query's where there is nothing else, and VALUES."""
    group, values = _innermost(query)
    filters, steps = _sorted(_flat(group.elements))
    parts, before = [], tuple[Element, ...]()
    for step in steps:
        joined = (*before, step)
        if not isinstance(step, algebra.Optional | algebra.Bind):
            alone = joined if isinstance(step, algebra.Minus) else (step,)
            parts.append(Part(step, before, alone, joined))
        before = joined
    patterns = before
    for each in filters:
        joined = (*before, each)
        parts.append(Part(each, before, (*patterns, each), joined))
        before = joined
    if values is not None:
        inner = (Group(before),)
        parts.append(Part(values, inner, (values,), (*inner, values)))
    return parts


def _innermost(query: Query) -> tuple[Group, algebra.Values | None]:
    group, values = query.where, None if query.group_by else query.values
    while values is None and len(group.elements) == 1:
        (only,) = group.elements
        if isinstance(only, Group):
            group = only
        elif isinstance(only, algebra.SubSelect) and only.query.limit is None:
            group, values = only.query.where, None if only.query.group_by else only.query.values
        else:
            break
    return group, values


def _flat(elements: Iterable[Element]) -> Iterator[Element]:
    """The elements, each pattern and each condition by itself."""
    for element in elements:
        match element:
            case algebra.BasicPattern(patterns=patterns):
                yield from (algebra.BasicPattern((each,)) for each in patterns)
            case algebra.Graph(name=name, group=group) if _is_plain(group):
                for each in _flat(group.elements):
                    is_filter = isinstance(each, Filter)
                    yield each if is_filter else algebra.Graph(name, Group((each,)))
            case Filter(expression=algebra.Operation(name="&&", args=args)):
                yield from map(Filter, args)
            case _:
                yield element


def _is_plain(group: Group) -> bool:
    """Whether its patterns may stand in GRAPH blocks of their own, and its FILTERs outside."""
    inner = visible_variables(group.elements)
    for element in group.elements:
        if isinstance(element, Filter):
            has_group = any(isinstance(node, algebra.Exists) for node in walk(element))
            if has_group or not free_variables(element.expression) <= inner.keys():
                return False
        elif not isinstance(element, algebra.BasicPattern):
            return False
    return any(isinstance(element, algebra.BasicPattern) for element in group.elements)


def _sorted(elements: Iterable[Element]) -> tuple[list[Filter], list[Element]]:
    """FILTERs apart; what is between OPTIONAL, MINUS and BIND in the order of meeting."""
    filters: list[Filter] = []
    steps: list[Element] = []
    run: list[Element] = []
    met: set[Variable] = set()
    for element in elements:
        if isinstance(element, Filter):
            filters.append(element)
        elif isinstance(element, algebra.Optional | algebra.Minus | algebra.Bind):
            steps += _meeting(run, met)
            steps.append(element)
            met |= _names(element)
            run = []
        else:
            run.append(element)
    return filters, [*steps, *_meeting(run, met)]


def _meeting(run: Sequence[Element], met: set[Variable]) -> Iterator[Element]:
    """The elements of a join, each after one that it shares a variable with if there is one."""
    waiting = list(run)
    while waiting:
        found = next((each for each in waiting if not met.isdisjoint(_names(each))), waiting[0])
        waiting.remove(found)
        met |= _names(found)
        yield found


def _names(element: Element) -> set[Variable]:
    if isinstance(element, algebra.Minus):
        return set()
    return {node for node in walk(element) if isinstance(node, Variable)}
