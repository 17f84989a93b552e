"""`Routes`: from a Delta to the units that it concerns, each with its ARTQ.

    Delta -> LUTT index -> units, and families of units -> of these, whom it concerns

Place: between the store and the units (`processing`). A LUTT is one pattern wide, so it lets what
concerns one member of a family through to all of them; the family looks further.
"""

import logging
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateway.engine.incremental.family import Family, family_name
from gateway.engine.incremental.unit import IncrementalUnit
from gateway.engine.lutt import Artq, LuttEntry, LuttIndex, Run, runs
from gateway.engine.spu import Unit
from gateway.rdf.delta import Delta
from gateway.rdf.terms import Term
from gateway.store.readable import Source

log = logging.getLogger(__name__)

Queues = Mapping[Unit, Artq]


@dataclass(frozen=True, slots=True, eq=False)
class _Sleeper:
    """A unit whose answer stays as it is until something matches one of the entries."""

    unit: IncrementalUnit
    entries: tuple[LuttEntry, ...]


class Routes:
    """The LUTTs of all units; those of a family are partly its own.

    A unit that sleeps has none, but for what wakes it.
    """

    def __init__(self, store: Source) -> None:
        self._store = store
        self._lutt: LuttIndex[Unit | Family | _Sleeper] = LuttIndex()
        self._families: dict[Hashable, Family] = {}
        self._family_of: dict[Unit, Family] = {}
        self._sleepers: dict[Hashable, _Sleeper] = {}
        self._waking: Counter[Term | None] = Counter()

    def insert(self, unit: Unit) -> Sequence[Unit]:
        """Let a unit see the changes that its LUTT lets through, as far as they concern it.

        Which units see all of these from now on: one that is alone in its family may sleep, and
        wakes when `woken` says so, or when another joins it.
        """
        name = family_name(unit)
        if name is None or not isinstance(unit, IncrementalUnit):
            for entry in unit.lutt:
                self._lutt.insert(entry, unit)
            return [unit]
        alike = self._sleepers.get(name)
        entries = unit.unmet if alike is None and name not in self._families else ()
        if entries:
            self._sleep(name, _Sleeper(unit, entries))
            return []
        awake = [unit] if alike is None else [alike.unit, unit]
        for each in awake:
            self.awake(each)
        return awake

    def _sleep(self, name: Hashable, sleeper: _Sleeper) -> None:
        self._sleepers[name] = sleeper
        for entry in sleeper.entries:
            self._lutt.insert(entry, sleeper)
            self._waking[entry.predicate] += 1

    def woken(self, changed: Iterable[Run]) -> list[IncrementalUnit]:
        """The units that are to be `awake` now that this has changed."""
        waking = self._waking
        added = [run for run in changed if run.predicate in waking and run.is_added]
        found = self._lutt.match(Delta(), added) if added else ()
        return [each.unit for each in found if isinstance(each, _Sleeper)]

    def awake(self, unit: IncrementalUnit) -> None:
        """Let a unit of a family see all that its LUTT lets through, whether it slept or not."""
        name = family_name(unit)
        self._stir(name, unit)
        family = self._families.get(name)
        if family is None:
            family = self._families[name] = Family(self._store)
        self._join(family, unit)

    def _stir(self, name: Hashable, unit: Unit) -> bool:
        """Whether it slept; it does no longer."""
        if not self.sleeps(unit):
            return False
        sleeper = self._sleepers.pop(name)
        for entry in sleeper.entries:
            self._lutt.remove(entry, sleeper)
            self._waking[entry.predicate] -= 1
        self._waking += Counter()  # without those that nobody waits for
        return True

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
        if self._stir(family_name(unit), unit):
            return
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
        return int(self.sleeps(unit)) if family is None else len(family.units)

    def runs(self, delta: Delta) -> list[Run]:
        """The quads of a Delta but for those with a predicate that nobody asks for."""
        return self._lutt.runs(delta)

    def sleeps(self, unit: Unit) -> bool:
        """Whether it does."""
        sleeper = self._sleepers.get(family_name(unit))
        return sleeper is not None and sleeper.unit is unit

    def match(
        self, delta: Delta, changed: Iterable[Run], always: Iterable[Unit]
    ) -> tuple[Queues, int]:
        """The units to be processed, `always` among them; to how many SPUs LUTTs let something."""
        alone, together = self._owners(delta, changed)
        for unit in always:
            alone.setdefault(unit, Artq())
        family_of = self._family_of
        for unit in family_of.keys() & alone.keys() if family_of else ():
            family_of[unit].note(alone[unit])
        queues: dict[Unit, Artq] = {}
        hits = sum(len(family.units) for family in together)
        for family, artq in together.items():
            queues.update(dict.fromkeys(_concerned(family, artq), artq))
        for unit, artq in alone.items():
            shared = together.get(family_of[unit]) if together and unit in family_of else None
            if shared is not None:
                queues[unit] = _both(artq, shared)
                continue
            reached = unit.reach(artq)
            hits += reached
            if reached or not unit.members:
                queues[unit] = artq
        self._wake(queues)
        return queues, hits

    def _owners(
        self, delta: Delta, changed: Iterable[Run]
    ) -> tuple[dict[Unit, Artq], dict[Family, Artq]]:
        alone: dict[Unit, Artq] = {}
        together: dict[Family, Artq] = {}
        for owner, artq in self._lutt.match(delta, changed).items():
            if isinstance(owner, Family):
                together[owner] = artq
            elif not isinstance(owner, _Sleeper):  # nothing that could go is what it sleeps for
                alone[owner] = artq
        return alone, together

    def _wake(self, units: Queues) -> None:
        family_of = self._family_of
        for unit in family_of.keys() & units.keys() if family_of else ():
            family_of[unit].wake(unit)


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
