"""The solutions of a plan in one state, from partial solutions onwards.

Place: asked by the SPU for the rows before and after a Delta. Source: SPARQL 1.1 Query Language,
section 18.5. All steps work on many solutions at once, so that equal look-ups and expressions
are made once.

Invariant (sideways information passing): for partial solutions that bind certain variables of a
plan only, the result is those of its solutions that agree with them, as often as it has them.
Every operator keeps this if what goes into a nested group binds that group's certain variables
only; the rest is compared afterwards.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyoxigraph import Literal

from gateway.engine.incremental.core import Solutions, join_core
from gateway.engine.incremental.expressions import Solution
from gateway.engine.incremental.plan import (
    Body,
    Condition,
    Extend,
    Filter,
    GroupedJoin,
    Join,
    LeftJoin,
    Minus,
    Names,
    Plan,
    Step,
)
from gateway.engine.incremental.states import State
from gateway.rdf.terms import Term

Keep = Callable[[Solution], bool]

_ORIGIN = "#origin"
"""No variable: the number of the partial solution that a solution of a nested group comes from."""

_TRUTH = {False: Literal(False), True: Literal(True)}


def solve(
    plan: Plan,
    state: State,
    starts: Solutions,
    known: Names,
    *,
    keep: Keep | None = None,
    seeded: tuple[int, ...] = (),
) -> Solutions:
    """The solutions of the plan that agree with one of `starts`, which all bind `known`.

    `keep` is asked about each solution of the core; `seeded` are patterns that all starts match.
    """
    solutions = join_core(plan, state, starts, known, seeded)
    if keep is not None:
        solutions = [solution for solution in solutions if keep(solution)]
    return take(plan.steps, state, solutions)


def take(steps: Iterable[Step], state: State, solutions: Solutions) -> Solutions:
    """What becomes of solutions of the core, which may be written to, by these steps."""
    for step in steps:
        if not solutions:
            break
        solutions = _take(step, state, solutions)
    return solutions


def _take(step: Step, state: State, solutions: Solutions) -> Solutions:
    match step:
        case Filter(condition=condition):
            return _filter(condition, state, solutions)
        case Extend():
            return _extend(step, state, solutions)
        case LeftJoin():
            return _left_join(step, state, solutions)
        case Minus(body=body):
            return _minus(body, state, solutions)
        case GroupedJoin():
            return _grouped_join(step, state, solutions)
        case Join(body=body):
            return [
                merged
                for solution, others in zip(solutions, _nested(body, state, solutions), strict=True)
                for merged in _merged(solution, others)
            ]


def _filter(condition: Condition, state: State, solutions: Solutions) -> Solutions:
    truths = _truths(condition, state, solutions)
    return [solution for solution, truth in zip(solutions, truths, strict=True) if truth]


def _truths(condition: Condition, state: State, solutions: Solutions) -> list[bool]:
    return condition.expression.truths(_with_existences(condition, state, solutions))


def _extend(step: Extend, state: State, solutions: Solutions) -> Solutions:
    seen = _with_existences(step.condition, state, solutions)
    for solution, value in zip(solutions, step.condition.expression.values(seen), strict=True):
        if value is not None:
            solution[step.name] = value
    return solutions


def _with_existences(
    condition: Condition, state: State, solutions: Solutions
) -> Sequence[Mapping[str, Term]]:
    """The solutions with the truth of each EXISTS, which sees all that is bound (18.6)."""
    seen = solutions
    for each in condition.existences:
        found = _nested(each.body, state, solutions, everything=True)
        seen = [
            {**solution, each.name: _TRUTH[bool(others) != each.negated]}
            for solution, others in zip(seen, found, strict=True)
        ]
    return seen


def _left_join(step: LeftJoin, state: State, solutions: Solutions) -> Solutions:
    found: Solutions = []
    origins: list[int] = []
    for place, others in enumerate(_nested(step.body, state, solutions)):
        merged = _merged(solutions[place], others)
        found += merged
        origins += [place] * len(merged)
    passed = [True] * len(found)
    for condition in step.conditions:
        truths = _truths(condition, state, found)
        passed = [both[0] and both[1] for both in zip(passed, truths, strict=True)]
    joined = [solution for solution, passes in zip(found, passed, strict=True) if passes]
    met = {place for place, passes in zip(origins, passed, strict=True) if passes}
    return joined + [each for place, each in enumerate(solutions) if place not in met]


def _minus(body: Body, state: State, solutions: Solutions) -> Solutions:
    return [
        solution
        for solution, others in zip(solutions, _nested(body, state, solutions), strict=True)
        if not any(other.keys() & solution.keys() for other in _compatible(solution, others))
    ]


def _grouped_join(step: GroupedJoin, state: State, solutions: Solutions) -> Solutions:
    """Groups are complete where their keys agree; the others do not go with the solution."""
    names = sorted(step.variables)
    known: dict[tuple[Term | None, ...], Solutions] = {}
    found: Solutions = []
    for solution, others in zip(solutions, _nested(step.body, state, solutions), strict=True):
        key = tuple([solution.get(name) for name in names])
        if key not in known:
            known[key] = step.grouping.of(others)
        found += _merged(solution, known[key])
    return found


def _merged(solution: Solution, others: Solutions) -> Solutions:
    own = solution.items()
    return [merged for other in others if own <= (merged := solution | other).items()]


def _compatible(solution: Solution, others: Solutions) -> Solutions:
    own = solution.items()
    return [other for other in others if own <= (solution | other).items()]


def _nested(
    body: Body, state: State, solutions: Solutions, everything: bool = False
) -> list[Solutions]:
    """For each solution, those of the group that may go with it.

    The group is told the values of its certain variables, or of all (`everything`, for EXISTS).
    """
    found: list[Solutions] = [[] for _ in solutions]
    for plan in body.plans:
        names = plan.variables if everything else plan.certain
        for known, keys in _keys(names, solutions).items():
            starts: Solutions = [
                {**dict(zip(known, key, strict=True)), _ORIGIN: origin}  # type: ignore[dict-item]
                for origin, key in enumerate(keys)
            ]
            places = list(keys.values())
            for nested in solve(plan, state, starts, frozenset(known)):
                origin = nested.pop(_ORIGIN)
                for place in places[origin]:  # type: ignore[call-overload]
                    found[place].append(nested)
    return found


Keys = dict[tuple[str, ...], dict[tuple[Term, ...], list[int]]]


def _keys(names: Names, solutions: Solutions) -> Keys:
    """The values of these names, by which of them are bound, each with whose they are."""
    found: Keys = {}
    bound: tuple[str, ...] = ()
    for place, solution in enumerate(solutions):
        if not place or not _binds_the_same(solution, solutions[place - 1]):
            bound = tuple(name for name in solution if name in names)
        key = tuple([solution[name] for name in bound])
        found.setdefault(bound, {}).setdefault(key, []).append(place)
    return found


def _binds_the_same(solution: Solution, other: Solution) -> bool:
    return solution.keys() == other.keys()
