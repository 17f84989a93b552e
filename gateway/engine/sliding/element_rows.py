"""`ElementRows`: the rows of a star that each element of a stream gives by itself.

    Change.entered, Change.left -> Followed, of one window -> ElementRows, of all ranges -> rows

Place: instead of `star` for windows by range, as long as each subject is of one element, as an
observation is. Then its rows come and go with it, whatever the range: they are found once, when it
enters the first window, and kept once for all. What two elements say of one subject has to be
joined: then it is not sure any more, and each window goes on with a star of its own.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from weakref import WeakValueDictionary

from pyoxigraph import Triple

from gateway.engine.sliding.star import Star
from gateway.rdf.solutions import Row
from gateway.windows.content import Change
from gateway.windows.owners import Record
from gateway.windows.parted import Parted
from gateway.windows.range_content import RangeContent
from gateway.windows.timeline import Timeline

Rows = tuple[Row, ...]

_SPARE = 64
"""Elements that are gone and still known, beside those that are there."""

_MOST_SAID = 8
"""So many stars keep what an element says with it; for further ones it is read again."""

_MOST_SHARED = 10_000

_known: WeakValueDictionary[tuple[Timeline, object], "ElementRows"] = WeakValueDictionary()


class Said:
    """What an element says by one star: hashes of subjects, or the one there is, and rows.

    `others` is what it says by other stars.
    """

    __slots__ = ("of", "others", "rows", "subjects")

    def __init__(self, of: object, subjects: int | tuple[int, ...], rows: Rows) -> None:
        self.of = of
        self.subjects = subjects
        self.rows = rows
        self.others: Said | None = None


def element_rows(timeline: Timeline, star: Star) -> "ElementRows":
    """The rows of a timeline's elements by such a star, shared by all who have them."""
    name = timeline, star.name
    found = _known.get(name)
    if found is None:
        found = _known[name] = ElementRows(timeline, star)
    return found


class ElementRows:
    """With `is_sure` no subject is of two elements that were entered and are in the timeline.

    Subjects are known by their hashes: two of one hash count as one, which costs time alone.
    """

    def __init__(self, timeline: Timeline, star: Star) -> None:
        self.is_sure = True
        self._name = object()
        self._timeline = timeline
        self._star = star
        self._subjects: dict[int, Record] = {}
        self._order: deque[Record] = deque()
        self._shared: dict[int, tuple[tuple[Triple, ...], tuple[Triple, ...]]] = {}

    def enter(self, record: Record) -> Rows:
        """The rows of an element that is in a window now; looks whether that is sure."""
        said = record.said
        if said is None or said.of is not self._name:
            said = self._kept(record)
        subjects, known = said.subjects, self._subjects
        if isinstance(subjects, int):  # as mostly
            if known.setdefault(subjects, record) is not record:
                self._meet(subjects, record)
            return said.rows
        for subject in subjects:
            if known.setdefault(subject, record) is not record:
                self._meet(subject, record)
        return said.rows

    def _meet(self, subject: int, record: Record) -> None:
        """Another element is known by this subject."""
        if self._subjects[subject].own is not None:  # it is there still
            self.is_sure = False
        self._subjects[subject] = record

    def rows(self, record: Record) -> Rows:
        """The rows of an element that was entered."""
        said = record.said
        if said is None or said.of is not self._name:
            said = self._found(record) or self._read(record)
        return said.rows

    def _found(self, record: Record) -> Said | None:
        said = record.said
        while said is not None and said.of is not self._name:
            said = said.others
        return said

    def _kept(self, record: Record) -> Said:
        others = record.said
        if others is not None:
            said = self._found(record)
            if said is not None:
                return said
            if _depth(others) >= _MOST_SAID:
                others = None
        said = record.said = self._read(record)
        said.others = others
        self._order.append(record)
        if len(self._order) > self._timeline.elements + _SPARE:
            self._forget_gone()
        return said

    def _forget_gone(self) -> None:
        """Look at the two that are known longest, whether they are there."""
        for _ in range(2):
            record = self._order.popleft()
            if record.own is not None:
                self._order.append(record)
                continue
            said = self._found(record) or self._read(record)
            for subject in _each(said.subjects):
                if self._subjects.get(subject) is record:
                    del self._subjects[subject]
            _let_go(record, said)

    def _read(self, record: Record) -> Said:
        triples, star = record.element.triples, self._star
        if isinstance(triples, Parted):
            triples = self._looked_at(triples)
        entries = star.entries(triples)
        if len(entries) == 1:  # as mostly
            (entry,) = entries
            return Said(self._name, hash(entry[-1]), star.rows_of(entry))
        hashes = tuple([hash(entry[-1]) for entry in entries])
        rows = tuple([row for entry in entries for row in star.rows_of(entry)])
        return Said(self._name, hashes, rows)

    def _looked_at(self, triples: Parted) -> tuple[Triple, ...]:
        """The triples that the star looks at."""
        shared = triples.shared
        if not shared:
            return triples.unique(self._star.predicates)
        looked_at = self._shared.get(id(shared))
        if looked_at is None:
            if len(self._shared) >= _MOST_SHARED:
                self._shared.clear()
            wanted = tuple(t for t in shared if t.predicate in self._star.predicates)
            looked_at = self._shared[id(shared)] = shared, wanted
        return (*triples.unique(self._star.predicates), *looked_at[1])


def _depth(said: Said | None) -> int:
    depth = 0
    while said is not None:
        said, depth = said.others, depth + 1
    return depth


def _each(subjects: int | tuple[int, ...]) -> tuple[int, ...]:
    return (subjects,) if isinstance(subjects, int) else subjects


def _let_go(record: Record, said: Said) -> None:
    """Be without it: whoever enters again is read again."""
    if record.said is said:
        record.said = said.others
        return
    before = record.said
    while before is not None and before.others is not said:
        before = before.others
    if before is not None:
        before.others = said.others


class Followed:
    """The elements of one window, by the rows of a star."""

    def __init__(self, content: RangeContent, star: Star) -> None:
        self._content = content
        self._star = star
        self._begin()

    @property
    def is_sure(self) -> bool:
        """Whether its rows are those of its elements."""
        return self._rows.is_sure

    def rows(self) -> Iterator[Row]:
        """All rows of the window."""
        for record in self._content.records:
            yield from self._rows.rows(record)

    def change(self, change: Change) -> tuple[list[Row], list[Row]]:
        """The rows that go and those that come; they count where it `is_sure` then."""
        if self._content.holder is not self._timeline:
            self._begin()  # a clock was set
        entered, left = change.entered, change.left
        if entered and left and (len(entered) > 1 or len(left) > 1 or entered[0] is left[0]):
            both = set(entered).intersection(left)
            entered = [each for each in entered if each not in both]
            left = [each for each in left if each not in both]
        rows, gone, come = self._rows, list[Row](), list[Row]()
        for record in left:
            gone += rows.rows(record)
        for record in entered:
            come += rows.enter(record)
        return gone, come

    def _begin(self) -> None:
        self._timeline = self._content.holder
        self._rows = element_rows(self._timeline, self._star)
        for record in self._content.records:
            self._rows.enter(record)
