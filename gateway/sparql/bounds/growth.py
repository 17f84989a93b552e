"""How much longer than its data a text can make a string: CONCAT of CONCAT doubles, and doubles.

Place: asked before something is subscribed or updated, which is evaluated beside everything else,
and before a QUERY is given a thread instead of a process. Source: SPARQL 1.1 Query Language,
section 17.4.3.
"""

from collections.abc import Iterable, Mapping
from math import inf

from pyoxigraph import Literal, Variable

from gateway.errors import TooLargeError
from gateway.sparql import algebra
from gateway.sparql.algebra import Expression, Group, Query

MOST_GROWTH = 100.0
"""CONCAT of four has a growth of 4; two dozen of them in each other are no formatting."""

_FIRST = frozenset(
    {
        *("STR", "IRI", "URI", "STRDT", "STRLANG", "SUBSTR", "STRBEFORE", "STRAFTER"),
    }
)
_TWICE = frozenset({"UCASE", "LCASE"})
_OF_ROWS = frozenset({"GROUP_CONCAT", "SAMPLE", "MIN", "MAX"})


def require_growth(tree: Query | Group) -> None:
    """Raise TooLargeError where a string may become more than 100 times as long as its data."""
    if growth(tree) > MOST_GROWTH:
        raise TooLargeError(
            f"a string may grow to more than {MOST_GROWTH:g} times its length",
            "put less CONCAT, or REPLACE by a variable, into each other",
        )


def growth(tree: Query | Group) -> float:
    """The most times that a string can be as long as the longest that it is made of."""
    found = _Growth()
    if isinstance(tree, Query):
        found.query(tree, {})
    else:
        found.group(tree, {})
    return found.most


class _Growth:
    """Follows variables through the clauses, in the order in which they are bound."""

    def __init__(self) -> None:
        self.most = 1.0

    def query(self, query: Query, known: Mapping[str, float]) -> dict[str, float]:
        """The growth of the columns of a query, and of all that it is ordered by."""
        names = self.group(query.where, known)
        for key in query.group_by:
            value = self.expression(key.expression, names)
            if key.variable is not None:
                names[key.variable.value] = value
        for column in query.projection or ():
            if column.expression is not None:
                names[column.variable.value] = self.expression(column.expression, names)
        for condition in (*query.having, *(key.expression for key in query.order_by)):
            self.expression(condition, names)
        return names

    def group(self, group: Group, known: Mapping[str, float]) -> dict[str, float]:
        """The growth of what is bound behind a group."""
        names = dict(known)
        filters: list[Expression] = []
        for element in group.elements:
            match element:
                case algebra.Bind(expression=expression, variable=variable):
                    names[variable.value] = self.expression(expression, names)
                case algebra.Filter(expression=expression):
                    filters.append(expression)
                case algebra.Union(branches=branches):
                    _widen(names, [self.group(branch, names) for branch in branches])
                case algebra.SubSelect(query=query):
                    _widen(names, [self.query(query, {})])
                case Group():
                    _widen(names, [self.group(element, names)])
                case algebra.BasicPattern() | algebra.Values():
                    pass
                case _:
                    _widen(names, [self.group(element.group, names)])
        for expression in filters:
            self.expression(expression, names)
        return names

    def expression(self, expression: Expression, names: Mapping[str, float]) -> float:
        """The growth of a value."""
        value = self._value(expression, names)
        self.most = max(self.most, value)
        return value

    def _value(self, expression: Expression, names: Mapping[str, float]) -> float:
        match expression:
            case Variable(value=name):
                return names.get(name, 1.0)
            case algebra.Operation(name=name, args=args):
                return self._operation(name, args, [self.expression(each, names) for each in args])
            case algebra.Call(args=args):
                return max((self.expression(each, names) for each in args), default=1.0)
            case algebra.Aggregate(name=name, argument=argument) if argument is not None:
                value = self.expression(argument, names)
                return value if name in _OF_ROWS else 1.0
            case algebra.In(value=value, options=options):
                for each in (value, *options):
                    self.expression(each, names)
            case algebra.Exists(group=group):
                self.group(group, names)
        return 1.0

    def _operation(self, name: str, args: tuple[Expression, ...], values: list[float]) -> float:
        match name:
            case "CONCAT":
                return sum(values)
            case "REPLACE":
                by = args[2]
                return values[0] * (len(by.value) + 1 if isinstance(by, Literal) else inf)
            case "IF" | "COALESCE":
                return max(values[name == "IF" :], default=1.0)
            case "ENCODE_FOR_URI":
                return 9 * values[0]
            case _ if name in _TWICE:
                return 2 * values[0]
            case _:
                return values[0] if name in _FIRST else 1.0


def _widen(names: dict[str, float], others: Iterable[Mapping[str, float]]) -> None:
    for other in others:
        for name, value in other.items():
            names[name] = max(value, names.get(name, 1.0))
