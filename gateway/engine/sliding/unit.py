"""`SlidingUnit`: the tier of aggregates over a window, one unit for all that group alike.

    window: triples that left and entered ─┐
    store: ARTQ ───────────────────────────┴─> feed -> groups -> outer rest -> members' rows

Place: between the window and the notification. It takes what happens to its window as triples; its
LUTT is about the store alone. What it shows is kept by group, so each member's answer is, too.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from pyoxigraph import NamedNode, Triple

from gateway.engine.limits import bounded
from gateway.engine.lutt import Artq, LuttEntry
from gateway.engine.sliding.feed import Feed, Sides
from gateway.engine.sliding.groups import Groups, Shown
from gateway.engine.sliding.members import Checks, Members
from gateway.engine.sliding.query import SlidingQuery
from gateway.engine.sliding.surroundings import Rows, Surroundings
from gateway.engine.spu import Change, Spu
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, consolidate
from gateway.store.readable import Source
from gateway.windows.content import Content


class SlidingUnit:
    """The members of one shape over one window.

    `fault` is why it can say no more: an UnsureError or a defect. Then the members, of which it
    still knows what they were told, are to be served by another unit.
    """

    tier = "sliding"

    def __init__(self, store: Source, query: SlidingQuery, lutt: tuple[LuttEntry, ...]) -> None:
        self.lutt = lutt
        self.node: NamedNode = query.rows.node
        self.fault: Exception | None = None
        self._variables = query.variables
        self._members = Members()
        self._feed = Feed(query.rows, store)
        self._groups = Groups(query.grouping, query.recipes, self._feed.names, query.variables)
        self._around = Surroundings(query.outer, store)
        self._shown: dict[Row, Shown] = {}
        self._waiting: list[Sides] = []
        self._hits = 0

    @property
    def context(self) -> tuple[LuttEntry, ...]:
        """What is looked up in the store."""
        return self.lutt

    @property
    def members(self) -> Collection[Spu]:
        """The SPUs that it serves."""
        return self._members.spus.keys()

    def reach(self, artq: Artq) -> int:
        """All members."""
        del artq
        return len(self._members)

    def hits(self, spu: Spu) -> int:
        """How many steps concerned it, of the window or of the store."""
        del spu
        return self._hits

    def add(self, spu: Spu, checks: Checks) -> None:
        """A further member."""
        self._members.add(spu, checks)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        self._members.remove(spu)

    def fill(self, content: Content) -> None:
        """Begin with what the window has. Raises UnsureError."""
        self._feed.fill(content, self._groups)
        for key in self._groups.keys:
            shown = self._groups.show(key)
            if shown is not None:
                self._shown[key] = shown
                self._around.change(key, None, shown)

    def take(self, removed: Sequence[Triple], added: Sequence[Triple]) -> None:
        """What left and entered the window; looked at by the next `process`."""
        self._waiting.append((removed, added))

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer of a member."""
        rows = tuple(bounded(self._answer(spu)))
        return ResultsDelta(self._variables, rows)

    def told(self, spu: Spu) -> SolutionBag:
        """The answer that a member was last told."""
        return Counter(self._answer(spu))

    def _answer(self, spu: Spu) -> Iterable[Row]:
        wanted = [
            (key, shown) for key, shown in self._shown.items() if self._members.passes(spu, shown)
        ]
        self._around.look(shown for _, shown in wanted)
        for key, shown in wanted:
            yield from self._around.rows(key, shown)

    def renew(self) -> None:
        """Nothing: what fails here is served by another unit."""

    def process(self, artq: Artq) -> Iterable[Change]:
        """What changed for whom; nothing where it finds a fault, and nobody is told anything."""
        waiting, self._waiting = self._waiting, []
        self._hits += 1
        if self.fault is not None:
            return ()
        try:
            return self._changes(artq, waiting)
        except Exception as error:
            self.fault = error
            return ()

    def _changes(self, artq: Artq, waiting: Sequence[Sides]) -> list[Change]:
        touched = self._feed.change(artq, waiting, self._groups)
        found = {key: self._groups.show(key) for key in touched}
        moved = set(self._around.concerned(artq))
        for key in moved:
            found.setdefault(key, self._shown[key])
        told = _Told(self._variables)
        became = [
            self._became(key, was, now, told)
            for key, now in found.items()
            if _differs(was := self._shown.get(key), now) or key in moved
        ]
        for each in became:
            self._commit(each)
        return told.changes()

    def _became(self, key: Row, was: Shown | None, now: Shown | None, told: "_Told") -> "_Became":
        """What a group shows now, and the rows of it where somebody has them; tells who has."""
        if was is not None:
            losing = self._members.passing(was)
            if losing:
                told.lose(losing, self._around.rows(key, was))
        rows = None
        if now is not None:
            winning = self._members.passing(now)
            if winning:
                rows = self._around.rows_now(now)
                told.win(winning, rows)
        return _Became(key, was, now, rows)

    def _commit(self, became: "_Became") -> None:
        key, was, now, rows = became
        if now is not None:
            self._shown[key] = now
        elif was is not None:
            del self._shown[key]
        self._around.change(key, was, now, rows)


def _differs(was: Shown | None, now: Shown | None) -> bool:
    if was is None or now is None:
        return was is not now
    return was.seen != now.seen


class _Became(NamedTuple):
    """A group, what it showed, what it shows, and the rows of that where they are known."""

    key: Row
    was: Shown | None
    now: Shown | None
    rows: Rows | None


class _Told:
    """The rows that members gain and lose in one step."""

    def __init__(self, variables: tuple[str, ...]) -> None:
        self._variables = variables
        self._sides: dict[Spu, tuple[list[Row], list[Row]]] = {}

    def win(self, spus: Iterable[Spu], rows: Rows) -> None:
        """These gain rows."""
        for spu in spus:
            self._sides.setdefault(spu, ([], []))[0].extend(rows)

    def lose(self, spus: Iterable[Spu], rows: Rows) -> None:
        """These lose rows."""
        for spu in spus:
            self._sides.setdefault(spu, ([], []))[1].extend(rows)

    def changes(self) -> list[Change]:
        """Net, by member."""
        return [
            (spu, self._netted(added, removed)) for spu, (added, removed) in self._sides.items()
        ]

    def _netted(self, added: list[Row], removed: list[Row]) -> ResultsDelta:
        if len(added) == len(removed) == 1 and added != removed:
            return ResultsDelta(self._variables, tuple(added), tuple(removed))
        return consolidate(self._variables, added, removed)
