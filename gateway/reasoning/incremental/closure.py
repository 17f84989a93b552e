"""`Closure`: what follows from the asserted quads of one domain, kept exact while they change.

A step first withdraws what rested on what went: facts that have no firm support left, types that
counts of facts do not give any more. Then it derives again what still stands, and last it derives
from what came. Types of an individual are a mask, computed anew from its counts; facts are counted
by what supports them. Where a rule can support its own premises, its support is not firm: it is
withdrawn at the first loss and derived again. Source: Hu, Motik and Horrocks, "Optimised
Maintenance of Datalog Materialisations" (AAAI 2018); gateway/reasoning/incremental/program.py
has the rules.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

from pyoxigraph import Quad

from gateway.reasoning.incremental.adoption import exchange
from gateway.reasoning.incremental.assertions import Assertions
from gateway.reasoning.incremental.facts import (
    ASSERTED,
    DERIVED,
    GIVEN,
    NOT_THERE,
    Individual,
)
from gateway.reasoning.incremental.program import TYPE, Program
from gateway.reasoning.incremental.propagation import BoundPassedError

_CHUNK = 1024
"""Quads that are loaded before the bound is looked at."""

_MOST_WAITING = 100_000
"""Conclusions that wait while quads are loaded."""


class Changes:
    """What a step changes among derived quads and among individuals' types.

    They `are_mixed` where a quad was asserted and is derived now, or the other way round.
    """

    __slots__ = ("added", "are_mixed", "removed", "retyped")

    def __init__(self) -> None:
        self.are_mixed = False
        self.added: list[Quad] = []
        self.removed: list[Quad] = []
        self.retyped: list[tuple[Individual, int]] = []


class Closure(Assertions):
    """The derived quads of a domain, which go into the graph `into`.

    `size` is their number. The quads that it is given are of `program.tables`, or say a class of
    `program.classes`.
    """

    def step(self, removed: Sequence[Quad], added: Sequence[Quad], limit: float) -> Changes:
        """Take up a net change of asserted quads; what changes among derived ones.

        Raises BoundPassedError where more than `limit` would be derived; nothing has changed then.
        """
        self.limit = limit
        try:
            if removed:
                self._withdraw(removed)
            if added:
                self.take_all_up(added)
            if self.dirty or self.coming or self.size > limit:
                self.strengthen()
        except BoundPassedError:
            self._take_back(removed, added)
            raise
        return self._changes()

    def adopt(
        self, program: Program, old: Sequence[Quad], new: Sequence[Quad], limit: float
    ) -> Changes:
        """Reason by another program; what changes among derived quads.

        `old` and `new` are the asserted quads of tables and classes that differ, as the program
        until now reads them and as the other does. Linear in those, and in the individuals. Raises
        BoundPassedError, and nothing has changed.
        """
        self.limit = limit
        before = self.program
        try:
            exchange(self, program, old, new)
        except BoundPassedError:
            self._suspend_coming()
            exchange(self, before, new, old)
            self._changes()
            raise
        return self._changes()

    def load(self, quads: Iterable[Quad], limit: float) -> None:
        """Take up quads with no word of what follows; `settle` comes before anything else.

        Raises BoundPassedError; the closure is of no use then.
        """
        self.limit = limit
        waiting = iter(quads)
        while some := tuple(islice(waiting, _CHUNK)):
            self.take_all_up(some)
            self._settle_some()

    def _settle_some(self) -> None:
        if self.size > self.limit or len(self.coming) > _MOST_WAITING:
            self.strengthen()
        self.was.clear()
        self.facts_were.clear()

    def settle(self, limit: float) -> None:
        """Derive what follows from what was loaded. Raises BoundPassedError as `load` does."""
        self.limit = limit
        self.strengthen()
        self.was.clear()
        self.facts_were.clear()
        self._forget_idle()

    def _withdraw(self, removed: Sequence[Quad]) -> None:
        self.retract_all(removed)
        self.weaken()
        if self.left or self.gone or self.weakened:
            self.derive_again()

    def _suspend_coming(self) -> None:
        """Leave what goes on: what waits is looked at again once something is taken back."""
        self.limit = float("inf")
        self.gone += self.coming
        self.coming.clear()
        self.weakened |= self.dirty
        self.dirty.clear()

    def _take_back(self, removed: Sequence[Quad], added: Sequence[Quad]) -> None:
        """Undo a change that passed the bound while it strengthened."""
        self._suspend_coming()
        self._withdraw(added)
        self.take_all_up(removed)
        self.strengthen()
        self._changes()

    def members(self, mask: int) -> Iterable[Individual]:
        """The individuals of a class, given as a mask; linear in all of them at the first call."""
        found = self._members.get(mask)
        if found is None:
            every = self.individuals.values()
            found = self._members[mask] = {each: None for each in every if each.types & mask}
        return found

    # What has changed.

    def _changes(self) -> Changes:
        changes = Changes()
        if self.was:
            self._retyped(changes)
        if self.facts_were:
            self._related(changes)
        if self.idle:
            self._forget_idle()
        return changes

    def _related(self, changes: Changes) -> None:
        quad = self.quad
        for (relation, subject, object_), was in self.facts_were.items():
            row = relation.out.get(subject)
            support = 0 if row is None else row.get(object_, 0)
            now = NOT_THERE if support <= 0 else GIVEN if support & ASSERTED else DERIVED
            if now == was or DERIVED not in (now, was):
                continue
            made = quad(subject.term, relation.name, object_.term)
            (changes.added if now == DERIVED else changes.removed).append(made)
            changes.are_mixed |= GIVEN in (now, was)
        self.facts_were.clear()

    def _retyped(self, changes: Changes) -> None:
        quad, shown, names = self.quad, self.shown, self.program.names
        for individual, (types, asserted) in self.was.items():
            types_now, asserted_now = individual.types, individual.asserted
            was = types & ~asserted & shown
            now = types_now & ~asserted_now & shown
            if was != now:
                if was & asserted_now or now & asserted:
                    changes.are_mixed = True
                term = individual.term
                if gained := now & ~was:
                    changes.added += [quad(term, TYPE, name) for name in names(gained)]
                if lost := was & ~now:
                    changes.removed += [quad(term, TYPE, name) for name in names(lost)]
            if types != types_now:
                changes.retyped.append((individual, types))
                if self._members:
                    self._regroup(individual, types)
        self.was.clear()

    def _regroup(self, individual: Individual, types: int) -> None:
        for mask, members in self._members.items():
            if (types ^ individual.types) & mask:
                if types & mask:
                    members.pop(individual)
                else:
                    members[individual] = None

    def _forget_idle(self) -> None:
        for individual in self.idle:
            if individual.is_idle:
                self.individuals.pop(individual.term, None)
        self.idle.clear()
