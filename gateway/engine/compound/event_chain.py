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
        for slot in self._graphs:
            if isinstance(slot, str):
                known[slot] = event.term
            elif slot != event.term:
                return False
        for predicate, subject, subject_term, object_, object_term in self._steps:
            found = by_predicate.get(predicate)
            if found is None:
                return False
            if len(found) > 1:
                return True
            triple = found[0]
            if not _binds(known, subject, subject_term, triple.subject):
                return False
            if not _binds(known, object_, object_term, triple.object):
                return False
        return known


def _binds(known: dict[str, Term], name: str, constant: Term | None, term: Term) -> bool:
    if not name:
        return constant == term
    before = known.get(name)
    if before is None:
        known[name] = term
        return True
    return before == term


def _end(slot: Term | str) -> tuple[str, Term | None]:
    return (slot, None) if isinstance(slot, str) else ("", slot)
