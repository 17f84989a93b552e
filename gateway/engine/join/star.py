"""Stars: the patterns of a join that share their subject, changed and completed as one.

Place: within the BOOSTER. An observation is a subject with a dozen quads, which come and go
together; a pattern at a time, each of its quads would be joined with all others to find the same
rows. A star looks once at each subject that a Delta touches: what it had and what it has now, arm
by arm. Its rows change as those of any join do: a row counts at the first of its arms that
changed, so a subject with 10,000 objects of one arm is not read for a change of another.
Sources: docs/engine.md; star-shaped groups, Vidal et al., "Efficiently Joining Group Patterns in
SPARQL Queries", 2010.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple

from gateway.engine.dataset import Column, Quads, column_in
from gateway.engine.join.join_pattern import JoinPattern, Slot
from gateway.engine.lutt import Run
from gateway.rdf.terms import GraphName, Term

Values = tuple[Any, ...]
Rows = list[Values]
Side = dict[int, Collection[Term]]
"""Changed objects of one subject, by arm."""

State = Callable[[Term, int], Collection[Term]]
"""The objects that a subject has of an arm."""

Takes = Callable[[Collection[Term]], Collection[Term]]
"""Of objects those that an arm takes."""

MOST_ROWS = 64
"""That one changed object of a subject may have a part in."""

_NONE: tuple[Term, ...] = ()
_NOTHING: tuple[Rows, bool] = [], False


@dataclass(frozen=True, slots=True)
class Arm:
    """A pattern of a star: its predicate, and the objects that it takes.

    A constant is the one object; of a variable `known` are those that somebody wants, None is any.
    """

    predicate: Term
    constant: Term | None = None
    known: Collection[Any] | None = None

    def takes(self, objects: Collection[Term]) -> Collection[Term]:
        """The objects that it takes, of these."""
        if self.constant is not None:
            return (self.constant,) if self.constant in objects else _NONE
        known = self.known
        return objects if known is None else dict.fromkeys(filter(known.__contains__, objects))


def relations(patterns: Sequence[JoinPattern]) -> list[tuple[int, ...]]:
    """The patterns, by number, in stars and alone, by the first of each.

    Of a star the arms have one variable subject and one graph, constant predicates, and objects
    that are constants or variables of their own within it.
    """
    found: dict[Any, list[int]] = {}
    own: dict[Any, set[Slot]] = {}
    for number, pattern in enumerate(patterns):
        star = (pattern.subject, pattern.graph)
        object_ = pattern.object
        names = own.setdefault(
            star, {pattern.subject} if isinstance(pattern.subject, str) else set()
        )
        if not is_arm(pattern) or object_ in names:
            found[number] = [number]
            continue
        if isinstance(object_, str):
            names.add(object_)
        found.setdefault(star, []).append(number)
    return sorted(tuple(each) for each in found.values())


def is_arm(pattern: JoinPattern) -> bool:
    """Whether a pattern can be an arm: its subject varies, predicate and graph do not."""
    return isinstance(pattern.subject, str) and not (
        isinstance(pattern.predicate, str) or isinstance(pattern.graph, str)
    )


class StarChange(NamedTuple):
    """Rows lost and won, subjects all of whose rows are among these, and quads left out.

    Left are those of `wide` subjects: one changed object is in so many rows that other patterns
    should have their say before these are made.
    """

    lost: Rows
    won: Rows
    whole: list[Term]
    wide: list[Run]


UNCHANGED = StarChange([], [], [], [])
"""Nobody writes to it."""


class _WideError(Exception):
    """There would be more rows than `MOST_ROWS`."""


class Star:
    """Rows of a star that a change takes and gives: the subject, then the objects of variables."""

    def __init__(
        self, graph: GraphName, arms: Sequence[Arm], subjects: Collection[Any] | None = None
    ) -> None:
        """Somebody wants these `subjects` alone; None is any."""
        self._graph = graph
        self._subjects = subjects
        self._arms = tuple(arms)
        self._by_predicate: dict[Term, list[tuple[int, Takes | None]]] = {}
        for number, arm in enumerate(arms):
            takes = None if arm.constant is None and arm.known is None else arm.takes
            self._by_predicate.setdefault(arm.predicate, []).append((number, takes))
        self._now: Quads | None = None
        self._columns: Sequence[Column] = ()

    def changes(self, now: Quads, runs: Sequence[Run]) -> StarChange:
        """What the changed quads make; `now` has the change already."""
        touched = self._touched(runs)
        if not touched:
            return UNCHANGED
        if now is not self._now:
            self._now = now
            self._columns = [column_in(now, arm.predicate, self._graph) for arm in self._arms]
        has = self._has
        found_lost: Rows = []
        found_won: Rows = []
        whole: list[Term] = []
        wide: set[Term] = set()
        for subject, (removed, added) in touched.items():
            lost, won = _NOTHING, _NOTHING
            try:
                if removed:
                    lost = self._rows(subject, _had(has, removed, added), removed)
                if added:
                    won = self._rows(subject, has, added)
            except _WideError:
                wide.add(subject)
                continue
            found_lost += lost[0]
            found_won += won[0]
            if lost[1] or won[1]:
                whole.append(subject)
        left = list(_of_subjects(runs, wide)) if wide else []
        return StarChange(found_lost, found_won, whole, left)

    def _touched(self, runs: Iterable[Run]) -> dict[Term, tuple[Side, Side]]:
        """By subject, the objects of each arm that were removed, and that were added."""
        found: dict[Term, tuple[Side, Side]] = {}
        graph, wanted, by_predicate = self._graph, self._subjects, self._by_predicate
        for run in runs:
            if run.graph != graph:
                continue
            for number, takes in by_predicate.get(run.predicate, ()):
                for subject, objects in run.by_subject.items():
                    if wanted is not None and subject not in wanted:
                        continue
                    own = objects if takes is None else takes(objects)
                    if not own:
                        continue
                    sides = found.get(subject)
                    if sides is None:
                        sides = found[subject] = ({}, {})
                    side = sides[run.is_added]
                    side[number] = dict.fromkeys((*side[number], *own)) if number in side else own
        return found

    def _has(self, subject: Term, number: int) -> Collection[Term]:
        """What a subject has after the change, of an arm."""
        column = self._columns[number]
        look = column.look
        objects = column.objects(subject) if look is None else look(subject)
        if not objects:
            return _NONE
        arm = self._arms[number]
        constant = arm.constant
        if constant is not None:
            return (constant,) if constant in objects else _NONE
        return objects if arm.known is None else arm.takes(objects)

    def _rows(self, subject: Term, state: State, changed: Side) -> tuple[Rows, bool]:
        """The rows of a state with a changed object, each at the first arm that has one.

        Also whether these are all. Raises _WideError.
        """
        own = changed.get(0)
        if own is not None and len(state(subject, 0)) == len(own):
            return self._all_rows(subject, own, state), True
        found: Rows = []
        unchanged: list[Collection[Term]] = [(subject,)]
        left = len(changed)
        for number, arm in enumerate(self._arms):
            if not left:
                break
            own = changed.get(number)
            if own is not None:
                behind = self._behind(number, subject, state)
                if behind is not None:
                    _require_few(*unchanged, *behind)
                    at = () if arm.constant is not None else (own,)
                    found += product(*unchanged, *at, *behind)
                left -= 1
            stays = state(subject, number)
            if own is not None:
                stays = [each for each in stays if each not in own]
            if not stays:
                return found, True
            if arm.constant is None:
                unchanged.append(stays)
        return found, False

    def _all_rows(self, subject: Term, first: Collection[Term], state: State) -> Rows:
        """The rows of a state in which all objects of the first arm are changed ones.

        So it is with what comes, or goes, as a whole. Raises _WideError.
        """
        behind = self._behind(0, subject, state)
        if behind is None:
            return []
        if behind:
            _require_few(*behind)
        if self._arms[0].constant is None:
            return list(product((subject,), first, *behind))
        return list(product((subject,), *behind)) if behind else [(subject,)]

    def _behind(self, number: int, subject: Term, state: State) -> list[Collection[Term]] | None:
        """What the arms behind this one have; None where one has nothing."""
        arms = self._arms
        found: list[Collection[Term]] = []
        for other in range(number + 1, len(arms)):
            objects = state(subject, other)
            if not objects:
                return None
            if arms[other].constant is None:
                found.append(objects)
        return found


def _require_few(*objects: Collection[Term]) -> None:
    """Raise _WideError where one changed object would be in too many rows."""
    if prod(map(len, objects)) > MOST_ROWS:
        raise _WideError


def _had(has: State, removed: Side, added: Side) -> State:
    """What a subject had before."""

    def had(subject: Term, number: int) -> Collection[Term]:
        found = has(subject, number)
        if number in added:
            new = added[number]
            found = [each for each in found if each not in new]
        return [*found, *removed[number]] if number in removed else found

    return had


def _of_subjects(runs: Iterable[Run], subjects: Container[Term]) -> Iterator[Run]:
    """The quads of these subjects."""
    for run in runs:
        both = zip(run.quads, run.subjects, strict=True)
        quads = [quad for quad, subject in both if subject in subjects]
        if quads:
            yield run.some(quads)
