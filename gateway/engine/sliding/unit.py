"""`SlidingUnit`: the tier of aggregates over a window, one unit for all that group alike.

    window: what left and entered ─┐
    store: ARTQ ───────────────────┴─> feed -> groups -> outer rest -> members' rows

Place: between the window and the notification. It takes what happens to its window as triples; its
LUTT is about the store alone. What it shows is kept by group, so each member's answer is, too.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from pyoxigraph import NamedNode

from gateway.engine.incremental.aggregates import UnsureError
from gateway.engine.limits import bounded
from gateway.engine.lutt import Artq, LuttEntry
from gateway.engine.sliding.feed import Feed
from gateway.engine.sliding.groups import Group, Groups, Shown
from gateway.engine.sliding.members import Checks, Members
from gateway.engine.sliding.query import SlidingQuery
from gateway.engine.sliding.surroundings import Rows, Surroundings
from gateway.engine.spu import Change as Told
from gateway.engine.spu import Spu
from gateway.errors import GatewayError, SubscriptionFailedError
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, consolidate
from gateway.store.readable import Source
from gateway.windows.content import Change, Content

_results: Callable[[type[ResultsDelta], tuple[object, ...]], ResultsDelta] = tuple.__new__
"""A third of the time of calling the class."""

_NO_QUADS = Artq()
"""The queue of a unit that nothing concerns but its window."""


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
        self._members: dict[Row, Members] = {}
        self._constants: dict[Spu, Row] = {}
        self._feed = Feed(query.rows, store)
        self.is_moved_by = self._feed.is_moved_by
        """Whether it looks at anything of a change of its window."""
        self._groups = Groups(
            query.grouping, query.recipes, query.rows.parameters, self._feed.names
        )
        columns = self._groups.names
        self._around = Surroundings(query.outer, columns, query.variables, store)
        self._is_plain = self._groups.are_told_apart and self._around.is_nothing
        self._alike: Members | None = None
        self._waiting: list[Change] = []
        self._is_hushed = False
        self._unshown: list[Group] = []
        self._hits = 0

    @property
    def context(self) -> tuple[LuttEntry, ...]:
        """What is looked up in the store."""
        return self.lutt

    @property
    def members(self) -> Collection[Spu]:
        """The SPUs that it serves."""
        return self._constants.keys()

    def reach(self, artq: Artq) -> int:
        """All members."""
        del artq
        return len(self._constants)

    def hits(self, spu: Spu) -> int:
        """How many steps concerned it, of the window or of the store."""
        del spu
        return self._hits

    def fill(self, content: Content) -> None:
        """Begin with what the window has; to be called before there are members."""
        self._feed.fill(content, self._groups)

    def listen(self) -> None:
        """Be told what the window does from its next step on."""
        self._feed.listen()

    def leave(self) -> None:
        """The reverse of `listen`."""
        self._feed.leave()

    def add(self, spu: Spu, constants: Row, checks: Checks) -> None:
        """A further member, with its values of the parameters.

        Raises UnsureError; then it is none.
        """
        self._require_shown()
        try:
            for group in self._feed.want(constants, self._groups):
                group.is_touched = False
                self._show(_Became(group, self._groups.now(group), None))
        except Exception:
            self._unwant(constants)
            raise
        self._constants[spu] = constants
        self._members.setdefault(constants, Members()).add(spu, checks)
        self._find_alike()

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        constants = self._constants.pop(spu)
        members = self._members[constants]
        members.remove(spu)
        if not members:
            del self._members[constants]
        self._unwant(constants)
        self._find_alike()

    def _find_alike(self) -> None:
        """The members, where each is told each group as it is, else none."""
        self._alike = None
        if self._is_plain and len(self._members) == 1:
            (members,) = self._members.values()
            self._alike = members if members.want_all else None

    def _unwant(self, constants: Row) -> None:
        for group in self._feed.unwant(constants, self._groups):
            self._around.change(group, None, None)

    def hush(self) -> None:
        """Find out what groups show no sooner than somebody asks: nobody is told yet."""
        self._is_hushed = True

    def settle(self) -> Sequence[Told]:
        """The reverse of `hush`; what has changed meanwhile, as `process` says it."""
        if not self._is_hushed:
            return ()
        self._is_hushed = False
        return self.slide(())

    def _require_shown(self) -> None:
        """Know what groups show. Raises UnsureError."""
        self.settle()
        if isinstance(self.fault, UnsureError):
            raise self.fault

    def take(self, change: Change) -> None:
        """What left and entered the window; looked at by the next `process`."""
        self._waiting.append(change)

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer of a member. Raises GatewayError."""
        try:
            self._require_shown()
            rows = tuple(bounded(self._answer(spu)))
        except GatewayError:
            raise
        except Exception as error:  # nobody else could say it: no other tier has the window now
            why = f"this query cannot be answered over its window: {error!r}"
            raise SubscriptionFailedError(why, "report it with the query") from error
        return ResultsDelta(self._variables, rows)

    def told(self, spu: Spu) -> SolutionBag:
        """The answer that a member was last told."""
        return Counter(self._answer(spu))

    def _answer(self, spu: Spu) -> Iterable[Row]:
        constants = self._constants[spu]
        members, of = self._members[constants], self._groups.constants_of
        wanted = [
            (group, shown)
            for group in self._groups
            if (shown := group.shown) is not None
            and of(group) == constants
            and members.passes(spu, shown)
        ]
        self._around.look(each for _, each in wanted)
        for group, each in wanted:
            yield from self._around.told(group, each)

    def renew(self) -> None:
        """Nothing: what fails here is served by another unit."""

    def process(self, artq: Artq) -> Sequence[Told]:
        """What changed for whom; nothing where it finds a fault, and nobody is told anything."""
        waiting, self._waiting = self._waiting, []
        return self.slide(waiting, artq)

    def slide(self, changes: Sequence[Change], artq: Artq = _NO_QUADS) -> Sequence[Told]:
        """The same, of these changes of the window."""
        self._hits += 1
        if self.fault is not None:
            return ()
        try:
            touched = self._feed.change(artq, changes, self._groups)
            if self._is_hushed and artq is _NO_QUADS:
                self._unshown += touched
                return ()
            if self._unshown:
                touched = [*self._unshown, *touched]
                self._unshown = []
            if not (touched or artq.runs):
                return ()
            members = self._told_alike(touched) if self._is_plain else None
            if members is not None:
                return self._plain_changes(touched, members)
            return self._changes(artq, touched)
        except Exception as error:
            self.fault = error
            return ()

    def _told_alike(self, touched: Sequence[Group]) -> Members | None:
        """The members, where each is told these groups as they are; None where they differ."""
        if self._alike is not None or len(touched) != 1:
            return self._alike
        members = self._members[self._groups.constants_of(touched[0])]
        return members if members.want_all else None

    def _changes(self, artq: Artq, touched: Iterable[Group]) -> list[Told]:
        told = _Sides(self._variables, is_net=self._is_plain)
        became: list[_Became] = []
        moved = dict.fromkeys(self._around.concerned(artq)) if artq.runs else {}
        for group in touched:
            group.is_touched = False
            now, was = self._groups.now(group), group.shown
            if was is not None and now is not None and was.row == now.row:
                if was.values == now.values and group not in moved:
                    continue
                told.is_net = False
            moved.pop(group, None)
            became.append(self._became(group, now, told))
        became += [self._became(group, group.shown, told) for group in moved]
        for each in became:
            self._show(each)
        return told.changes()

    def _plain_changes(self, touched: Sequence[Group], members: Members) -> list[Told]:
        """The same, where each member is told each group as it is: all of them the same."""
        if len(touched) == 1:  # as mostly, and each range of a stream has its own
            return self._plain_change(touched[0], members)
        shows = list(map(self._groups.now, touched))
        added: list[Row] = []
        removed: list[Row] = []
        for group, now in zip(touched, shows, strict=True):
            was = group.shown
            group.is_touched = False
            group.shown = now
            if now is None:
                self._groups.forget(group)
            elif was is None or was.row != now.row:
                added.append(now.row)
            else:
                continue
            if was is not None:
                removed.append(was.row)
        if not (added or removed):
            return []
        results = _results(ResultsDelta, (self._variables, tuple(added), tuple(removed)))
        return [(spu, results) for spu in members.passing_all]

    def _plain_change(self, group: Group, members: Members) -> list[Told]:
        """The same of one group."""
        now, was = self._groups.now(group), group.shown
        group.is_touched = False
        group.shown = now
        if now is None:
            self._groups.forget(group)
        added = () if now is None else (now.row,)
        removed = () if was is None else (was.row,)
        if added == removed:
            return []
        results = _results(ResultsDelta, (self._variables, added, removed))
        return [(spu, results) for spu in members.passing_all]

    def _became(self, group: Group, now: Shown | None, told: "_Sides") -> "_Became":
        """What a group is to show, and the rows of that where somebody has them; tells who has."""
        was = group.shown
        members = self._members[self._groups.constants_of(group)]
        if was is not None:
            losing = members.passing(was)
            if losing:
                told.lose(losing, self._around.told(group, was))
        rows = None
        if now is not None:
            winning = members.passing(now)
            if winning:
                rows = self._around.rows(now)
                told.win(winning, rows)
        return _Became(group, now, rows)

    def _show(self, became: "_Became") -> None:
        group, now, rows = became
        self._around.change(group, now, rows)
        group.shown = now
        if now is None:
            self._groups.forget(group)


class _Became(NamedTuple):
    """A group, what it is to show, and the rows of that where they are known."""

    group: Group
    now: Shown | None
    rows: Rows | None


class _Sides:
    """The rows that members gain and lose in one step; `is_net`: none of them is both."""

    def __init__(self, variables: tuple[str, ...], *, is_net: bool) -> None:
        self._variables = variables
        self.is_net = is_net
        self._sides: dict[Spu, tuple[list[Row], list[Row]]] = {}

    def win(self, spus: Iterable[Spu], rows: Rows) -> None:
        """These gain rows."""
        for spu in spus:
            self._sides.setdefault(spu, ([], []))[0].extend(rows)

    def lose(self, spus: Iterable[Spu], rows: Rows) -> None:
        """These lose rows."""
        for spu in spus:
            self._sides.setdefault(spu, ([], []))[1].extend(rows)

    def changes(self) -> list[Told]:
        """Net, by member."""
        found = [
            (spu, self._netted(added, removed)) for spu, (added, removed) in self._sides.items()
        ]
        return [each for each in found if each[1].added or each[1].removed]

    def _netted(self, added: list[Row], removed: list[Row]) -> ResultsDelta:
        if self.is_net:
            return ResultsDelta(self._variables, tuple(added), tuple(removed))
        return consolidate(self._variables, added, removed)
