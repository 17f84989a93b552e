"""The join of a plan's core, patterns and VALUES, from partial solutions onwards, by look-ups.

Place: under `solve` and `affected`. Source: Roffia et al. 2016, section IV (docs/engine.md), the
BOOSTER's completion, for many partial solutions at once. All of them bind the same variables, so
what each pattern looks up and binds is worked out once for a set of known variables.

An example: two lamps are known, and what their posts are and what values they have is asked. The
pattern with the most known positions comes first; of equals, the one whose subject is known.

>>> from pyoxigraph import NamedNode, RdfFormat, parse
>>> from gateway.engine.incremental.query import incremental_query
>>> from gateway.engine.incremental.states import Now
>>> from gateway.rdf.delta import Delta
>>> from gateway.sparql.parser import parse_query
>>> from gateway.store.quad_store import QuadStore
>>> class Shown(QuadStore):
...     def match(self, *wanted):
...         print("looks up", *("?" if term is None else term for term in wanted[:3]))
...         return super().match(*wanted)
>>> store = Shown.open(None)
>>> lamps = '<urn:p> <urn:lamp> <urn:1>, <urn:2> . <urn:1> <urn:value> 80 .'
>>> store.apply(Delta(tuple(parse(lamps, format=RdfFormat.TURTLE))))
>>> query = parse_query("SELECT * { ?post <urn:lamp> ?lamp . ?lamp <urn:value> ?value }")
>>> (plan,) = incremental_query(query).plans
>>> starts = [{"lamp": NamedNode("urn:1")}, {"lamp": NamedNode("urn:2")}]
>>> found = join_core(plan, Now(store), starts, frozenset({"lamp"}))
looks up <urn:1> <urn:value> ?
looks up <urn:2> <urn:value> ?
looks up ? <urn:lamp> <urn:1>
>>> [{name: term.value for name, term in solution.items()} for solution in found]
[{'lamp': 'urn:1', 'value': '80', 'post': 'urn:p'}]
"""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter, itemgetter

from pyoxigraph import Quad

from gateway.engine.incremental.expressions import Solution
from gateway.engine.incremental.plan import CorePattern, Filter, Names, Plan, Table
from gateway.engine.incremental.states import LookUp, State, is_named
from gateway.rdf.terms import Term
from gateway.runtime.text_cache import remembered

Solutions = list[Solution]
Values = tuple[Term, ...]
CoreStep = Callable[[State, Solutions], Solutions]
"""Partial solutions with an element of the core joined to them."""

_ATTRIBUTES = ("subject", "predicate", "object", "graph_name")
_POSITIONS = tuple(map(attrgetter, _ATTRIBUTES))


def join_core(
    plan: Plan, state: State, starts: Solutions, known: Names, seeded: tuple[int, ...] = ()
) -> Solutions:
    """The solutions of the core that agree with one of `starts`, which all bind `known`.

    `seeded` are patterns that are known to match each of them in this state.
    """
    solutions = _with_constants(plan, starts)
    for step in _steps(plan, known, seeded):
        if not solutions:
            break
        solutions = step(state, solutions)
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


@remembered(length=lambda pattern: len(repr(pattern)))
def values_reader(pattern: CorePattern) -> Callable[[Quad], Values | None]:
    """Reads the pattern's variables, sorted by name, off a quad; None if it does not fit.

    Of the quads, those with another predicate have been left out before.
    """
    names = sorted(pattern.variables)
    if not _is_plain(pattern, names):

        def unified(quad: Quad) -> Values | None:
            solution = unify(pattern, quad, {})
            return None if solution is None else tuple([solution[name] for name in names])

        return unified
    slots = pattern.slots
    constants = [
        place for place, slot in enumerate(slots) if not isinstance(slot, str) and place != 1
    ]
    fixed = _terms_at(constants)
    expected = tuple([slots[place] for place in constants])
    terms = _terms_at([slots.index(name) for name in names])
    return lambda quad: terms(quad) if fixed(quad) == expected else None


def _terms_at(places: Sequence[int]) -> Callable[[Quad], Values]:
    """Reads the terms at these positions off a quad."""
    match places:
        case []:
            return lambda _: ()
        case [place]:
            position = _POSITIONS[place]
            return lambda quad: (position(quad),)
        case _:
            return attrgetter(*(_ATTRIBUTES[place] for place in places))


def _is_plain(pattern: CorePattern, new: Sequence[str]) -> bool:
    """Whether a quad that has the known terms always fits, where these variables are new."""
    return (
        not pattern.excluded
        and not isinstance(pattern.scope.name, str)
        and all(pattern.slots.count(name) == 1 for name in new)
    )


# the order ----------------------------------------------------------------------------------


def _steps(plan: Plan, known: Names, seeded: tuple[int, ...]) -> tuple[CoreStep, ...]:
    steps = plan.orders.get((known, seeded))
    if steps is None:
        steps = plan.orders[known, seeded] = tuple(_ordered(plan, known, seeded))
    return steps


def _ordered(plan: Plan, known: Names, seeded: tuple[int, ...]) -> Iterator[CoreStep]:
    """Always the element with the most positions known; a filter as soon as it can be asked."""
    patterns = [pattern for place, pattern in enumerate(plan.patterns) if place not in seeded]
    elements: list[CorePattern | Table] = [*plan.tables, *patterns]
    filters = list(plan.filters)
    bound = known.union(name for name, _ in plan.constants)
    unsure: Names = frozenset()
    left = {place: _selectivity(each, bound, known) for place, each in enumerate(elements)}
    while left or filters:
        for each in [each for each in filters if each.variables <= bound]:
            filters.remove(each)
            yield _filter_step(each)
        if left:
            place = max(left, key=left.__getitem__)
            del left[place]
            best = elements[place]
            if isinstance(best, Table):
                yield _table_step(best)
                unsure |= best.variables - best.certain
                new = best.certain
            else:
                yield _pattern_step(best, bound, unsure)
                new = best.variables
                known |= new
            bound |= new
            for other in [at for at in left if not elements[at].variables.isdisjoint(new)]:
                left[other] = _selectivity(elements[other], bound, known)


def _selectivity(element: CorePattern | Table, bound: Names, joined: Names) -> tuple[float, ...]:
    """Known positions; of equals, one from a seed selects more than a constant, a subject more."""
    if isinstance(element, Table):
        if element.variables <= bound or len(element.rows) == 1:
            return (4,)
        return (2.5 if element.variables & bound or len(element.rows) < 10 else 0.5,)
    slots = element.slots
    known = [not isinstance(slot, str) or slot in bound for slot in slots[:3]]
    return (sum(known), sum(isinstance(slot, str) and slot in joined for slot in slots), known[0])


# the steps ----------------------------------------------------------------------------------


def _filter_step(step: Filter) -> CoreStep:
    expression = step.condition.expression

    def passing(_: State, solutions: Solutions) -> Solutions:
        truths = expression.truths(solutions)
        return [solution for solution, truth in zip(solutions, truths, strict=True) if truth]

    return passing


def _table_step(table: Table) -> CoreStep:
    rows = [
        {name: term for name, term in zip(table.columns, row, strict=True) if term is not None}
        for row in table.rows
    ]

    def joined(_: State, solutions: Solutions) -> Solutions:
        return [
            {**solution, **row}
            for row in rows
            for solution in solutions
            if all(solution.get(name, term) == term for name, term in row.items())
        ]

    return joined


def _pattern_step(pattern: CorePattern, bound: Names, unsure: Names) -> CoreStep:
    new = [slot for slot in pattern.slots if isinstance(slot, str) and slot not in bound]
    if pattern.variables & unsure or not _is_plain(pattern, new):
        return _any_step(pattern)
    return _plain_step(pattern, bound)


def _plain_step(pattern: CorePattern, bound: Names) -> CoreStep:
    """Each quad of the look-up fits, and binds variables that are new and differ.

    What was found for the same known terms is remembered in the state.
    """
    names = [(place, slot) for place, slot in enumerate(pattern.slots) if isinstance(slot, str)]
    known = [(place, name) for place, name in names if name in bound]
    new = [(name, _POSITIONS[place]) for place, name in names if name not in bound]
    constants = [None if isinstance(slot, str) else slot for slot in pattern.slots]
    predicate = None if isinstance(pattern.predicate, str) else pattern.predicate
    key_of = itemgetter(*(name for _, name in known)) if known else _no_key

    def looked_up(state: State, solution: Solution) -> Solutions:
        wanted = constants.copy()
        for place, name in known:
            wanted[place] = solution[name]
        return [
            {name: position(quad) for name, position in new}
            for quad in state.match(tuple(wanted))  # type: ignore[arg-type]
        ]

    def extended(state: State, solutions: Solutions) -> Solutions:
        state = state.narrowed(predicate)
        memory: dict[object, Solutions] = state.memory(looked_up)
        found: Solutions = []
        for solution in solutions:
            key = key_of(solution)
            others = memory.get(key)
            if others is None:
                others = memory[key] = looked_up(state, solution)
            for other in others:
                found.append(solution | other if other else solution)
        return found

    return extended


def _no_key(_: Solution) -> None:
    """The key of a look-up of constants."""


def _any_step(pattern: CorePattern) -> CoreStep:
    def extended(state: State, solutions: Solutions) -> Solutions:
        return [
            extended
            for solution in solutions
            for wanted in _look_ups(pattern, solution)
            for quad in state.match(wanted)
            if (extended := unify(pattern, quad, solution)) is not None
        ]

    return extended


def _look_ups(pattern: CorePattern, solution: Solution) -> list[LookUp]:
    subject, predicate, object_ = (
        solution.get(slot) if isinstance(slot, str) else slot
        for slot in (pattern.subject, pattern.predicate, pattern.object)
    )
    scope = pattern.scope
    graph = solution.get(scope.name) if isinstance(scope.name, str) else scope.name
    if graph is not None or scope.graphs is None:
        return [(subject, predicate, object_, graph)]
    return [(subject, predicate, object_, each) for each in scope.graphs]
