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

from pyoxigraph import Literal, Quad

from gateway.engine.incremental.plan import (
    Body,
    Condition,
    CoreElement,
    CorePattern,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Names,
    Plan,
    Step,
    Table,
)
from gateway.engine.incremental.states import LookUp, State, is_named
from gateway.rdf.terms import Term

Solution = dict[str, Term]
Solutions = list[Solution]
Keep = Callable[[Solution], bool]

_ORIGIN = "#origin"
"""No variable: the number of the partial solution that a solution of a nested group comes from."""

_TRUTH = {False: Literal(False), True: Literal(True)}


def solve(
    plan: Plan, state: State, starts: Solutions, known: Names, keep: Keep | None = None
) -> Solutions:
    """The solutions of the plan that agree with one of `starts`, which all bind `known`.

    `keep` is asked about each solution of the core.
    """
    solutions = join_core(plan, state, starts, known)
    if keep is not None:
        solutions = [solution for solution in solutions if keep(solution)]
    for step in plan.steps:
        if not solutions:
            break
        solutions = _take(step, state, solutions)
    return solutions


# the core -----------------------------------------------------------------------------------


def join_core(plan: Plan, state: State, starts: Solutions, known: Names) -> Solutions:
    """The solutions of patterns and VALUES alone."""
    solutions = _with_constants(plan, starts)
    for element in _order(plan, known.union(name for name, _ in plan.constants)):
        if not solutions:
            break
        if isinstance(element, CorePattern):
            solutions = _match(element, state, solutions)
        elif isinstance(element, Table):
            solutions = _join_table(element, solutions)
        else:
            solutions = _filter(element.condition, state, solutions)
    return solutions


def _with_constants(plan: Plan, starts: Solutions) -> Solutions:
    if not plan.constants:
        return starts
    constants = dict(plan.constants)
    return [
        {**start, **constants}
        for start in starts
        if all(start.get(name, term) == term for name, term in plan.constants)
    ]


def _match(pattern: CorePattern, state: State, solutions: Solutions) -> Solutions:
    found: Solutions = []
    for solution in solutions:
        for wanted in _look_ups(pattern, solution):
            for quad in state.match(wanted):
                extended = unify(pattern, quad, solution)
                if extended is not None:
                    found.append(extended)
    return found


def _look_ups(pattern: CorePattern, solution: Solution) -> Iterable[LookUp]:
    subject, predicate, object_ = pattern.subject, pattern.predicate, pattern.object
    start = (
        solution.get(subject) if isinstance(subject, str) else subject,
        solution.get(predicate) if isinstance(predicate, str) else predicate,
        solution.get(object_) if isinstance(object_, str) else object_,
    )
    scope = pattern.scope
    if not isinstance(scope.name, str):
        return ((*start, scope.name),)
    graph = solution.get(scope.name)
    if graph is not None or scope.graphs is None:
        return ((*start, graph),)
    return [(*start, each) for each in scope.graphs]


def unify(pattern: CorePattern, quad: Quad, solution: Solution) -> Solution | None:
    """The solution with the pattern's variables bound by the quad; None if it does not fit."""
    scope = pattern.scope
    graph = quad.graph_name
    if isinstance(scope.name, str) and not (
        is_named(graph) if scope.graphs is None else graph in scope.graphs
    ):
        return None
    extended = dict(solution)
    terms = (quad.subject, quad.predicate, quad.object, graph)
    for slot, term in zip(pattern.slots, terms, strict=True):
        if isinstance(slot, str):
            if extended.setdefault(slot, term) != term:  # type: ignore[arg-type]
                return None
        elif slot != term:
            return None
    return None if quad.predicate in pattern.excluded else extended


def _join_table(table: Table, solutions: Solutions) -> Solutions:
    found: Solutions = []
    for row in table.rows:
        cells = [
            (name, term) for name, term in zip(table.columns, row, strict=True) if term is not None
        ]
        found += [
            {**solution, **dict(cells)}
            for solution in solutions
            if all(solution.get(name, term) == term for name, term in cells)
        ]
    return found


def _order(plan: Plan, known: Names) -> tuple[CoreElement, ...]:
    """Always the element with the most positions known; a filter as soon as it can be asked."""
    order = plan.orders.get(known)
    if order is None:
        order = plan.orders[known] = tuple(_ordered(plan, set(known)))
    return order


def _ordered(plan: Plan, known: set[str]) -> Iterable[CoreElement]:
    elements: list[CorePattern | Table] = [*plan.tables, *plan.patterns]
    filters = list(plan.filters)
    while elements or filters:
        for each in [each for each in filters if each.variables <= known]:
            filters.remove(each)
            yield each
        if elements:
            best = max(elements, key=lambda element: _selectivity(element, known))
            elements.remove(best)
            known |= best.variables if isinstance(best, CorePattern) else best.certain
            yield best


def _selectivity(element: CorePattern | Table, known: set[str]) -> tuple[float, ...]:
    if isinstance(element, Table):
        if element.variables <= known or len(element.rows) == 1:
            return (4,)
        return (2.5 if element.variables & known or len(element.rows) < 10 else 0.5,)
    bound = [not isinstance(slot, str) or slot in known for slot in element.slots[:3]]
    joined = sum(slot in known for slot in element.slots if isinstance(slot, str))
    return (sum(bound), joined, bound[0])


# the steps ----------------------------------------------------------------------------------


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


def _merged(solution: Solution, others: Solutions) -> Solutions:
    return [{**solution, **other} for other in _compatible(solution, others)]


def _compatible(solution: Solution, others: Solutions) -> Solutions:
    return [
        other
        for other in others
        if all(solution.get(name, term) == term for name, term in other.items())
    ]


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
            places = list(keys.values())
            starts: Solutions = [
                {**dict(key), _ORIGIN: origin}  # type: ignore[dict-item]
                for origin, key in enumerate(keys)
            ]
            for nested in solve(plan, state, starts, known):
                origin = nested.pop(_ORIGIN)
                for place in places[origin]:  # type: ignore[call-overload]
                    found[place].append(nested)
    return found


Key = tuple[tuple[str, Term], ...]


def _keys(names: Names, solutions: Solutions) -> dict[Names, dict[Key, list[int]]]:
    """The values of these names, by which of them are bound, each with whose they are."""
    found: dict[Names, dict[Key, list[int]]] = {}
    for place, solution in enumerate(solutions):
        key = tuple((name, term) for name, term in solution.items() if name in names)
        keys = found.setdefault(frozenset(name for name, _ in key), {})
        keys.setdefault(key, []).append(place)
    return found
