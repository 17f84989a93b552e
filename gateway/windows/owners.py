"""`Owners`: which element a triple goes with, where several elements may have it.

A triple leaves a window with the last element that has it, its owner; whatever the range of the
window, it is the same one, since windows that end together are beginnings of one sequence. So the
owner is found once for all of them, when an element enters, and what leaves with it needs no
look-up.
"""

from collections.abc import Iterable
from typing import Any

from pyoxigraph import Triple

from gateway.rdf.terms import Term
from gateway.windows.element import Element
from gateway.windows.parted import Parted, Predicates

_MOST_REMEMBERED = 10_000
"""Tuples of shared triples of which it is remembered what is looked at."""


class Record:
    """An element in its place; `own`: of its triples that others may have too, those that go with
    it, None while it waits or is gone. `said`: what somebody who follows elements makes of it.
    """

    __slots__ = ("element", "order", "own", "said", "time", "weight")

    def __init__(self, element: Element, time: int, order: int, weight: int) -> None:
        self.element = element
        self.time = time
        self.order = order
        self.weight = weight
        self.own: tuple[Triple, ...] | None = None
        self.said: Any = None

    @property
    def key(self) -> tuple[int, int]:
        """The place: by time, of equal times by arrival."""
        return self.time, self.order


class _Others:
    """The elements that have a triple beside its owner, as they lost it."""

    __slots__ = ("is_sorted", "records")

    def __init__(self) -> None:
        self.records: dict[Record, None] = {}
        self.is_sorted = True

    def add(self, record: Record) -> None:
        """One more."""
        records = self.records
        if records and self.is_sorted:
            last = next(reversed(records))
            self.is_sorted = last.time < record.time or last.key < record.key
        records[record] = None

    def newest(self) -> Record:
        """The last one in time; at no cost where they lost it in the order of their times."""
        if self.is_sorted:
            return next(reversed(self.records))
        return max(self.records, key=lambda record: record.key)


class Owners:
    """The owners of all triples of the elements that have entered.

    Without `is_kept` nobody asks which triples come and go, and no triple has an owner: an element
    that has entered has none of its `own`. Nor has one of which nobody looks at the predicate, of
    elements that know their triples apart; `heeded` are those that are looked at, None: all.
    """

    def __init__(self, *, is_kept: bool, heeded: Predicates | None = None) -> None:
        self.is_kept = is_kept
        self.heeded = heeded
        self._left_out: set[Term] = set()
        self._looked_at: dict[int, tuple[tuple[Triple, ...], tuple[Triple, ...]]] = {}
        self._owners: dict[Triple, Record] = {}
        self._others: dict[Triple, _Others] = {}

    def anew(self) -> "Owners":
        """The same of no elements."""
        return Owners(is_kept=self.is_kept, heeded=self.heeded)

    def heed(self, wanted: Predicates | None) -> bool:
        """Look at these at least; False: others have to be found, of all that has entered."""
        if wanted is None or self.heeded is None:
            return wanted is self.heeded
        if not self._left_out.isdisjoint(wanted):
            return False
        if not wanted <= self.heeded:
            self.heeded |= wanted
            self._looked_at.clear()
        return True

    def looked_at(self, element: Element) -> tuple[Triple, ...]:
        """The triples of an element that may have an owner beside it."""
        shared, heeded = element.shared, self.heeded
        if heeded is None or shared is element.triples:
            return shared
        known = self._looked_at.get(id(shared))
        if known is None:
            if len(self._looked_at) >= _MOST_REMEMBERED:
                self._looked_at.clear()
            left_out = {each.predicate for each in shared} - heeded
            self._left_out |= left_out
            found = tuple([t for t in shared if t.predicate in heeded]) if left_out else shared
            known = self._looked_at[id(shared)] = shared, found
        return known[1]

    def get(self, triple: Triple) -> Record | None:
        """The owner of a triple."""
        return self._owners.get(triple)

    def enter(self, record: Record) -> tuple[tuple[Triple, ...], list[tuple[Triple, Record]]]:
        """Let an element in: its triples that nobody had, and those that others owned, by whom."""
        if not self.is_kept:
            record.own = ()
            return (), []
        triples = self.looked_at(record.element)
        if not triples:
            record.own = ()
            return (), []
        owners = self._owners
        if type(record.element.triples) is not tuple:  # as of one before, mostly
            last = owners.get(triples[0])
            if last is not None and last.own is triples and last.key < record.key:
                return self._take_over(record, last, triples)
        size, setdefault = len(owners), owners.setdefault
        found = [
            (triple, owner)
            for triple in triples
            if (owner := setdefault(triple, record)) is not record
        ]
        known = dict(found) if found else {}
        if len(owners) - size + len(known) != len(triples):
            triples = tuple(dict.fromkeys(triples))
            found = list(known.items())
        record.own = triples
        return (self._share(record, found), found) if found else (triples, found)

    def _take_over(
        self, record: Record, last: Record, triples: tuple[Triple, ...]
    ) -> tuple[tuple[Triple, ...], list[tuple[Triple, Record]]]:
        """Let a newer element in that shares what the last one does, which owned all of it."""
        owners, others = self._owners, self._others
        record.own, last.own = triples, ()
        for triple in triples:
            owners[triple] = record
            found = others.get(triple)
            if found is None:
                found = others[triple] = _Others()
            found.add(last)
        return (), [(triple, last) for triple in triples]

    def leave(self, record: Record) -> None:
        """Let go an element that no newer one has to make way for."""
        own = record.own
        if own is None or not self.is_kept:
            record.own = None
            return
        owners = self._owners
        for triple in own:
            del owners[triple]
        shared = self.looked_at(record.element)
        if not own:
            self._forget(
                record, shared if isinstance(record.element.triples, Parted) else set(shared)
            )
        elif len(own) < len(shared):
            self._forget(record, set(shared).difference(own))
        record.own = None

    def remove(self, record: Record) -> list[tuple[Triple, Record | None]]:
        """Take an element out; who owns each of its own triples now, None: nobody has it."""
        own = record.own
        if own is None or not self.is_kept:
            record.own = None
            return []
        self._forget(record, set(self.looked_at(record.element)).difference(own))
        record.own = None
        heirs: list[tuple[Triple, Record | None]] = []
        for triple in own:
            others = self._others.get(triple)
            heir = None if others is None else others.newest()
            heirs.append((triple, heir))
            if heir is None:
                del self._owners[triple]
            else:
                self._forget(heir, (triple,))
                self._owners[triple] = heir
                heir.own = (*(heir.own or ()), triple)
        return heirs

    def _share(self, record: Record, found: list[tuple[Triple, Record]]) -> tuple[Triple, ...]:
        """Settle who owns what another one owned; the triples that nobody had."""
        own = record.own or ()
        lost: dict[Record, list[Triple]] = {}
        for triple, owner in found:
            is_newer = record.time > owner.time or record.key > owner.key
            loser = owner if is_newer else record
            lost.setdefault(loser, []).append(triple)
            others = self._others.get(triple)
            if others is None:
                others = self._others[triple] = _Others()
            others.add(loser)
            if is_newer:
                self._owners[triple] = record
        for loser, triples in lost.items():
            loser.own = _without(loser.own or (), triples)
        return _without(own, [triple for triple, _ in found])

    def _forget(self, record: Record, triples: Iterable[Triple]) -> None:
        """An element has these no longer beside their owners."""
        for triple in triples:
            others = self._others[triple]
            del others.records[record]
            if not others.records:
                del self._others[triple]


def _without(triples: tuple[Triple, ...], gone: list[Triple]) -> tuple[Triple, ...]:
    """All but these, which are among them."""
    if len(gone) == len(triples):
        return ()
    left = set(triples).difference(gone)
    return tuple([each for each in triples if each in left])
