"""Skeletons: of plans that differ in constants alone, what leads from a change to these constants.

Place: between `query` and `family`. A skeleton has the patterns of a plan, and of the groups that
it depends on, with names for the constants; everything that only makes solutions fewer is left out
(FILTER, VALUES, and what a step does with its group). So what it says a change may concern is
never too little.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.engine.incremental.affected import all_seeds
from gateway.engine.incremental.core import Values, join_core
from gateway.engine.incremental.plan import Body, CorePattern, Join, Names, Plan
from gateway.engine.incremental.seeds import Seeds
from gateway.engine.incremental.states import Predicates, States
from gateway.engine.incremental.unchanged import predicates_of
from gateway.engine.join.join_pattern import Key, Slot, picker, put
from gateway.rdf.terms import Term

MOST_KEPT = 10_000
"""Starts of one way whose end is kept: some MB."""

Constants = tuple[Term, ...]
Equalities = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Patterns, with a name for each constant subject and object; no variable of a text is so
    named. `equalities` are variables that a FILTER makes such a constant, `inner` the groups."""

    patterns: tuple[CorePattern, ...]
    equalities: Equalities
    inner: tuple["Skeleton", ...]


def skeletons(plans: Iterable[Plan]) -> tuple[tuple[Skeleton, ...], Constants]:
    """The skeletons of plans, and the constants, each once, in the order of their names."""
    names: dict[Term, str] = {}
    found = tuple(_skeleton(plan, names) for plan in plans)
    return found, tuple(names)


def constant_name(place: int) -> str:
    """The name of a constant in a skeleton."""
    return f"${place}"


def _skeleton(plan: Plan, names: dict[Term, str]) -> Skeleton:
    def named(slot: Slot) -> str:
        return slot if isinstance(slot, str) else names.setdefault(slot, constant_name(len(names)))

    return Skeleton(
        tuple(
            replace(each, subject=named(each.subject), object=named(each.object))
            for each in plan.patterns
        ),
        tuple((name, named(term)) for name, term in plan.constants),
        tuple(
            _skeleton(inner, names)
            for step in plan.steps
            for body in step.bodies
            for inner in body.plans
        ),
    )


class Route:
    """From changes to the values that the `parameters`, names of constants, have there.

    `fixed` are the terms of all other constants.
    """

    def __init__(
        self, skeleton: Skeleton, parameters: Sequence[str], fixed: Mapping[str, Term]
    ) -> None:
        self._plan = _plan(skeleton, fixed)
        aliases = {constant: name for name, constant in reversed(skeleton.equalities)}
        certain = self._plan.certain
        candidates = [(name, aliases.get(name, name)) for name in parameters]
        found = [next((each for each in both if each in certain), None) for both in candidates]
        self.places = tuple(place for place, name in enumerate(found) if name is not None)
        self._wanted = tuple(name for name in found if name is not None)
        self._key = picker(range(len(self._wanted)))
        self._ways: dict[tuple[str, ...], _Way | None] = {}

    def keys(self, states: States) -> Iterator[set[Key] | None]:
        """For each kind of change the values of the parameters in `places`; None is any.

        Whoever has others is not concerned: has the same solutions before and after.
        """
        for seeds in all_seeds(self._plan, states):
            way = self._way(seeds.names)
            yield None if way is None else self._led_to(way, seeds, states)

    def _led_to(self, way: "_Way", seeds: Seeds, states: States) -> set[Key]:
        """What is found is kept in the states, by what the way reads of a seed."""
        found = states.kept(way, way.predicates)
        starts = {way.key(values) for values in seeds.values}
        new = starts - found.keys()
        if new:
            if len(found) + len(new) > MOST_KEPT:
                found.clear()
                new = starts
            self._look_up(way, new, states, found)
        return set().union(*map(found.__getitem__, starts))

    def _look_up(
        self, way: "_Way", starts: set[Values], states: States, found: dict[Values, set[Key]]
    ) -> None:
        begun = [dict(zip(way.reads, values, strict=True)) for values in starts]
        found.update((values, set()) for values in starts)
        for solution in join_core(way.plan, states.either, begun, frozenset(way.reads)):
            start = tuple([solution[name] for name in way.reads])
            found[start].add(self._key([solution[name] for name in self._wanted]))

    def _way(self, names: tuple[str, ...]) -> "_Way | None":
        """The patterns that lead from these variables to the parameters; None where none do."""
        if names not in self._ways:
            patterns = self._find_way(frozenset(names))
            self._ways[names] = None if patterns is None else _way(patterns, names, self._wanted)
        return self._ways[names]

    def _find_way(self, known: Names) -> tuple[CorePattern, ...] | None:
        if not self._wanted:
            return None
        chosen: list[CorePattern] = []
        for name in self._wanted:
            steps = _steps_to(name, known, self._plan.patterns)
            if steps is None:
                return None
            chosen += steps
            known = known.union(*(each.variables for each in steps))
        return tuple(chosen)


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """Patterns to be joined; of a seed it reads the variables `reads`, which `key` picks."""

    plan: Plan
    reads: tuple[str, ...]
    key: Callable[[Values], Values]
    predicates: Predicates


def _way(
    patterns: tuple[CorePattern, ...], names: tuple[str, ...], wanted: Collection[str]
) -> _Way:
    read = frozenset(wanted).union(*(each.variables for each in patterns))
    places = [place for place, name in enumerate(names) if name in read]

    def key(values: Values) -> Values:
        return tuple([values[place] for place in places])

    reads = tuple(names[place] for place in places)
    return _Way(Plan(patterns), reads, key, predicates_of(patterns))


def _steps_to(
    name: str, known: Names, patterns: Collection[CorePattern]
) -> tuple[CorePattern, ...] | None:
    """The fewest patterns, each sharing a variable with those before, to bind `name`."""
    ways: dict[str, tuple[CorePattern, ...]] = dict.fromkeys(known, ())
    while name not in ways:
        reached = [
            (new, (*ways[old], pattern))
            for pattern in patterns
            for old in pattern.variables & ways.keys()
            for new in pattern.variables - ways.keys()
        ]
        if not reached:
            return None
        for new, way in reached:
            ways.setdefault(new, way)
    return ways[name]


def _plan(skeleton: Skeleton, fixed: Mapping[str, Term]) -> Plan:
    """With the fixed constants in their places; the groups only have to be looked at."""
    inner = tuple(_plan(each, fixed) for each in skeleton.inner)
    return Plan(
        tuple(
            replace(each, subject=put(each.subject, fixed), object=put(each.object, fixed))
            for each in skeleton.patterns
        ),
        constants=tuple((name, fixed[of]) for name, of in skeleton.equalities if of in fixed),
        steps=(Join(Body(inner)),) if inner else (),
    )
