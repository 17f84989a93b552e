"""From the clauses of a grouped query to its `Grouping` and the columns that it needs before.

Place: under `query`. Source: SPARQL 1.1 Query Language, section 18.2.4.1.
"""

from typing import Protocol

from pyoxigraph import Variable

from gateway.engine.incremental.aggregates import accumulator
from gateway.engine.incremental.draft import NotIncrementalError
from gateway.engine.incremental.expressions import Expression as Compiled
from gateway.engine.incremental.grouping import Column, Grouping
from gateway.engine.incremental.syntax import Expression, Replacement
from gateway.sparql import algebra
from gateway.sparql.algebra import Query, QueryForm
from gateway.sparql.scope import walk

Columns = list[tuple[str, Expression]]


class Translates(Protocol):
    """The translator of the query."""

    def hidden(self, kind: str) -> str:
        """A variable that no text has."""

    def plain(self, tree: Expression) -> Compiled:
        """An expression without EXISTS and aggregates. Raises NotIncrementalError."""


NO_ARGUMENT = ""
"""The argument of `COUNT(*)`: a name that nothing binds."""


def is_grouped(query: Query) -> bool:
    """Whether the rows are groups of solutions."""
    return bool(query.group_by) or any(
        isinstance(node, algebra.Aggregate) for node in walk((query.projection, query.having))
    )


def grouping_of(query: Query, translator: Translates) -> tuple[Grouping, Columns, Columns]:
    """The grouping, and which keys and arguments are to be computed. Raises NotIncrementalError."""
    if query.form is not QueryForm.SELECT or query.distinct or query.reduced or query.values:
        raise NotIncrementalError("groups of something else than a plain SELECT")
    if query.limit is not None or query.offset is not None:
        raise NotIncrementalError("LIMIT")
    names: dict[algebra.Aggregate, str] = {}
    columns = tuple(_columns(query, translator, names))
    having = tuple(translator.plain(_named(each, translator, names)) for each in query.having)
    keys, computed_keys = _keys(query, translator)
    arguments, computed_arguments = _arguments(names, translator)
    grouping = Grouping(
        keys=keys,
        arguments=arguments,
        aggregates=tuple((name, aggregate) for aggregate, name in names.items()),
        having=having,
        columns=columns,
        is_implicit=not query.group_by,
    )
    return grouping, computed_keys, computed_arguments


def _columns(
    query: Query, translator: Translates, names: dict[algebra.Aggregate, str]
) -> list[Column]:
    return [
        Column(
            column.variable.value,
            None
            if column.expression is None
            else translator.plain(_named(column.expression, translator, names)),
        )
        for column in query.projection or ()
    ]


def _named(
    tree: Expression, translator: Translates, names: dict[algebra.Aggregate, str]
) -> Expression:
    """The expression with a variable in the place of each aggregate; equal ones share it."""

    def name_of(aggregate: algebra.Aggregate) -> Variable:
        if accumulator(aggregate) is None:
            raise NotIncrementalError(f"{aggregate.name} depends on the order of evaluation")
        if aggregate not in names:
            names[aggregate] = translator.hidden("aggregate")
        return Variable(names[aggregate])

    return Replacement(algebra.Aggregate, name_of).expression(tree)


def _keys(query: Query, translator: Translates) -> tuple[tuple[str, ...], Columns]:
    names: list[str] = []
    computed: Columns = []
    for key in query.group_by:
        if key.variable is None and isinstance(key.expression, Variable):
            names.append(key.expression.value)
        else:
            name = translator.hidden("key") if key.variable is None else key.variable.value
            names.append(name)
            computed.append((name, key.expression))
    return tuple(names), computed


def _arguments(
    names: dict[algebra.Aggregate, str], translator: Translates
) -> tuple[tuple[str, ...], Columns]:
    arguments: list[str] = []
    computed: Columns = []
    for aggregate in names:
        match aggregate.argument:
            case None:
                arguments.append(NO_ARGUMENT)
            case Variable(value=name):
                arguments.append(name)
            case tree:
                arguments.append(translator.hidden("argument"))
                computed.append((arguments[-1], tree))
    return tuple(arguments), computed
