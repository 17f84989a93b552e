"""`Reach`: how many members of a unit have a LUTT that lets something of an ARTQ through.

Place: between the LUTT index, which knows units, and the LUTT matrix of the paper, which counts
SPUs (seed 000, section VI). A pattern without parameters is in the LUTT of every member; of one
with parameters each member has its own, found by the constants that a quad has in their place.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from pyoxigraph import Quad

from gateway.engine.booster import ATTRIBUTES, JoinPattern, Key, by_predicate, constants_test
from gateway.engine.lutt import Artq
from gateway.engine.members import Members, Spus
from gateway.engine.spu import Spu


class _Entry(NamedTuple):
    """A pattern: a test of its constants, and the members by what stands for its parameters."""

    fits: Callable[[Quad], bool] | None
    key: Callable[[Quad], Key] | None
    members: dict[Key, Spus]


class Reach:
    """Counts hits, those of all members together once, however many there are."""

    def __init__(
        self, patterns: Sequence[JoinPattern], parameters: Sequence[str], members: Members
    ) -> None:
        self._members = members
        self._of_all = 0
        self._own: dict[Spu, int] = {}
        self._entries = by_predicate(
            patterns, [_entry(each, parameters, members) for each in patterns]
        )

    def join(self, spu: Spu, hits: int) -> None:
        """Count on for a member."""
        self._own[spu] = hits - self._of_all

    def leave(self, spu: Spu) -> None:
        """Forget a member."""
        del self._own[spu]

    def hits(self, spu: Spu) -> int:
        """The updates that reached a member."""
        return self._of_all + self._own[spu]

    def count(self, artq: Artq) -> int:
        """How many are reached; each has one hit more."""
        found: Spus = {}
        anyway = self._entries[None]
        for quad in chain(artq.removed, artq.added):
            for entry in self._entries.get(quad.predicate, anyway):
                if entry.fits is None or entry.fits(quad):
                    if entry.key is None:
                        self._of_all += 1
                        return len(self._members)
                    spus = entry.members.get(entry.key(quad))
                    if spus:
                        found.update(spus)
        for spu in found:
            self._own[spu] += 1
        return len(found)


def _entry(pattern: JoinPattern, parameters: Sequence[str], members: Members) -> _Entry:
    at = {
        parameters.index(slot): attribute
        for slot, attribute in zip(pattern.slots, ATTRIBUTES, strict=True)
        if slot in parameters
    }
    places = tuple(sorted(at))
    key = attrgetter(*[at[place] for place in places]) if places else None
    return _Entry(constants_test(pattern), key, members.among(places) if places else {})
