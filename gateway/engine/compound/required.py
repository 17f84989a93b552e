"""Which triple patterns must match for a query to have any solution at all.

    query -> patterns of its outermost groups -> what an event must have

Place: between the query of a subscription in mode `event` and the index over all of them: an event
that lacks one of these patterns need not be asked. Source: SPARQL 1.1 Query Language, section 18.5
(Join, Filter, Extend and Graph have no solution without one of their operands; LeftJoin and Minus
none without the left one).
"""

from collections.abc import Iterator

from pyoxigraph import NamedNode, Variable

from gateway.engine.join.join_pattern import JoinPattern, Slot
from gateway.rdf.canonical import canonical
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.sparql import algebra
from gateway.sparql.algebra import Group, PatternTerm, Query
from gateway.sparql.constants import iri_equality
from gateway.sparql.paths import Path
from gateway.sparql.scope import walk

_Graph = GraphName | str


def required_patterns(query: Query) -> tuple[JoinPattern, ...]:
    """The patterns without which the answer is empty; none where it never is.

    An aggregate without GROUP BY has a row about nothing.
    """
    clauses = (query.projection, query.having, query.order_by)
    is_grouped = any(isinstance(node, algebra.Aggregate) for node in walk(clauses))
    if (is_grouped or query.having) and not query.group_by:
        return ()
    return tuple(dict.fromkeys(_required(query.where, DEFAULT_GRAPH)))


def _required(group: Group, graph: _Graph) -> Iterator[JoinPattern]:
    known = dict(_equal(group))
    for element in group.elements:
        match element:
            case algebra.BasicPattern(patterns=patterns):
                for each in patterns:
                    if not isinstance(each.predicate, Path):
                        yield _pattern(each, graph).put(known)
            case Group():
                yield from _required(element, graph)
            case algebra.Graph(name=name, group=inner):
                yield from _required(inner, name if isinstance(name, NamedNode) else name.value)
            case _:
                pass


def _equal(group: Group) -> Iterator[tuple[str, Term]]:
    """Variables that a FILTER of the group makes equal to an IRI."""
    for element in group.elements:
        if isinstance(element, algebra.Filter):
            equality = iri_equality(element.expression)
            if equality is not None:
                variable, iri = equality
                yield variable.value, iri


def _pattern(pattern: algebra.TriplePattern, graph: _Graph) -> JoinPattern:
    ends = (pattern.subject, pattern.predicate, pattern.object)
    subject, predicate, object_ = map(_slot, ends)  # type: ignore[arg-type]  # no Path
    return JoinPattern(subject, predicate, object_, graph)


def _slot(node: PatternTerm) -> Slot:
    return node.value if isinstance(node, Variable) else canonical(node)
