"""Which queries are bounded by their form, and may be evaluated beside everything else.

Place: asked by the pool of queries: what is not bounded goes to a process of its own. Bounded are a
single pattern, and patterns that variables connect with one that has a constant subject or object,
or a variable of VALUES; with FILTER, BIND and GRAPH, (NOT) EXISTS and OPTIONAL of one pattern, and
with aggregates. Their solutions come one by one; what is kept of them is a row for each group. What
collects them first (ORDER BY), hashes another side (sub-groups, UNION, MINUS, sub-queries), walks
paths of any length, or makes long strings is not.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import Variable

from gateway.errors import UnsupportedQueryError
from gateway.runtime.text_cache import remembered
from gateway.sparql import algebra, paths
from gateway.sparql.algebra import Group, Query, TriplePattern
from gateway.sparql.bounds.growth import MOST_GROWTH, growth
from gateway.sparql.parser import parse_query
from gateway.sparql.scope import walk


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """What is asked of each text of a QUERY: the hosts of its SERVICEs, whether it is bounded."""

    services: tuple[str, ...]
    is_bounded: bool


@remembered()
def query_facts(text: str) -> QueryFacts:
    """Raises SparqlSyntaxError, TooLargeError, and what `services` does."""
    query = parse_query(text)
    return QueryFacts(services(query), is_bounded(query))


def services(tree: Query | Group) -> tuple[str, ...]:
    """The IRIs of every SERVICE, in EXISTS and sub-queries too.

    Raises UnsupportedQueryError for a SERVICE that is named by a variable: it could be any host.
    """
    names = [node.name for node in walk(tree) if isinstance(node, algebra.Service)]
    if any(isinstance(name, Variable) for name in names):
        raise UnsupportedQueryError("SERVICE with a variable may reach any host", "name its IRI")
    return tuple(name.value for name in names)


def is_bounded(query: Query) -> bool:
    """Whether the form of a query bounds the memory that evaluating it takes; linear.

    >>> is_bounded(parse_query("SELECT * { ?o a <urn:O> ; <urn:v> ?v FILTER(?v > 20) } LIMIT 9"))
    True
    >>> is_bounded(parse_query("SELECT * { ?o <urn:v> ?v . ?p <urn:v> ?w }"))
    False
    """
    if query.order_by or any(map(_collects, walk(query))) or growth(query) > MOST_GROWTH:
        return False
    if any(isinstance(node, algebra.Exists) for node in walk((query.projection, query.having))):
        return False
    given = query.values.variables if query.values is not None else ()
    return _is_connected(query.where, frozenset(given))


_COLLECTING = (algebra.Union, algebra.Minus, algebra.SubSelect, algebra.Service)
_WALKING = (paths.ZeroOrMore, paths.OneOrMore, paths.ZeroOrOne, paths.Alternative)


def _collects(node: object) -> bool:
    match node:
        case algebra.Aggregate(name=name):
            return name == "GROUP_CONCAT"
        case TriplePattern(predicate=predicate) if isinstance(predicate, paths.Path):
            return _walks(predicate)
        case _:
            return isinstance(node, _COLLECTING)


def _walks(path: paths.Path) -> bool:
    match path:
        case paths.Sequence(steps=steps):
            return any(map(_walks, steps))
        case paths.Inverse(path=inner):
            return _walks(inner)
        case _:
            return isinstance(path, _WALKING)


def _is_connected(group: Group, given: frozenset[Variable]) -> bool:
    """Whether patterns of a group, and of those in it, hang together and on something given."""
    if any(isinstance(element, Group) or _asks(element) for element in group.elements):
        return False
    patterns = list(_patterns(group))
    given = given.union(*_given(group))
    reached = set(given)
    if not given and len(patterns) > 1:
        start = next((each for each in patterns if _has_constant(each)), None)
        if start is None:
            return False
        reached |= _variables(start)
        patterns.remove(start)
    elif not given:
        reached.update(*map(_variables, patterns))
        patterns = []
    while True:
        met = [each for each in patterns if not reached.isdisjoint(_variables(each))]
        if not met:
            break
        patterns = [each for each in patterns if each not in met]
        reached.update(*map(_variables, met))
    inner = list(_inner(group))
    hashed = any(len(list(_patterns(each))) > 1 for each in inner)  # the store joins them whole
    return (
        not patterns
        and not hashed
        and all(_is_connected(each, frozenset(reached)) for each in inner)
    )


def _asks(element: algebra.Element) -> bool:
    """Whether an EXISTS is asked for a BIND, or of groups of groups."""
    if isinstance(element, algebra.Graph):
        return any(isinstance(each, Group) or _asks(each) for each in element.group.elements)
    found = walk(element, (algebra.Exists,)) if isinstance(element, algebra.Bind) else ()
    return any(isinstance(each, algebra.Exists) for each in found)


def _inner(group: Group) -> Iterator[Group]:
    """The groups that are asked for each solution: of OPTIONAL, and of EXISTS in a FILTER."""
    for element in group.elements:
        match element:
            case algebra.Optional(group=inner):
                yield inner
            case algebra.Graph(group=inner):
                yield from _inner(inner)
            case algebra.Filter(expression=expression):
                found = walk(expression, (algebra.Exists,))
                yield from (each.group for each in found if isinstance(each, algebra.Exists))


def _patterns(group: Group) -> Iterator[TriplePattern]:
    for element in group.elements:
        match element:
            case algebra.BasicPattern(patterns=patterns):
                yield from patterns
            case algebra.Graph(group=inner):
                yield from _patterns(inner)


def _given(group: Group) -> Iterator[Iterable[Variable]]:
    return (each.variables for each in group.elements if isinstance(each, algebra.Values))


def _has_constant(pattern: TriplePattern) -> bool:
    return not (isinstance(pattern.subject, Variable) and isinstance(pattern.object, Variable))


def _variables(pattern: TriplePattern) -> set[Variable]:
    return {node for node in (pattern.subject, pattern.object) if isinstance(node, Variable)}
