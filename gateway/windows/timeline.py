"""`Timeline`: the elements of a stream in the order of their times, for windows of several ranges.

    arrive → advance(now): expire, then enter → finish() → Change of each content

Windows that differ in `range` alone end together (`gateway.windows.watermark`), so the content of
each is what is behind its own place in one sequence: what has entered and has not left the longest
is kept once, with its owners (`gateway.windows.owners`), and a content is two numbers. A step costs
what enters and leaves, for each content; an element out of order moves the pointers behind it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable

from gateway.errors import WindowFullError
from gateway.rdf.terms import Term
from gateway.windows.budget import Budget, limit_error
from gateway.windows.content import Change, Content
from gateway.windows.element import Element, Key
from gateway.windows.owners import Owners, Record
from gateway.windows.parted import Parted, Predicates
from gateway.windows.range_content import RangeContent
from gateway.windows.taking_out import take_out
from gateway.windows.watermark import Watermark

_RELEASED = Record(Element(()), 0, 0, 0)
_FEW = 64
"""So many released places are not worth being closed up."""


class Timeline:
    """Elements by time, and the contents that end together over them.

    `records` and `times` are parallel: what is before `base` is released, before `end` has entered,
    which is what is before `upper`. `due`: when time alone changes something, µs on the clock.
    `lowest`: what is before this nobody sees. `reached`: W at the last step. `jumped_by`: how far
    the clock was put forward since then. `kept`: what is kept of elements for some content.
    `is_limited`: some content has a limit of its own.
    """

    def __init__(self, watermark: Watermark, budget: Budget) -> None:
        self.watermark = watermark
        self.contents: list[RangeContent] = []
        self.due: int | None = None
        self.upper: int | None = None
        self.reached: int | None = None
        self.lowest = 0
        self.jumped_by = 0
        self.scheduled: int | None = None
        self.times: list[int] = []
        self.records: list[Record] = []
        self.base = 0
        self.end = 0
        self.owners = Owners(is_kept=False)
        self.weight = 0
        self.budget = budget
        self.kept: Predicates | None = frozenset()
        self.is_limited = False
        self._numbers: dict[Key, dict[Record, None]] = {}
        self._arriving: list[Record] = []
        self._ended: set[Key] = set()
        self._failed: list[RangeContent] = []
        self._is_boundary = False
        self._is_asked = True

    @property
    def elements(self) -> int:
        """How many are held."""
        return len(self.records) - self.base

    def hear(self, element: Element, now: int) -> None:
        """An element of the stream arrives, whoever sees it."""
        self.watermark.hear(element, now)

    def arrive(self, element: Element, now: int, order: int, weight: int | None) -> None:
        """An element arrives that these windows see; it enters at the next `advance`."""
        time = self.watermark.time(element, now)
        if self.upper is not None and time < self.upper:
            for content in self.contents:
                content.late += 1
        if self.watermark.drops and self.watermark.is_dropped(time, now):
            self.drop()
        else:
            weight = self._weight(element, weight)
            self._arriving.append(Record(element, time, order, weight))

    def record(self, element: Element, time: int, order: int, weight: int | None = None) -> Record:
        """An element, and what it takes where so much of it is wanted as here."""
        return Record(element, time, order, self._weight(element, weight))

    def _weight(self, element: Element, weight: int | None) -> int:
        triples = element.triples
        if isinstance(triples, Parted):
            return triples.bytes(self.kept)
        return element.weight() if weight is None else weight

    def weigh_again(self) -> None:
        """Count what is held by what is kept of it for its contents now."""
        self._is_asked = True
        keeps = [content.kept for content in self.contents]
        kept = None if None in keeps else frozenset[Term]().union(*filter(None, keeps))
        if kept == self.kept or not keeps:
            return
        self.kept = kept
        for record in self.records[self.base :]:
            triples = record.element.triples
            if isinstance(triples, Parted):
                more = triples.bytes(kept) - record.weight
                record.weight += more
                self.weight += more
                self.budget.bytes += more

    def _heed(self) -> None:
        """Keep owners from now on, or none, as somebody is told which triples come and go."""
        self._is_asked = False
        told = [each.wanted for each in self.contents if each.tells]
        is_kept = bool(told)
        wanted = None if None in told else frozenset[Term]().union(*filter(None, told))
        owners = self.owners
        if self.contents and (is_kept != owners.is_kept or (is_kept and not owners.heed(wanted))):
            self._own(Owners(is_kept=is_kept, heeded=wanted))

    def _own(self, owners: Owners) -> None:
        """Find the owners of what has entered anew."""
        self.owners = owners
        for record in self.records:
            record.own = None
        for record in self.records[min(content.start for content in self.contents) : self.end]:
            owners.enter(record)

    def drop(self) -> None:
        """An element arrives that does not enter."""
        for content in self.contents:
            content.dropped += 1

    def end_series(self, key: Key) -> None:
        """Let the numbers of a key that came until now go: its next one is in another unit."""
        kept = [each for each in self._arriving if not _is_number_of(each, (key,))]
        for _ in range(len(self._arriving) - len(kept)):
            self.drop()
        self._arriving = kept
        self._ended.add(key)

    def advance(self, now: int) -> None:
        """Let go what is over, then let in what has come; told by `finish`."""
        self.reached = self.watermark.value(now)
        upper = self.watermark.upper_at(self.reached)
        if upper is None:
            return
        if self._is_asked:
            self._heed()
        if self.upper is None:
            self._begin()
        if self.jumped_by:
            self._reorder(upper)
        elif upper != self.upper:
            self._is_boundary = self._is_reached(upper)
            self._expire(upper)
        if self._ended:
            self._remove_series()
        self.upper = upper
        if self.end < len(self.times):
            self._enter(self._waiting(upper))
        if self._arriving:
            entering = list(filter(self._insert, self._arriving))
            self._arriving = []
            self._enter(entering)
            if self.is_limited:
                self._limit()

    def keep_up(self) -> None:
        """Come to the clock of the last step, which did not concern it: nothing was due."""
        now = self.budget.now
        if now is not None and (self.due is None or self.due > now):
            self.advance(now)

    def shed(self) -> None:
        """Make room: the longest window lets its oldest element go, or fails."""
        longest = min(self.contents, key=lambda content: content.start)
        if longest.window.overflow == "oldest" and longest.start < len(self.records):
            self._drop_oldest(longest)
        else:
            self.fail(longest, self.budget.error(longest.window))
        self.release()

    def fail(self, content: RangeContent, error: WindowFullError) -> None:
        """End a content; told by `finish`."""
        content.fail(error)
        self.contents.remove(content)
        self._failed.append(content)

    def finish(self) -> list[Change]:
        """What the step did."""
        changes = []
        for content in self.contents:
            change = content.settle(self._is_boundary)
            if change is not None:
                changes.append(change)
        if self._failed:
            changes += [Change(each, (), (), full=each.full) for each in self._failed]
            self._failed.clear()
        self._is_boundary = False
        self.release()
        self.look_ahead()
        return changes

    def close(self, content: Content) -> None:
        """Nobody sees it any more; what only it has is released."""
        if isinstance(content, RangeContent) and content in self.contents:
            self.contents.remove(content)
            self.release()
            self.weigh_again()
            if not self.jumped_by:  # else a step is due, which finds the times as they are now
                self.look_ahead()

    def look_ahead(self) -> None:
        """Find out when time alone will change something."""
        leaving = entering = None
        times, end = self.times, self.end
        if end < len(times):
            entering = times[end]
        for content in self.contents:
            start = content.start
            if start < end:
                time = times[start] + content.length
                if leaving is None or time < leaving:
                    leaving = time
        self.due = self.watermark.due(leaving, entering) if self.contents else None

    def place(self, content: RangeContent, older: Iterable[Record], now: int) -> None:
        """Begin a content; `older` are its elements that are not here, before all that are.

        Nothing may be due. The next `finish` tells what its limit did to it, as of a step.
        """
        records = sorted(older, key=lambda record: record.key)
        for each in self.contents:
            each.start += len(records) - self.base
        self.records[: self.base] = records
        self.times[: self.base] = [record.time for record in records]
        self.base = 0
        upper = self.watermark.upper(now)
        if upper is not None and self.contents and upper != self.upper:
            self._expire(upper)  # steps that did not concern them have passed
        self.contents.append(content)
        self.is_limited |= content.window.limit is not None
        self.weigh_again()
        self.upper = upper
        self.reached = self.watermark.value(now)
        for record in records:
            record.weight = self._weight(record.element, record.weight)
            self._hold(record)
            if upper is not None and record.time < upper:
                self.owners.enter(record)
        if upper is not None:
            self.end = bisect_left(self.times, upper)
            content.low = self.watermark.low(upper, content.length)
            content.start = bisect_left(self.times, content.low)
        self.lowest = min([each.low for each in self.contents])
        self._limit()

    def fill(self, records: Iterable[Record]) -> None:
        """Let in what came before its contents were opened, between two steps.

        The next `finish` tells what that did, as of a step.
        """
        if self._is_asked:
            self._heed()
        found = [record for record in records if record.time >= self.lowest]
        self._enter([record for record in found if self._insert(record)])
        self._limit()

    def take(self, content: RangeContent, other: "Timeline") -> None:
        """Go on with a content of another timeline, and with what that has for it."""
        self.owners = other.owners.anew()
        for record in other.records[content.start :]:
            copied = Record(record.element, record.time, record.order, record.weight)
            self.records.append(copied)
            self.times.append(copied.time)
            self._hold(copied)
        self.end = max(other.end - content.start, 0)
        for record in self.records[: self.end]:
            self.owners.enter(record)
        self.upper, self.reached, self.jumped_by = other.upper, other.reached, other.jumped_by
        self.lowest = content.low
        other.contents.remove(content)
        self.contents.append(content)
        self.is_limited |= content.window.limit is not None
        content.holder, content.start = self, 0
        self.weigh_again()

    def jump(self, by: int) -> None:
        """The clock was put forward by so much, of which the next `advance` makes something."""
        self.jumped_by += by
        self.watermark.jump(by)

    def _reorder(self, upper: int) -> None:
        """Put the elements in the order of their times as they are now; look what that changed."""
        by, self.jumped_by = self.jumped_by, 0
        self._is_boundary = self._is_reached(upper)
        before = [(each.shown(), len(self.records) - each.start) for each in self.contents]
        self.records = self.records[self.base :]
        for record in self.records:
            if self.watermark.is_arrival or record.element.is_moving:
                record.time += by
        self.records.sort(key=lambda record: record.key)
        self.times = [record.time for record in self.records]
        self.base, self.end, self.upper = 0, bisect_left(self.times, upper), upper
        for content in self.contents:
            content.jump(by)
            content.low = self.watermark.low(upper, content.length)
            content.start = bisect_left(self.times, content.low)
        self._own(self.owners.anew())
        for content, (shown, held) in zip(self.contents, before, strict=True):
            content.show(shown, content.shown())
            content.expired += held - (len(self.records) - content.start)
        self.lowest = min([content.low for content in self.contents])

    def _begin(self) -> None:
        """The stream's clock has a time now: from its first one on everything is known."""
        for content in self.contents:
            if content.since is None:
                content.since = self.watermark.greatest

    def _is_reached(self, upper: int) -> bool:
        return self.watermark.is_stepped and (self.upper is None or upper > self.upper)

    def _expire(self, upper: int) -> None:
        times, end, last = self.times, self.end, len(self.times)
        lowest = upper
        for content in self.contents:
            low = content.low = self.watermark.low(upper, content.length)
            lowest = min(lowest, low)
            start = content.start
            while start < last and times[start] < low:
                if start < end:
                    content.lose(self.records[start])
                    content.expired += 1
                else:
                    content.dropped += 1
                start += 1
            content.start = start
        self.lowest = lowest

    def _waiting(self, upper: int) -> list[Record]:
        """What has waited for W to get there, without what nobody has seen."""
        end = self.end
        if end == len(self.times) or self.times[end] >= upper:
            return []
        self.end = bisect_left(self.times, upper, end)
        first = max(end, min(content.start for content in self.contents))
        return self.records[first : self.end]

    def _insert(self, record: Record) -> bool:
        """Put an element in its place, where somebody is to see it; whether it enters now."""
        time, times = record.time, self.times
        if time < self.lowest:
            self.drop()
            return False
        for content in self.contents:
            if time < content.low:
                content.start += 1
                content.dropped += 1
        if self.base == len(times) or time >= times[-1]:
            times.append(time)
            self.records.append(record)
        else:
            place = bisect_right(times, time, self.base)
            times.insert(place, time)
            self.records.insert(place, record)
        self._hold(record)
        is_in = self.upper is not None and time < self.upper
        self.end += is_in
        return is_in

    def _enter(self, records: list[Record]) -> None:
        if not self.owners.is_kept:
            self._follow(records)
            return
        for record in records:
            fresh, found = self.owners.enter(record)
            triples = record.element.triples
            for content in self.contents:
                low = content.low
                if record.time < low:
                    continue
                content.moves = True
                if content.follows(record):
                    content.entered.append(record)
                if content.tells:
                    content.gained += fresh
                    if isinstance(triples, Parted):
                        content.gain(triples)
                for triple, owner in found:
                    if owner.time < low:
                        content.come((triple,))
                        content.is_mixed = True

    def _follow(self, records: list[Record]) -> None:
        """Let elements in, of which nobody is told the triples."""
        for record in records:
            record.own = ()
            for content in self.contents:
                if record.time >= content.low:
                    content.moves = True
                    if content.follows(record):
                        content.entered.append(record)

    def _limit(self) -> None:
        for content in list(self.contents):
            limit = content.window.limit
            while limit is not None and len(self.records) - content.start > limit:
                if content.window.overflow == "end":
                    self.fail(content, limit_error(content.window))
                    break
                self._drop_oldest(content)

    def _drop_oldest(self, content: RangeContent) -> None:
        record = self.records[content.start]
        if content.start < self.end:
            content.lose(record)
            content.is_mixed = True
        content.start += 1
        content.expired += 1
        content.since = max(content.since or 0, record.time + 1)

    def _remove_series(self) -> None:
        """Take out the numbers of the keys whose unit changed; owners may hand their triples on."""
        doomed = [record for key in self._ended for record in self._numbers.get(key, ())]
        self._ended.clear()
        for record in doomed:
            has_entered = record.own is not None
            heirs = self.owners.remove(record)
            for content in self.contents:
                # what is over may now come as what nobody has
                content.is_mixed = content.moves = True
                if record.time < content.low:
                    continue
                for triple, heir in heirs:
                    if heir is None or heir.time < content.low:
                        content.go((triple,))
                if has_entered and content.follows(record):
                    content.left.append(record)
                if has_entered and isinstance(record.element.triples, Parted):
                    content.lose_unique(record.element.triples)
        take_out(self, doomed)

    def _hold(self, record: Record) -> None:
        element = record.element
        if element.unit is not None and element.key is not None:
            self._numbers.setdefault(element.key, {})[record] = None
        weight, budget = record.weight, self.budget
        self.weight += weight
        budget.bytes += weight
        budget.elements += 1

    def let_go(self, record: Record) -> None:
        """Hold an element no longer; it is in no place any more."""
        element = record.element
        if element.unit is not None and element.key is not None:
            numbers = self._numbers[element.key]
            del numbers[record]
            if not numbers:
                del self._numbers[element.key]
        weight, budget = record.weight, self.budget
        self.weight -= weight
        budget.bytes -= weight
        budget.elements -= 1

    def release(self) -> None:
        """Let go what no content needs."""
        last = len(self.records)
        first = min([content.start for content in self.contents], default=last)
        if first == self.base:
            return
        records, leave = self.records, self.owners.leave
        for place in range(self.base, first):
            record = records[place]
            leave(record)
            self.let_go(record)
            records[place] = _RELEASED
        self.base, self.end = first, max(self.end, first)
        if first > _FEW and 2 * first > last:
            del self.records[:first], self.times[:first]
            self.base = 0
            self.end -= first
            for content in self.contents:
                content.start -= first


def _is_number_of(record: Record, keys: Container[Key | None]) -> bool:
    element = record.element
    return element.unit is not None and element.key in keys
