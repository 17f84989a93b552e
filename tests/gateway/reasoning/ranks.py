"""In how many steps each triple of a domain follows at least: forwards, an axiom at a time.

Place: under the tests of proofs. Each round applies every axiom once to what the rounds before
gave, so a triple's rank is the depth of its shallowest proof.
"""

from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, NamedNode

from gateway.rdf.terms import Term
from gateway.reasoning.kinds import (
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
from tests.kit.reasoning.fixpoint.closure import NOTHING, THING, TYPE, Fact

Pairs = set[tuple[Term, Term]]


def ranks(axioms: Iterable[Axiom], asserted: Iterable[Fact]) -> dict[Fact, int]:
    """Each triple with its rank, 0 for the asserted ones."""
    axioms = tuple(axioms)
    found = dict.fromkeys(asserted, 0)
    for rank in range(1, 1000):
        facts = frozenset(found)
        new = {fact for axiom in axioms for fact in _concluded(axiom, facts)} - facts
        if not new:
            return found
        found.update(dict.fromkeys(new, rank))
    raise AssertionError("no end of conclusions")


def _concluded(axiom: Axiom, facts: frozenset[Fact]) -> Iterator[Fact]:
    """What an axiom gives at once."""
    match axiom:
        case SubClass(sub, sup):
            for node in _members(sub, facts):
                yield from _told(node, sup, facts)
        case DomainOf(prop, cls):
            for start, _ in _pairs(prop, facts):
                yield from _told(start, cls, facts)
        case RangeOf(prop, cls):
            for _, end in _pairs(prop, facts):
                yield from _told(end, cls, facts)
        case Disjoint():
            return
        case _:
            for prop, start, end in _related(axiom, facts):
                if isinstance(start, NamedNode | BlankNode):
                    yield start, prop, end


def _related(
    axiom: SubProperty | Inverse | Symmetric | Transitive | Chain, facts: frozenset[Fact]
) -> Iterator[tuple[NamedNode, Term, Term]]:
    match axiom:
        case SubProperty(sub, sup):
            yield from ((sup, start, end) for start, end in _pairs(sub, facts))
        case Inverse(first, second):
            yield from ((second, end, start) for start, end in _pairs(first, facts))
            yield from ((first, end, start) for start, end in _pairs(second, facts))
        case Symmetric(prop):
            yield from ((prop, end, start) for start, end in _pairs(prop, facts))
        case Transitive(prop):
            yield from ((prop, *ends) for ends in _joined((prop, prop), facts))
        case Chain(parts, sup):
            yield from ((sup, *ends) for ends in _joined(parts, facts))


def _pairs(prop: NamedNode, facts: frozenset[Fact]) -> Pairs:
    return {(start, end) for start, predicate, end in facts if predicate == prop}


def _joined(parts: tuple[NamedNode, ...], facts: frozenset[Fact]) -> Pairs:
    found = _pairs(parts[0], facts)
    for part in parts[1:]:
        found = {
            (start, end)
            for start, middle in found
            for other, end in _pairs(part, facts)
            if middle == other
        }
    return found


def _members(condition: Expression, facts: frozenset[Fact]) -> set[Term]:
    match condition:
        case Some(prop, filler):
            fillers = None if filler == THING else _members(filler, facts)
            pairs = _pairs(prop, facts)
            return {start for start, end in pairs if fillers is None or end in fillers}
        case HasValue(prop, value):
            return {start for start, end in _pairs(prop, facts) if end == value}
        case And(parts):
            return set.intersection(*(_members(part, facts) for part in parts))
        case Or(parts):
            return set.union(*(_members(part, facts) for part in parts))
        case _:
            return {start for start, end in _pairs(TYPE, facts) if end == condition}


def _told(node: Term, what: Conclusion, facts: frozenset[Fact]) -> Iterator[Fact]:
    if not isinstance(node, NamedNode | BlankNode):
        return
    match what:
        case Only(prop, filler):
            for start, end in _pairs(prop, facts):
                if start == node:
                    yield from _told(end, filler, facts)
        case HasValue(prop, value):
            yield node, prop, value
        case _ if what != NOTHING:
            yield node, TYPE, what
