"""`Relevance`: which asserted quads can change what somebody looks at, by way of all axioms.

    patterns that are looked at -> the axioms that conclude them -> their premises, and so on back

Place: beside the readings that wait to be derived from (gateway/reasoning/postponed.py). Who has
subscribed to what a room's sensors are needs no conclusion from each reading. The classes and
properties found are closed: whatever is concluded of one of them has all its premises among them.
So from these quads alone all that follows of those patterns follows, and nothing else does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode

from gateway.rdf.namespaces import RDF
from gateway.rdf.terms import Term
from gateway.reasoning.axioms import (
    And,
    Axiom,
    Chain,
    Conclusion,
    Disjoint,
    DomainOf,
    Expression,
    HasValue,
    Inverse,
    Only,
    Or,
    RangeOf,
    Some,
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
)
from gateway.reasoning.incremental.concluding import heads
from gateway.reasoning.kinds import NOTHING

_TYPE = NamedNode(RDF + "type")

Node = tuple[bool, Term]
"""A class (True), or a property."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a pattern looks at, its subject and graph apart: a predicate, and of types the class.

    None is any of them.
    """

    predicate: Term | None
    cls: Term | None = None

    @classmethod
    def of(cls, predicate: Term | None, object_: Term | None) -> "Topic":
        """The topic of a pattern with this predicate and object."""
        return cls(predicate, object_ if predicate == _TYPE else None)


@dataclass(frozen=True, slots=True)
class Relevance:
    """The properties and classes whose quads matter; where it `is_all`, every quad does."""

    properties: frozenset[Term] = frozenset()
    classes: frozenset[Term] = frozenset()
    is_all: bool = False

    def covers(self, predicate: Term | None, object_: Term | None) -> bool:
        """Whether all that follows of such a pattern follows from what matters."""
        if self.is_all:
            return True
        return predicate in self.properties or (predicate == _TYPE and object_ in self.classes)


NOTHING_MATTERS = Relevance()


class Premises:
    """The axioms by what they conclude; made in linear time."""

    def __init__(self, axioms: Iterable[Axiom]) -> None:
        self._by_head: dict[Node, list[Axiom]] = {}
        for axiom in axioms:
            for head in _concluded(axiom):
                self._by_head.setdefault(head, []).append(axiom)

    def relevance(self, topics: Iterable[Topic]) -> Relevance:
        """What matters to these; linear in the axioms that lead there."""
        waiting: list[Node] = []
        for topic in topics:
            if topic.predicate is None or (topic.predicate == _TYPE and topic.cls is None):
                return Relevance(is_all=True)
            if topic.cls is not None:
                waiting.append((True, topic.cls))
            else:
                waiting.append((False, topic.predicate))
                if topic.predicate == NOTHING:  # a contradiction
                    waiting.append((True, NOTHING))
        found: set[Node] = set()
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                for axiom in self._by_head.get(node, ()):
                    waiting += _premises(axiom)
        return Relevance(
            frozenset(term for is_class, term in found if not is_class),
            frozenset(term for is_class, term in found if is_class),
        )


def _concluded(axiom: Axiom) -> Iterator[Node]:
    """What an axiom concludes; a contradiction has the first class as its predicate."""
    if isinstance(axiom, Disjoint):
        yield False, axiom.first
    yield from heads(axiom)


def _premises(axiom: Axiom) -> Iterator[Node]:
    """The classes and properties that its premises are of."""
    match axiom:
        case SubClass(sub, sup):
            yield from _conditions(sub)
            yield from _ways(sup)
        case DomainOf(name, cls) | RangeOf(name, cls):
            yield False, name
            yield from _ways(cls)
        case SubProperty(name, _) | Symmetric(name) | Transitive(name):
            yield False, name
        case Inverse(first, second):
            yield from ((False, first), (False, second))
        case Chain(parts, _):
            yield from ((False, part) for part in parts)
        case Disjoint(first, second):
            yield from ((True, first), (True, second))


def _conditions(expression: Expression) -> Iterator[Node]:
    match expression:
        case Some(name, filler):
            yield False, name
            yield from _conditions(filler)
        case HasValue(name, _):
            yield False, name
        case And(parts) | Or(parts):
            for part in parts:
                yield from _conditions(part)
        case _:
            yield True, expression


def _ways(conclusion: Conclusion) -> Iterator[Node]:
    """The properties along which a conclusion is about others."""
    while isinstance(conclusion, Only):
        yield False, conclusion.property
        conclusion = conclusion.filler
