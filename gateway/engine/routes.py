"""`Routes`: from a Delta to the units that it concerns, each with its ARTQ.

    Delta -> LUTT index -> units, and families of units -> of these, whom it concerns

Place: between the store and the units (`processing`). A LUTT is one pattern wide, so it lets what
concerns one member of a family through to all of them; the family looks further.
"""

import logging
from collections.abc import Collection, Hashable, Iterable, Mapping

from gateway.engine.incremental.family import Family, family_name
from gateway.engine.incremental.unit import IncrementalUnit
from gateway.engine.lutt import Artq, LuttIndex, Run, runs
from gateway.engine.spu import Unit
from gateway.rdf.delta import Delta
from gateway.store.readable import Source

log = logging.getLogger(__name__)

Queues = Mapping[Unit, Artq]


class Routes:
    """The LUTTs of all units; those of a family are partly its own."""

    def __init__(self, store: Source) -> None:
        self._store = store
        self._lutt: LuttIndex[Unit | Family] = LuttIndex()
        self._families: dict[Hashable, Family] = {}
        self._family_of: dict[Unit, Family] = {}

    def insert(self, unit: Unit) -> None:
        """Let a unit see the changes that its LUTT lets through, as far as they concern it."""
        name = family_name(unit)
        if name is None or not isinstance(unit, IncrementalUnit):
            for entry in unit.lutt:
                self._lutt.insert(entry, unit)
            return
        family = self._families.get(name)
        if family is None:
            family = self._families[name] = Family(self._store)
        self._join(family, unit)

    def _join(self, family: Family, unit: IncrementalUnit) -> None:
        is_first = not family.units
        for entry in family.join(unit):
            self._lutt.remove(entry, family)
            for other in family.units:
                if other is not unit:
                    self._lutt.insert(entry, other)
        for entry in unit.lutt:
            if entry not in family.common:
                self._lutt.insert(entry, unit)
            elif is_first:
                self._lutt.insert(entry, family)
        self._family_of[unit] = family

    def remove(self, unit: Unit) -> None:
        """The reverse of `insert`."""
        family = self._family_of.pop(unit, None)
        if family is None or not isinstance(unit, IncrementalUnit):
            for entry in unit.lutt:
                self._lutt.remove(entry, unit)
            return
        family.leave(unit)
        for entry in unit.lutt:
            if entry not in family.common:
                self._lutt.remove(entry, unit)
        if not family.units:
            del self._families[family_name(unit)]
            for entry in family.common:
                self._lutt.remove(entry, family)

    def alike(self, unit: Unit) -> int:
        """How many units its family has, with itself; 0 where it has none."""
        family = self._family_of.get(unit)
        return 0 if family is None else len(family.units)

    def runs(self, delta: Delta) -> list[Run]:
        """The quads of a Delta but for those with a predicate that nobody asks for."""
        return self._lutt.runs(delta)

    def match(
        self, delta: Delta, changed: Iterable[Run], always: Iterable[Unit]
    ) -> tuple[Queues, int]:
        """The units to be processed, `always` among them; to how many SPUs LUTTs let something."""
        alone: dict[Unit, Artq] = {}
        together: dict[Family, Artq] = {}
        for owner, artq in self._lutt.match(delta, changed).items():
            if isinstance(owner, Family):
                together[owner] = artq
            else:
                alone[owner] = artq
        for unit in always:
            alone.setdefault(unit, Artq())
        for unit, artq in alone.items():
            if unit in self._family_of:
                self._family_of[unit].note(artq)
        queues: dict[Unit, Artq] = {}
        hits = sum(len(family.units) for family in together)
        for family, artq in together.items():
            queues.update(dict.fromkeys(_concerned(family, artq), artq))
        for unit, artq in alone.items():
            shared = together.get(self._family_of[unit]) if unit in self._family_of else None
            if shared is not None:
                queues[unit] = _both(artq, shared)
                continue
            reached = unit.reach(artq)
            hits += reached
            if reached or not unit.members:
                queues[unit] = artq
        self._wake(queues)
        return queues, hits

    def _wake(self, units: Iterable[Unit]) -> None:
        if self._families:
            for unit in units:
                family = self._family_of.get(unit)
                if family is not None:
                    family.wake(unit)


def _concerned(family: Family, artq: Artq) -> Collection[Unit]:
    """Whom of a family a change may concern: all of it where it fails to tell."""
    try:
        return list(family.concerned(artq))
    except Exception:
        log.exception("family_failed")
        family.forget()
        return family.units


def _both(one: Artq, other: Artq) -> Artq:
    """What either lets through, each quad once."""
    added = dict.fromkeys((*one.added, *other.added))
    removed = dict.fromkeys((*one.removed, *other.removed))
    return Artq(runs(Delta(tuple(added), tuple(removed))))
