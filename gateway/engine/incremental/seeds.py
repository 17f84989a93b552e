"""Seeds: partial solutions of a plan in which a change has a part.

Place: under `affected`. They are made of what a Delta changes in the core of a plan, star by star
and pattern by pattern (gateway/engine/join/star.py).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from pyoxigraph import Quad

from gateway.engine.incremental.core import Solutions, Values, values_reader
from gateway.engine.incremental.plan import Plan
from gateway.engine.incremental.states import States
from gateway.engine.join.join_pattern import JoinPattern
from gateway.engine.join.star import Arm, Star, relations
from gateway.engine.lutt import Run

BEFORE, AFTER, BOTH = 1, 2, 3
"""In which states a seed can have solutions."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """Seeds that bind the same variables; `patterns` are those that the changed quads match.

    A seed made of a removed quad has solutions before only, one of an added quad after only.
    """

    names: tuple[str, ...]
    patterns: tuple[int, ...]
    values: dict[Values, int] = field(default_factory=dict)

    def add(self, values: Values, side: int) -> None:
        """One seed more, or another side of it."""
        self.values[values] = self.values.get(values, side) | side

    def that_extend_none_of(self, others: Iterable["Seeds"]) -> "Seeds":
        """Seeds that bind no seed of the others; whatever extends the rest does."""
        left = self.values
        for other in others:
            if set(other.names).issubset(self.names):
                key = _reader([self.names.index(name) for name in other.names])
                left = {each: side for each, side in left.items() if key(each) not in other.values}
        return Seeds(self.names, self.patterns, left)

    def starts(self, side: int) -> Solutions:
        """The seeds of a side, as partial solutions."""
        names = self.names
        return [dict(zip(names, values, strict=True)) for values in self.of_side(side)]

    def of_side(self, side: int) -> list[Values]:
        """The values of the seeds of a side."""
        return [values for values, sides in self.values.items() if sides & side]


class CoreSeeds(NamedTuple):
    """The seeds of a plan's core, and partial solutions that bind one of them in any solution."""

    seeds: list[Seeds]
    covered: list[Seeds]


def core_seeds(plan: Plan, states: States) -> CoreSeeds:
    """What the changed quads seed in the core of a plan."""
    found = CoreSeeds([], [])
    for source in _sources_of(plan):
        source.find(states, found)
    return found


def only_star(plan: Plan) -> "StarSource | None":
    """The star that a plan is, but for filters of the solutions one by one; None if it is more."""
    sources = _sources_of(plan)
    if len(sources) > 1 or plan.steps or plan.tables:
        return None
    source = next(iter(sources), None)
    return source if isinstance(source, StarSource) else None


class _PatternSource:
    """A pattern: each changed quad that matches it is a seed."""

    def __init__(self, plan: Plan, place: int) -> None:
        pattern = plan.patterns[place]
        self._place = place
        self._names = tuple(sorted(pattern.variables))
        self._predicate = None if isinstance(pattern.predicate, str) else pattern.predicate
        self._values_of = values_reader(pattern)

    def find(self, states: States, found: CoreSeeds) -> None:
        """The seeds of a change."""
        predicate = self._predicate
        if predicate is None or predicate in states.predicates:
            removed, added = states.changed(predicate)
            self._add(((BEFORE, removed), (AFTER, added)), found)

    def find_in(self, runs: Iterable[Run], found: CoreSeeds) -> None:
        """The seeds of a part of a change."""
        its = [run for run in runs if run.predicate == self._predicate]
        self._add([(AFTER if run.is_added else BEFORE, run.quads) for run in its], found)

    def _add(self, sides: Iterable[tuple[int, Sequence[Quad]]], found: CoreSeeds) -> None:
        seeds = Seeds(self._names, (self._place,))
        for side, quads in sides:
            for values in map(self._values_of, quads):
                if values is not None:
                    seeds.add(values, side)
        if seeds.values:
            found.seeds.append(seeds)


class StarSource:
    """A star: each of its rows that changes is a seed."""

    def __init__(self, plan: Plan, arms: Sequence[JoinPattern], places: Sequence[int]) -> None:
        first = arms[0]
        both = sorted(
            zip(arms, places, strict=True), key=lambda each: isinstance(each[0].object, str)
        )
        objects = [arm.object for arm, _ in both]
        self._star = Star(
            first.graph,  # type: ignore[arg-type]
            [
                Arm(arm.predicate, None if isinstance(arm.object, str) else arm.object)  # type: ignore[arg-type]
                for arm, _ in both
            ],
        )
        names = [first.subject, *objects]
        self._names = tuple(name for name in names if isinstance(name, str))
        self.names = frozenset(self._names)
        self.places = tuple(places)
        self._alone = [_PatternSource(plan, place) for place in places]

    def changed(self, states: States) -> tuple[Solutions, Solutions] | None:
        """Rows lost and won, as partial solutions; None where they are too many for it."""
        change = self._star.changes(states.quads, states.runs)
        return None if change.wide else (self._starts(change.lost), self._starts(change.won))

    def _starts(self, rows: Sequence[Values]) -> Solutions:
        names = self._names
        return [dict(zip(names, row, strict=True)) for row in rows]

    def find(self, states: States, found: CoreSeeds) -> None:
        """The seeds of a change."""
        change = self._star.changes(states.quads, states.runs)
        if change.lost or change.won:
            seeds = Seeds(self._names, self.places)
            for side, rows in ((BEFORE, change.lost), (AFTER, change.won)):
                for row in rows:
                    seeds.add(row, side)
            found.seeds.append(seeds)
        if change.whole:
            whole = Seeds(self._names[:1], ())
            for subject in change.whole:
                whole.add((subject,), BOTH)
            found.covered.append(whole)
        if change.wide:
            for each in self._alone:
                each.find_in(change.wide, found)


def _sources_of(plan: Plan) -> Sequence["_PatternSource | StarSource"]:
    if not plan.sources:
        plan.sources.extend(_sources(plan))
    return plan.sources


def _sources(plan: Plan) -> Iterable[_PatternSource | StarSource]:
    constants = dict(plan.constants)
    patterns = [
        JoinPattern(each.subject, each.predicate, each.object, each.scope.name).put(constants)
        for each in plan.patterns
    ]
    for places in relations(patterns):
        if len(places) == 1:
            yield _PatternSource(plan, places[0])
        else:
            yield StarSource(plan, [patterns[place] for place in places], places)


def _reader(places: Sequence[int]) -> Callable[[Values], Values]:
    """Reads the values at these places."""
    match places:
        case []:
            return lambda _: ()
        case [place]:
            return lambda values: (values[place],)
        case _:
            return itemgetter(*places)
