"""`Star`: the patterns of a window that share a subject, joined as its triples come and go.

Place: first on the way of the data. An observation is a star: its sensor, its feature, its result.
What a subject has is kept by subject, in the order of the patterns; a row is there while each
pattern has something. Nothing else of the window is kept here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from operator import is_, itemgetter
from typing import Any
from weakref import WeakValueDictionary

from pyoxigraph import Triple

from gateway.engine.incremental.plan import CorePattern
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term
from gateway.windows.parted import Spo


class Several(tuple[Term, ...]):
    """What one pattern has of a subject, where that is more than one object."""

    __slots__ = ()


Entry = tuple[Any, ...]
"""What each pattern has of a subject: a term, Several or None; and behind these the subject."""

_MOST_SHARED = 65_536
_FEW = 16

_filled: WeakValueDictionary[tuple[Any, ...], "Star"] = WeakValueDictionary()
"""By the predicates of a star, the one that was filled last: ranges of one stream have the same."""

_last_read: dict[tuple[Any, ...], tuple[tuple[Spo, ...], list[tuple[Term, Entry]]]] = {}
"""By the predicates of a star, the triples that were read last, and what they say."""


class Star:
    """The rows of `names`, variables of the patterns, in their order; a bag.

    All patterns have one variable as subject, constant predicates, and another variable as object.
    Stars of one `name` have equal rows.
    """

    def __init__(self, patterns: Sequence[CorePattern], names: Sequence[str]) -> None:
        subject = patterns[0].subject
        self._predicates = tuple(each.predicate for each in patterns)
        self._width = len(patterns)
        self._nothing: Entry = (None,) * (self._width + 1)
        self._held: dict[Term, Entry] = {}
        self._shared: dict[Term, Term] = {}
        self._wanted: dict[Term, list[int]] = {}
        slots = [each.object for each in patterns]
        for place, each in enumerate(patterns):
            self._wanted.setdefault(each.predicate, []).append(place)  # type: ignore[arg-type]
        self._equal = [
            (slots.index(slot), place)
            for place, slot in enumerate(slots)
            if slots.index(slot) < place
        ]
        is_single = not self._equal and len(self._wanted) == self._width
        self._single = {each: at for each, (at, *_) in self._wanted.items() if is_single}
        places = [self._width if name == subject else slots.index(name) for name in names]
        self._pick = picker(places)
        self.predicates = frozenset(self._wanted)
        self.name = self._predicates, tuple(self._equal), tuple(places)

    def __len__(self) -> int:
        """The subjects that something is kept of."""
        return len(self._held)

    def fill(self, triples: Iterable[Triple]) -> None:
        """Begin with these; what a star of the same predicates has of them is kept once."""
        read = self._read(triples)
        other = _filled.get(self._predicates)
        if other is not None:
            read = list(map(other._as_here, read))
        self._add(read, {})
        _filled[self._predicates] = self

    def _as_here(self, read: tuple[Term, Entry]) -> tuple[Term, Entry]:
        """A subject and what it has, the same objects where they are here."""
        subject, entry = read
        had = self._held.get(subject)
        return read if had is None or had != entry else (had[-1], had)

    def rows(self) -> Iterator[Row]:
        """All rows."""
        for entry in self._held.values():
            yield from self.rows_of(entry)

    def entries(self, triples: Iterable[Spo], *, is_kept: bool) -> list[Entry]:
        """What these say of each subject, by themselves; kept, equal objects are one."""
        read = self._read(triples, is_kept=is_kept)
        if len(read) == 1:  # as mostly
            return [read[0][1]]
        found: dict[Term, Entry] = {}
        for subject, more in read:
            had = found.get(subject)
            found[subject] = more if had is None else _both(had, more)
        return list(found.values())

    def only(self, triples: Iterable[Spo]) -> tuple[Term, Row] | None:
        """The one subject that these have, and its one row; None where it is not so simple.

        As `entries` and `rows_of` say it, in half the time: the usual observation is such.
        """
        places, entry = self._single, list(self._nothing)
        only: Term | None = None
        subject: Term
        for triple in triples:
            if isinstance(triple, Triple):  # whose terms are made as they are asked for
                place = places.get(triple.predicate)
                if place is None:
                    continue
                subject, value = triple.subject, triple.object
            else:
                subject, predicate, value = triple
                place = places.get(predicate)
                if place is None:
                    continue
            if only is None:
                entry[-1] = only = subject
            if entry[place] is not None or only != subject:
                return None
            entry[place] = value
        return None if only is None or None in entry else (only, self._pick(entry))

    def change(self, removed: Sequence[Spo], added: Sequence[Spo]) -> tuple[list[Row], list[Row]]:
        """Take up what left and entered the window, net; the rows that go and those that come."""
        touched: dict[Term, Entry] = {}
        if removed:
            self._remove(removed, touched)
        if added:
            self._add(self._read_once(added), touched)
        held, nothing = self._held, self._nothing
        gone: list[Row] = []
        come: list[Row] = []
        for subject, before in touched.items():
            if before is not nothing:
                gone += self.rows_of(before)
            after = held.get(subject)
            if after is not None:
                come += self.rows_of(after)
        return gone, come

    def _read_once(self, triples: Sequence[Spo]) -> list[tuple[Term, Entry]]:
        """What was read last, if it is the same: windows of one stream let in the same triples."""
        last = _last_read.get(self._predicates)
        if last is not None and len(last[0]) == len(triples) and all(map(is_, last[0], triples)):
            return last[1]
        found = self._read(triples)
        if len(triples) <= _FEW:
            if len(_last_read) >= _FEW:
                _last_read.clear()
            _last_read[self._predicates] = tuple(triples), found
        return found

    def _read(self, triples: Iterable[Spo], *, is_kept: bool = True) -> list[tuple[Term, Entry]]:
        """What the triples say of each subject; those of one follow one another, mostly."""
        wanted, shared = self._wanted, self._shared
        found: list[tuple[Term, Entry]] = []
        current: Term | None = None
        entry: list[Any] = []
        for subject, predicate, value in triples:
            places = wanted.get(predicate)
            if places is None:
                continue
            object_ = shared.setdefault(value, value) if is_kept else value
            if subject != current:
                if current is not None:
                    found.append((current, tuple(entry)))
                current, entry = subject, list(self._nothing)
                entry[-1] = subject
            for place in places:
                if entry[place] is None:
                    entry[place] = object_
                else:
                    _with(entry, place, object_)
        if current is not None:
            found.append((current, tuple(entry)))
        if len(shared) > _MOST_SHARED:
            shared.clear()
        return found

    def _add(self, read: Iterable[tuple[Term, Entry]], touched: dict[Term, Entry]) -> None:
        held = self._held
        for subject, more in read:
            before = held.get(subject)
            touched.setdefault(subject, self._nothing if before is None else before)
            held[subject] = more if before is None else _both(before, more)

    def _remove(self, triples: Iterable[Spo], touched: dict[Term, Entry]) -> None:
        wanted, held = self._wanted, self._held
        current: Term | None = None
        entry: list[Any] = []
        for subject, predicate, object_ in triples:
            places = wanted.get(predicate)
            if places is None:
                continue
            if subject != current:
                if current is not None:
                    self._keep(current, entry)
                current = subject
                before = held[subject]
                touched.setdefault(subject, before)
                entry = list(before)
            for place in places:
                had = entry[place]
                entry[place] = _left(had, object_) if type(had) is Several else None
        if current is not None:
            self._keep(current, entry)

    def _keep(self, subject: Term, entry: list[Any]) -> None:
        for place in range(self._width):
            if entry[place] is not None:
                self._held[subject] = tuple(entry)
                return
        self._held.pop(subject, None)

    def rows_of(self, entry: Entry) -> tuple[Row, ...]:
        """The rows of one subject, of which the patterns have this."""
        is_single = True
        for each in entry:
            if each is None:
                return ()
            if type(each) is Several:
                is_single = False
        if is_single:
            if self._equal and not self._agrees(entry):
                return ()
            return (self._pick(entry),)
        sides = [each if isinstance(each, Several) else (each,) for each in entry]
        return tuple([self._pick(chosen) for chosen in product(*sides) if self._agrees(chosen)])

    def _agrees(self, entry: Sequence[Term | None]) -> bool:
        return all(entry[one] == entry[other] for one, other in self._equal)


def _with(entry: list[Any], place: int, object_: Term) -> None:
    had = entry[place]
    if had is None:
        entry[place] = object_
    elif isinstance(had, Several):
        entry[place] = Several((*had, object_))
    else:
        entry[place] = Several((had, object_))


def _both(one: Entry, other: Entry) -> Entry:
    entry = list(one)
    for place, more in enumerate(other[:-1]):
        if more is not None:
            for object_ in more if isinstance(more, Several) else (more,):
                _with(entry, place, object_)
    return tuple(entry)


def _left(several: Several, object_: Term) -> Term | Several:
    left = [each for each in several if each != object_]
    return left[0] if len(left) == 1 else Several(left)


def picker(places: Sequence[int]) -> Callable[[Sequence[Term | None]], Row]:
    """Reads what stands in these places."""
    match places:
        case []:
            return lambda _: ()
        case [place]:
            return lambda row: (row[place],)
        case _:
            return itemgetter(*places)
