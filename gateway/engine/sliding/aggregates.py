"""Aggregates of one group, which follow the values that come and go, each at the same cost.

Place: in a `Group` of `groups`. Source: SPARQL 1.1 Query Language, section 18.5.1. An error or an
unbound value among those of SUM, AVG, MIN or MAX leaves the result unbound, as in the store.

Numbers: integers and decimals as in the store. Where a double is among the values, SUM is the sum
of real numbers rounded once to the nearest double, and AVG that divided by their number; the store
adds one by one, in an order of its own, and may differ in the last digits. What else depends on an
order there (equal numbers of two datatypes, unlike literals) is not ours to say: `UnsureError`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isnan, nan
from typing import Any, Protocol

from pyoxigraph import Literal, NamedNode, Variable

from gateway.engine.incremental.aggregates import UnsureError
from gateway.engine.sliding.measured import (
    PLACES,
    ULP_BITS,
    Kind,
    Measured,
    decimal_literal,
    integer_literal,
    parts,
)
from gateway.engine.sliding.ordered import Ordered
from gateway.rdf.namespaces import XSD
from gateway.rdf.terms import Term
from gateway.rdf.values import instant
from gateway.sparql import algebra

_STRING = NamedNode(XSD + "string")
_INTEGER, _DECIMAL, _DOUBLE, _ERROR = Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.ERROR
"""To look a member up takes as long as to add it."""
_MOST = 2**62 * PLACES
"""Sums of magnitudes below it overflow in the store in no order."""


class State(Protocol):
    """What one argument has come to in one group."""

    def add(self, times: int, known: Measured) -> None:
        """A value comes `times` times, or goes where that is negative; no term is an error.

        Raises UnsureError.
        """


class Tally:
    """COUNT of an argument: how often it has a value, and how often it has none."""

    __slots__ = ("missing", "present")

    def __init__(self) -> None:
        self.present = 0
        self.missing = 0

    def add(self, times: int, known: Measured) -> None:
        """Count it."""
        if known.term is None:
            self.missing += times
        else:
            self.present += times

    def count(self) -> Term | None:
        """COUNT of a variable: an xsd:integer."""
        return integer_literal(self.present)

    def count_of_expression(self) -> Term | None:
        """COUNT of an expression, which an error leaves unbound in the store."""
        return None if self.missing else integer_literal(self.present)


class Total:
    """SUM and AVG: exact sums, and how many of each kind there are."""

    __slots__ = (
        "_decimals",
        "_doubles",
        "_errors",
        "_integers",
        "_magnitude",
        "_specials",
        "_sum",
        "_sum_of_doubles",
        "_unknown",
    )

    def __init__(self) -> None:
        self._errors = self._unknown = self._integers = self._decimals = self._doubles = 0
        self._sum = 0
        self._magnitude = 0
        self._sum_of_doubles = 0
        self._specials: dict[str, int] | None = None

    def add(self, times: int, known: Measured) -> None:
        """Remembers no value, only sums."""
        kind, places, real, _ = known
        if kind is _DECIMAL:
            self._decimals += times
        elif kind is _INTEGER:
            self._integers += times
        elif kind is _DOUBLE:
            self._doubles += times
            if isfinite(real):
                self._sum_of_doubles += parts(real) * times
            else:
                self._count_special(repr(real), times)
            return
        elif kind is _ERROR:
            self._errors += times
            return
        else:
            self._unknown += times
            return
        moved = places * times
        self._sum += moved
        self._magnitude += moved if places > 0 else -moved

    def _count_special(self, name: str, times: int) -> None:
        if self._specials is None:
            self._specials = {}
        self._specials[name] = self._specials.get(name, 0) + times

    def sum(self) -> Term | None:
        """SUM. Raises UnsureError."""
        if self._errors:
            return None
        if self._unknown or self._magnitude >= _MOST:
            raise UnsureError
        if self._doubles:
            return Literal(self._real())
        return decimal_literal(self._sum) if self._decimals else Literal(self._sum // PLACES)

    def mean(self) -> Term | None:
        """AVG; of nothing the integer 0. Raises UnsureError."""
        if self._errors:
            return None
        if self._unknown or self._magnitude >= _MOST:
            raise UnsureError
        count = self._integers + self._decimals + self._doubles
        if not count:
            return Literal(0)
        if self._doubles:
            return Literal(self._real() / count)
        quotient = abs(self._sum) // count  # the store cuts off behind 18 places
        return decimal_literal(-quotient if self._sum < 0 else quotient)

    def _real(self) -> float:
        """The sum of all, rounded once."""
        specials = self._specials
        if specials:
            if specials.get("nan") or (specials.get("inf") and specials.get("-inf")):
                return nan
            if specials.get("inf"):
                return inf
            if specials.get("-inf"):
                return -inf
        try:
            if self._sum:
                return float(Fraction(self._sum, PLACES) + Fraction(self._sum_of_doubles, _ONE))
            return self._sum_of_doubles / _ONE
        except OverflowError:
            return inf if self._sum_of_doubles > 0 else -inf


_ONE = 1 << ULP_BITS


class Extremes:
    """MIN and MAX of values of one kind: numbers, doubles, strings, IRIs or instants in UTC.

    `_terms` has for each key the term and how often it is there; other terms with that key are in
    `_others`, and which one the store would choose is then unknown.
    """

    __slots__ = ("_errors", "_keys", "_kind", "_others", "_terms")

    def __init__(self) -> None:
        self._errors = 0
        self._kind = ""
        self._keys = Ordered()
        self._terms: dict[Any, tuple[Term | None, int]] = {}
        self._others: dict[Any, dict[Term | None, int]] = {}

    def add(self, times: int, known: Measured) -> None:
        """Keeps each value once. Raises UnsureError for one of another kind than the others."""
        number, key, _, value = known
        kind = "number"
        if number is not _DECIMAL and number is not _INTEGER:
            if value is None:
                self._errors += times
                return
            kind, key = _sort_key(value, known)
        if kind != self._kind:
            if not kind or self._terms:
                raise UnsureError
            self._kind = kind
        had = self._terms.get(key)
        if had is None:
            self._terms[key] = value, times
            self._keys.add(key)
        elif had[0] is value or had[0] == value:
            self._recount(key, value, had[1] + times)
        else:
            self._add_other(key, value, times)

    def _recount(self, key: Any, value: Term | None, count: int) -> None:
        if count:
            self._terms[key] = value, count
            return
        others = self._others.get(key)
        if others:
            other = next(iter(others))
            self._terms[key] = other, others.pop(other)
            if not others:
                del self._others[key]
            return
        del self._terms[key]
        self._keys.discard(key)

    def _add_other(self, key: Any, value: Term | None, times: int) -> None:
        others = self._others.setdefault(key, {})
        others[value] = others.get(value, 0) + times
        if not others[value]:
            del others[value]
        if not others:
            del self._others[key]

    def least(self) -> Term | None:
        """MIN. Raises UnsureError."""
        return self._chosen(self._keys.least) if self._terms else None

    def greatest(self) -> Term | None:
        """MAX. Raises UnsureError."""
        return self._chosen(self._keys.greatest) if self._terms else None

    def _chosen(self, key: Any) -> Term | None:
        if self._errors:
            return None
        if key in self._others:
            raise UnsureError
        return self._terms[key][0]


def _sort_key(value: Term, known: Measured) -> tuple[str, Any]:
    """Kind and value of no integer or decimal, "" where the store's order is not surely ours."""
    kind, _, real, _ = known
    if isinstance(value, NamedNode):
        return "iri", value.value
    if kind is _DOUBLE:
        return ("", 0) if isnan(real) else ("double", real)  # -0 and 0 are one key, two terms
    if isinstance(value, Literal):
        if value.datatype == _STRING:
            return "string", value.value
        time = instant(value)
        if time is not None:
            return "instant", time
    return "", 0


Read = Callable[[Any], Term | None]


@dataclass(frozen=True, slots=True)
class Recipes:
    """How the aggregates of a query are followed; those of one argument share a state.

    `states` are made for each group, each for the argument in a place. `reads` has for each
    aggregate the number of its state and how it is read off; None: how many rows there are.
    """

    states: tuple[tuple[int, Callable[[], State]], ...]
    reads: tuple[tuple[int, Read] | None, ...]


def recipes_of(aggregates: Sequence[algebra.Aggregate]) -> Recipes | None:
    """How to follow these, each with an argument of its own; None where one depends on an order."""
    places: dict[tuple[algebra.Expression, type[Any], bool], int] = {}
    states: list[tuple[int, Callable[[], State]]] = []
    reads: list[tuple[int, Read] | None] = []
    for place, each in enumerate(aggregates):
        if each.argument is None:
            if each.distinct:
                return None
            reads.append(None)
            continue
        known = _KNOWN.get(each.name)
        if known is None:
            return None
        kind, read = known
        if kind is Tally and not isinstance(each.argument, Variable):
            read = Tally.count_of_expression
        name = each.argument, kind, each.distinct
        if name not in places:
            places[name] = len(states)
            states.append((place, _distinct(kind) if each.distinct else kind))
        reads.append((places[name], _through(read) if each.distinct else read))
    return Recipes(tuple(states), tuple(reads))


_KNOWN: dict[str, tuple[type[Any], Read]] = {
    "COUNT": (Tally, Tally.count),
    "SUM": (Total, Total.sum),
    "AVG": (Total, Total.mean),
    "MIN": (Extremes, Extremes.least),
    "MAX": (Extremes, Extremes.greatest),
}


class Distinct:
    """A state that is told each value once."""

    __slots__ = ("_times", "inner")

    def __init__(self, inner: State) -> None:
        self.inner = inner
        self._times: dict[Term | None, int] = {}

    def add(self, times: int, known: Measured) -> None:
        """Only the first and the last of equal values matter."""
        value = known.term
        had = self._times.get(value, 0)
        left = had + times
        if left:
            self._times[value] = left
        else:
            del self._times[value]
        if bool(left) != bool(had):
            self.inner.add(1 if left else -1, known)


def _distinct(kind: type[Any]) -> Callable[[], State]:
    return lambda: Distinct(kind())


def _through(read: Read) -> Read:
    return lambda state: read(state.inner)
