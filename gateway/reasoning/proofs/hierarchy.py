"""`Hierarchy`: why a class or property is below another, or has a domain or range.

Place: under gateway/reasoning/why.py, for what follows in the ontology graph itself. Each step has
one premise at most, so the first proof that a breadth-first search meets is the shallowest.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode

from gateway.rdf.namespaces import RDFS
from gateway.reasoning.kinds import Axiom, DomainOf, SubClass
from gateway.reasoning.proofs.conclusions import Below, Conclusions
from gateway.reasoning.proofs.proof import Fact, Proof, View

SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE = (
    NamedNode(RDFS + name) for name in ("subClassOf", "subPropertyOf", "domain", "range")
)


@dataclass(frozen=True, slots=True)
class _Way:
    """A fact on the way from the conclusion, and the step that asks for it."""

    fact: Fact
    axiom: Axiom | None = None
    back: "_Way | None" = None


class Hierarchy:
    """Proofs of what is derived about the terms of the axioms."""

    def __init__(self, conclusions: Conclusions, view: View) -> None:
        self._rules = conclusions
        self._view = view

    def prove(self, fact: Fact) -> Proof | None:
        """The shallowest proof; None where there is none. Raises TooComplexError."""
        waiting, seen = deque([_Way(fact)]), {fact}
        while waiting:
            way = waiting.popleft()
            leaf = self._view.leaf(way.fact)
            if leaf is not None:
                return self._told(way, leaf)
            for axiom, premise in self._steps(way.fact):
                self._view.spend()
                if premise is None:
                    return self._told(way, self._view.conclude(way.fact, axiom, ()))
                if premise not in seen:
                    seen.add(premise)
                    waiting.append(_Way(premise, axiom, way))
        return None

    def _told(self, way: _Way, proof: Proof) -> Proof:
        while way.back is not None and way.axiom is not None:
            proof = self._view.conclude(way.back.fact, way.axiom, (proof,))
            way = way.back
        return proof

    def _steps(self, fact: Fact) -> Iterator[tuple[Axiom, Fact | None]]:
        """The axioms that conclude the fact, each with the premise that it wants."""
        subject, predicate, object_ = fact
        if not isinstance(subject, NamedNode) or not isinstance(object_, NamedNode):
            return
        if predicate in (DOMAIN, RANGE):
            for axiom in self._rules.of_ends.get((subject, object_), ()):
                if isinstance(axiom, DomainOf) == (predicate == DOMAIN):
                    yield axiom, None
            for place in self._edges(self._rules.above.get(subject, ()), of_classes=False):
                yield place.axiom, (place.sup, predicate, object_)
            for place in self._edges(self._rules.below.get(object_, ()), of_classes=True):
                yield place.axiom, (subject, predicate, place.sub)
        elif predicate in (SUB_CLASS, SUB_PROPERTY):
            of_classes = predicate == SUB_CLASS
            for place in self._edges(self._rules.above.get(subject, ()), of_classes=of_classes):
                end = None if place.sup == object_ else (place.sup, predicate, object_)
                yield place.axiom, end

    def _edges(self, places: Iterable[Below], *, of_classes: bool) -> Iterator[Below]:
        """A name may be of a class and of a property."""
        return (place for place in places if isinstance(place.axiom, SubClass) == of_classes)
