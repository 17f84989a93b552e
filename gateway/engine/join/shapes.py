"""Shapes: joins that differ in constants alone share one unit, with a parameter index.

Place: asked for each new SPU whose query is a join. Two members of a unit differ in its
parameters; what all agree in stays a constant, so look-ups stay selective. A query that differs
from them elsewhere gets a unit of its own, and the next one like it joins that; but when a shape
has many units, they become one with all that differs as parameters. So the number of units does
not grow with the number of queries. Each exchange of units is exact: they keep nothing of an
answer but counts, which are made anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.engine.join.conjunction import Conjunction
from gateway.engine.join.join import JoinUnit
from gateway.engine.spu import Placed, Spu, Unit
from gateway.rdf.terms import Term
from gateway.store.readable import Source

MOST_UNITS = 4
"""The most units of one shape."""

Constants = tuple[Term, ...]

Shape = tuple[Conjunction, tuple[str, ...]]
"""A conjunction with names for its constants, and the columns."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """A unit and the constants that its members agree in; None is a parameter."""

    unit: JoinUnit
    fixed: tuple[Term | None, ...]

    def fits(self, constants: Constants) -> bool:
        """Whether a query with these constants can be a member."""
        both = zip(self.fixed, constants, strict=True)
        return all(same is None or same == term for same, term in both)

    def values(self, constants: Constants) -> Constants:
        """The values of the parameters."""
        both = zip(self.fixed, constants, strict=True)
        return tuple(term for same, term in both if same is None)

    def constants(self, spu: Spu) -> Constants:
        """All constants of a member."""
        values = iter(self.unit.values(spu))
        return tuple(next(values) if same is None else same for same in self.fixed)


class JoinUnits:
    """The units of all joins, by shape."""

    def __init__(self, store: Source, *, by_look_ups: bool = False) -> None:
        """With `by_look_ups` first answers are looked up: see JoinUnit."""
        self._store = store
        self._by_look_ups = by_look_ups
        self._shapes: dict[Shape, list[_Shared]] = {}
        self._shape_of: dict[Unit, Shape] = {}

    def place(self, spu: Spu, join: Conjunction) -> Placed:
        """Make the SPU a member of a unit of its shape."""
        constants = join.constants()
        general = join.generalise({term: _name(at) for at, term in enumerate(constants)})
        shape = general, spu.variables
        shared = self._shapes.setdefault(shape, [])
        for each in shared:
            if each.fits(constants):
                each.unit.join(spu, each.values(constants))
                return Placed(spu, each.unit)
        alone = [each for each in shared if None not in each.fixed]
        gone = alone or (shared if len(shared) >= MOST_UNITS else [])
        made = self._unite(shape, gone, constants)
        made.unit.join(spu, made.values(constants))
        self._shapes[shape] = [*(each for each in shared if each not in gone), made]
        return Placed(spu, made.unit, is_made=True, gone=tuple(each.unit for each in gone))

    def remove(self, spu: Spu, unit: JoinUnit) -> None:
        """The reverse of `place`."""
        unit.leave(spu)
        if not unit.members:
            shape = self._shape_of.pop(unit)
            left = [each for each in self._shapes[shape] if each.unit is not unit]
            self._shapes[shape] = left
            if not left:
                del self._shapes[shape]

    def _unite(self, shape: Shape, gone: Sequence[_Shared], constants: Constants) -> _Shared:
        """A unit with the members of others, to which a query with these constants fits."""
        seen = [constants, *(each.fixed for each in gone)]
        fixed = tuple(
            column[0] if all(term == column[0] for term in column) else None
            for column in zip(*seen, strict=True)
        )
        terms = {_name(at): term for at, term in enumerate(fixed) if term is not None}
        names = [_name(at) for at, term in enumerate(fixed) if term is None]
        join, by_look_ups = shape[0].put(terms), self._by_look_ups
        made = _Shared(JoinUnit(self._store, join, names, by_look_ups=by_look_ups), fixed)
        for each in gone:
            for spu in each.unit.members:
                made.unit.join(spu, made.values(each.constants(spu)), each.unit.hits(spu))
                made.unit.derive(spu)
        for each in gone:
            del self._shape_of[each.unit]
        self._shape_of[made.unit] = shape
        return made


def _name(place: int) -> str:
    """The name of a constant in a shape; no variable of a text has such a name."""
    return f"${place}"
