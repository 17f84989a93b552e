"""Aggregates that follow their group: values come and go, the result is that of the pinned store.

Place: in a `Group` of `grouping`. Source: SPARQL 1.1 Query Language, section 18.5.1. An error or an
unbound value among those of SUM, AVG, MIN or MAX leaves the result unbound. Where the result of the
store depends on the order of the values (floats, equal numbers of two datatypes, unlike literals)
it is not ours to say: `UnsureError`.
"""

from collections import Counter
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any, Protocol

from pyoxigraph import BlankNode, Literal, NamedNode, Triple, Variable

from gateway.engine.incremental.expressions import expression
from gateway.rdf.canonical import canonical
from gateway.rdf.namespaces import RDF, XSD
from gateway.rdf.terms import Term
from gateway.rdf.values import instant, is_number_type, number
from gateway.sparql import algebra

_DECIMAL = NamedNode(XSD + "decimal")
_STRING = NamedNode(XSD + "string")
_NOT_NUMBERS = frozenset(
    NamedNode(iri) for iri in (XSD + "string", XSD + "boolean", RDF + "langString")
)
_PLACES = 10**18
"""Fractions are counted in these: the store's decimals have at most 18 digits behind the point."""

_EXACT = Context(prec=80)
_MOST = 2**62
"""Sums of magnitudes below it overflow in the store in no order."""

_QUOTIENT = expression(algebra.Operation("/", (Variable("sum"), Variable("count"))))


class UnsureError(Exception):
    """The result is known to the store only."""


class Accumulator(Protocol):
    """One aggregate of one group."""

    def add(self, value: Term | None, times: int) -> None:
        """A value comes `times` times, or goes where that is negative; None is an error."""

    def value(self) -> Term | None:
        """The result; None is unbound. Raises UnsureError."""


class Count:
    """COUNT(*) where `every` solution counts, COUNT(?v) where `unbound` ones are passed over.

    An error in COUNT(expression) leaves it unbound, as in the store (SPARQL 1.1 would count on).
    """

    def __init__(self, *, every: bool = False, unbound: bool = False) -> None:
        self._every = every
        self._unbound = unbound
        self._count = 0
        self._errors = 0

    def add(self, value: Term | None, times: int) -> None:
        """Count what has a value; of COUNT(*) all."""
        if self._every or value is not None:
            self._count += times
        elif not self._unbound:
            self._errors += times

    def value(self) -> Term | None:
        """An xsd:integer, or unbound."""
        return None if self._errors else Literal(self._count)


class Total:
    """SUM; AVG where `is_mean`. Of integers and decimals, which add up exactly in any order."""

    def __init__(self, is_mean: bool) -> None:
        self._is_mean = is_mean
        self._count = 0
        self._decimals = 0
        self._errors = 0
        self._unknown = 0
        self._sum = 0
        self._magnitude = 0

    def add(self, value: Term | None, times: int) -> None:
        """Remembers no value, only sums."""
        self._count += times
        known = number(value)
        if known is None:
            if value is None or _is_no_number(value):
                self._errors += times
            else:
                self._unknown += times
            return
        if isinstance(known, Decimal):
            self._decimals += times
            places = int(_EXACT.multiply(known, Decimal(_PLACES)))
        else:
            places = known * _PLACES
        self._sum += places * times
        self._magnitude += abs(places) * times

    def value(self) -> Term | None:
        """An xsd:integer or xsd:decimal, as the store writes it."""
        if self._errors:
            return None
        if self._unknown or self._magnitude >= _MOST * _PLACES:
            raise UnsureError
        if not (self._is_mean and self._count):
            return self._written()
        solution = {"sum": self._written(), "count": Literal(self._count)}
        return _QUOTIENT.values([solution])[0]

    def _written(self) -> Term:
        if not self._decimals:
            return Literal(self._sum // _PLACES)
        sign = "-" if self._sum < 0 else ""
        whole, fraction = divmod(abs(self._sum), _PLACES)
        return canonical(Literal(f"{sign}{whole}.{fraction:018}", datatype=_DECIMAL))


class Extreme:
    """MIN or MAX of values of one kind: numbers, strings, IRIs or instants in UTC."""

    def __init__(self, choose: Callable[..., Term]) -> None:
        self._choose = choose
        self._errors = 0
        self._values: Counter[Term] = Counter()
        self._keys: dict[Term, tuple[str, Any]] = {}
        self._kinds: Counter[str] = Counter()
        self._best: Term | None = None

    def add(self, value: Term | None, times: int) -> None:
        """Linear in the values only where the extreme itself goes."""
        if value is None:
            self._errors += times
            return
        if value not in self._keys:
            key = self._keys[value] = _sort_key(value)
            self._kinds[key[0]] += 1
            if self._best is not None:
                self._best = self._choose(self._best, value, key=self._keys.__getitem__)
        self._values[value] += times
        if not self._values[value]:
            self._forget(value)

    def _forget(self, value: Term) -> None:
        kind, _ = self._keys.pop(value)
        del self._values[value]
        self._kinds[kind] -= 1
        self._kinds += Counter()
        if value == self._best:
            self._best = None

    def value(self) -> Term | None:
        """One of the values."""
        if self._errors or not self._values:
            return None
        if len(self._kinds) > 1 or "" in self._kinds:
            raise UnsureError
        if self._best is None:
            self._best = self._choose(self._keys, key=self._keys.__getitem__)
        return self._best


class Distinct:
    """An aggregate over each value once."""

    def __init__(self, inner: Accumulator) -> None:
        self._inner = inner
        self._times: Counter[Term | None] = Counter()

    def add(self, value: Term | None, times: int) -> None:
        """Only the first and the last of equal values matter."""
        had = self._times[value]
        self._times[value] += times
        if not self._times[value]:
            del self._times[value]
        change = bool(had + times) - bool(had)
        if change:
            self._inner.add(value, change)

    def value(self) -> Term | None:
        """The value of the inner aggregate."""
        return self._inner.value()


def accumulator(aggregate: algebra.Aggregate) -> Accumulator | None:
    """A new one; None for SAMPLE and GROUP_CONCAT, which depend on the order of evaluation."""
    made: Accumulator
    match aggregate.name:
        case "COUNT":
            argument = aggregate.argument
            made = Count(every=argument is None, unbound=isinstance(argument, Variable))
        case "SUM" | "AVG" as name:
            made = Total(is_mean=name == "AVG")
        case "MIN" | "MAX" as name:
            made = Extreme(min if name == "MIN" else max)
        case _:
            return None
    if aggregate.distinct:
        return None if aggregate.argument is None else Distinct(made)
    return made


def _is_no_number(value: Term) -> bool:
    """Whether adding it is surely an error."""
    if isinstance(value, NamedNode | BlankNode | Triple):
        return True
    return value.datatype in _NOT_NUMBERS or is_number_type(value)


def _sort_key(value: Term) -> tuple[str, Any]:
    """Kind and value, the kind empty where the store's order is not surely ours."""
    if isinstance(value, NamedNode):
        return "iri", value.value
    known = number(value)
    if known is not None:
        return type(known).__name__, known
    if isinstance(value, Literal):
        if value.datatype == _STRING:
            return "string", value.value
        time = instant(value)
        if time is not None:
            return "instant", time
    return "", ""
