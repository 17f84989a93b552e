"""BOOSTER: what a Delta changed in the answer of joined patterns.

For each pattern that a changed quad matches, its variables are bound and the other patterns are
completed by index look-ups, the one with the most bound positions first. Removed rows are computed
on the state before the UPDATE, added rows on the one after it. A derivation that uses several
changed quads counts once: it is found at the first pattern of the query that uses one, since
patterns before it look at unchanged quads only. So bags come out right, equal rows included.
Source: Roffia et al. 2016, section IV (docs/engine.md).

An example: somebody subscribed to the lamps of all posts, and one of two lamps is set from 80 to
60: three quads are there, one goes, one comes.

>>> from pyoxigraph import RdfFormat, parse
>>> from gateway.engine.lutt import runs
>>> from gateway.rdf.delta import Delta
>>> from gateway.rdf.terms import DEFAULT_GRAPH
>>> from gateway.store.quad_store import QuadStore
>>> class Shown(QuadStore):
...     def match(self, *wanted):
...         print("looks up", *("?" if term is None else term for term in wanted[:3]))
...         return super().match(*wanted)
>>> def quads(turtle):
...     return tuple(parse(turtle, format=RdfFormat.TURTLE))
>>> store = Shown.open(None)
>>> before = '<urn:p1> <urn:lamp> <urn:1>, <urn:2> . <urn:1> <urn:value> 80 .'
>>> store.apply(Delta(added=quads(before)))
>>> change = Delta(quads('<urn:1> <urn:value> 60 .'), quads('<urn:1> <urn:value> 80 .'))
>>> lamp_of, value_of = NamedNode("urn:lamp"), NamedNode("urn:value")
>>> booster = Booster(
...     [
...         JoinPattern("post", lamp_of, "lamp", DEFAULT_GRAPH),
...         JoinPattern("lamp", value_of, "value", DEFAULT_GRAPH),
...     ],
...     columns=["post", "value"],
... )

The changed quads bind `?lamp` and `?value`; what is left to be looked up is the same for both of
them, and the UPDATE did not change it, so it is looked up once.

>>> store.apply(change)
>>> for _, row, is_won in booster.changes(store, Artq(runs(change))):
...     print("won" if is_won else "lost", *(term.value for term in row))
looks up ? <urn:lamp> <urn:1>
lost urn:p1 80
won urn:p1 60

Parameters are variables too: queries that differ in constants alone are joined together, and a
solution is dropped as soon as its parameters are those of nobody (`members`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from gateway.engine.dataset import LookUp, Quads, Tables, look_up_in
from gateway.engine.join.join_order import join_order
from gateway.engine.join.join_pattern import (
    ATTRIBUTES,
    JoinPattern,
    Key,
    RunTest,
    Slot,
    attributes,
    by_predicate,
    picker,
    run_keys,
)
from gateway.engine.limits import in_time
from gateway.engine.lutt import Artq, Run
from gateway.rdf.solutions import Row
from gateway.rdf.terms import GraphName, Term

Solution = tuple[Any, ...]
"""Whether it is won or lost, None, the constants of its plan, then terms as they are bound."""

_NOTHING = 1
"""The place of None in a solution: a wildcard of a look-up, a column without value."""


class Before(Tables):
    """The state before a Delta: (now without `added`) and `removed`."""

    def __init__(self, now: Quads, added: Sequence[Quad], removed: Sequence[Quad]) -> None:
        self._now = now
        self._looks: dict[tuple[Term, GraphName], LookUp] = {}
        self._added = frozenset(added)
        self._removed = removed
        self._predicates = {quad.predicate for quad in (*added, *removed)}

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern in that state."""
        found = self._now.match(subject, predicate, object_, graph)
        if predicate is not None and predicate not in self._predicates:
            return found
        quads = [quad for quad in found if quad not in self._added]
        quads += [
            quad
            for quad in self._removed
            if (subject is None or subject == quad.subject)
            and (predicate is None or predicate == quad.predicate)
            and (object_ is None or object_ == quad.object)
            and (graph is None or graph == quad.graph_name)
        ]
        return quads

    def look_up(self, predicate: Term, graph: GraphName) -> LookUp:
        """The quads of one predicate and graph in that state."""
        look = self._looks.get((predicate, graph))
        if look is None:
            now = look_up_in(self._now, predicate, graph)
            look = now if predicate not in self._predicates else self._look(now, predicate, graph)
            self._looks[predicate, graph] = look
        return look

    def _look(self, now: LookUp, predicate: Term, graph: GraphName) -> LookUp:
        added = self._added
        back = [
            (quad.subject, quad.object, quad)
            for quad in self._removed
            if quad.predicate == predicate and quad.graph_name == graph
        ]

        def look(subject: Term | None, object_: Term | None) -> Iterable[Quad]:
            found = now(subject, object_)
            if added:
                found = [quad for quad in found if quad not in added]
            gone = [
                quad
                for one, other, quad in back
                if (subject is None or subject == one) and (object_ is None or object_ == other)
            ]
            return [*found, *gone] if gone else found

        return look


_Begun = dict["_Plan", list[Solution]]


class Members(Protocol):
    """Whose parameters are looked for."""

    def among(self, places: tuple[int, ...]) -> Collection[Key]:
        """The values that the parameters in these places have together; it stays up to date."""


class Booster:
    """The join of one or several patterns, incrementally.

    `patterns` may share variables in any way; their constants are as the store gives them. Each
    row has the `columns`, constants or variables (None where no pattern has one), and comes with
    the values of its `parameters`, variables of the patterns.
    """

    def __init__(
        self,
        patterns: Sequence[JoinPattern],
        columns: Sequence[Slot],
        parameters: Sequence[str] = (),
        members: Members | None = None,
    ) -> None:
        self._patterns = tuple(patterns)
        self._columns = tuple(columns)
        self._parameters = tuple(parameters)
        self._members = members

    @cached_property
    def _plans(self) -> Mapping[Term | None, Sequence["_Plan"]]:
        return by_predicate(self._patterns, [self._plan(n) for n in range(len(self._patterns))])

    @cached_property
    def _whole(self) -> "_Plan":
        return self._plan(None)

    def _plan(self, seed: int | None) -> "_Plan":
        return _Plan(self._patterns, seed, self._columns, self._parameters, self._members)

    def changes(self, now: Quads, changed: Artq) -> Iterator[tuple[Key, Row, bool]]:
        """The rows that lost and that won a derivation, True for those; `now` has the change."""
        lost, won = self._begin(changed.runs)
        if not (lost or won):
            return
        touched = {run.predicate for run in changed.runs}
        before: Quads | None = None
        for plan in {**lost, **won}:
            if plan.looks_at(touched):
                if plan in lost:
                    if before is None:
                        before = Before(now, changed.added, changed.removed)
                    yield from plan.complete(before, lost[plan], changed.removed)
                if plan in won:
                    yield from plan.complete(now, won[plan], changed.added)
            else:
                # What it looks up is the same before and after.
                yield from plan.complete(now, [*lost.get(plan, ()), *won.get(plan, ())], ())

    def _begin(self, runs: Sequence[Run]) -> tuple[_Begun, _Begun]:
        plans = self._plans
        anyway = plans[None]
        begun: tuple[_Begun, _Begun] = ({}, {})
        for run in runs:
            for plan in plans.get(run.predicate, anyway):
                solutions = plan.begin(run)
                if solutions:
                    begun[run.is_added].setdefault(plan, []).extend(solutions)
        return begun

    def everything(self, state: Quads, parameters: Sequence[Term] = ()) -> Iterator[Row]:
        """The rows of all derivations in `state` with these parameters."""
        plan = self._whole
        return plan.rows(state, (*plan.won, *parameters))


class _Plan:
    """One order of look-ups; it begins with a quad of the pattern `seed`, or with parameters."""

    def __init__(
        self,
        patterns: Sequence[JoinPattern],
        seed: int | None,
        columns: Sequence[Slot],
        parameters: Sequence[str],
        members: Members | None,
    ) -> None:
        constants = [slot for p in patterns for slot in p.slots if not isinstance(slot, str)]
        constants += [slot for slot in columns if not isinstance(slot, str)]
        self.won: Solution = (True, *dict.fromkeys((None, *constants)))
        self.lost: Solution = (False, *self.won[1:])
        places: dict[Any, int] = {term: at for at, term in enumerate(self.won) if at}
        if seed is None:
            places |= {name: len(self.won) + place for place, name in enumerate(parameters)}
        self._seed = -1 if seed is None else seed
        self._reader = None if seed is None else _Reader(patterns[seed], places)
        self._test = None if seed is None else RunTest(patterns[seed])
        prunes = _Prunes(parameters, None if seed is None else members)
        self._first = prunes.after(places)
        self._first_keys = run_keys([] if seed is None else attributes(patterns[seed], parameters))
        self._width = len(places) + 1
        self._steps: list[_Step] = []
        for place in join_order(patterns, seed, set(places)):
            step = _Step(place, patterns[place], places)
            step.prune = prunes.after(places)
            self._steps.append(step)
        self._predicates = frozenset(step.predicate for step in self._steps)
        used = {place for step in self._steps for place in step.used()}
        of_seed = range(len(self.won), self._width)
        looked_at = sorted(used.intersection(of_seed))
        is_shared = bool(self._steps) and len(looked_at) < len(of_seed)
        self._alike = picker(looked_at) if is_shared else None
        self._row = _row_picker([places.get(column, _NOTHING) for column in columns])
        self._key = picker([places[name] for name in parameters])

    def looks_at(self, predicates: Collection[Term]) -> bool:
        """Whether a quad with one of these predicates may be looked up."""
        return None in self._predicates or not self._predicates.isdisjoint(predicates)

    def begin(self, run: Run) -> Sequence[Solution]:
        """What the changed quads bind that match the seed and that somebody may care for."""
        fitting = None if self._test is None else self._test.of(run)
        if fitting is None or self._reader is None:
            return ()
        quads: Iterable[Quad] = fitting.quads
        if self._first is not None:
            known = map(self._first.known.__contains__, self._first_keys(fitting))
            quads = compress(quads, known)
        if self._reader.accept is not None:
            quads = filter(self._reader.accept, quads)
        before, new = self.won if run.is_added else self.lost, self._reader.new
        return [before + new(quad) for quad in quads]

    def complete(
        self, state: Quads, solutions: list[Solution], changed: Sequence[Quad]
    ) -> Iterator[tuple[Key, Row, bool]]:
        """The rows of all extensions; patterns before the seed take no changed quad."""
        if self._alike is None or len(solutions) < 2:
            solutions = self._extended(state, solutions, changed)
        else:
            solutions = self._extended_together(self._alike, state, solutions, changed)
        key, row = self._key, self._row
        for solution in solutions:
            yield key(solution), row(solution), solution[0]

    def rows(self, state: Quads, start: Solution) -> Iterator[Row]:
        """The rows of all extensions, one after the other: none waits for another.

        Raises QueryTimeoutError where the first answer takes too long.
        """
        solutions: Iterable[Solution] = (start,)
        for step in self._steps:
            solutions = step.one_by_one(state, in_time(solutions))
        return map(self._row, solutions)

    def _extended(
        self, state: Quads, solutions: list[Solution], changed: Sequence[Quad]
    ) -> list[Solution]:
        for step in self._steps:
            if not solutions:
                break
            skipped = step.skipped(changed) if step.place < self._seed else ()
            solutions = step.extend(state, solutions, skipped)
        return solutions

    def _extended_together(
        self,
        alike: Callable[[Solution], Key],
        state: Quads,
        solutions: list[Solution],
        changed: Sequence[Quad],
    ) -> list[Solution]:
        """The same; of solutions alike in all that is looked up, one is completed for all."""
        groups: dict[Key, list[Solution]] = {}
        for solution in solutions:
            groups.setdefault(alike(solution), []).append(solution)
        width = self._width
        return [
            solution + extended[width:]
            for extended in self._extended(state, [each[0] for each in groups.values()], changed)
            for solution in groups[alike(extended)]
        ]


class Prune(NamedTuple):
    """A test of parameters: what stands in these places is that of somebody."""

    places: Sequence[int]
    key: Callable[[Solution], Key]
    known: Collection[Key]


class _Prunes:
    """After which steps parameters become known, so that solutions of nobody can be dropped."""

    def __init__(self, parameters: Sequence[str], members: Members | None) -> None:
        self._parameters = parameters
        self._members = members
        self._known = 0

    def after(self, places: Mapping[Any, int]) -> Prune | None:
        """The test that pays now, with the variables of `places` bound."""
        known = tuple(n for n, name in enumerate(self._parameters) if name in places)
        if self._members is None or len(known) == self._known:
            return None
        self._known = len(known)
        its_places = [places[self._parameters[number]] for number in known]
        return Prune(its_places, picker(its_places), self._members.among(known))


class _Reader:
    """What a quad of a pattern adds to a solution; extends `places` by its new variables."""

    def __init__(self, pattern: JoinPattern, places: dict[Any, int]) -> None:
        found: dict[str, list[str]] = {}
        for slot, attribute in zip(pattern.slots, ATTRIBUTES, strict=True):
            if isinstance(slot, str) and slot not in places:
                found.setdefault(slot, []).append(attribute)
        for name in found:
            places[name] = len(places) + 1
        self.new = _terms_getter([attributes[0] for attributes in found.values()])
        equal = [(each[0], other) for each in found.values() for other in each[1:]]
        self.accept = _acceptance(equal, is_named=isinstance(pattern.graph, str))


class _Step:
    """The look-ups of one pattern with what the solutions know of it."""

    prune: Prune | None = None

    def __init__(self, place: int, pattern: JoinPattern, places: dict[Any, int]) -> None:
        self.place = place
        self._places = [places.get(slot, _NOTHING) for slot in pattern.slots]
        self._look = picker(self._places)
        self._ends = picker(self._places[::2])
        self.predicate = None if isinstance(pattern.predicate, str) else pattern.predicate
        self._one_graph = None if isinstance(pattern.graph, str) else pattern.graph
        self._graph = places.get(pattern.graph, 0) if isinstance(pattern.graph, str) else 0
        self._reader = _Reader(pattern, places)

    def used(self) -> Sequence[int]:
        """The places of a solution that decide what is found."""
        return [*self._places, self._graph, *(self.prune.places if self.prune else ())]

    def skipped(self, changed: Sequence[Quad]) -> Collection[Quad]:
        """The changed quads that may match the pattern."""
        predicate = self.predicate
        if not changed:
            return ()
        if predicate is None:
            return frozenset(changed)
        return {quad for quad in changed if quad.predicate == predicate}

    def extend(
        self, state: Quads, solutions: Sequence[Solution], skipped: Collection[Quad]
    ) -> list[Solution]:
        """Every solution with every quad that fits it."""
        if self._graph:
            solutions = [each for each in solutions if isinstance(each[self._graph], _GRAPH_NAMES)]
        look, match = self._looking(state)
        new, accept = self._reader.new, self._reader.accept
        extended = [
            solution + new(quad)
            for solution in solutions
            for quad in match(*look(solution))
            if (accept is None or accept(quad)) and quad not in skipped
        ]
        if self.prune is None:
            return extended
        _, key, known = self.prune
        return [solution for solution in extended if key(solution) in known]

    def one_by_one(self, state: Quads, solutions: Iterable[Solution]) -> Iterator[Solution]:
        """As `extend`, while somebody asks for more; what was found for few quads is kept."""
        look, match = self._looking(state)
        new, accept, graph = self._reader.new, self._reader.accept, self._graph
        kept: dict[Any, Collection[Quad]] = {}
        for solution in solutions:
            if graph and not isinstance(solution[graph], _GRAPH_NAMES):
                continue
            wanted = look(solution)
            found = kept.get(wanted)
            if found is None:
                found = list(match(*wanted))
                if len(found) <= _FEW and len(kept) < _MOST_KEPT:
                    kept[wanted] = found
            for quad in found:
                if accept is None or accept(quad):
                    yield solution + new(quad)

    def _looking(self, state: Quads) -> tuple[Callable[[Solution], Any], Callable[..., Any]]:
        """What of a solution to look up, and where."""
        if self.predicate is not None and self._one_graph is not None:
            return self._ends, look_up_in(state, self.predicate, self._one_graph)
        return self._look, state.match


_FEW = 16
"""Quads of a look-up that are kept for the next one like it."""

_MOST_KEPT = 8_192
"""Look-ups whose quads are kept at once."""

_GRAPH_NAMES = (NamedNode, BlankNode)


def _row_picker(places: Sequence[int]) -> Callable[[Solution], Row]:
    if len(places) == 1:
        (only,) = places
        return lambda solution: (solution[only],)
    return picker(places)


def _terms_getter(attributes: Sequence[str]) -> Callable[[Quad], Solution]:
    if not attributes:
        return lambda _: ()
    get = attrgetter(*attributes)
    return get if len(attributes) > 1 else lambda quad: (get(quad),)


def _acceptance(
    equal: Sequence[tuple[str, str]], *, is_named: bool
) -> Callable[[Quad], bool] | None:
    """The test of a quad that a look-up cannot make; None where there is nothing to test."""
    if not equal and not is_named:
        return None

    def accept(quad: Quad) -> bool:
        if is_named and isinstance(quad.graph_name, DefaultGraph):
            return False
        return all(getattr(quad, one) == getattr(quad, other) for one, other in equal)

    return accept
