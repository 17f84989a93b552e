"""Walks over the syntax tree: every node of it, and the free variables of an expression.

Source: SPARQL 1.1 Query Language, sections 11.4, 18.2.1 and the notes of 19.8.
Place: asked by the parser for the rules between clauses, by `patterns` for what a query contains.
`walk` does not recurse, so the depth of a tree costs no stack.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from pyoxigraph import BlankNode, Variable

from gateway.sparql import algebra
from gateway.sparql.algebra import (
    HIDDEN_PREFIX,
    Aggregate,
    Exists,
    Expression,
    PatternTerm,
    Projection,
    Query,
    TriplePattern,
    visible_variables,
)

_NODE_TYPES = (
    *(algebra.Operation, algebra.Call, algebra.Aggregate, algebra.In, algebra.Exists),
    *(algebra.Group, algebra.BasicPattern, algebra.Graph, algebra.Optional, algebra.Union),
    *(algebra.Minus, algebra.Filter, algebra.Bind, algebra.Values, algebra.SubSelect),
    *(algebra.Service, algebra.Query, algebra.Projection, algebra.GroupKey, algebra.OrderKey),
    *(algebra.TriplePattern, algebra.QuadPattern, algebra.Modify, algebra.Update),
)
_LEAVES = frozenset({"prefixes", "base", "rows", "start", "end", "form"})
_CHILDREN: dict[type, tuple[str, ...]] = {
    node_type: tuple(field.name for field in fields(node_type) if field.name not in _LEAVES)
    for node_type in _NODE_TYPES
}


def walk(root: object, stop_at: tuple[type, ...] = ()) -> Iterator[object]:
    """All nodes and terms from `root` on, each before what it contains, in no other order.

    What stands below a node of the types in `stop_at` is left out.
    """
    waiting: list[object] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(node)
            continue
        yield node
        if not isinstance(node, stop_at):
            waiting.extend(getattr(node, name) for name in _CHILDREN.get(type(node), ()))


def free_variables(expression: Expression) -> set[Variable]:
    """The variables that an expression reads from its solution, those in aggregates left out."""
    return {node for node in walk(expression, (Aggregate, Exists)) if isinstance(node, Variable)}


def hide_blanks(template: Iterable[TriplePattern]) -> tuple[TriplePattern, ...]:
    """A template as pattern: its blank nodes are hidden variables."""
    return tuple(
        TriplePattern(_hidden(triple.subject), triple.predicate, _hidden(triple.object))
        for triple in template
    )


def _hidden(node: PatternTerm) -> PatternTerm:
    return Variable(HIDDEN_PREFIX + node.value) if isinstance(node, BlankNode) else node


def wrong_columns(query: Query, aggregated: bool) -> str:
    """Why the columns of a SELECT do not fit its other clauses; empty if they do."""
    columns = query.projection
    grouped = aggregated or bool(query.group_by)
    if columns is None:
        return "SELECT * cannot be grouped" if grouped else ""
    if not grouped and all(column.expression is None for column in columns):
        return ""
    visible = set(visible_variables(query.where.elements))
    values = set() if query.values is None else set(query.values.variables)
    if not grouped:
        return _taken_name(columns, visible | values)
    names = [key.variable for key in query.group_by if key.variable is not None]
    named = tuple(Projection(name, name) for name in names)
    keys = {key.expression for key in query.group_by if isinstance(key.expression, Variable)}
    keys.update(names)
    # Of the group graph pattern only the keys are in scope once it is grouped.
    return (
        _taken_name(named, visible)
        or _not_grouped(columns, set(keys))
        or _taken_name(columns, keys | values)
    )


def _not_grouped(columns: Iterable[Projection], known: set[Variable]) -> str:
    for column in columns:
        expression = column.expression
        needed = {column.variable} if expression is None else free_variables(expression)
        if not needed <= known:
            names = ", ".join(sorted(str(variable) for variable in needed - known))
            return f"{names} is neither grouped by nor in an aggregate"
        known.add(column.variable)
    return ""


def _taken_name(columns: Iterable[Projection], taken: set[Variable]) -> str:
    for column in columns:
        if column.expression is not None and column.variable in taken:
            return f"AS {column.variable}: the variable has a value already"
        taken.add(column.variable)
    return ""
