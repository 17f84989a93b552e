"""Which queries are joins of triple patterns alone: the shape that the BOOSTER answers exactly.

SELECT [DISTINCT] of plain variables over triple patterns without paths, in the default graph or in
`GRAPH <iri>`, connected by shared variables. `FILTER(?v = <iri>)` is made a constant, which means
the same for IRIs and is worth orders of magnitude (engine.md, section 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Variable

from gateway.engine.booster import JoinPattern, Slot
from gateway.rdf.canonical import canonical
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.sparql import algebra
from gateway.sparql.algebra import Element, Query, QueryForm
from gateway.sparql.paths import Path


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Patterns and columns; a column is a variable or the constant that it was made."""

    patterns: tuple[JoinPattern, ...]
    columns: tuple[Slot, ...]
    distinct: bool


def conjunction(query: Query) -> Conjunction | None:
    """The conjunction that a query is, or None."""
    if not _is_plain(query):
        return None
    patterns: list[JoinPattern] = []
    constants: dict[str, Term] = {}
    for element in query.where.elements:
        if isinstance(element, algebra.Filter):
            equality = _equality(element.expression)
            if equality is None or equality[0] in constants:
                return None
            constants[equality[0]] = equality[1]
        else:
            found = _patterns(element)
            if found is None:
                return None
            patterns += found
    names = {name for pattern in patterns for name in pattern.variables}
    if not constants.keys() <= names:
        return None
    bound = tuple(_substitute(pattern, constants) for pattern in patterns)
    if not _is_connected(bound):
        return None
    columns = tuple(constants.get(name, name) for name in query.variables)
    return Conjunction(bound, columns, query.distinct)


def _is_plain(query: Query) -> bool:
    """A SELECT whose rows are the solutions of its group, projected."""
    return (
        query.form is QueryForm.SELECT
        and query.dataset is None
        and query.values is None
        and query.limit is None
        and query.offset is None
        and not (query.reduced or query.group_by or query.having or query.order_by)
        and not any(column.expression for column in query.projection or ())
    )


def _patterns(element: Element) -> list[JoinPattern] | None:
    match element:
        case algebra.BasicPattern(patterns=patterns):
            return _in_graph(patterns, DEFAULT_GRAPH)
        case algebra.Graph(name=NamedNode() as name, group=group):
            match group.elements:
                case (algebra.BasicPattern(patterns=patterns),):
                    return _in_graph(patterns, name)
    return None


def _in_graph(
    patterns: Sequence[algebra.TriplePattern], graph: GraphName
) -> list[JoinPattern] | None:
    if any(pattern.is_path for pattern in patterns):
        return None
    return [
        JoinPattern(_slot(each.subject), _slot(each.predicate), _slot(each.object), graph)
        for each in patterns
    ]


def _slot(node: algebra.PatternTerm | Path) -> Slot:
    return node.value if isinstance(node, Variable) else canonical(node)  # type: ignore[arg-type]


def _equality(expression: algebra.Expression) -> tuple[str, Term] | None:
    """`?v = <iri>`, either way round: for IRIs the same as being that term."""
    match expression:
        case algebra.Operation(name="=", args=(Variable() as variable, NamedNode() as iri)):
            return variable.value, iri
        case algebra.Operation(name="=", args=(NamedNode() as iri, Variable() as variable)):
            return variable.value, iri
        case _:
            return None


def _substitute(pattern: JoinPattern, constants: dict[str, Term]) -> JoinPattern:
    subject, predicate, object_ = (
        constants.get(slot, slot) if isinstance(slot, str) else slot for slot in pattern.slots
    )
    return replace(pattern, subject=subject, predicate=predicate, object=object_)


def _is_connected(patterns: Sequence[JoinPattern]) -> bool:
    """Whether shared variables lead from each pattern to every other: no cartesian product."""
    reached, left = set[str](), list(patterns)
    while left:
        beside = [p for p in left if p.variables & reached or not reached]
        if not beside:
            return False
        following = beside[0]
        left.remove(following)
        reached |= following.variables
    return bool(patterns)
