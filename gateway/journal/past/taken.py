"""`Taken`: which lines of which gateways an archive has ingested, as its plans say.

Place: at the seam between archive and journal. Source: docs/archive.md, "What an archive has
taken": the folder `plan` has a file for each batch, and one for those of long ago.
"""

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.journal.names import SegmentName

Run = tuple[int, int]
"""First and last sequence, both included."""

Life = tuple[str, int]
"""A gateway and an epoch of it."""


def united(runs: Iterable[Run]) -> list[Run]:
    """The same sequences as runs that do not touch, ascending.

    >>> united([(5, 7), (1, 2), (3, 3)])
    [(1, 3), (5, 7)]
    """
    found: list[Run] = []
    for first, last in sorted(runs):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def without(runs: Iterable[Run], other: Iterable[Run]) -> Iterator[Run]:
    """What runs have that others, ascending and apart, have not.

    >>> list(without([(1, 9)], [(3, 4), (8, 12)]))
    [(1, 2), (5, 7)]
    """
    taken = list(other)
    for first, last in runs:
        next_ = first
        for begin, end in taken:
            if end < next_ or begin > last:
                continue
            if begin > next_:
                yield next_, begin - 1
            next_ = end + 1
        if next_ <= last:
            yield next_, last


@dataclass(frozen=True, slots=True)
class Taken:
    """Runs of sequences by life, and those that a gateway told to be lost, with its reason."""

    runs: Mapping[Life, list[Run]]
    lost: tuple[tuple[SegmentName, str], ...] = ()

    def has(self, gateway: str, epoch: int, sequence: int) -> bool:
        """Whether a line was ingested."""
        return self.covers(gateway, epoch, (sequence, sequence))

    def covers(self, gateway: str, epoch: int, run: Run) -> bool:
        """Whether all lines of a run were ingested."""
        runs = self.runs.get((gateway, epoch), [])
        at = bisect_right(runs, (run[0], 1 << 62)) - 1
        return at >= 0 and runs[at][1] >= run[1]


NOTHING_TAKEN = Taken({})


def read_taken(folder: Path, committed: int) -> Taken:
    """What the first `committed` batches took of an archive. Raises OSError, ValueError."""
    runs: defaultdict[Life, list[Run]] = defaultdict(list)
    lost: dict[str, str] = {}
    through = 0
    folded = folder / "plan" / "folded.json"
    if folded.exists():
        told = json.loads(folded.read_bytes())
        through = told["through"]
        for gateway, epoch, found in told["taken"]:
            runs[gateway, epoch] += [(first, last) for first, last in found]
        lost.update(told["gaps"])
    for number in range(through + 1, committed + 1):
        path = folder / "plan" / f"{number:09d}.json"
        if not path.exists():
            continue  # a batch that was given up
        plan = json.loads(path.read_bytes())
        for segment in plan["segments"]:
            name = SegmentName.parse(segment["name"])
            life = name.gateway, name.start.epoch
            runs[life] += [(first, last) for first, last in segment["keep"]]
        lost.update(plan["gaps"])
    return Taken(
        {life: united(found) for life, found in runs.items()},
        tuple((SegmentName.parse(name), reason) for name, reason in sorted(lost.items())),
    )
