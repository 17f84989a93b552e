"""The part of a plan that a Delta leaves alone: completed once for both states and equal seeds.

Place: between `affected` and `solve`. Seeds that differ only in variables that this part does not
read (the value of a lamp, where the part finds its road) are completed together, and the solutions
handed out to each of them; what is left of the plan is evaluated for each state. Completions are
kept for later Deltas, while these leave alone what they were made of. Source: factorised
representations, Olteanu and Závodný (2015), of one level.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from gateway.engine.incremental.core import Solutions, Values, join_core
from gateway.engine.incremental.plan import CorePattern, Filter, Plan, Step
from gateway.engine.incremental.solve import take
from gateway.engine.incremental.states import Predicates, State, States

MOST_KEPT = 1000
"""Seeds of one part whose completion is kept: below 1 MB."""

_NO_PREDICATES: Predicates = frozenset()

KeyOf = Callable[[Any], Hashable]
Completions = dict[Hashable, Solutions]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The core without the seeds' patterns, and the first steps, with what each of them looks up.

    Of the variables of the seeds, `keys` are read by it and `free` are not; filters that read a
    free one are `late`. Where nothing `is_left`, a seed is a solution but for filters.
    """

    plan: Plan
    patterns: tuple[int, ...]
    keys: tuple[tuple[str, int], ...]
    free: tuple[tuple[str, int], ...]
    late: tuple[Filter, ...]
    core: Predicates
    steps: tuple[Predicates, ...]
    key_of_seed: KeyOf
    key_of_solution: KeyOf
    is_left: bool

    def steps_left_alone(self, states: States) -> int | None:
        """How many of the steps are the same in both states; None if the core is not."""
        if states.changes(self.core):
            return None
        for place, predicates in enumerate(self.steps):
            if states.changes(predicates):
                return place
        return len(self.steps)

    def predicates(self, steps: int) -> Predicates:
        """What is looked up with so many steps."""
        parts = (self.core, *self.steps[:steps])
        known = [each for each in parts if each is not None]
        return frozenset().union(*known) if len(known) == len(parts) else None

    def completions(self, states: States, steps: int, seeds: Iterable[Values]) -> Completions:
        """The solutions for the key of each seed, not to be written to."""
        found = states.kept((self, steps), self.predicates(steps))
        key_of = self.key_of_seed
        new = {key: values for values in seeds if (key := key_of(values)) not in found}
        if new:
            if len(found) + len(new) > MOST_KEPT:
                found.clear()
                new = {key_of(values): values for values in seeds}
            self._complete(states.after, steps, new, found)
        return found

    def _complete(
        self, state: State, steps: int, new: dict[Hashable, Values], found: Completions
    ) -> None:
        starts = [{name: values[place] for name, place in self.keys} for values in new.values()]
        known = frozenset(name for name, _ in self.keys)
        solutions = join_core(self.plan, state, starts, known, self.patterns)
        solutions = take(self.plan.steps[:steps], state, solutions)
        found.update((key, []) for key in new)
        key_of = self.key_of_solution
        for solution in solutions:
            found[key_of(solution)].append(solution)

    def handed_out(self, completions: Completions, seeds: Iterable[Values]) -> Solutions:
        """For each seed the solutions with its key, as new ones that have its other values."""
        found: Solutions = []
        key_of, free = self.key_of_seed, self.free
        for values in seeds:
            others = completions[key_of(values)]
            if others:
                own = {name: values[place] for name, place in free}
                found += [other | own for other in others]
        return found

    def rest(self, steps: int) -> tuple[Step, ...]:
        """What is left to be done for these solutions, in each state."""
        return (*self.late, *self.plan.steps[steps:])


def part_of(plan: Plan, names: tuple[str, ...], seeded: tuple[int, ...]) -> Part:
    """The part for seeds of these patterns that bind `names`."""
    part = plan.parts.get((names, seeded))
    if part is None:
        part = plan.parts[names, seeded] = _part(plan, names, seeded)
    return part


def _part(plan: Plan, names: tuple[str, ...], seeded: tuple[int, ...]) -> Part:
    patterns = [each for place, each in enumerate(plan.patterns) if place not in seeded]
    read = frozenset(name for name, _ in plan.constants).union(
        *(each.variables for each in patterns), *(each.variables for each in plan.tables)
    )
    steps: list[Predicates] = []
    for step in plan.steps:
        more = read | step.variables
        if more.issuperset(names) and not read.issuperset(names):
            break
        read = more
        nested = (inner for body in step.bodies for inner in body.plans)
        steps.append(predicates_of(each for inner in nested for each in _patterns(inner)))
    free = tuple((name, place) for place, name in enumerate(names) if name not in read)
    keys = tuple((name, place) for place, name in enumerate(names) if name in read)
    late = tuple(each for each in plan.filters if any(name in each.variables for name, _ in free))
    return Part(
        replace(plan, filters=tuple(each for each in plan.filters if each not in late)),
        seeded,
        keys,
        free,
        late,
        predicates_of(patterns),
        tuple(steps),
        _reader([place for _, place in keys]),
        _reader([name for name, _ in keys]),
        bool(patterns or plan.tables or any(each != _NO_PREDICATES for each in steps)),
    )


def _reader(items: Sequence[Hashable]) -> KeyOf:
    return itemgetter(*items) if items else _no_key


def _no_key(_: object) -> None:
    """The key of every seed, where the part reads none of their variables."""


def _patterns(plan: Plan) -> Iterator[CorePattern]:
    yield from plan.patterns
    for step in plan.steps:
        for body in step.bodies:
            for inner in body.plans:
                yield from _patterns(inner)


def predicates_of(patterns: Iterable[CorePattern]) -> Predicates:
    """What patterns look up."""
    found = [pattern.predicate for pattern in patterns]
    known = [each for each in found if not isinstance(each, str)]
    return frozenset(known) if len(known) == len(found) else None
