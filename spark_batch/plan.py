"""Which segments make the next batch, and which lines of them: decided before Spark is started.

Source: facts of the kill tests: a planned batch, a run directory of its own and one commit under an
application transaction survived every kill. The plan of batch n is a file that exists before
anything is written, so a run that died is repeated with the same segments. What earlier batches
took is a set of sequences for each epoch of a gateway (`intervals`), so a segment that comes again,
or overlaps another one, gives only the lines that are new.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from spark_batch.files import read_json, write_json
from spark_batch.intervals import Run, Runs, length
from spark_batch.segment import SegmentName


@dataclass(frozen=True, slots=True)
class Planned:
    """A good segment of a batch: where it lies and which of its lines are new."""

    name: str
    path: str
    minor: int
    base: str
    keep: tuple[Run, ...]

    @property
    def segment(self) -> SegmentName:
        """The segment that the file's name tells of."""
        return SegmentName.parse(self.name)


@dataclass(frozen=True, slots=True)
class Plan:
    """Batch `number` of the archive. `repeated` segments gave nothing new, `gaps` never come."""

    number: int
    segments: tuple[Planned, ...]
    repeated: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()

    @property
    def lines(self) -> int:
        """Lines that Spark will read, without headers."""
        return sum(planned.segment.count for planned in self.segments)

    @property
    def new_lines(self) -> int:
        """Rows that the archive will have more."""
        return sum(length(planned.keep) for planned in self.segments)

    def to_json(self) -> dict[str, Any]:
        """The plan as it stands in its file."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        segments = tuple(
            Planned(**(each | {"keep": tuple((first, last) for first, last in each["keep"])}))
            for each in value["segments"]
        )
        return cls(
            value["number"],
            segments,
            tuple(value["repeated"]),
            tuple(value["conflicts"]),
            tuple((name, reason) for name, reason in value["gaps"]),
        )


@dataclass(slots=True)
class Ledger:
    """What the committed batches took: sequences, and whose bytes the newest plans have."""

    taken: dict[tuple[str, int], Runs] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    gaps: dict[str, str] = field(default_factory=dict)

    def take(self, plan: Plan) -> None:
        """Count a batch as done."""
        for planned in plan.segments:
            segment = planned.segment
            runs = self.taken.setdefault((segment.gateway, segment.epoch), Runs())
            for first, last in planned.keep:
                runs.add(first, last)
            self.contents.setdefault(segment.run, segment.sha12)
        self.gaps.update(plan.gaps)

    def new_lines(self, segment: SegmentName) -> list[Run]:
        """The sequences of a segment that no batch took."""
        runs = self.taken.get((segment.gateway, segment.epoch))
        if runs is None:
            return [(segment.first, segment.last)]
        return runs.missing(segment.first, segment.last)

    def contradicts(self, segment: SegmentName) -> bool:
        """Whether the same run was taken with other bytes: a cloned card, or a forgery."""
        return self.contents.get(segment.run, segment.sha12) != segment.sha12

    def missing(self) -> Iterator[tuple[str, int, Run]]:
        """Runs between taken ones that neither came nor were told to be lost."""
        told: dict[tuple[str, int], Runs] = defaultdict(Runs)
        for name in self.gaps:
            gap = SegmentName.parse(name)
            told[gap.gateway, gap.epoch].add(gap.first, gap.last)
        for (gateway, epoch), runs in sorted(self.taken.items()):
            for hole in runs.holes():
                for run in told[gateway, epoch].missing(*hole):
                    yield gateway, epoch, run

    def told_gaps(self) -> Iterator[tuple[SegmentName, str]]:
        """Runs that a gateway gave up, with its reason."""
        for name, reason in sorted(self.gaps.items()):
            yield SegmentName.parse(name), reason


class Plans:
    """The folder of plans: `<n>.json` for each batch, `folded.json` for those of long ago."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, number: int) -> Plan | None:
        """The plan of a batch that a run before us began, or None."""
        path = self._path(number)
        return Plan.from_json(read_json(path)) if path.exists() else None

    def write(self, plan: Plan) -> None:
        """Before anything is written for the batch; also to take segments out of it."""
        write_json(self._path(plan.number), plan.to_json())

    def forget(self, number: int) -> None:
        """Nothing is left of a batch that was not committed."""
        self._path(number).unlink(missing_ok=True)

    def ledger(self, committed: int) -> Ledger:
        """What batches 1 to `committed` took; linear in the plans that are not folded."""
        ledger, through = self._folded()
        for number in range(through + 1, committed + 1):
            plan = self.read(number)
            if plan is not None:
                ledger.take(plan)
        return ledger

    def fold(self, committed: int, keep: int = 1000) -> int:
        """Put all but the newest `keep` plans into one file; returns how many."""
        ledger, through = self._folded()
        upto = committed - keep
        if upto <= through:
            return 0
        for number in range(through + 1, upto + 1):
            plan = self.read(number)
            if plan is not None:
                ledger.take(plan)
        runs = [[gateway, epoch, runs.runs()] for (gateway, epoch), runs in ledger.taken.items()]
        folded = {"through": upto, "taken": runs, "gaps": sorted(ledger.gaps.items())}
        write_json(self._folder / "folded.json", folded)
        for number in range(through + 1, upto + 1):
            self.forget(number)
        return upto - through

    def _folded(self) -> tuple[Ledger, int]:
        ledger = Ledger()
        path = self._folder / "folded.json"
        if not path.exists():
            return ledger, 0
        folded = read_json(path)
        for gateway, epoch, runs in folded["taken"]:
            ledger.taken[gateway, epoch] = Runs((first, last) for first, last in runs)
        ledger.gaps = dict(folded["gaps"])
        return ledger, int(folded["through"])

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:09d}.json"


@dataclass(frozen=True, slots=True)
class Checked:
    """A segment of the landing zone whose bytes and header are good."""

    segment: SegmentName
    path: str
    minor: int
    base: str
    labels: Mapping[str, str] = field(default_factory=dict)


def make_plan(
    number: int,
    ledger: Ledger,
    checked: Iterable[Checked],
    repeated: Iterable[str] = (),
    gaps: Iterable[tuple[str, str]] = (),
) -> Plan:
    """Choose the new lines of each segment, in an order that does not depend on the listing.

    The ledger is left as it is; `repeated` are segments known to have nothing new.
    """
    here = Ledger()
    planned: list[Planned] = []
    covered = list(repeated)
    for each in sorted(checked, key=lambda each: each.segment):
        segment = each.segment
        keep = [run for new in ledger.new_lines(segment) for run in _within(here, segment, new)]
        if keep:
            planned.append(Planned(segment.name, each.path, each.minor, each.base, tuple(keep)))
            here.take(Plan(number, (planned[-1],)))
        else:
            covered.append(segment.name)
    here.contents = here.contents | ledger.contents
    conflicts = [name for name in covered if here.contradicts(SegmentName.parse(name))]
    kept = sorted(set(covered) - set(conflicts))
    return Plan(number, tuple(planned), tuple(kept), tuple(sorted(set(conflicts))), tuple(gaps))


def _within(ledger: Ledger, segment: SegmentName, run: Run) -> list[Run]:
    runs = ledger.taken.get((segment.gateway, segment.epoch), Runs())
    return runs.missing(*run)
