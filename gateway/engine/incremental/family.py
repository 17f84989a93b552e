"""`Family`: units of queries that differ in constants alone; which of them does a change concern?

Place: between the LUTT index and the units of this tier (`engine.routes`). The members' LUTTs have
most entries in common, those without the constants; so the index lets through to all of them what
concerns few (the value of every lamp, to a query for each road). For a change in these entries the
family finds the constants that its solutions have, once for all members, and the others are left
out: what they were told stays right.
"""

from collections.abc import Collection, Hashable, Iterable

from gateway.engine.incremental.skeleton import Constants, Route, constant_name
from gateway.engine.incremental.states import Findings, States, forget
from gateway.engine.incremental.unit import IncrementalUnit
from gateway.engine.join.members import Members
from gateway.engine.lutt import EVERYTHING, Artq, LuttEntry
from gateway.engine.spu import Spu, Unit
from gateway.rdf.terms import Term
from gateway.store.readable import Source

FEWEST_ROUTED = 4
"""Members from which on finding out who is concerned is cheaper than asking each."""


def family_name(unit: Unit) -> Hashable | None:
    """What the members of a family have in common; None for a unit that is in none.

    One whose answer rests on more than its solutions is in none.
    """
    if not isinstance(unit, IncrementalUnit) or unit.has_groups_within or EVERYTHING in unit.lutt:
        return None
    return unit.skeletons, len(unit.constants)


class Family:
    """Units with equal skeletons. `common` are the LUTT entries that all members have.

    Who is hit by another entry of its own LUTT is concerned anyway, and not asked for here.
    """

    def __init__(self, store: Source) -> None:
        self._store = store
        self._units: dict[Spu, IncrementalUnit] = {}
        self._constants: dict[Spu, Constants] = {}
        self._varying: tuple[int, ...] = ()
        self._members = Members(0)
        self._routes: tuple[Route, ...] = ()
        self._findings: Findings = {}
        self._time = 0
        self._changed: dict[Term, int] = {}
        self._up_to_date: dict[Spu, int] = {}
        self.common: dict[LuttEntry, None] = {}
        self.hits = 0

    @property
    def units(self) -> Collection[IncrementalUnit]:
        """The units of all members."""
        return self._units.values()

    def join(self, unit: IncrementalUnit) -> tuple[LuttEntry, ...]:
        """A further member; the entries that are no longer common, because it has not got them."""
        (spu,) = unit.members
        gone = tuple(each for each in self.common if each not in unit.lutt) if self._units else ()
        self.common = dict.fromkeys(unit.lutt if not self._units else self.common)
        for entry in gone:
            del self.common[entry]
        self._findings.clear()  # nobody told of changes that concern its constants alone
        self._units[spu] = unit
        self._constants[spu] = unit.constants
        self._up_to_date[spu] = self._time
        unit.enter(self)
        self._index(spu)
        return gone

    def leave(self, unit: IncrementalUnit) -> None:
        """The reverse of `join`; what has been common or varying stays so."""
        (spu,) = unit.members
        unit.leave()
        self._members.remove(spu)
        for index in (self._units, self._constants, self._up_to_date):
            del index[spu]

    def _index(self, spu: Spu) -> None:
        """Index by the constants in which members differ; those may be more than before."""
        first, own = next(iter(self._constants.values())), self._constants[spu]
        varying = tuple(
            place
            for place, (one, other) in enumerate(zip(first, own, strict=True))
            if one != other or place in self._varying
        )
        if varying == self._varying:
            self._members.add(spu, self._values(spu))
            return
        self._varying = varying
        self._members = Members(len(varying))
        for each in self._units:
            self._members.add(each, self._values(each))
        names = [constant_name(place) for place in varying]
        fixed = {
            constant_name(place): term for place, term in enumerate(own) if place not in varying
        }
        self._routes = tuple(
            Route(skeleton, names, fixed) for skeleton in self._units[spu].skeletons
        )

    def _values(self, spu: Spu) -> Constants:
        constants = self._constants[spu]
        return tuple(constants[place] for place in self._varying)

    def concerned(self, artq: Artq) -> Iterable[IncrementalUnit]:
        """Members whose solutions may have changed by this, but for those that are hit anyway."""
        self.hits += 1
        self._time += 1
        self._changed.update((run.predicate, self._time) for run in artq.runs)
        if not self._varying or len(self._units) < FEWEST_ROUTED:
            return self._units.values()
        return map(
            self._units.__getitem__, self._reached(States(self._store, artq, self._findings))
        )

    def _reached(self, states: States) -> Iterable[Spu]:
        reached: dict[Spu, None] = {}
        for route in self._routes:
            index = self._members.among(route.places)
            for keys in route.keys(states):
                if keys is None:
                    return self._units
                for key in keys & index.keys() if len(keys) > 1 else keys:
                    reached.update(index.get(key, ()))
        return reached

    def forget(self) -> None:
        """Find everything anew: something has failed half-way."""
        self._findings.clear()

    def note(self, artq: Artq) -> None:
        """Something else has changed, which hits a member's own entries."""
        forget(self._findings, frozenset(run.predicate for run in artq.runs))

    def wake(self, unit: Unit) -> None:
        """To be called before it is processed: what it was not shown may have made finds stale."""
        (spu,) = unit.members
        since = self._up_to_date[spu]
        if since < self._time:
            self._units[spu].forget({each for each, time in self._changed.items() if time > since})
            self._up_to_date[spu] = self._time
