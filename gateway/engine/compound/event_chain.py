"""`EventChain`: the join of an event in which each pattern has one triple to try at most.

    event -> the one triple of each predicate, by the event's layout -> the one solution, or none

Place: before the joins of `event_join` and the store, which answer what is more than that. Most
events say each thing once, so this is what most of them cost. Those of a device say the same things
in the same order, so where they stand in an event is looked for once.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

from pyoxigraph import DefaultGraph

from gateway.engine.compound.event import REPEATED, CompoundEvent, Layout
from gateway.engine.join.join_pattern import JoinPattern
from gateway.rdf.terms import GraphName, Term

_CONSTANT = -1
_MISSING = -2

Found = Sequence[Term | None]
"""The terms of the variables, in the order of `names`."""


class _Step(NamedTuple):
    """A pattern: its predicate; of each end the variable's place, -1 for none, and the constant."""

    predicate: Term
    subject: int
    subject_term: Term | None
    object: int
    object_term: Term | None


class EventChain:
    """Patterns with constant predicates, in the order in which they are tried.

    `names` are their variables, in the order of a solution.
    """

    def __init__(
        self, steps: Sequence[_Step], graphs: Sequence[GraphName | int], names: Sequence[str]
    ) -> None:
        self.names = tuple(names)
        self._steps = tuple(steps)
        self._graphs = tuple(each for each in graphs if not isinstance(each, DefaultGraph))
        self._nothing = (None,) * len(names)
        self._layout: Layout = ()
        self._places: Sequence[int] | bool = False

    @classmethod
    def of(cls, patterns: Sequence[JoinPattern]) -> Self | None:
        """Such of a join; None where a predicate is a variable, or there is nothing to join."""
        places: dict[str, int] = {}
        steps = []
        for each in patterns:
            if isinstance(each.predicate, str):
                return None
            ends = (*_end(each.subject, places), *_end(each.object, places))
            steps.append(_Step(each.predicate, *ends))
        graphs = dict.fromkeys(each.graph for each in patterns)
        slots = [_place(each, places) if isinstance(each, str) else each for each in graphs]
        return cls(steps, slots, tuple(places)) if steps else None

    def solution(self, event: CompoundEvent) -> Found | bool:
        """The one solution; False where there is none, True where others have to look for it."""
        layout = event.layout
        is_known = layout is self._layout or layout == self._layout
        places = self._places if is_known else self._laid_out(event)
        if isinstance(places, bool):
            return places
        known: list[Term | None] = [*self._nothing]
        if self._graphs and not self._is_in(event, known):
            return False
        triples = event.triples
        for place, (_, subject, subject_term, object_, object_term) in zip(
            places, self._steps, strict=True
        ):
            triple = triples[place]
            term: Term = triple.subject
            before = known[subject] if subject >= 0 else subject_term
            if before is None:
                known[subject] = term
            elif before != term:
                return False
            term = triple.object
            before = known[object_] if object_ >= 0 else object_term
            if before is None:
                known[object_] = term
            elif before != term:
                return False
        return known

    def _laid_out(self, event: CompoundEvent) -> Sequence[int] | bool:
        """The places of the triples that the steps are about, kept for the next such event.

        False where a predicate is missing, True where one is there more than once.
        """
        known = event.places
        places = [known.get(step.predicate, _MISSING) for step in self._steps]
        found: Sequence[int] | bool = places
        if _MISSING in places:
            found = False
        elif REPEATED in places:
            found = True
        if event.is_short:
            self._layout, self._places = event.layout, found
        return found

    def _is_in(self, event: CompoundEvent, known: list[Term | None]) -> bool:
        """Whether the graphs of the patterns may be that of the event; binds their variables."""
        for slot in self._graphs:
            if isinstance(slot, int):
                known[slot] = event.term
            elif slot != event.term:
                return False
        return True


def _place(name: str, places: dict[str, int]) -> int:
    """That of a variable among all."""
    return places.setdefault(name, len(places))


def _end(slot: Term | str, places: dict[str, int]) -> tuple[int, Term | None]:
    return (_place(slot, places), None) if isinstance(slot, str) else (_CONSTANT, slot)
