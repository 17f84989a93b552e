"""`Owners`: which element a triple goes with, where several elements have it.

A triple leaves a window with the last element that has it, its owner; whatever the range of the
window, it is the same one, since windows that end together are beginnings of one sequence. So the
owner is found once for all of them, when an element enters, and what leaves with it needs no
look-up.
"""

from collections.abc import Iterable

from pyoxigraph import Triple

from gateway.windows.element import Element


class Record:
    """An element in its place; `own`: triples that go with it, None while it waits or is gone."""

    __slots__ = ("element", "order", "own", "time", "weight")

    def __init__(self, element: Element, time: int, order: int, weight: int) -> None:
        self.element = element
        self.time = time
        self.order = order
        self.weight = weight
        self.own: tuple[Triple, ...] | None = None

    @property
    def key(self) -> tuple[int, int]:
        """The place: by time, of equal times by arrival."""
        return self.time, self.order


class Owners:
    """The owners of all triples of the elements that have entered."""

    def __init__(self) -> None:
        self._owners: dict[Triple, Record] = {}
        self._repeated: dict[Triple, int] = {}

    def get(self, triple: Triple) -> Record | None:
        """The owner of a triple."""
        return self._owners.get(triple)

    def enter(self, record: Record) -> tuple[tuple[Triple, ...], list[tuple[Triple, Record]]]:
        """Let an element in: its triples that nobody had, and those that others owned, by whom."""
        owners = self._owners
        triples = record.element.triples
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

    def leave(self, record: Record) -> None:
        """Let go an element that no newer one has to make way for."""
        own = record.own
        if own is None:
            return
        owners = self._owners
        for triple in own:
            del owners[triple]
        if len(own) < len(record.element.triples):
            self._forget(set(record.element.triples).difference(own))
        record.own = None

    def remove(
        self, record: Record, entered: Iterable[Record]
    ) -> list[tuple[Triple, Record | None]]:
        """Take an element out; who owns each of its own triples now, None: nobody has it.

        `entered` are all, the newest first; looked through only for triples that others have.
        """
        own = record.own
        if own is None:
            return []
        self._forget(set(record.element.triples).difference(own))
        record.own = None
        orphans = {triple for triple in own if triple in self._repeated}
        heirs: list[tuple[Triple, Record | None]] = []
        for triple in own:
            if triple not in orphans:
                del self._owners[triple]
                heirs.append((triple, None))
        heirs += self._inherit(orphans, entered)
        return heirs

    def _share(self, record: Record, found: list[tuple[Triple, Record]]) -> tuple[Triple, ...]:
        """Settle who owns what another one owned; the triples that nobody had."""
        lost: dict[Record, set[Triple]] = {}
        for triple, owner in found:
            self._repeated[triple] = self._repeated.get(triple, 0) + 1
            is_newer = record.key > owner.key
            lost.setdefault(owner if is_newer else record, set()).add(triple)
            if is_newer:
                self._owners[triple] = record
        known = {triple for triple, _ in found}
        fresh = tuple([triple for triple in record.own or () if triple not in known])
        for loser, triples in lost.items():
            loser.own = tuple([each for each in loser.own or () if each not in triples])
        return fresh

    def _inherit(
        self, orphans: set[Triple], entered: Iterable[Record]
    ) -> Iterable[tuple[Triple, Record]]:
        for record in entered:
            if not orphans:
                return
            if record.own is None:
                continue
            inherited = orphans.intersection(record.element.triples)
            if inherited:
                self._forget(inherited)
                orphans -= inherited
                record.own = (*record.own, *inherited)
                for triple in inherited:
                    self._owners[triple] = record
                    yield triple, record

    def _forget(self, triples: Iterable[Triple]) -> None:
        """One element less has each of these beside its owner."""
        repeated = self._repeated
        for triple in triples:
            times = repeated[triple]
            if times > 1:
                repeated[triple] = times - 1
            else:
                del repeated[triple]
