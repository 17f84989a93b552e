"""Which observations of one message belong together, by two sets of mappings.

Place on the way of the data: in a rehearsal, between the adapters of both sides and their report.
"""

from collections.abc import Iterator, Sequence
from itertools import product, zip_longest

from adapters.values.observation import Observation

Pair = tuple[Observation | None, Observation | None]
"""An observation by the old mappings, by the new ones; None where there is none."""

_MOST_COMPARED = 10_000


def pairs_of(old: Sequence[Observation], new: Sequence[Observation]) -> Iterator[Pair]:
    """What is about the same on both sides: stream and time, else what is alike, in order."""
    same: dict[object, list[Observation]] = {}
    for seen in reversed(new):
        same.setdefault(_about(seen), []).append(seen)
    alone: list[Observation] = []
    for seen in old:
        matches = same.get(_about(seen))
        if matches:
            yield seen, matches.pop()
        else:
            alone.append(seen)
    yield from _alike(alone, [seen for matches in same.values() for seen in matches])


def _alike(old: Sequence[Observation], new: Sequence[Observation]) -> Iterator[Pair]:
    """Pairs of what is most alike first; where there are very many, in their order."""
    if len(old) * len(new) > _MOST_COMPARED:
        yield from zip_longest(old, new)
        return
    every = product(enumerate(old), enumerate(new))
    by_likeness = sorted(
        ((_likeness(one, other), -i, -j) for (i, one), (j, other) in every), reverse=True
    )
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for likeness, i, j in by_likeness:
        if likeness and -i not in pairs and -j not in taken:
            pairs[-i] = -j
            taken.add(-j)
    for i, seen in enumerate(old):
        yield seen, new[pairs[i]] if i in pairs else None
    yield from ((None, seen) for j, seen in enumerate(new) if j not in taken)


def _likeness(one: Observation, other: Observation) -> int:
    """0 where they have nothing in common that matters."""
    return (
        2 * (one.sensor == other.sensor)
        + 2 * (one.observed_property == other.observed_property)
        + 2 * (one.lexical == other.lexical)
        + (one.unit == other.unit)
    )


def _about(seen: Observation) -> object:
    return seen.stream, seen.phenomenon_time
