"""`Conclusions`: the axioms by what they conclude, for a search back to premises.

Place: under gateway/reasoning/why.py. Made once a set of axioms; linear in their number.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode

from gateway.rdf.terms import Term
from gateway.reasoning.kinds import (
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
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
)


@dataclass(frozen=True, slots=True)
class Head:
    """An axiom that concludes of a node at the end of a path, which allValuesFrom goes along."""

    axiom: SubClass | DomainOf | RangeOf
    path: tuple[NamedNode, ...]


@dataclass(frozen=True, slots=True)
class Below:
    """A class or property that an axiom puts directly below another, both named."""

    sub: NamedNode
    sup: NamedNode
    axiom: Axiom


PropertyAxiom = SubProperty | Inverse | Symmetric | Transitive | Chain


class Conclusions:
    """Which axioms can conclude a class, a value, a property, or a place in a hierarchy."""

    def __init__(self, axioms: Iterable[Axiom]) -> None:
        self.of_class: dict[NamedNode, list[Head]] = defaultdict(list)
        self.of_value: dict[tuple[NamedNode, Term], list[Head]] = defaultdict(list)
        self.values: dict[NamedNode, list[Term]] = defaultdict(list)
        self.of_property: dict[NamedNode, list[PropertyAxiom]] = defaultdict(list)
        self.of_ends: dict[tuple[NamedNode, NamedNode], list[DomainOf | RangeOf]] = defaultdict(
            list
        )
        self.above: dict[NamedNode, list[Below]] = defaultdict(list)
        self.below: dict[NamedNode, list[Below]] = defaultdict(list)
        self.disjoint: dict[tuple[Term, Term], Disjoint] = {}
        for axiom in axioms:
            self._take(axiom)

    def _take(self, axiom: Axiom) -> None:
        match axiom:
            case SubClass(_, concluded) | DomainOf(_, concluded) | RangeOf(_, concluded):
                self._conclude(axiom, concluded, ())
                self._order(axiom)
            case Disjoint(first, second):
                self.disjoint[first, second] = axiom
            case _:
                for prop in concluded_properties(axiom):
                    self.of_property[prop].append(axiom)
                if isinstance(axiom, SubProperty):
                    self._place(Below(axiom.sub, axiom.sup, axiom))
                elif isinstance(axiom, Chain) and len(axiom.parts) == 1:
                    self._place(Below(axiom.parts[0], axiom.sup, axiom))

    def _order(self, axiom: SubClass | DomainOf | RangeOf) -> None:
        """Where an axiom over names puts them."""
        match axiom:
            case SubClass(sub, NamedNode() as sup):
                for part in named_parts(sub):
                    self._place(Below(part, sup, axiom))
            case DomainOf(prop, NamedNode() as cls) | RangeOf(prop, NamedNode() as cls):
                self.of_ends[prop, cls].append(axiom)

    def _place(self, place: Below) -> None:
        if place.sub == place.sup:
            return
        self.above[place.sub].append(place)
        self.below[place.sup].append(place)

    def _conclude(
        self, axiom: SubClass | DomainOf | RangeOf, what: Conclusion, path: tuple[NamedNode, ...]
    ) -> None:
        match what:
            case Only(prop, filler):
                self._conclude(axiom, filler, (*path, prop))
            case HasValue(prop, value):
                self.of_value[prop, value].append(Head(axiom, path))
                self.values[prop].append(value)
            case _:
                self.of_class[what].append(Head(axiom, path))


def named_parts(condition: Expression) -> Iterator[NamedNode]:
    """The named classes whose members all meet the condition by themselves."""
    match condition:
        case NamedNode():
            yield condition
        case Or(parts):
            for part in parts:
                yield from named_parts(part)


def concluded_properties(axiom: PropertyAxiom) -> frozenset[NamedNode]:
    """The properties that an axiom over properties concludes."""
    match axiom:
        case SubProperty(_, prop) | Chain(_, prop) | Symmetric(prop) | Transitive(prop):
            return frozenset({prop})
        case Inverse(first, second):
            return frozenset({first, second})
