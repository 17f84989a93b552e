"""`RangeContent`: a window by `range`: where it begins in its timeline."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from pyoxigraph import Literal, NamedNode, Triple

from gateway.errors import WindowFullError
from gateway.rdf.canonical import canonical
from gateway.rdf.namespaces import XSD
from gateway.windows.boundaries import instant
from gateway.windows.budget import overfilled
from gateway.windows.content import EACH, Change, Content, change_of, net
from gateway.windows.durations import SECOND_US
from gateway.windows.info import WindowInfo
from gateway.windows.owners import Record
from gateway.windows.parted import MOST_ASKS, Ask, Interest, Parted, Predicates, Spo
from gateway.windows.window import Window

if TYPE_CHECKING:
    from gateway.windows.timeline import Timeline

_LEAST, _LEAST_S = 100, 10.0
"""Elements, and seconds: less says nothing of how fast they come."""

_DATE_TIME = NamedNode(XSD + "dateTime")


Shown = tuple[set[Triple], set[Parted], set[Record]]
"""Triples that several elements may have, those of one alone, and the elements."""


class RangeContent(Content):
    """What has entered a timeline and is not before `low`.

    `start`: the first place that is in. `since`: from when on everything is known, None: not yet.
    `gained` and `lost`: what a step did until now; a triple may be in both where `is_mixed`.
    `entered` and `left`: elements, of which `followers` want to be told, at least those `followed`.
    Its triples are counted when somebody asks, once something `moves`.
    """

    def __init__(self, window: Window, timeline: "Timeline", since: int | None) -> None:
        super().__init__(window)
        self.holder = timeline
        self.length = window.range or 0
        self.since = since
        self.low = 0
        self.start = 0
        self.moves = True
        self._size = 0
        self.gained: list[Spo] = []
        self.lost: list[Spo] = []
        self.is_mixed = False
        self.followers = 0
        self.followed = Interest()
        self._looks: Counter[Ask] = Counter()
        self.entered: list[Record] = []
        self.left: list[Record] = []

    def __iter__(self) -> Iterator[Triple]:
        return self.having(None)

    def having(self, wanted: Predicates | None, among: Interest = EACH) -> Iterator[Triple]:
        """The triples of some predicates; linear in the elements and in those that are made."""
        for triple in self._shared_of(self.records):
            if wanted is None or triple.predicate in wanted:
                yield triple
        yield from self.apart(wanted, among)

    def apart(self, wanted: Predicates | None, among: Interest) -> Iterator[Triple]:
        """The same of what one element alone has."""
        for record in self.records:
            triples = record.element.triples
            if isinstance(triples, Parted) and among.concerns(triples):
                yield from triples.unique(wanted)

    def _shared_of(self, records: Iterable[Record]) -> Collection[Triple]:
        """What several elements may have, each once."""
        owners = self.holder.owners
        if owners.is_kept and owners.heeded is None:
            return [triple for record in records for triple in record.own or ()]
        found = {id(each): each for each in [record.element.shared for record in records]}
        return dict.fromkeys(triple for each in found.values() for triple in each)

    def count(self) -> int:
        """How many triples there are; linear in the elements."""
        records = self.records
        found = (record.element.triples for record in records)
        unique = sum(each.unique_of(None) for each in found if isinstance(each, Parted))
        return len(self._shared_of(records)) + unique

    @property
    def records(self) -> list[Record]:
        """The elements that are in, in the order of their times."""
        return [] if self.full is not None else self.holder.records[self.start : self.holder.end]

    def follow(self, predicates: Predicates) -> None:
        """Tell which elements enter and leave; something of these predicates is kept of each."""
        self.followers += 1
        self.keep(predicates)

    def look(self, ask: Ask) -> None:
        """Tell followers of elements that may have such a subject, as often as that is said."""
        self._looks[ask] += 1
        self.followed = self.followed.also((ask,))

    def unlook(self, ask: Ask) -> None:
        """The reverse of `look`."""
        self._looks[ask] -= 1
        if not self._looks[ask]:
            del self._looks[ask]
            if len(self._looks) <= MOST_ASKS:
                self.followed = Interest(self._looks)

    def unfollow(self, predicates: Predicates) -> None:
        """The reverse of `follow`."""
        self.followers -= 1
        self.unkeep(predicates)

    def __contains__(self, triple: object) -> bool:
        """Linear where no element is known to own it."""
        if self.full is not None or not isinstance(triple, Triple):
            return False
        owner = self.holder.owners.get(triple)
        if owner is not None:
            return owner.time >= self.low
        return triple in self.having(frozenset({triple.predicate}))

    def __len__(self) -> int:
        if self.moves:
            self._size = self.count()
            self.moves = False
        return self._size

    def come(self, triples: Collection[Triple]) -> None:
        """These are in it now, and were not."""
        self.moves = True
        if self.tells:
            self.gained += triples

    def go(self, triples: Collection[Triple]) -> None:
        """These were in it, and are not now."""
        self.moves = True
        if self.tells:
            self.lost += triples

    def gain(self, triples: Parted) -> None:
        """What no other element has came."""
        if self.tells and self.asked.concerns(triples):
            self.gained += triples.unique_terms(self.wanted)

    def follows(self, record: Record) -> bool:
        """Whether a follower is to be told of an element."""
        return self.followers > 0 and self.followed.concerns(record.element.triples)

    def lose(self, record: Record) -> None:
        """An element that had entered leaves, with what goes with it."""
        if self.follows(record):
            self.left.append(record)
        self.moves = True
        if self.tells and self.holder.owners.is_kept:
            self.lost += record.own or ()
            if isinstance(record.element.triples, Parted):
                self.lose_unique(record.element.triples)

    def lose_unique(self, triples: Parted) -> None:
        """What no other element has goes."""
        if self.tells and self.asked.concerns(triples):
            self.lost += triples.unique_terms(self.wanted)

    def shown(self) -> Shown:
        """What it has now; without owners the elements alone."""
        records = self.records
        shared = {triple for record in records for triple in record.own or ()}
        found = {each.element.triples for each in records}
        parted = {triples for triples in found if isinstance(triples, Parted)}
        return shared, parted, set(records)

    def show(self, before: Shown, after: Shown) -> None:
        """Have other elements from now on."""
        self.gained, self.lost = [], []
        self.come(after[0] - before[0])
        self.go(before[0] - after[0])
        self.is_mixed = self.moves = True
        if self.followers:
            self.entered, self.left = [*(after[2] - before[2])], [*(before[2] - after[2])]
        for triples in after[1] - before[1]:
            self.gain(triples)
        for triples in before[1] - after[1]:
            self.lose_unique(triples)

    def weigh_again(self) -> None:
        """Count what is held by what all contents of the timeline keep of it."""
        if self.full is None:
            self.holder.weigh_again()

    def settle(self, is_boundary: bool) -> Change | None:
        """End a step: what it did, None: nothing."""
        gained, lost, entered, left = self.gained, self.lost, self.entered, self.left
        if entered or left:
            self.entered, self.left = [], []
        if gained or lost:
            self.gained, self.lost = [], []
            if self.is_mixed:
                self.is_mixed = False
                gained, lost = net(gained, lost)
        if gained or lost or is_boundary or entered or left:
            return change_of(Change, (self, gained, lost, is_boundary, None, entered, left))
        return None

    def jump(self, by: int) -> None:
        """The clock was put forward by so much: what it said of the past it says otherwise now.

        Back: elements of a device's time that had left are not known any more.
        """
        if self.since is not None and self.since > 0:
            self.since += by
            if by < 0 and not self.holder.watermark.is_arrival:
                self.since = max(self.since, self.low)

    def fail(self, error: WindowFullError) -> None:
        """Be empty from now on."""
        self.full = error
        self._size, self.moves = 0, False
        self.gained, self.lost, self.entered, self.left = [], [], [], []

    @property
    def bounds(self) -> tuple[Literal, Literal] | None:
        """Start and end as `xsd:dateTime`, where the window asks for them and has come so far."""
        upper = self.holder.upper
        if not self.window.bounds or upper is None or self.full is not None:
            return None
        start, end = _date_time(self.low), _date_time(upper)
        return None if start is None or end is None else (start, end)

    @property
    def held(self) -> tuple[int, int]:
        """The bytes are those of the timeline, which windows of other ranges share."""
        return (0, 0) if self.full else (max(self.holder.end - self.start, 0), self.holder.weight)

    def info(self) -> WindowInfo:
        """What of the timeline is in the range, as of the last step, whomever that concerned."""
        if self.full is None:
            self.holder.keep_up()
        timeline, since = self.holder, self.since
        upper = None if self.full else timeline.upper
        held = [] if self.full else timeline.records[self.start :]
        elements = 0 if self.full else max(timeline.end - self.start, 0)
        first = None
        if upper is not None and since is not None:
            first = max(self.low - (not timeline.watermark.is_stepped), since)
        return WindowInfo(
            from_=first,
            to=None if upper is None else upper - (not timeline.watermark.is_stepped),
            complete=upper is not None and since is not None and since <= self.low,
            elements=elements,
            triples=len(self),
            bytes=sum(record.weight for record in held),
            oldest=held[0].time if elements else None,
            watermark=timeline.reached,
            late=self.late,
            dropped=self.dropped,
            expired=self.expired,
            warning=self._warning(elements),
        )

    def _warning(self, elements: int) -> str:
        """Whether it will be full; of a range that is complete it is known that it is not."""
        upper, since = self.holder.upper, self.since
        if upper is None or since is None or since <= self.low:
            return ""
        seconds = (upper - since) / SECOND_US
        if seconds < _LEAST_S or elements < _LEAST:
            return ""
        return overfilled(self.window, elements / seconds, self.holder.budget.limits)


def _date_time(time: int) -> Literal | None:
    """The literal as the store gives it back."""
    moment = instant(time)
    if moment is None:
        return None
    stamp = moment.replace(tzinfo=None).isoformat()
    found = canonical(Literal(f"{stamp}Z", datatype=_DATE_TIME))
    return found if isinstance(found, Literal) else None
