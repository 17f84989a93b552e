"""`Members`: who subscribes to the same groups with other constants in HAVING or an outer FILTER.

Place: behind the groups of a unit. A first condition that compares with a number is a threshold:
these are sorted, so that a group that nobody wants costs the same for a thousand members as for
one. Comparisons are those of SPARQL 1.1 Query Language, section 17.3, as the pinned store does
them: with a double, the other side is made one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from typing import Any

from pyoxigraph import Literal, NamedNode, Variable

from gateway.engine.incremental.expressions import Expression, expression
from gateway.engine.sliding.groups import Shown
from gateway.engine.sliding.measured import Kind, measured
from gateway.engine.sliding.query import Conditions
from gateway.engine.spu import Spu
from gateway.rdf.namespaces import XSD
from gateway.rdf.terms import Term
from gateway.sparql import algebra

_INTEGER, _DECIMAL = Kind.INTEGER, Kind.DECIMAL
"""To look a member up takes longer than to compare."""

_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_TO_DOUBLE = expression(algebra.Call(NamedNode(XSD + "double"), (Variable("x"),)))


@dataclass(frozen=True, slots=True)
class Threshold:
    """`?name operator constant`; the constant exactly, and as a double."""

    name: str
    operator: str
    places: int
    real: float

    def holds(self, value: Term | None) -> bool | None:
        """Whether the value meets it; None where only the store can say."""
        if value is None:
            return False
        kind, places, real, _ = measured(value)
        if kind is _DECIMAL:  # as means are
            return _compared(self.operator, places, self.places)
        match kind:
            case Kind.ERROR:
                return False
            case Kind.UNKNOWN:
                return None
            case Kind.DOUBLE:
                return _compared(self.operator, real, self.real)
            case _:
                return _compared(self.operator, places, self.places)


def _compared(operator: str, one: float, other: float) -> bool:
    match operator:
        case "<":
            return one < other
        case "<=":
            return one <= other
        case ">":
            return one > other
        case _:
            return one >= other


@dataclass(frozen=True, slots=True)
class Check:
    """One condition, as a threshold too where it is one; `is_outer` sees the columns."""

    expression: Expression
    is_outer: bool
    threshold: Threshold | None

    def passes(self, shown: Shown) -> bool:
        """Whether it is true of what a group shows."""
        solution = shown.columns if self.is_outer else shown.seen
        if self.threshold is not None:
            holds = self.threshold.holds(solution.get(self.threshold.name))
            if holds is not None:
                return holds
        return self.expression.truths([solution])[0]


Checks = tuple[Check, ...]


def checks_of(conditions: Conditions) -> Checks:
    """The conditions of a member, a threshold first where there is one."""
    checks = [Check(each, False, _threshold(each)) for each in conditions.having]
    checks += [Check(each, True, _threshold(each)) for each in conditions.outer]
    return tuple(sorted(checks, key=lambda each: each.threshold is None))


def _threshold(condition: Expression) -> Threshold | None:
    match condition.tree:
        case algebra.Operation(name=operator, args=(Variable(value=name), Literal() as constant)):
            pass
        case algebra.Operation(name=turned, args=(Literal() as constant, Variable(value=name))):
            operator = _TURNED.get(turned, "")
        case _:
            return None
    if operator not in _TURNED:
        return None
    kind, places, _, _ = measured(constant)
    if kind not in {Kind.INTEGER, Kind.DECIMAL}:
        return None
    (double,) = _TO_DOUBLE.values([{"x": constant}])
    return None if double is None else Threshold(name, operator, places, float(_value(double)))


def _value(term: Term) -> str:
    return term.value if isinstance(term, Literal) else "nan"


class _Sorted:
    """Members by the constants of thresholds that differ in these alone."""

    def __init__(self) -> None:
        self._exact: list[tuple[int, Spu]] = []
        self._real: list[tuple[float, Spu]] = []

    def add(self, threshold: Threshold, spu: Spu) -> None:
        at = bisect_right(self._exact, threshold.places, key=_constant)
        self._exact.insert(at, (threshold.places, spu))
        at = bisect_right(self._real, threshold.real, key=_constant)
        self._real.insert(at, (threshold.real, spu))

    def remove(self, spu: Spu) -> None:
        self._exact = [each for each in self._exact if each[1] is not spu]
        self._real = [each for each in self._real if each[1] is not spu]

    def __bool__(self) -> bool:
        return bool(self._exact)

    def passing(self, operator: str, value: Term | None) -> tuple[list[Spu], bool]:
        """Members whose threshold the value meets, and whether that is sure.

        Where only the store can say, these are all.
        """
        if value is None:
            return [], True
        kind, places, real, _ = measured(value)
        if kind is _DECIMAL or kind is _INTEGER:
            return _slice(operator, self._exact, places), True
        if kind is Kind.ERROR or (kind is Kind.DOUBLE and isnan(real)):
            return [], True
        if kind is Kind.UNKNOWN:
            return [spu for _, spu in self._exact], False
        return _slice(operator, self._real, real), True


def _constant(entry: tuple[Any, Spu]) -> Any:
    return entry[0]


def _slice(operator: str, entries: list[Any], value: float) -> list[Spu]:
    match operator:
        case ">":
            found = range(bisect_left(entries, value, key=_constant))
        case ">=":
            found = range(bisect_right(entries, value, key=_constant))
        case "<":
            found = range(bisect_right(entries, value, key=_constant), len(entries))
        case _:
            found = range(bisect_left(entries, value, key=_constant), len(entries))
    return [entries[place][1] for place in found]


class Members:
    """All members of a unit, and what each wants of the groups."""

    def __init__(self) -> None:
        self._checks: dict[Spu, Checks] = {}
        self._sorted: dict[tuple[bool, str, str], _Sorted] = {}
        self._others: dict[Spu, Checks] = {}
        self._always: dict[Spu, None] = {}

    def __len__(self) -> int:
        return len(self._checks)

    @property
    def want_all(self) -> bool:
        """Whether each of them is told of each group."""
        return len(self._always) == len(self._checks)

    @property
    def passing_all(self) -> Iterable[Spu]:
        """Who is told of each group."""
        return self._always

    def add(self, spu: Spu, checks: Checks) -> None:
        """A further member."""
        self._checks[spu] = checks
        first = checks[0].threshold if checks else None
        if not checks:
            self._always[spu] = None
        elif first is None:
            self._others[spu] = checks
        else:
            self._sorted.setdefault(_place(checks), _Sorted()).add(first, spu)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        checks = self._checks.pop(spu)
        if not checks:
            del self._always[spu]
        elif self._others.pop(spu, None) is None:
            place = _place(checks)
            self._sorted[place].remove(spu)
            if not self._sorted[place]:
                del self._sorted[place]

    def passing(self, shown: Shown) -> list[Spu]:
        """Whose answers have what this group shows."""
        found = list(self._always)
        for spu in self._others:
            if self.passes(spu, shown):
                found.append(spu)  # noqa: PERF401 - mostly there are none
        for (is_outer, name, operator), members in self._sorted.items():
            solution = shown.columns if is_outer else shown.seen
            candidates, is_sure = members.passing(operator, solution.get(name))
            for spu in candidates:
                checks = self._checks[spu]
                if (is_sure and len(checks) == 1) or all(each.passes(shown) for each in checks):
                    found.append(spu)
        return found

    def passes(self, spu: Spu, shown: Shown) -> bool:
        """Whether a member's answer has what this group shows."""
        return all(each.passes(shown) for each in self._checks[spu])


def _place(checks: Checks) -> tuple[bool, str, str]:
    first = checks[0]
    if first.threshold is None:
        raise ValueError("no threshold")
    return first.is_outer, first.threshold.name, first.threshold.operator
