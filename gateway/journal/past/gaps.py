"""Lines that neither archive nor journal has: named, so that nobody takes an answer for whole.

    what was ingested + what the journal has -> runs between -> gaps, with when they came if known

Place: beside the rows of a query over time. Sequences of an epoch have no holes (docs/segments.md),
so what lies between those that are there is a gap; an epoch's beginning is 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time

from gateway.journal.past.archive import Archive
from gateway.journal.past.journalled import Journalled
from gateway.journal.past.statements import written
from gateway.journal.past.taken import Life, Run, Taken, united, without
from gateway.journal.record import micros

MOST_TOLD = 100
"""Gaps that one answer tells; their number is told beside."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Lines `first` to `last` of a gateway's epoch, or all before `end` where they are None.

    They came between `begin` and `end`, µs, None where nobody knows. `reason` is a word: `missing`
    (neither came nor was told to be lost), `dropped` and `damaged` as the gateway told,
    `unreadable` (in a segment of the journal that is damaged), `retained` (days that the archive
    dropped).
    """

    reason: str
    gateway: str = ""
    epoch: int | None = None
    first: int | None = None
    last: int | None = None
    begin: int | None = None
    end: int | None = None

    def member(self) -> Mapping[str, object]:
        """As JSON."""
        told: dict[str, object] = {
            "reason": self.reason,
            "gateway": self.gateway or None,
            "epoch": self.epoch,
            "first": self.first,
            "last": self.last,
            "from": None if self.begin is None else written(self.begin),
            "to": None if self.end is None else written(self.end),
        }
        return {name: value for name, value in told.items() if value is not None}

    def __str__(self) -> str:
        """In a line, as in a header."""
        which = (
            "" if self.first is None else f" {self.gateway}/{self.epoch}/{self.first}-{self.last}"
        )
        since = "" if self.begin is None else f" from {written(self.begin)}"
        until = "" if self.end is None else f" until {written(self.end)}"
        return f"{self.reason}{which}{since}{until}"


def gaps_between(taken: Taken, journalled: Journalled | None) -> list[Gap]:
    """The gaps of every gateway. Linear in the runs."""
    here: dict[Life, list[Run]] = {life: list(runs) for life, runs in taken.runs.items()}
    ended: Mapping[Life, list[Run]] = {}
    if journalled is not None:
        for life, runs in journalled.runs.items():
            here[life] = united([*here.get(life, []), *runs])
        ended = journalled.removed
    found: list[Gap] = []
    told: dict[Life, list[Run]] = {}
    for name, reason in taken.lost:
        life, run = (name.gateway, name.start.epoch), (name.start.sequence, name.last.sequence)
        told[life] = united([*told.get(life, []), run])
        # What was told to be lost may be here all the same: a copy that came another way.
        lost = without([run], here.get(life, []))
        found += [_gap(reason or "dropped", life, run, journalled) for run in lost]
    for life in sorted({*here, *ended}):
        known = united([*here.get(life, []), *told.get(life, [])])
        last_known = max((last for _, last in [*known, *ended.get(life, [])]), default=0)
        holes = without([(1, last_known)], known)
        found += [_gap("missing", life, run, journalled) for run in holes]
    if journalled is not None:
        for life, run in journalled.damaged.values():
            found.append(_gap("unreadable", life, run, journalled))
    return found


def _gap(reason: str, life: Life, run: Run, journalled: Journalled | None) -> Gap:
    """With when its lines came, as far as the journal's manifest goes back."""
    came = (None, None) if journalled is None else journalled.spans.of(life, run)
    return Gap(reason, *life, *run, *came)


def retained_gap(archive: Archive, low: datetime | None) -> list[Gap]:
    """What the archive dropped, where a query asks for times before."""
    since = archive.retained_since()
    if since is None or (low is not None and low.date() >= since):
        return []
    return [Gap("retained", end=micros(datetime.combine(since, time.min, UTC)))]
