"""Chains: what a new or lost fact concludes together with others, and whether a conclusion stands.

A step along a chain is a look-up per individual that is reached, never a path by itself: what many
paths lead to is found once.
"""

from collections.abc import Iterable

from gateway.reasoning.incremental.facts import Individual, Relation, Relations
from gateway.reasoning.incremental.program import Name, Path


def concluded(
    relations: Relations, path: Path, at: int, subject: Individual, object_: Individual
) -> list[tuple[Individual, Individual]]:
    """The ends of all chains that have this fact, which holds, as their part `at`."""
    starts = backwards(relations, path.parts[:at], subject)
    ends = forwards(relations, path.parts[at + 1 :], object_)
    return [(start, end) for start in starts for end in ends]


def forwards(
    relations: Relations, parts: Iterable[Name], start: Individual
) -> Iterable[Individual]:
    """Where the parts lead, one after the other."""
    reached: dict[Individual, None] = {start: None}
    for part in parts:
        relation = relations.get(part)
        if relation is None:
            return ()
        reached = {each: None for place in reached for each in relation.objects(place)}
        if not reached:
            break
    return reached


def backwards(relations: Relations, parts: tuple[Name, ...], end: Individual) -> set[Individual]:
    """From where the parts lead there."""
    reached = {end}
    for part in reversed(parts):
        relation = relations.get(part)
        if relation is None:
            return set()
        into = relation.into
        reached = {each for place in reached for each in into.get(place, ())}
        if not reached:
            break
    return reached


def stands(relations: Relations, path: Path, subject: Individual, object_: Individual) -> bool:
    """Whether the parts lead from one to the other, met from the end with fewer ways."""
    parts = [relations.get(part) for part in path.parts]
    known = [each for each in parts if each is not None]
    if len(known) < len(parts):
        return False
    left, right = {subject}, {object_}
    while len(known) > 1:
        if _ways_out(known[0], left) <= _ways_in(known[-1], right):
            first = known.pop(0)
            left = {each for place in left for each in first.objects(place)}
        else:
            last = known.pop()
            right = {each for place in right for each in last.into.get(place, ())}
        if not (left and right):
            return False
    (between,) = known
    return any(between.holds(one, other) for one in left for other in right)


def _ways_out(relation: Relation, places: set[Individual]) -> int:
    return sum(len(relation.out.get(each, ())) for each in places)


def _ways_in(relation: Relation, places: set[Individual]) -> int:
    return sum(len(relation.into.get(each, ())) for each in places)
