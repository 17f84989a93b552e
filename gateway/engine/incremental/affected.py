"""Seeds: which solutions of a plan a Delta may have changed.

Place: between the ARTQ and `solve`. A seed binds certain variables of a plan; a solution that
extends no seed is there as often after the Delta as before. Seeds come from the changed quads that
a pattern of the core matches, and from changes in the groups that it depends on (OPTIONAL, MINUS,
EXISTS, ...): of these, the values of the certain variables that both have.
"""

from collections.abc import Sequence

from gateway.engine.incremental.core import Solutions, join_core
from gateway.engine.incremental.expressions import Solution
from gateway.engine.incremental.plan import Plan
from gateway.engine.incremental.seeds import AFTER, BEFORE, BOTH, Seeds, core_seeds, only_star
from gateway.engine.incremental.solve import Keep, solve, take
from gateway.engine.incremental.states import State, States
from gateway.engine.incremental.unchanged import part_of


def changed_solutions(plan: Plan, states: States) -> tuple[Solutions, Solutions]:
    """The solutions that may have changed, in the state before and in that after.

    Each solution is evaluated for the first seeds that it extends: so it counts as often as it is
    there. Where a whole subject comes or goes, its first pattern's seed answers for all others.
    """
    star = only_star(plan)
    changed = None if star is None else star.changed(states)
    if star is not None and changed is not None:
        lost, won = (
            join_core(plan, states.after, starts, star.names, star.places) if starts else starts
            for starts in changed
        )
        return lost, won
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
    """What extends one of these seeds and none of those that are done, before and after.

    A state in which there can be nothing is not made: mostly quads come alone, or go alone.
    """
    keep = _extends_none_of(tuple(done)) if done else None
    part = part_of(plan, seeds.names, seeds.patterns)
    alike = part.steps_left_alone(states) if part.is_left else None
    if alike is None or not (part.free or not seeds.patterns):
        known = frozenset(seeds.names)

        def solved(side: int) -> Solutions:
            starts = seeds.starts(side)
            if not starts:
                return starts
            state = _state(states, side)
            return solve(plan, state, starts, known, keep=keep, seeded=seeds.patterns)

    else:
        completions = part.completions(states, alike, seeds.values)

        def solved(side: int) -> Solutions:
            solutions = part.handed_out(completions, seeds.of_side(side))
            if keep is not None:
                solutions = [solution for solution in solutions if keep(solution)]
            if not solutions:
                return solutions
            return take(part.rest(alike), _state(states, side), solutions)

    return solved(BEFORE), solved(AFTER)


def _state(states: States, side: int) -> State:
    return states.before if side == BEFORE else states.after


def all_seeds(plan: Plan, states: States) -> list[Seeds]:
    """The seeds of all changes; with one that binds nothing, every solution may have changed."""
    found, covered = core_seeds(plan, states)
    told = [*found, *covered]
    nested: dict[tuple[str, ...], Seeds] = {}
    for step in plan.steps:
        for body in step.bodies:
            for inner in body.plans:
                _in_nested(plan, inner, states, told, nested)
    others = (each.that_extend_none_of(told) for each in nested.values())
    return [*found, *(each for each in others if each.values)]


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
            solutions = join_core(nested, states.either, solutions, known, seeds.patterns)
        shared = found.setdefault(names, Seeds(names, ()))
        for solution in solutions:
            shared.add(tuple([solution[name] for name in names]), BOTH)


def _extends_none_of(others: Sequence[Seeds]) -> Keep:
    def keep(solution: Solution) -> bool:
        return not any(
            tuple([solution[name] for name in other.names]) in other.values for other in others
        )

    return keep
