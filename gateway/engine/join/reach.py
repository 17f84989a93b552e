"""`Reach`: how many members of a unit have a LUTT that lets something of an ARTQ through.

Place: between the LUTT index, which knows units, and the LUTT matrix of the paper, which counts
SPUs (Roffia et al. 2016, section VI; docs/engine.md). A pattern without parameters is in the LUTT
of every member; of one with parameters each member has its own, found by the constants that a quad
has in their place.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gateway.engine.join.join_pattern import (
    JoinPattern,
    Key,
    RunTest,
    attributes,
    by_predicate,
    run_keys,
)
from gateway.engine.join.members import Members, Spus
from gateway.engine.lutt import Artq, Run
from gateway.engine.spu import Spu


class _Entry(NamedTuple):
    """A pattern: a test of its constants, and the members by what stands for its parameters."""

    test: RunTest
    keys: Callable[[Run], Iterable[Key]] | None
    members: dict[Key, Spus]


class Reach:
    """Counts hits, those of all members together once, however many there are."""

    def __init__(
        self, patterns: Sequence[JoinPattern], parameters: Sequence[str], members: Members
    ) -> None:
        self._of_all = 0
        self._own: dict[Spu, int] = {}
        self._entries = by_predicate(
            patterns, [_entry(each, parameters, members) for each in patterns]
        )

    def join(self, spu: Spu, hits: int) -> None:
        """Add a member that had `hits` before."""
        self._own[spu] = hits - self._of_all

    def leave(self, spu: Spu) -> None:
        """Forget a member."""
        del self._own[spu]

    def hits(self, spu: Spu) -> int:
        """The updates that reached a member."""
        return self._of_all + self._own[spu]

    def count_all(self) -> int:
        """All members are reached; each has one hit more."""
        self._of_all += 1
        return len(self._own)

    def count(self, artq: Artq) -> int:
        """How many are reached; each has one hit more."""
        found: Spus = {}
        anyway = self._entries[None]
        for run in artq.runs:
            for entry in self._entries.get(run.predicate, anyway):
                fitting = entry.test.of(run)
                if fitting is not None:
                    if entry.keys is None:
                        return self.count_all()
                    for spus in map(entry.members.get, entry.keys(fitting)):
                        if spus:
                            found.update(spus)
        for spu in found:
            self._own[spu] += 1
        return len(found)


def _entry(pattern: JoinPattern, parameters: Sequence[str], members: Members) -> _Entry:
    places = tuple(at for at, name in enumerate(parameters) if name in pattern.slots)
    if not places:
        return _Entry(RunTest(pattern), None, {})
    keys = run_keys(attributes(pattern, parameters))
    return _Entry(RunTest(pattern), keys, members.among(places))
