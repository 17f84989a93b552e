"""What follows from axioms about the named classes and properties themselves, in their own graph.

Place: under `Reasoner`, for the ontology graph alone: "which classes are sensors". Source: OWL 2
Profiles (2012), section 4.3, table 9: scm-sco, scm-eqc1, scm-spo, scm-eqp1, scm-dom1 and 2,
scm-rng1 and 2.
"""

from collections.abc import Iterable, Iterator, Mapping, Set

from pyoxigraph import NamedNode, Quad

from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, RDFS
from gateway.rdf.terms import GraphName, Term
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
from gateway.store.readable import Source

SUB_CLASS = NamedNode(RDFS + "subClassOf")
SUB_PROPERTY = NamedNode(RDFS + "subPropertyOf")
DOMAIN = NamedNode(RDFS + "domain")
RANGE = NamedNode(RDFS + "range")

SCHEMA_PREDICATES = (SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE)

_NOTHING: Mapping[NamedNode, tuple[NamedNode, ...]] = {}

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


def asserted_schema(store: Source, delta: Delta) -> set[Quad]:
    """What a store, which has the change not yet, will say of that; and other axioms that come."""
    found = set[Quad]()
    for predicate in SCHEMA_PREDICATES:
        found.update(store.match(None, predicate, None, ONTOLOGY_GRAPH))
    found.difference_update(delta.removed)
    found.update(quad for quad in delta.added if quad.graph_name == ONTOLOGY_GRAPH)
    return found


class SchemaQuads:
    """What follows and is not asserted, in the ontology graph.

    Kept as triples that share their terms, a third of what as many quads take; looked up seldom.
    `size` is their number.
    """

    def __init__(self) -> None:
        self._objects: dict[NamedNode, dict[NamedNode, tuple[NamedNode, ...]]] = {}
        self.size = 0

    def __len__(self) -> int:
        return self.size

    def __contains__(self, quad: Quad) -> bool:
        by_subject = self._objects.get(quad.predicate, _NOTHING)
        return quad.object in by_subject.get(quad.subject, ())  # type: ignore[arg-type]

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterator[Quad]:
        """The quads of a pattern; linear in all of them where the subject is not given."""
        if graph not in (None, ONTOLOGY_GRAPH):
            return
        for name, by_subject in self._objects.items():
            if predicate in (None, name):
                chosen = by_subject if subject is None else by_subject.keys() & {subject}
                for one in chosen:
                    for other in by_subject[one]:
                        if object_ in (None, other):
                            yield Quad(one, name, other, ONTOLOGY_GRAPH)

    def clear(self) -> list[Quad]:
        """Derive nothing; what was derived."""
        went = list(self.match(None, None, None, None))
        self._objects = {}
        self.size = 0
        return went

    def change(
        self, axioms: Iterable[Axiom], asserted: Set[Quad], most: int
    ) -> tuple[list[Quad], list[Quad]]:
        """Make it anew by these axioms; what came and went. Raises BoundPassedError."""
        triples = schema_closure(axioms, most + len(asserted))
        if triples is None:
            raise BoundPassedError
        triples -= {(quad.subject, quad.predicate, quad.object) for quad in asserted}
        if len(triples) > most:
            raise BoundPassedError
        before = self._triples()
        came = [Quad(*triple, ONTOLOGY_GRAPH) for triple in triples if triple not in before]
        went = [Quad(*triple, ONTOLOGY_GRAPH) for triple in before if triple not in triples]
        if came or went:
            self._keep(triples)
        return came, went

    def _triples(self) -> set[Triple]:
        return {
            (one, name, other)
            for name, by_subject in self._objects.items()
            for one, others in by_subject.items()
            for other in others
        }

    def _keep(self, triples: Set[Triple]) -> None:
        found: dict[NamedNode, dict[NamedNode, list[NamedNode]]] = {}
        for one, name, other in triples:
            found.setdefault(name, {}).setdefault(one, []).append(other)
        self._objects = {
            name: {one: tuple(others) for one, others in by_subject.items()}
            for name, by_subject in found.items()
        }
        self.size = len(triples)


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
