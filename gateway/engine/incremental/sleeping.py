"""Queries that need something which nobody has said yet, and sleep until somebody does.

    plans -> patterns that nothing matches -> LUTT index, in the place of the unit's own entries

Place: asked by `engine.routes` when a unit comes, which wakes for good once one matches. A plan of
whose core a pattern has no match has no solutions, whatever else changes. A gateway asks what its
sensors are able to; while nobody has described one, no reading's unit of measurement concerns that.
"""

from collections.abc import Iterable, Iterator

from gateway.engine.incremental.plan import CorePattern, Plan
from gateway.engine.lutt import LuttEntry, matches
from gateway.store.readable import Source


def unmet(plans: Iterable[Plan], store: Source) -> tuple[LuttEntry, ...]:
    """For each plan a pattern of its core that nothing matches; none where one lacks that.

    While it is so, no plan has a solution.
    """
    found = [_unmet(plan, store) for plan in plans]
    return tuple(dict.fromkeys(each for each in found if each is not None)) if all(found) else ()


def _unmet(plan: Plan, store: Source) -> LuttEntry | None:
    return next(
        (entry for entry in _entries(plan.patterns) if not any(matches(store, entry))), None
    )


def _entries(patterns: Iterable[CorePattern]) -> Iterator[LuttEntry]:
    """The patterns that are of one predicate in one graph."""
    for each in patterns:
        subject, predicate, object_ = (
            None if isinstance(slot, str) else slot
            for slot in (each.subject, each.predicate, each.object)
        )
        if predicate is not None and not isinstance(each.scope.name, str):
            yield LuttEntry(subject, predicate, object_, each.scope.name)
