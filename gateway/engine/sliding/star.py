"""`Star`: the patterns of a window that share a subject, joined as its triples come and go.

Place: first on the way of the data. An observation is a star: its sensor, its feature, its result.
What a subject has is kept by subject, in the order of the patterns; a row is there while each
pattern has something. Nothing else of the window is kept here.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from operator import itemgetter
from typing import Any

from pyoxigraph import Triple

from gateway.engine.incremental.plan import CorePattern
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term


class Several(tuple[Term, ...]):
    """What one pattern has of a subject, where that is more than one object."""

    __slots__ = ()


Entry = tuple[Any, ...]
"""What each pattern has of a subject: a term, Several or None."""

_MOST_SHARED = 65_536


class Star:
    """The rows of `names`, variables of the patterns, in their order; a bag.

    All patterns have one variable as subject, constant predicates, and another variable or a
    constant as object.
    """

    def __init__(self, patterns: Sequence[CorePattern], names: Sequence[str]) -> None:
        subject = patterns[0].subject
        self._width = len(patterns)
        self._nothing: Entry = (None,) * self._width
        self._held: dict[Term, Entry] = {}
        self._shared: dict[Term, Term] = {}
        self._wanted: dict[Term, list[tuple[int, Term | None]]] = {}
        slots = [each.object for each in patterns]
        for place, each in enumerate(patterns):
            constant = None if isinstance(each.object, str) else each.object
            self._wanted.setdefault(each.predicate, []).append((place, constant))  # type: ignore[arg-type]
        self._equal = [
            (slots.index(slot), place)
            for place, slot in enumerate(slots)
            if isinstance(slot, str) and slots.index(slot) < place
        ]
        places = [self._width if name == subject else slots.index(name) for name in names]
        self._pick = picker(places)

    def __len__(self) -> int:
        """The subjects that something is kept of."""
        return len(self._held)

    def fill(self, triples: Iterable[Triple]) -> list[Row]:
        """Begin anew with these; all rows."""
        self._held.clear()
        return self.change((), triples)[1]

    def change(
        self, removed: Iterable[Triple], added: Iterable[Triple]
    ) -> tuple[list[Row], list[Row]]:
        """Take up what left and entered the window, net; the rows that go and those that come."""
        held, nothing = self._held, self._nothing
        touched: dict[Term, Entry] = {}
        for subject, place, object_ in self._found(removed):
            entry = held[subject]
            if subject not in touched:
                touched[subject] = entry
            entry = _without(entry, place, object_)
            if entry == nothing:
                del held[subject]
            else:
                held[subject] = entry
        for subject, place, object_ in self._found(added):
            entry = held.get(subject, nothing)
            if subject not in touched:
                touched[subject] = entry
            held[subject] = _with(entry, place, object_)
        gone: list[Row] = []
        come: list[Row] = []
        for subject, before in touched.items():
            if before is not nothing:
                gone += self._rows(subject, before)
            after = held.get(subject, nothing)
            if after is not nothing:
                come += self._rows(subject, after)
        return gone, come

    def _found(self, triples: Iterable[Triple]) -> list[tuple[Term, int, Term]]:
        wanted, shared = self._wanted, self._shared
        found: list[tuple[Term, int, Term]] = []
        for triple in triples:
            places = wanted.get(triple.predicate)
            if places is None:
                continue
            object_ = triple.object
            object_ = shared.setdefault(object_, object_)
            for place, constant in places:
                if constant is None or constant == object_:
                    found.append((triple.subject, place, object_))
        if len(shared) > _MOST_SHARED:
            shared.clear()
        return found

    def _rows(self, subject: Term, entry: Entry) -> Iterable[Row]:
        if None in entry:
            return ()
        if Several not in map(type, entry):
            if self._equal and not self._agrees(entry):
                return ()
            return (self._pick((*entry, subject)),)
        sides = [each if isinstance(each, Several) else (each,) for each in entry]
        return [
            self._pick((*chosen, subject)) for chosen in product(*sides) if self._agrees(chosen)
        ]

    def _agrees(self, entry: Sequence[Term | None]) -> bool:
        return all(entry[one] == entry[other] for one, other in self._equal)


def _with(entry: Entry, place: int, object_: Term) -> Entry:
    had = entry[place]
    value: Term | Several = object_
    if isinstance(had, Several):
        value = Several((*had, object_))
    elif had is not None:
        value = Several((had, object_))
    return (*entry[:place], value, *entry[place + 1 :])


def _without(entry: Entry, place: int, object_: Term) -> Entry:
    had = entry[place]
    value: Term | Several | None = None
    if isinstance(had, Several):
        left = [each for each in had if each != object_]
        value = left[0] if len(left) == 1 else Several(left)
    return (*entry[:place], value, *entry[place + 1 :])


def picker(places: Sequence[int]) -> Callable[[Sequence[Term | None]], Row]:
    """Reads what stands in these places."""
    match places:
        case []:
            return lambda _: ()
        case [place]:
            return lambda row: (row[place],)
        case _:
            return itemgetter(*places)
