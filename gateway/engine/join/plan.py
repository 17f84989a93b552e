"""Plans: orders of look-ups of a join, each from its seed, which is what a Delta changed.

Place: within the BOOSTER, which has a plan for each star and each other pattern of a query, and one
without seed for whole answers.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

from pyoxigraph import Quad

from gateway.engine.dataset import Quads
from gateway.engine.join.join_order import join_order
from gateway.engine.join.join_pattern import (
    JoinPattern,
    Key,
    RunTest,
    Slot,
    attributes,
    picker,
    run_keys,
)
from gateway.engine.join.prunes import Members, Prunes, Solution
from gateway.engine.join.star import UNCHANGED, Arm, Star, is_arm
from gateway.engine.join.steps import NOTHING, Reader, StarStep, Step
from gateway.engine.limits import in_time
from gateway.engine.lutt import Run
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term

Sides = tuple[Solution, Solution]
Begun = tuple[list[Solution], list[Solution]]
"""Solutions lost and won."""

_NOTHING: tuple[Begun, list[Run]] = ([], []), []
"""Nobody writes to it."""


class PatternSeed:
    """A pattern alone: each changed quad that matches it and that somebody may care for."""

    def __init__(
        self,
        pattern: JoinPattern,
        places: dict[Any, int],
        parameters: Sequence[str],
        prunes: Prunes,
    ) -> None:
        self._test = RunTest(pattern)
        self._reader = Reader(pattern, places)
        self._prune = prunes.after(places)
        self._keys = run_keys(attributes(pattern, parameters))

    def begin(self, now: Quads, runs: Sequence[Run], starts: Sides) -> tuple[Begun, list[Run]]:
        """What these runs, which have its predicate, make of the starts of both sides."""
        del now
        begun: Begun = ([], [])
        for run in runs:
            fitting = self._test.of(run)
            if fitting is not None:
                start = starts[run.is_added]
                begun[run.is_added].extend([start + new for new in self._new(fitting)])
        return begun, []

    def _new(self, run: Run) -> Iterable[Solution]:
        quads: Iterable[Quad] = run.quads
        if self._prune is not None:
            quads = compress(quads, map(self._prune.known.__contains__, self._keys(run)))
        if self._reader.accept is not None:
            quads = filter(self._reader.accept, quads)
        return map(self._reader.new, quads)


class StarSeed:
    """A star: each row that the changed quads take and give, and that somebody may care for."""

    def __init__(
        self,
        arms: Sequence[JoinPattern],
        places: dict[Any, int],
        parameters: Sequence[str],
        members: Members | None,
        prunes: Prunes,
    ) -> None:
        def known(slot: Slot) -> Collection[Key] | None:
            if members is None or slot not in parameters:
                return None
            return members.among((parameters.index(slot),))

        subject = arms[0].subject
        found = [
            Arm(each.predicate, None, known(each.object))  # type: ignore[arg-type]
            if isinstance(each.object, str)
            else Arm(each.predicate, each.object)  # type: ignore[arg-type]
            for each in arms
        ]
        self._star = Star(arms[0].graph, found, known(subject))  # type: ignore[arg-type]
        for slot in (subject, *(each.object for each in arms)):
            if isinstance(slot, str):
                places[slot] = len(places) + 1
        self._prune = prunes.after(places)

    def begin(self, now: Quads, runs: Sequence[Run], starts: Sides) -> tuple[Begun, list[Run]]:
        """What these runs make of the starts of both sides, and those left to its patterns."""
        change = self._star.changes(now, runs)
        if change is UNCHANGED:
            return _NOTHING
        begun: Begun = ([], [])
        for side, rows in enumerate((change.lost, change.won)):
            if rows:
                start = starts[side]
                found = [start + row for row in rows]
                begun[side].extend(found if self._prune is None else self._prune.of(found))
        return begun, change.wide


class Plan:
    """One order of look-ups, from the changes of the patterns `seed`, one or those of a star.

    The patterns of each star stand together. Those before the seed take no changed quad.
    """

    def __init__(
        self,
        patterns: Sequence[JoinPattern],
        seed: Sequence[int],
        columns: Sequence[Slot],
        parameters: Sequence[str],
        members: Members | None,
    ) -> None:
        self.seed = seed
        self._starts, places = _starts(patterns, columns)
        of_starts = len(places) + 1
        prunes = Prunes(parameters, members)
        arms = [patterns[place] for place in seed]
        self._seed: PatternSeed | StarSeed
        if len(arms) > 1:
            self._seed = StarSeed(arms, places, parameters, members, prunes)
        else:
            self._seed = PatternSeed(arms[0], places, parameters, prunes)
        self._width = len(places) + 1
        self._steps = list(_steps(patterns, seed, places, prunes))
        self._looked_up = frozenset(each for step in self._steps for each in step.predicates)
        used = {place for step in self._steps for place in step.used()}
        of_seed = range(of_starts, self._width)
        looked_at = sorted(used.intersection(of_seed))
        is_shared = bool(self._steps) and len(looked_at) < len(of_seed)
        self._alike = picker(looked_at) if is_shared else None
        self._row = _row_picker([places.get(column, NOTHING) for column in columns])
        self._key = picker([places[name] for name in parameters])

    def looks_at(self, runs: Iterable[Run]) -> bool:
        """Whether a quad of these may be looked up."""
        looked_up = self._looked_up
        if not looked_up:
            return False
        return None in looked_up or any(run.predicate in looked_up for run in runs)

    def begin(self, now: Quads, runs: Sequence[Run]) -> tuple[Begun, list[Run]]:
        """The solutions lost and won of the seed, and of a star what is left to its patterns.

        The runs have a predicate of it.
        """
        return self._seed.begin(now, runs, self._starts)

    def complete(
        self, state: Quads, solutions: list[Solution], changed: Sequence[Quad]
    ) -> list[tuple[Key, Row, bool]]:
        """The rows of all extensions; patterns before the seed take no changed quad."""
        if self._alike is None or len(solutions) < 2:
            solutions = self._extended(state, solutions, changed)
        else:
            solutions = self._extended_together(self._alike, state, solutions, changed)
        key, row = self._key, self._row
        return [(key(solution), row(solution), solution[0]) for solution in solutions]

    def _extended(
        self, state: Quads, solutions: list[Solution], changed: Sequence[Quad]
    ) -> list[Solution]:
        for step in self._steps:
            if not solutions:
                break
            solutions = step.extend(state, solutions, changed)
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


class WholePlan:
    """An order of look-ups from the parameters on, for whole answers."""

    def __init__(
        self, patterns: Sequence[JoinPattern], columns: Sequence[Slot], parameters: Sequence[str]
    ) -> None:
        (_, self._start), places = _starts(patterns, columns)
        for name in parameters:
            places[name] = len(places) + 1
        self._steps: list[Step] = []
        for place in join_order(patterns, (), set(places)):
            self._steps.append(Step(patterns[place], places, is_before=False))
        self._row = _row_picker([places.get(column, NOTHING) for column in columns])

    def rows(self, state: Quads, parameters: Sequence[Term]) -> Iterator[Row]:
        """The rows of all extensions, one after the other: none waits for another.

        Raises QueryTimeoutError where the first answer takes too long.
        """
        solutions: Iterable[Solution] = ((*self._start, *parameters),)
        for step in self._steps:
            solutions = step.one_by_one(state, in_time(solutions))
        return map(self._row, solutions)


def _starts(
    patterns: Sequence[JoinPattern], columns: Sequence[Slot]
) -> tuple[Sides, dict[Any, int]]:
    """What solutions begin with, and where: None, and all constants."""
    constants = [slot for p in patterns for slot in p.slots if not isinstance(slot, str)]
    constants += [slot for slot in columns if not isinstance(slot, str)]
    terms = tuple(dict.fromkeys((None, *constants)))
    return ((False, *terms), (True, *terms)), {term: at for at, term in enumerate(terms, 1)}


def _steps(
    patterns: Sequence[JoinPattern], seed: Sequence[int], places: dict[Any, int], prunes: Prunes
) -> Iterator[Step | StarStep]:
    """The look-ups of the patterns behind the seed; those with one known subject are one step."""
    order = join_order(patterns, seed, set(places))
    while order:
        together = _together(patterns, order, seed[0], places, prunes)
        is_before = together[0] < seed[0]
        order = [place for place in order if place not in together]
        its_patterns = [patterns[place] for place in together]
        step: Step | StarStep
        if len(together) > 1:
            step = StarStep(its_patterns, places, is_before=is_before)
        else:
            step = Step(its_patterns[0], places, is_before=is_before)
        step.prune = prunes.after(places)
        yield step


def _together(
    patterns: Sequence[JoinPattern],
    order: Sequence[int],
    seed: int,
    places: Mapping[Any, int],
    prunes: Prunes,
) -> list[int]:
    """The first, and those that are arms of one star with it, on the same side of the seed.

    Behind a parameter that becomes known there is something to prune, so the step ends there.
    """
    first = patterns[order[0]]
    if not is_arm(first) or first.subject not in places:
        return [order[0]]
    star, is_before = (first.subject, first.graph), order[0] < seed
    found: list[int] = []
    new: set[Slot] = set()
    for place in order:
        each = patterns[place]
        is_here = is_arm(each) and (each.subject, each.graph) == star
        if not is_here or (place < seed) is not is_before or each.object in new:
            continue
        found.append(place)
        if each.object not in places:
            new.add(each.object)
            if prunes.is_parameter(each.object):
                break
    return found


def _row_picker(places: Sequence[int]) -> Callable[[Solution], Row]:
    if len(places) == 1:
        (only,) = places
        return lambda solution: (solution[only],)
    return picker(places)
