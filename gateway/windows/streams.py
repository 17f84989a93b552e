"""`Streams`: all windows over all streams; what each step of the engine does to them.

    open a window → Content;  step(now, arrived) → Change of each content;  next_due → the next step

Place: in the thread that writes, beside the store. A step has one value of the clock; what is over
leaves before what arrives enters, and what leaves and enters is no change.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from gateway.windows.before.filling import Filling
from gateway.windows.budget import Budget
from gateway.windows.content import Change, Content
from gateway.windows.counted import Counted
from gateway.windows.element import Element
from gateway.windows.info import WindowLimits
from gateway.windows.range_content import RangeContent
from gateway.windows.stream import Holder, Stream
from gateway.windows.window import Window

_NOTHING: Mapping[str, Sequence[Element]] = {}
OTHERS = "other"
_MOST_COUNTED = 64
"""Streams that are counted one by one."""

_MOST_BEGUN = 10_000
"""So many names of streams are remembered; beyond, any other may have begun."""

_FEW = 64
"""So many outdated entries of the schedule are not worth being cleared away."""


class _Seen:
    """A content that somebody sees, and how many do."""

    __slots__ = ("content", "users")

    def __init__(self, content: RangeContent | Counted) -> None:
        self.content = content
        self.users = 1


class Streams:
    """Windows that somebody has opened. Times are µs since the epoch, of the engine's clock.

    The clock goes back by `jumped` alone: an earlier `now` counts as the last one. `lag` is how
    late the last step was that time asked for.
    """

    def __init__(self, limits: WindowLimits | None = None) -> None:
        self._budget = Budget(limits or WindowLimits())
        self._streams: dict[str, Stream] = {}
        self._seen: dict[Window, _Seen] = {}
        self._begun: set[str] = set()
        self.lag = 0
        self._schedule: list[tuple[int, int, Holder]] = []
        self._entries = 0
        self._arrived: dict[str, int] = {}

    @property
    def contents(self) -> list[Content]:
        """Every content that is open and not full."""
        return [seen.content for seen in self._seen.values()]

    @property
    def limits(self) -> WindowLimits:
        """What all of them may hold."""
        return self._budget.limits

    @property
    def elements(self) -> int:
        """How many elements all of them hold, as `WindowLimits` counts them."""
        return self._budget.elements

    @property
    def bytes(self) -> int:
        """How many bytes these are, by estimate."""
        return self._budget.bytes

    @property
    def arrived(self) -> Mapping[str, int]:
        """How many elements came into streams that somebody saw then; beyond so many, together."""
        return dict(self._arrived)

    @property
    def is_idle(self) -> bool:
        """Whether no window is open."""
        return not self._seen

    def wants(self, stream: str) -> bool:
        """Whether somebody has a window of the stream."""
        return stream in self._streams

    def has_begun(self, stream: str) -> bool:
        """Whether an element may have come into a stream, seen by somebody or not."""
        return stream in self._begun or len(self._begun) >= _MOST_BEGUN

    def open(
        self,
        window: Window,
        now: int,
        past: Iterable[Element] = (),
        *,
        complete_since: int | None = None,
    ) -> Content:
        """The content of a window; an equal one that is open already, as after the last step.

        To be called with nothing due, after a `step` at this `now`. `past`: what arrived in the
        stream before, of all its keys, in that order, at least what reaches into the range; a new
        content knows nothing else of before. `complete_since`: of what time on `past` has
        everything, 0 for all that there ever was; None: of nothing before now. Costs O(n log n) of
        `past`. Raises WindowFullError where that is too much.
        """
        seen = self._seen.get(window)
        if seen is not None:
            seen.users += 1
            return seen.content
        now = self._clock(now)
        stream = self._streams.get(window.stream)
        if stream is None:
            stream = self._streams[window.stream] = Stream(self._budget)
        content = stream.open(window, now, past, complete_since)
        holder = content.holder
        self._seen[window] = _Seen(content)
        self._shed([holder])
        for change in holder.finish():
            if change.content is content and change.full is not None:
                self._forget(window)
                raise change.full
        self._plan(holder)
        return content

    def is_open(self, window: Window) -> bool:
        """Whether somebody sees an equal window."""
        return window in self._seen

    def open_filling(self, filling: Filling, now: int) -> Content:
        """As `open`, of a window whose past is put into it by `fill`. It is not open yet."""
        now = self._clock(now)
        window = filling.window
        stream = self._streams.get(window.stream)
        if stream is None:
            stream = self._streams[window.stream] = Stream(self._budget)
        content = stream.open_filling(filling, now)
        self._seen[window] = _Seen(content)
        content.holder.finish()
        self._plan(content.holder)
        return content

    def fill(self, content: Content, filling: Filling, most: int) -> list[Change]:
        """Let the next `most` of its past in, between two steps; what that did, as of a step."""
        seen = self._seen.get(content.window)
        if seen is None or seen.content is not content:
            return []
        content = seen.content
        holder = content.holder
        now = self._budget.now
        if now is not None:
            holder.advance(now)  # steps that did not concern it have passed
        self._streams[content.window.stream].fill(content, filling, most)
        if self._budget.is_exceeded():
            self._shed([holder])
        changes = holder.finish()
        if holder.due != holder.scheduled:
            self._plan(holder)
        for change in changes:
            if change.full is not None:
                self._forget(change.content.window)
        return changes

    def close(self, content: Content) -> None:
        """One less sees it; with the last one it is forgotten. One that is full already is."""
        seen = self._seen.get(content.window)
        if seen is not None and seen.content is content:
            seen.users -= 1
            if not seen.users:
                self._forget(content.window)

    def step(self, now: int, arrived: Mapping[str, Sequence[Element]] = _NOTHING) -> list[Change]:
        """What time and arrivals, by stream and in order, did: of each content that changed.

        Contents that reached a boundary or are full are in the answer too; these are closed.
        """
        budget = self._budget
        if budget.now is None or now > budget.now:
            budget.now = now  # as `_clock` does, which costs a call
        else:
            now = budget.now
        arriving = self._arriving(now, arrived) if arrived else {}
        schedule = self._schedule
        touched = arriving
        if schedule and schedule[0][0] <= now:
            touched = dict.fromkeys(self._fall_due(now)) | arriving
        for holder in touched:
            holder.advance(now)
        if budget.is_exceeded():
            self._shed(arriving)
        changes: list[Change] = []
        for holder in touched:
            changes += holder.finish()
            if holder.due != holder.scheduled:
                self._plan(holder)
        for change in changes:
            if change.full is not None:
                self._forget(change.content.window)
        return changes

    def next_due(self) -> int | None:
        """When a step is due though nothing arrives; None: never. Costs O(log n) in the mean."""
        schedule = self._schedule
        while schedule and schedule[0][0] != schedule[0][2].scheduled:
            heappop(schedule)
        return schedule[0][0] if schedule else None

    def jumped(self, by: int) -> None:
        """The clock was put forward by so much, or back: a step is due. Linear in what is held."""
        budget = self._budget
        if not by or budget.now is None:
            return
        budget.now += by
        for stream in self._streams.values():
            for holder in stream.jump(by):
                holder.due = budget.now
                self._plan(holder)

    def _arriving(self, now: int, arrived: Mapping[str, Sequence[Element]]) -> dict[Holder, None]:
        """Whom it concerns that these arrive."""
        arriving: dict[Holder, None] = {}
        for name, elements in arrived.items():
            stream = self._streams.get(name)
            if stream is not None:
                stream.arrive(elements, now, arriving)
                self._count(name, len(elements))
            if elements and len(self._begun) < _MOST_BEGUN:
                self._begun.add(name)
        return arriving

    def _count(self, name: str, elements: int) -> None:
        counts = self._arrived
        if name not in counts and len(counts) > _MOST_COUNTED:
            name = OTHERS
        counts[name] = counts.get(name, 0) + elements

    def _clock(self, now: int) -> int:
        budget = self._budget
        if budget.now is None or now > budget.now:
            budget.now = now
        return budget.now

    def _fall_due(self, now: int) -> list[Holder]:
        schedule = self._schedule
        found: list[Holder] = []
        while schedule and schedule[0][0] <= now:
            due, _, holder = heappop(schedule)
            if holder.scheduled == due:
                holder.scheduled = None
                if not found:
                    self.lag = now - due
                found.append(holder)
        return found

    def _plan(self, holder: Holder) -> None:
        """Put down when the holder is due."""
        due = holder.scheduled = holder.due
        if due is None:
            return
        self._entries += 1
        schedule = self._schedule
        heappush(schedule, (due, self._entries, holder))
        if len(schedule) > _FEW + 4 * len(self._seen):
            valid = {entry[2]: entry for entry in schedule if entry[2].scheduled == entry[0]}
            schedule[:] = valid.values()
            heapify(schedule)

    def _shed(self, holders: Collection[Holder]) -> None:
        """Make room where one of these has taken more than there is: it holds the most."""
        budget = self._budget
        while budget.is_exceeded():
            full = [holder for holder in holders if holder.contents]
            if not full:
                return
            is_of_elements = budget.elements > budget.limits.elements
            largest = max(full, key=lambda each: each.elements if is_of_elements else each.weight)
            largest.shed()

    def _forget(self, window: Window) -> None:
        content = self._seen.pop(window).content
        holder, stream = content.holder, self._streams[window.stream]
        holder.close(content)
        if not holder.contents:
            stream.remove(holder)
        elif holder.due != holder.scheduled:
            self._plan(holder)
        if not stream.holders:
            del self._streams[window.stream]
