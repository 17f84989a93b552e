"""What a query's filters say of a variable wherever it is bound: so files need not be read.

Place on the way of the data: between the algebra and what is read. Bounds only leave out what a
filter would reject anyway; the filter itself is applied all the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from pyoxigraph import Literal, NamedNode
from rdflib.term import Identifier
from rdflib.term import Variable as RdflibVariable

from jsap.shapes.nodes import DATE_TIME, Constant, Variable, constant, instant
from jsap.shapes.patterns import KEYS, Scan
from jsap.shapes.shape import Mark

_MARKS = KEYS | {"sensor", "property", "feature"}
_TIMES = ("resultTime", "phenomenonStamp")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@dataclass(frozen=True, slots=True)
class Bound:
    """Times within which, and IRIs among which, a variable must be; None is no bound."""

    low: datetime | None = None
    high: datetime | None = None
    values: frozenset[str] | None = None

    def __and__(self, other: "Bound") -> "Bound":
        """The bound that says both."""
        lows = [each for each in (self.low, other.low) if each is not None]
        highs = [each for each in (self.high, other.high) if each is not None]
        values = [each for each in (self.values, other.values) if each is not None]
        return Bound(
            max(lows, default=None),
            min(highs, default=None),
            frozenset.intersection(*values) if values else None,
        )


Bounds = Mapping[str, Bound]


@dataclass(frozen=True, slots=True)
class Needed:
    """What a scan must read: result times from `low` to `high`, and these values of marks.

    Marks are sensor, property, feature and those that make the identity of a row.
    """

    low: datetime | None
    high: datetime | None
    values: Mapping[str, frozenset[str]]

    @property
    def first(self) -> date:
        """The first day."""
        return date.min if self.low is None else self.low.date()

    @property
    def last(self) -> date:
        """The last day."""
        return date.max if self.high is None else self.high.date()


def narrowed(bounds: Bounds, expression: Any) -> Bounds:
    """Bounds with what a filter adds to them."""
    found = dict(bounds)
    for name, bound in _of(expression):
        found[name] = found.get(name, Bound()) & bound
    return found


def needed(scan: Scan, bounds: Bounds) -> Needed:
    """Which rows a scan can find."""
    times = Bound()
    values: dict[str, frozenset[str]] = {}
    for use in scan.uses:
        bound = _bound(use.node, bounds)
        if not isinstance(use.part, Mark) or bound is None:
            continue
        if use.part.name in _TIMES:
            times &= Bound(bound.low, bound.high)
        elif use.part.name in _MARKS and bound.values is not None:
            before = values.get(use.part.name, bound.values)
            values[use.part.name] = before & bound.values
    return Needed(times.low, times.high, values)


def _bound(node: Variable | Constant, bounds: Bounds) -> Bound | None:
    if isinstance(node, Variable):
        return bounds.get(node.name)
    return _exactly(node)


def _exactly(term: Constant) -> Bound | None:
    if isinstance(term, NamedNode):
        return Bound(values=frozenset({term.value}))
    if term.datatype.value == DATE_TIME:
        return Bound(instant(term), instant(term))
    return None


def _of(expression: Any) -> Iterator[tuple[str, Bound]]:
    """The bounds of each part of a conjunction."""
    name = getattr(expression, "name", "")
    if name == "ConditionalAndExpression":
        for part in (expression.expr, *expression.other):
            yield from _of(part)
    elif name == "RelationalExpression":
        yield from _of_relation(expression.expr, str(expression.op), expression.other)


def _of_relation(left: Any, operation: str, right: Any) -> Iterator[tuple[str, Bound]]:
    if operation == "IN" and isinstance(left, RdflibVariable):
        listed = right if isinstance(right, list) else []
        terms = [_constant(each) for each in listed]
        iris = [each.value for each in terms if isinstance(each, NamedNode)]
        if len(iris) == len(terms):
            yield str(left), Bound(values=frozenset(iris))
        return
    if operation not in _MIRRORED:
        return
    if not isinstance(left, RdflibVariable):
        left, operation, right = right, _MIRRORED[operation], left
    term = _constant(right)
    if isinstance(left, RdflibVariable) and term is not None:
        bound = _related(operation, term)
        if bound is not None:
            yield str(left), bound


def _constant(node: Any) -> Constant | None:
    if isinstance(node, Identifier) and not isinstance(node, RdflibVariable):
        return constant(node)
    return None


def _related(operation: str, term: Constant) -> Bound | None:
    if operation == "=":
        return _exactly(term)
    if not isinstance(term, Literal) or term.datatype.value != DATE_TIME:
        return None
    moment = instant(term)
    return Bound(low=moment) if operation in (">", ">=") else Bound(high=moment)
