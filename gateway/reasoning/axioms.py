"""`Ontology`: the axioms among the quads of the ontology graph, kept while that graph changes.

Each axiom has a root, the quad that states it, and what its class expressions and lists say. A
change reads only those roots again that it touches. What is not used is counted by kind; what is
broken is refused whole. Source: OWL 2 Mapping to RDF Graphs (2012), section 3.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern

from pyoxigraph import NamedNode, Quad

from gateway.errors import OntologyError
from gateway.rdf.namespaces import OWL, RDF, RDFS
from gateway.rdf.terms import Term
from gateway.reasoning.expressions import DESCRIBING, Node, Reading, vocabulary_refused
from gateway.reasoning.kinds import (
    NOTHING,
    THING,
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

__all__ = [
    "And",
    "Axiom",
    "Axioms",
    "Chain",
    "Conclusion",
    "Disjoint",
    "DomainOf",
    "Expression",
    "HasValue",
    "Inverse",
    "Only",
    "Ontology",
    "Or",
    "RangeOf",
    "Some",
    "SubClass",
    "SubProperty",
    "Symmetric",
    "Transitive",
    "read_axioms",
]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TYPE = RDF + "type"
_SCALAR: dict[str, type[Symmetric | Transitive]] = {
    OWL + "SymmetricProperty": Symmetric,
    OWL + "TransitiveProperty": Transitive,
}
_SYNTAX = frozenset({RDF + "first", RDF + "rest", OWL + "onProperty", *DESCRIBING})
"""What only says how axioms are written; read with its root."""

_DECLARATIONS = frozenset(
    {
        *(OWL + name for name in ("Class", "Restriction", "Ontology", "NamedIndividual")),
        *(OWL + name for name in ("ObjectProperty", "DatatypeProperty", "AnnotationProperty")),
        *(RDFS + name for name in ("Class", "Datatype")),
        RDF + "Property",
        RDF + "List",
    }
)
_PREFIXES = {
    OWL: "owl:",
    RDFS: "rdfs:",
    RDF: "rdf:",
    "http://www.w3.org/ns/shacl#": "sh:",
}


@dataclass(frozen=True, slots=True)
class Axioms:
    """What a graph says: the axioms in it, and how many quads of which kind are not used."""

    all: tuple[Axiom, ...] = ()
    unused: Counter[str] = field(default_factory=Counter[str])

    def __iter__(self) -> Iterator[Axiom]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)


def read_axioms(quads: Iterable[Quad]) -> Axioms:
    """The axioms among the quads, whichever graph they are in; linear.

    Raises OntologyError for a broken list, a restriction that is none, an IRI without scheme, and
    an axiom about the vocabulary of RDF, RDFS or OWL; it names the node.
    """
    ontology = Ontology()
    ontology.change(quads, ())
    return ontology.axioms


@dataclass(slots=True)
class _Root:
    axioms: tuple[Axiom, ...]
    unused: tuple[str, ...]
    nodes: tuple[Node, ...]


class Ontology:
    """The quads of the ontology graph and the axioms they state."""

    def __init__(self) -> None:
        self._said: dict[Node, dict[str, dict[Term, Quad]]] = {}
        self._roots: dict[Quad, _Root] = {}
        self._uses: dict[Node, set[Quad]] = {}
        self._stated: dict[Axiom, dict[Quad, Axiom]] = {}
        self._unused: Counter[str] = Counter()

    @property
    def axioms(self) -> Axioms:
        """All of them, each once with all quads that state it; linear in their number."""
        return Axioms(tuple(map(_merged, self._stated.values())), +self._unused)

    def __contains__(self, axiom: object) -> bool:
        return axiom in self._stated

    def stated(self, axiom: Axiom) -> Axiom | None:
        """The axiom with all quads that state it; None where nothing does."""
        found = self._stated.get(axiom)
        return None if found is None else _merged(found)

    def change(
        self, added: Iterable[Quad], removed: Iterable[Quad]
    ) -> tuple[list[Axiom], list[Axiom]]:
        """Take up a change of quads; the axioms that came, and those that went.

        Raises OntologyError and leaves everything as it was.
        """
        added, removed = tuple(dict.fromkeys(added)), tuple(removed)
        self._write(added, removed)
        every = (*added, *removed)
        touched = {quad for quad in every if quad.predicate.value in _RULES}
        for subject in {quad.subject for quad in every} if self._uses else ():
            touched |= self._uses.get(subject, set())
        try:
            fresh = {quad: self._read(quad) for quad in touched if self._has(quad)}
            _check_schemes(added)
        except OntologyError:
            self._write(removed, added)
            raise
        self._count(added, 1)
        self._count(removed, -1)
        return self._exchange(touched, fresh)

    def _count(self, quads: Iterable[Quad], sign: int) -> None:
        """Count what is no root of an axiom, as what it is not used for."""
        for quad in quads:
            if quad.predicate.value not in _RULES:
                for kind in _unused_kind(quad):
                    self._unused[kind] += sign

    def _write(self, added: Iterable[Quad], removed: Iterable[Quad]) -> None:
        for quad in removed:
            said = self._said[quad.subject]
            values = said[quad.predicate.value]
            del values[quad.object]
            if not values:
                del said[quad.predicate.value]
                if not said:
                    del self._said[quad.subject]
        for quad in added:
            said = self._said.setdefault(quad.subject, {})
            said.setdefault(intern(quad.predicate.value), {})[quad.object] = quad

    def _has(self, quad: Quad) -> bool:
        return quad.object in self._said.get(quad.subject, {}).get(quad.predicate.value, ())

    def _exchange(
        self, touched: Iterable[Quad], fresh: dict[Quad, _Root]
    ) -> tuple[list[Axiom], list[Axiom]]:
        before: dict[Axiom, bool] = {}
        for quad in touched:
            if (root := self._roots.pop(quad, None)) is not None:
                for axiom in root.axioms:
                    before.setdefault(axiom, True)
                    stated = self._stated[axiom]
                    del stated[quad]
                    if not stated:
                        del self._stated[axiom]
                self._account(quad, root, -1)
        for quad, root in fresh.items():
            if root.axioms or root.unused or root.nodes:
                self._roots[quad] = root
                for axiom in root.axioms:
                    before.setdefault(axiom, axiom in self._stated)
                    self._stated.setdefault(axiom, {})[quad] = axiom
                self._account(quad, root, 1)
        came = [axiom for axiom, was in before.items() if not was and axiom in self._stated]
        went = [axiom for axiom, was in before.items() if was and axiom not in self._stated]
        return came, went

    def _account(self, quad: Quad, root: _Root, sign: int) -> None:
        for kind in root.unused:
            self._unused[kind] += sign
        for node in root.nodes:
            if sign > 0:
                self._uses.setdefault(node, set()).add(quad)
            elif (uses := self._uses.get(node)) is not None:
                uses.discard(quad)
                if not uses:
                    del self._uses[node]

    def _read(self, quad: Quad) -> _Root:
        reading = Reading(self._said)
        found = tuple(_RULES[quad.predicate.value](reading, quad))
        return _Root(_with_quads(found, reading, quad), tuple(reading.unused), reading.nodes)


def _merged(stated: dict[Quad, Axiom]) -> Axiom:
    """The axiom with the quads of all that state it."""
    axioms = list(stated.values())
    if len(axioms) == 1:
        return axioms[0]
    quads = tuple(dict.fromkeys(quad for axiom in axioms for quad in axiom.quads))
    return _said_by(axioms[0], quads)


def _said_by(axiom: Axiom, quads: tuple[Quad, ...]) -> Axiom:
    match axiom:
        case SubClass(sub, sup):
            return SubClass(sub, sup, quads)
        case SubProperty(sub, sup):
            return SubProperty(sub, sup, quads)
        case Inverse(first, second):
            return Inverse(first, second, quads)
        case Symmetric(property_):
            return Symmetric(property_, quads)
        case DomainOf(property_, cls):
            return DomainOf(property_, cls, quads)
        case RangeOf(property_, cls):
            return RangeOf(property_, cls, quads)
        case Transitive(property_):
            return Transitive(property_, quads)
        case Chain(parts, sup):
            return Chain(parts, sup, quads)
        case Disjoint(first, second):
            return Disjoint(first, second, quads)


def _with_quads(axioms: Iterable[Axiom], reading: Reading, root: Quad) -> tuple[Axiom, ...]:
    quads = tuple(dict.fromkeys([root, *reading.quads]))
    return tuple(_said_by(axiom, quads) for axiom in dict.fromkeys(axioms))


def _check_schemes(quads: Iterable[Quad]) -> None:
    terms: set[Term] = set()
    for quad in quads:
        terms.update((quad.subject, quad.predicate, quad.object))
    for term in terms:
        if isinstance(term, NamedNode) and not _SCHEME.match(term.value):
            raise OntologyError(f"<{term.value}> is an IRI without scheme", "write it in full")


def _unused_kind(quad: Quad) -> tuple[str, ...]:
    name = quad.predicate.value
    if name != _TYPE or not isinstance(quad.object, NamedNode):
        return _kind_of(name)
    name = quad.object.value
    return () if name in _DECLARATIONS else _kind_of_type(name)


@lru_cache(maxsize=1024)
def _kind_of(predicate: str) -> tuple[str, ...]:
    """What a statement that is not used is counted as."""
    if predicate in _SYNTAX:
        return ()
    for namespace, prefix in _PREFIXES.items():
        if predicate.startswith(namespace) and prefix != "rdf:":
            return (prefix + predicate[len(namespace) :],)
    return ("other statement",)


@lru_cache(maxsize=1024)
def _kind_of_type(name: str) -> tuple[str, ...]:
    namespace = re.split(r"(?<=[#/])(?=[^#/]*$)", name)[0]
    known = namespace in _PREFIXES
    return (_PREFIXES[namespace] + name[len(namespace) :],) if known else ("other statement",)


# Each function below gives the axioms of a root of one predicate.


def _sub_class(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    yield from _inclusion(reading, quad.subject, quad.object)


def _equivalent_class(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    yield from _inclusion(reading, quad.subject, quad.object)
    yield from _inclusion(reading, quad.object, quad.subject)


def _inclusion(reading: Reading, sub: Term, sup: Term) -> Iterator[Axiom]:
    sub_node, sup_node = reading.node(sub), reading.node(sup)
    reading.check_class(sub_node)
    condition = reading.condition(sub_node)
    conclusions = reading.conclusions(sup_node)
    if condition == THING:
        raise vocabulary_refused(THING)
    if condition is not None and condition != NOTHING:
        for conclusion in conclusions:
            if condition != conclusion:
                yield SubClass(condition, conclusion)


def _definition(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    """A class that is described itself: by a list, or as a restriction with a name."""
    node, predicate = quad.subject, quad.predicate.value
    reading.described(node, predicate, quad.object)
    if not isinstance(node, NamedNode):
        return
    reading.check_class(node)
    condition = reading.as_condition(node, predicate, quad.object)
    if condition == THING:
        raise vocabulary_refused(THING)
    if condition is not None and condition not in (NOTHING, node):
        yield SubClass(condition, node)
    for conclusion in reading.as_conclusions(node, predicate, quad.object):
        if conclusion != node:
            yield SubClass(node, conclusion)


def _restriction(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    reading.check_restriction(quad.subject)
    yield from ()


def _sub_property(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    sub, sup = reading.property(quad.subject), reading.super_property(quad.object)
    if sub is not None and sup is not None and sub != sup:
        yield SubProperty(sub, sup)


def _equivalent_property(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    first, second = reading.property(quad.subject), reading.property(quad.object)
    if first is not None and second is not None and first != second:
        yield SubProperty(first, second)
        yield SubProperty(second, first)


def _inverse(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    first, second = reading.property(quad.subject), reading.property(quad.object)
    if first is not None and second is not None:
        yield Inverse(min(first, second, key=_iri), max(first, second, key=_iri))


def _domain(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    property_ = reading.property(quad.subject)
    conclusions = reading.conclusions(reading.node(quad.object))
    if property_ is not None:
        yield from (DomainOf(property_, each) for each in conclusions)


def _range(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    property_ = reading.property(quad.subject)
    conclusions = reading.conclusions(reading.node(quad.object))
    if property_ is not None:
        yield from (RangeOf(property_, each) for each in conclusions)


def _chain(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    sup = reading.property(quad.subject)
    parts = [reading.property(each) for each in reading.members(quad.object)]
    known = tuple(part for part in parts if part is not None)
    if sup is not None and len(known) == len(parts):
        yield Chain(known, sup)


def _disjoint(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    first, second = reading.node(quad.subject), reading.node(quad.object)
    reading.check_class(first)
    reading.check_class(second)
    if isinstance(first, NamedNode) and isinstance(second, NamedNode):
        yield Disjoint(min(first, second, key=_iri), max(first, second, key=_iri))
    else:
        reading.unused.append("owl:disjointWith of an anonymous class")


def _type(reading: Reading, quad: Quad) -> Iterator[Axiom]:
    kind = _SCALAR.get(getattr(quad.object, "value", ""))
    if kind is None:
        if quad.object == _RESTRICTION:
            reading.check_restriction(quad.subject)
        reading.unused += _unused_kind(quad)
    elif (property_ := reading.property(quad.subject)) is not None:
        yield kind(property_)


def _iri(node: NamedNode) -> str:
    return node.value


_RESTRICTION = NamedNode(OWL + "Restriction")

_RULES: dict[str, Callable[[Reading, Quad], Iterator[Axiom]]] = {
    RDFS + "subClassOf": _sub_class,
    OWL + "equivalentClass": _equivalent_class,
    **dict.fromkeys(DESCRIBING, _definition),
    OWL + "onProperty": _restriction,
    RDFS + "subPropertyOf": _sub_property,
    OWL + "equivalentProperty": _equivalent_property,
    OWL + "inverseOf": _inverse,
    RDFS + "domain": _domain,
    RDFS + "range": _range,
    OWL + "propertyChainAxiom": _chain,
    OWL + "disjointWith": _disjoint,
    _TYPE: _type,
}
