"""What follows from axioms about the named classes and properties themselves, in their own graph.

Place: under `Reasoner`, for the ontology graph alone: "which classes are sensors". Source: OWL 2
Profiles (2012), section 4.3, table 9: scm-sco, scm-eqc1, scm-spo, scm-eqp1, scm-dom1 and 2,
scm-rng1 and 2.
"""

from collections.abc import Iterable, Iterator, Set

from pyoxigraph import NamedNode, Quad

from gateway.rdf.namespaces import ONTOLOGY_GRAPH, RDFS
from gateway.reasoning.incremental.propagation import BoundPassedError
from gateway.reasoning.kinds import (
    NOTHING,
    Axiom,
    Chain,
    DomainOf,
    Expression,
    Or,
    RangeOf,
    SubClass,
    SubProperty,
)
from gateway.store.quad_index import QuadIndex

SUB_CLASS = NamedNode(RDFS + "subClassOf")
SUB_PROPERTY = NamedNode(RDFS + "subPropertyOf")
DOMAIN = NamedNode(RDFS + "domain")
RANGE = NamedNode(RDFS + "range")

SCHEMA_PREDICATES = (SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE)

Triple = tuple[NamedNode, NamedNode, NamedNode]
Above = dict[NamedNode, set[NamedNode]]


def schema_closure(axioms: Iterable[Axiom], most: int) -> set[Triple] | None:
    """All that holds among named classes and properties; None for more than `most`."""
    axioms = tuple(axioms)
    classes, properties = _above(_subclasses(axioms)), _above(_subproperties(axioms))
    below: Above = {}
    for one, ups in properties.items():
        for up in ups:
            below.setdefault(up, set()).add(one)
    found: set[Triple] = set()
    for predicate, above in ((SUB_CLASS, classes), (SUB_PROPERTY, properties)):
        for one, ups in above.items():
            found.update((one, predicate, up) for up in ups)
            if len(found) > most:
                return None
    for axiom in axioms:
        if isinstance(axiom, DomainOf | RangeOf):
            found.update(_ends(axiom, classes, below))
            if len(found) > most:
                return None
    return found


class SchemaQuads:
    """What follows and is not asserted, in the ontology graph."""

    def __init__(self) -> None:
        self.index = QuadIndex()

    def __len__(self) -> int:
        return len(self.index.quads)

    def clear(self) -> list[Quad]:
        """Derive nothing; what was derived."""
        went = list(self.index.quads)
        self.index = QuadIndex()
        return went

    def change(
        self, axioms: Iterable[Axiom], asserted: Set[Quad], most: int
    ) -> tuple[list[Quad], list[Quad]]:
        """Make it anew by these axioms; what came and went. Raises BoundPassedError."""
        triples = schema_closure(axioms, most + len(asserted))
        if triples is None:
            raise BoundPassedError
        now = {Quad(*triple, ONTOLOGY_GRAPH): None for triple in triples}
        now = {quad: None for quad in now if quad not in asserted}
        if len(now) > most:
            raise BoundPassedError
        came = [quad for quad in now if quad not in self.index.quads]
        went = [quad for quad in self.index.quads if quad not in now]
        for quad in went:
            self.index.discard(quad)
        self.index.add(came)
        return came, went


def _ends(axiom: DomainOf | RangeOf, classes: Above, below: Above) -> Iterator[Triple]:
    cls = axiom.cls
    if isinstance(cls, NamedNode) and cls != NOTHING:
        predicate = DOMAIN if isinstance(axiom, DomainOf) else RANGE
        for one in {axiom.property, *below.get(axiom.property, ())}:
            for top in {cls, *classes.get(cls, ())}:
                yield one, predicate, top


def _subclasses(axioms: Iterable[Axiom]) -> Iterator[tuple[NamedNode, NamedNode]]:
    for axiom in axioms:
        if isinstance(axiom, SubClass) and isinstance(axiom.sup, NamedNode):
            if axiom.sup == NOTHING:
                continue
            for name in _named(axiom.sub):
                if name != axiom.sup:
                    yield name, axiom.sup


def _named(condition: Expression) -> Iterator[NamedNode]:
    """The classes whose members all meet the condition by their name alone."""
    if isinstance(condition, NamedNode):
        if condition != NOTHING:
            yield condition
    elif isinstance(condition, Or):
        for part in condition.parts:
            yield from _named(part)


def _subproperties(axioms: Iterable[Axiom]) -> Iterator[tuple[NamedNode, NamedNode]]:
    for axiom in axioms:
        match axiom:
            case SubProperty(sub, sup) | Chain((sub,), sup) if sub != sup:
                yield sub, sup
            case _:
                pass


def _above(pairs: Iterable[tuple[NamedNode, NamedNode]]) -> Above:
    """What is above each, over any number of steps."""
    direct: Above = {}
    for one, up in pairs:
        direct.setdefault(one, set()).add(up)
    found: Above = {}
    for start, ups in direct.items():
        seen, waiting = set(ups), list(ups)
        while waiting:
            new = direct.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        found[start] = seen
    return found
