"""Joins of triple patterns within one event, which has a handful of triples: by trying them.

Place: the fast way of mode `event`, beside the store's evaluation of the whole text. Patterns that
share a variable with those before them, and have most constants, are tried first.
"""

from collections.abc import Iterator, Mapping, Sequence

from pyoxigraph import DefaultGraph

from gateway.engine.compound.event import CompoundEvent, GraphNode, Stated
from gateway.engine.join.join_pattern import JoinPattern, Slot
from gateway.rdf.terms import Term

_MOST_TRIALS = 20_000
"""Triples that are tried for one query and event: some 10 ms."""

Bindings = Mapping[str, Term]


class TooManyTrialsError(Exception):
    """An event and a query that are better left to the store."""


def in_order(patterns: Sequence[JoinPattern]) -> tuple[JoinPattern, ...]:
    """The patterns in the order in which they are tried."""
    left, known, found = list(patterns), set[str](), []
    while left:
        best = max(left, key=lambda each: (not known.isdisjoint(each.variables), _weight(each)))
        left.remove(best)
        known |= best.variables
        found.append(best)
    return tuple(found)


def _weight(pattern: JoinPattern) -> int:
    """How much the constants of a pattern say: subject and object more than predicate."""
    ends = (pattern.subject, pattern.object)
    constants = sum(not isinstance(end, str) for end in ends)
    return 2 * constants + (not isinstance(pattern.predicate, str))


def solutions(event: CompoundEvent, patterns: Sequence[JoinPattern]) -> Iterator[Bindings]:
    """The solutions of the patterns, each once. Raises TooManyTrialsError."""
    return _Trial(event).extended(patterns, 0, {})


class _Trial:
    """One query and event."""

    __slots__ = ("_event", "_left")

    def __init__(self, event: CompoundEvent) -> None:
        self._event = event
        self._left = _MOST_TRIALS

    def extended(
        self, patterns: Sequence[JoinPattern], at: int, known: dict[str, Term]
    ) -> Iterator[Bindings]:
        """What the patterns from this place on make of a partial solution."""
        if at == len(patterns):
            yield known
            return
        pattern = patterns[at]
        for triple in self._candidates(pattern.predicate, known):
            found = _unified(pattern, triple, self._event.term, known)
            if found is not None:
                yield from self.extended(patterns, at + 1, found)

    def _candidates(self, predicate: Slot, known: Bindings) -> Sequence[Stated]:
        term = known.get(predicate) if isinstance(predicate, str) else predicate
        event = self._event
        found = event.triples if term is None else event.by_predicate.get(term, ())
        self._left -= len(found)
        if self._left < 0:
            raise TooManyTrialsError
        return found


def _unified(
    pattern: JoinPattern, triple: Stated, graph: GraphNode, known: dict[str, Term]
) -> dict[str, Term] | None:
    """The partial solution with what a triple binds besides; None where they do not fit."""
    found = known
    ends = (
        (pattern.object, triple.object),
        (pattern.subject, triple.subject),
        (pattern.predicate, triple.predicate),
        (pattern.graph, graph),
    )
    for slot, term in ends:
        if not isinstance(slot, str):
            if slot != term and not isinstance(slot, DefaultGraph):
                return None
            continue
        bound = found.get(slot)
        if bound is None:
            if found is known:
                found = dict(known)
            found[slot] = term
        elif bound != term:
            return None
    return found
