"""Seeds: which solutions of a plan a Delta may have changed.

Place: between the ARTQ and `solve`. A seed binds certain variables of a plan; a solution that
extends no seed is there as often after the Delta as before. Seeds come from the changed quads that
a pattern of the core matches, and from changes in the groups that it depends on (OPTIONAL, MINUS,
EXISTS, ...): of these, the values of the certain variables that both have.
"""

from collections.abc import Iterable, Sequence

from pyoxigraph import Quad

from gateway.engine.incremental.plan import Body, Names, Plan
from gateway.engine.incremental.solve import Keep, Solution, Solutions, join_core, unify
from gateway.engine.incremental.states import States
from gateway.rdf.terms import Term

Values = tuple[Term, ...]
Seeds = dict[tuple[str, ...], dict[Values, None]]
"""By the names that they bind, sorted: their values."""


def seeds(plan: Plan, states: States) -> Seeds:
    """The seeds of all changes; with one that binds nothing, every solution may have changed."""
    found: Seeds = {}
    _add(found, _in_core(plan, states.changed))
    for step in plan.steps:
        for body in step.bodies:
            for nested in body.plans:
                _add(found, _in_nested(plan, nested, states))
    return found


def starts(names: Sequence[str], values: Iterable[Values]) -> Solutions:
    """Seeds as partial solutions."""
    return [dict(zip(names, each, strict=True)) for each in values]


def divided(found: Seeds) -> list[tuple[Names, Solutions, Keep | None]]:
    """The seeds, so that each solution extends those of one part only: what they bind, they, and
    which solutions are left to them. Seeds that bind the same variables exclude each other.
    """
    parts: list[tuple[Names, Solutions, Keep | None]] = []
    ordered = sorted(found.items(), key=lambda item: len(item[0]))
    for place, (names, values) in enumerate(ordered):
        keep = _extends_none_of(ordered[:place]) if place else None
        parts.append((frozenset(names), starts(names, values), keep))
        if not names:
            break
    return parts


def shared(plan: Plan, body: Body) -> bool:
    """Whether a change in a group that a plan depends on can be told in variables of both."""
    return all(nested.certain & plan.certain for nested in body.plans)


def _extends_none_of(others: Sequence[tuple[tuple[str, ...], dict[Values, None]]]) -> Keep:
    def keep(solution: Solution) -> bool:
        return not any(
            tuple([solution[name] for name in names]) in values for names, values in others
        )

    return keep


def _add(found: Seeds, solutions: Iterable[Solution]) -> None:
    for solution in solutions:
        names = tuple(sorted(solution))
        found.setdefault(names, {})[tuple(solution[name] for name in names)] = None


def _in_core(plan: Plan, changed: Sequence[Quad]) -> Iterable[Solution]:
    for pattern in plan.patterns:
        predicate = None if isinstance(pattern.predicate, str) else pattern.predicate
        for quad in changed:
            if predicate is None or predicate == quad.predicate:
                solution = unify(pattern, quad, {})
                if solution is not None:
                    yield solution


def _in_nested(plan: Plan, nested: Plan, states: States) -> Iterable[Solution]:
    """The changes of a nested group, told in the variables that it shares with the plan.

    Where a change does not bind all of these, the other patterns of the group do; they are looked
    up in both states at once, for it may be the old or the new solution that is concerned.
    """
    wanted = nested.certain & plan.certain
    for names, values in seeds(nested, states).items():
        solutions = starts(names, values)
        if not wanted <= frozenset(names):
            solutions = join_core(nested, states.either, solutions, frozenset(names))
        for solution in solutions:
            yield {name: solution[name] for name in wanted}
