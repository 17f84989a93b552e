"""Seeds: which solutions of a plan a Delta may have changed.

Place: between the ARTQ and `solve`. A seed binds certain variables of a plan; a solution that
extends no seed is there as often after the Delta as before. Seeds come from the changed quads that
a pattern of the core matches, and from changes in the groups that it depends on (OPTIONAL, MINUS,
EXISTS, ...): of these, the values of the certain variables that both have.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from pyoxigraph import Quad

from gateway.engine.incremental.core import Solutions, Values, join_core, values_reader
from gateway.engine.incremental.expressions import Solution
from gateway.engine.incremental.plan import Plan
from gateway.engine.incremental.solve import Keep, solve, take
from gateway.engine.incremental.states import States
from gateway.engine.incremental.unchanged import part_of
from gateway.rdf.terms import Term

BEFORE, AFTER, BOTH = 1, 2, 3
"""In which states a seed can have solutions."""


_Reader = tuple[tuple[str, ...], Term | None, Callable[[Quad], Values | None]]
"""The variables of a pattern, sorted, its predicate where that is constant, and how a quad binds
them."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """Seeds that bind the same variables; `pattern` is that of the changed quads, if there is one.

    A seed made of a removed quad has solutions before only, one of an added quad after only.
    """

    names: tuple[str, ...]
    pattern: int | None
    values: dict[Values, int] = field(default_factory=dict)

    def add(self, values: Values, side: int) -> None:
        """One seed more, or another side of it."""
        self.values[values] = self.values.get(values, side) | side

    def that_extend_none_of(self, others: Iterable["Seeds"]) -> "Seeds":
        """Seeds that bind no seed of the others; whatever extends the rest does."""
        left = self.values
        for other in others:
            if set(other.names) <= set(self.names):
                key = _reader([self.names.index(name) for name in other.names])
                left = {each: side for each, side in left.items() if key(each) not in other.values}
        return Seeds(self.names, self.pattern, left)

    def starts(self, side: int) -> Solutions:
        """The seeds of a side, as partial solutions."""
        names = self.names
        return [dict(zip(names, values, strict=True)) for values in self.of_side(side)]

    def of_side(self, side: int) -> list[Values]:
        """The values of the seeds of a side."""
        return [values for values, sides in self.values.items() if sides & side]


def changed_solutions(plan: Plan, states: States) -> tuple[Solutions, Solutions]:
    """The solutions that may have changed, in the state before and in that after.

    Each solution is evaluated for the first seeds that it extends: so it counts as often as it is
    there. Where a whole subject comes or goes, its first pattern's seed answers for all others.
    """
    before: Solutions = []
    after: Solutions = []
    done: list[Seeds] = []
    for every in sorted(all_seeds(plan, states), key=lambda each: len(each.names)):
        seeds = every.that_extend_none_of(done)
        if seeds.values:
            old, new = _both_states(plan, states, seeds, done)
            before += old
            after += new
            done.append(seeds)
    return before, after


def _both_states(
    plan: Plan, states: States, seeds: Seeds, done: Sequence[Seeds]
) -> tuple[Solutions, Solutions]:
    """What extends one of these seeds and none of those that are done, before and after."""
    keep = _extends_none_of(tuple(done)) if done else None
    part = part_of(plan, seeds.names, seeds.pattern)
    alike = part.steps_left_alone(states)
    sides = (states.before, BEFORE), (states.after, AFTER)
    if alike is None or not (part.free or seeds.pattern is None):
        known = frozenset(seeds.names)
        old, new = (
            solve(plan, state, seeds.starts(side), known, keep=keep, seeded=seeds.pattern)
            for state, side in sides
        )
        return old, new
    completions = part.completions(states, alike, seeds.values)
    found: list[Solutions] = []
    for state, side in sides:
        solutions = part.handed_out(completions, seeds.of_side(side))
        if keep is not None:
            solutions = [solution for solution in solutions if keep(solution)]
        found.append(take(part.rest(alike), state, solutions))
    return found[0], found[1]


def all_seeds(plan: Plan, states: States) -> list[Seeds]:
    """The seeds of all changes; with one that binds nothing, every solution may have changed."""
    found = [
        seeds
        for place in range(len(plan.patterns))
        if (seeds := _in_core(plan, place, states)).values
    ]
    nested: dict[tuple[str, ...], Seeds] = {}
    for step in plan.steps:
        for body in step.bodies:
            for inner in body.plans:
                _in_nested(plan, inner, states, found, nested)
    return [*found, *nested.values()]


def _in_core(plan: Plan, place: int, states: States) -> Seeds:
    names, predicate, values_of = _readers(plan)[place]
    found = Seeds(names, place)
    if predicate is None or predicate in states.predicates:
        for quads, side in zip(states.changed(predicate), (BEFORE, AFTER), strict=True):
            for values in map(values_of, quads):
                if values is not None:
                    found.add(values, side)
    return found


def _readers(plan: Plan) -> Sequence[_Reader]:
    if not plan.readers:
        plan.readers.extend(
            (
                tuple(sorted(each.variables)),
                None if isinstance(each.predicate, str) else each.predicate,
                values_reader(each),
            )
            for each in plan.patterns
        )
    return plan.readers


def _in_nested(
    plan: Plan,
    nested: Plan,
    states: States,
    core: Sequence[Seeds],
    found: dict[tuple[str, ...], Seeds],
) -> None:
    """The changes of a nested group, told in the variables that it shares with the plan.

    Where a change does not bind all of these, the other patterns of the group do; they are looked
    up in both states at once, for it may be the old or the new solution that is concerned. What
    binds a seed of the `core` is left out: that one tells it already.
    """
    names = tuple(sorted(nested.certain & plan.certain))
    told = [each for each in core if set(each.names) <= set(names)]
    for each in all_seeds(nested, states):
        seeds = each.that_extend_none_of(told)
        solutions = seeds.starts(BOTH)
        known = frozenset(seeds.names)
        if not known.issuperset(names):
            solutions = join_core(nested, states.either, solutions, known, seeds.pattern)
        shared = found.setdefault(names, Seeds(names, None))
        for solution in solutions:
            shared.add(tuple([solution[name] for name in names]), BOTH)


def _reader(places: Sequence[int]) -> Callable[[Values], Values]:
    """Reads the values at these places."""
    match places:
        case []:
            return lambda _: ()
        case [place]:
            return lambda values: (values[place],)
        case _:
            return itemgetter(*places)


def _extends_none_of(others: Sequence[Seeds]) -> Keep:
    def keep(solution: Solution) -> bool:
        return not any(
            tuple([solution[name] for name in other.names]) in other.values for other in others
        )

    return keep
