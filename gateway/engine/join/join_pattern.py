"""`JoinPattern`: a triple pattern of a join, and what its constants and names say of a quad.

Place: what `Conjunction` makes of a query, and what the BOOSTER and the counting of LUTT hits
look at. Slots are read of a whole `Run` at once.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from gateway.engine.lutt import Run
from gateway.rdf.terms import GraphName, Term

Slot = Term | str
"""A constant, or the name of a variable."""

Key = Hashable
"""The values of parameters, as `picker` gives them: none is (), one stands alone."""

Thing = TypeVar("Thing")


def put(slot: Slot, terms: Mapping[str, Term]) -> Slot:
    """What stands there with these variables bound."""
    return terms.get(slot, slot) if isinstance(slot, str) else slot


@dataclass(frozen=True, slots=True)
class JoinPattern:
    """A triple pattern in a graph; names are variables, hidden ones (blank nodes) included.

    A variable graph stands for the named graphs.
    """

    subject: Slot
    predicate: Slot
    object: Slot
    graph: GraphName | str

    @property
    def slots(self) -> tuple[Slot | GraphName, ...]:
        """Subject, predicate, object, graph."""
        return (self.subject, self.predicate, self.object, self.graph)

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables in it."""
        return frozenset(slot for slot in self.slots if isinstance(slot, str))

    def put(self, terms: Mapping[str, Term]) -> "JoinPattern":
        """The same with these variables bound."""
        graph = terms.get(self.graph, self.graph) if isinstance(self.graph, str) else self.graph
        subject, predicate, object_ = (
            put(slot, terms) for slot in (self.subject, self.predicate, self.object)
        )
        return JoinPattern(subject, predicate, object_, graph)  # type: ignore[arg-type]


ATTRIBUTES = ("subject", "predicate", "object", "graph_name")
"""Attributes of a quad, in the order of `JoinPattern.slots`."""


def by_predicate(
    patterns: Sequence[JoinPattern], things: Sequence[Thing]
) -> Mapping[Term | None, Sequence[Thing]]:
    """What belongs to each pattern, by the predicate of a quad that it may match; None is any."""
    found: dict[Term | None, list[Thing]] = {None: []}
    for pattern in patterns:
        if not isinstance(pattern.predicate, str):
            found[pattern.predicate] = []
    for pattern, thing in zip(patterns, things, strict=True):
        variable = isinstance(pattern.predicate, str)
        for predicate, its_things in found.items():
            if variable or predicate == pattern.predicate:
                its_things.append(thing)
    return found


def picker(places: Sequence[int]) -> Callable[[Sequence[Any]], Any]:
    """What stands in these places: of one the thing itself, of several a tuple."""
    return itemgetter(*places) if places else lambda _: ()


class RunTest:
    """Which quads of a run have the constants of a pattern, their predicate apart."""

    def __init__(self, pattern: JoinPattern) -> None:
        self._graph = None if isinstance(pattern.graph, str) else pattern.graph
        ends = {"subject": pattern.subject, "object": pattern.object}
        wanted = {name: slot for name, slot in ends.items() if not isinstance(slot, str)}
        self._keys = run_keys(tuple(wanted))
        terms = tuple(wanted.values())
        self._terms: Key = picker(range(len(terms)))(terms) if terms else None

    def of(self, run: Run) -> Run | None:
        """The run of these; None where there is none."""
        if self._graph is not None and self._graph != run.graph:
            return None
        if self._terms is None:
            return run
        both = zip(run.quads, self._keys(run), strict=True)
        quads = [quad for quad, terms in both if terms == self._terms]
        return run.some(quads) if quads else None


def attributes(pattern: JoinPattern, names: Sequence[str]) -> Sequence[str]:
    """Where in a quad of the pattern those of these variables stand that are in it, in order."""
    at = dict(zip(pattern.slots, ATTRIBUTES, strict=True))
    return [at[name] for name in names if name in at]


def run_keys(which: Sequence[str]) -> Callable[[Run], Iterable[Key]]:
    """What each quad of a run has as these attributes, as `picker` gives it."""
    match tuple(which):
        case ():
            return lambda run: repeat((), len(run.quads))
        case ("subject",):
            return lambda run: run.subjects
        case ("object",):
            return lambda run: run.objects
        case _:
            get = attrgetter(*which)
            return lambda run: map(get, run.quads)
