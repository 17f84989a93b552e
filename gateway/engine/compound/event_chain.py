"""`EventChain`: the join of an event in which each pattern has one triple to try at most.

    event -> the one triple of each predicate -> the one solution, or none

Place: before the joins of `event_join` and the store, which answer what is more than that. Most
events say each thing once, so this is what most of them cost.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from pyoxigraph import DefaultGraph

from gateway.engine.compound.event import CompoundEvent
from gateway.engine.join.join_pattern import JoinPattern
from gateway.rdf.terms import GraphName, Term

Bindings = Mapping[str, Term]


class _Step(NamedTuple):
    """A pattern: its predicate; of each end the variable, "" for none, and the constant."""

    predicate: Term
    subject: str
    subject_term: Term | None
    object: str
    object_term: Term | None


class EventChain:
    """Patterns with constant predicates, in the order in which they are tried."""

    def __init__(self, steps: Sequence[_Step], graphs: Sequence[GraphName | str]) -> None:
        self._steps = tuple(steps)
        self._graphs = tuple(each for each in graphs if not isinstance(each, DefaultGraph))

    @classmethod
    def of(cls, patterns: Sequence[JoinPattern]) -> Self | None:
        """Such of a join; None where a predicate is a variable, or there is nothing to join."""
        steps = []
        for each in patterns:
            if isinstance(each.predicate, str):
                return None
            ends = (*_end(each.subject), *_end(each.object))
            steps.append(_Step(each.predicate, *ends))
        graphs = tuple(dict.fromkeys(each.graph for each in patterns))
        return cls(steps, graphs) if steps else None

    def solution(self, event: CompoundEvent) -> Bindings | bool:
        """The one solution; False where there is none, True where others have to look for it."""
        by_predicate = event.by_predicate
        known: dict[str, Term] = {}
        if self._graphs and not self._is_in(event, known):
            return False
        for predicate, subject, subject_term, object_, object_term in self._steps:
            found = by_predicate.get(predicate)
            if found is None:
                return False
            if len(found) > 1:
                return True
            triple = found[0]
            term: Term = triple.subject
            before = known.get(subject) if subject else subject_term
            if before is None:
                known[subject] = term
            elif before != term:
                return False
            term = triple.object
            before = known.get(object_) if object_ else object_term
            if before is None:
                known[object_] = term
            elif before != term:
                return False
        return known

    def _is_in(self, event: CompoundEvent, known: dict[str, Term]) -> bool:
        """Whether the graphs of the patterns may be that of the event; binds their variables."""
        for slot in self._graphs:
            if isinstance(slot, str):
                known[slot] = event.term
            elif slot != event.term:
                return False
        return True


def _end(slot: Term | str) -> tuple[str, Term | None]:
    return (slot, None) if isinstance(slot, str) else ("", slot)
