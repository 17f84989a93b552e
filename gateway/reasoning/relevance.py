"""`Relevance`: which asserted quads can change what somebody looks at, by way of all axioms.

    patterns that are looked at -> the axioms that conclude them -> their premises, and so on back

Place: beside the readings that wait to be derived from (gateway/reasoning/postponed.py). Who has
subscribed to what a room's sensors are needs no conclusion from each reading. The classes and
properties found are closed: whatever is concluded of one of them has all its premises among them.
So from these quads alone all that follows of those patterns follows, and nothing else does. Who
looks at one sensor needs no conclusion from the readings of others: the ends that a pattern names
go back along properties that hold with one another, straight or swapped, and no further.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

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
    """What a pattern looks at, its graph apart: a predicate, and of types the class.

    None is any of them. Of a property it may be about one `subject`, `object` or both.
    """

    predicate: Term | None
    cls: Term | None = None
    subject: Term | None = None
    object: Term | None = None

    @classmethod
    def of(cls, subject: Term | None, predicate: Term | None, object_: Term | None) -> "Topic":
        """The topic of a pattern."""
        if predicate is None or predicate == _TYPE:
            return cls(predicate, object_ if predicate == _TYPE else None)
        return cls(predicate, None, subject, object_)

    @property
    def whole(self) -> "Topic":
        """The same of whatever ends."""
        return Topic(self.predicate, self.cls)


@dataclass(frozen=True, slots=True)
class Ends:
    """The facts of a property that matter: those of a subject, of an object, of a pair."""

    subjects: frozenset[Term] = frozenset()
    objects: frozenset[Term] = frozenset()
    pairs: frozenset[tuple[Term, Term]] = frozenset()

    def cover(self, subject: Term | None, object_: Term | None) -> bool:
        """Whether all facts with these ends matter; None is any."""
        if subject in self.subjects or object_ in self.objects:
            return True
        return bool(self.pairs) and (subject, object_) in self.pairs


@dataclass(frozen=True, slots=True)
class Relevance:
    """The properties and classes whose quads matter; where it `is_all`, every quad does.

    Of properties that are `bounded`, the facts with these ends alone.
    """

    properties: frozenset[Term] = frozenset()
    classes: frozenset[Term] = frozenset()
    is_all: bool = False
    bounded: Mapping[Term, Ends] = field(default_factory=dict[Term, Ends])

    def covers(self, subject: Term | None, predicate: Term | None, object_: Term | None) -> bool:
        """Whether all that follows of such a pattern follows from what matters."""
        if self.is_all or predicate in self.properties:
            return True
        if predicate is None:
            return False
        if predicate == _TYPE:
            return object_ in self.classes
        ends = self.bounded.get(predicate)
        return ends is not None and ends.cover(subject, object_)


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
        waiting: list[_Wanted] = []
        for topic in topics:
            if topic.predicate is None or (topic.predicate == _TYPE and topic.cls is None):
                return Relevance(is_all=True)
            if topic.cls is not None:
                waiting.append((True, topic.cls, None, None))
            else:
                waiting.append((False, topic.predicate, topic.subject, topic.object))
                if topic.predicate == NOTHING:  # a contradiction
                    waiting.append((True, NOTHING, None, None))
        found: set[_Wanted] = set()
        while waiting:
            wanted = waiting.pop()
            is_class, term, *_ = wanted
            if wanted not in found and (is_class, term, None, None) not in found:
                found.add(wanted)
                for axiom in self._by_head.get((is_class, term), ()):
                    waiting += _premises_of(axiom, wanted)
        return _relevance(found)


_Wanted = tuple[bool, Term, Term | None, Term | None]
"""A class, or a property with the ends of the facts that are wanted, None is any."""


def _relevance(found: Iterable[_Wanted]) -> Relevance:
    whole: dict[bool, set[Term]] = {False: set(), True: set()}
    ends: dict[Term, list[tuple[Term | None, Term | None]]] = {}
    for is_class, term, subject, object_ in found:
        if subject is None and object_ is None:
            whole[is_class].add(term)
        else:
            ends.setdefault(term, []).append((subject, object_))
    bounded = {name: _ends(its) for name, its in ends.items() if name not in whole[False]}
    return Relevance(frozenset(whole[False]), frozenset(whole[True]), bounded=bounded)


def _ends(found: Iterable[tuple[Term | None, Term | None]]) -> Ends:
    subjects: set[Term] = set()
    objects: set[Term] = set()
    pairs: set[tuple[Term, Term]] = set()
    for subject, object_ in found:
        if subject is None:
            assert object_ is not None  # noqa: S101  (else it is not bounded)
            objects.add(object_)
        elif object_ is None:
            subjects.add(subject)
        else:
            pairs.add((subject, object_))
    return Ends(frozenset(subjects), frozenset(objects), frozenset(pairs))


def _premises_of(axiom: Axiom, wanted: _Wanted) -> Iterator[_Wanted]:
    """What an axiom needs for what is wanted of it; of one fact for another its ends are known."""
    _, term, subject, object_ = wanted
    match axiom:
        case SubProperty(name, _):
            yield False, name, subject, object_
        case Symmetric(name):
            yield False, name, object_, subject
        case Inverse(first, second):
            for one, other in ((first, second), (second, first)):
                if one == term:
                    yield False, other, object_, subject
        case _:
            for node in _premises(axiom):
                yield *node, None, None


def _concluded(axiom: Axiom) -> Iterator[Node]:
    """What an axiom concludes; a contradiction has the first class as its predicate."""
    if isinstance(axiom, Disjoint):
        yield False, axiom.first
    yield from heads(axiom)


def _premises(axiom: Axiom) -> Iterator[Node]:
    """The classes and properties that its premises are of, where their ends may be any."""
    match axiom:
        case SubClass(sub, sup):
            yield from _conditions(sub)
            yield from _ways(sup)
        case DomainOf(name, cls) | RangeOf(name, cls):
            yield False, name
            yield from _ways(cls)
        case Transitive(name):
            yield False, name
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
