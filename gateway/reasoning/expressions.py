"""`Reading`: class expressions, lists and properties behind the root of an axiom.

Place: below gateway/reasoning/axioms.py. What can only be a condition, or only a conclusion, is
left out of the other side and counted. Source: OWL 2 Mapping to RDF Graphs (2012), section 3.2.4.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from gateway.errors import OntologyError
from gateway.rdf.canonical import canonical
from gateway.rdf.namespaces import OWL, RDF, RDFS
from gateway.rdf.terms import Term
from gateway.reasoning.kinds import (
    NOTHING,
    THING,
    And,
    Conclusion,
    Expression,
    HasValue,
    Only,
    Or,
    Some,
)

Node = NamedNode | BlankNode | Triple
"""A subject, as pyoxigraph types it; no triple is one."""

Said = Mapping[Node, Mapping[str, Mapping[Term, Quad]]]
"""Quads by subject, predicate's IRI and object."""

_INTERSECTION, _UNION = OWL + "intersectionOf", OWL + "unionOf"
_SOME, _ONLY, _VALUE = OWL + "someValuesFrom", OWL + "allValuesFrom", OWL + "hasValue"
_ON = OWL + "onProperty"

DESCRIBING = (_INTERSECTION, _UNION, _SOME, _ONLY, _VALUE)
"""The predicates that say what a class is, each in its own way."""

_NIL = NamedNode(RDF + "nil")
_TOP = frozenset({OWL + "topObjectProperty", OWL + "topDataProperty"})
_ANNOTATIONS = frozenset(
    {
        *(RDFS + name for name in ("label", "comment", "seeAlso", "isDefinedBy", "member")),
        *(OWL + name for name in ("versionInfo", "priorVersion", "deprecated")),
        RDF + "value",
    }
)
_MOST_NODES = 1_000_000
"""Nodes that one axiom is read from; a list of classes may be long."""

_MOST_DEPTH = 32


class Reading:
    """What one axiom's root leads to; raises OntologyError, which names the node."""

    def __init__(self, said: Said) -> None:
        self.quads: list[Quad] = []
        self.unused: list[str] = []
        self._said = said
        self._seen: set[Node] = set()
        self._steps = 0
        self._path: list[Node] = []

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes whose quads were read: where they change, the axiom is another."""
        return tuple(self._seen)

    def node(self, term: Term) -> Node:
        """A class, which is no literal."""
        if isinstance(term, NamedNode | BlankNode):
            return term
        raise OntologyError(f"{term} stands where a class is wanted", "name a class")

    def check_class(self, node: Node) -> None:
        """Refuse to say something about classes of RDF, RDFS or OWL."""
        if isinstance(node, NamedNode) and node != NOTHING and _is_vocabulary(node):
            raise vocabulary_refused(node)

    def property(self, term: Term) -> NamedNode | None:
        """A property to say something of; None where it has no name."""
        if isinstance(term, NamedNode):
            if _is_vocabulary(term):
                raise vocabulary_refused(term)
            return term
        if isinstance(term, BlankNode):
            self.unused.append("anonymous property")
            return None
        raise OntologyError(f"{term} stands where a property is wanted", "name a property")

    def super_property(self, term: Term) -> NamedNode | None:
        """A property to conclude: an annotation of RDFS or OWL may be one."""
        name = term.value if isinstance(term, NamedNode) else ""
        if name in _TOP:
            self.unused.append("owl:" + name.removeprefix(OWL) + " as superproperty")
            return None
        if isinstance(term, NamedNode) and name in _ANNOTATIONS:
            return term
        return self.property(term)

    def condition(self, node: Node) -> Expression | None:
        """What is a member of the class; None where that is not reasoned on."""
        if isinstance(node, NamedNode):
            return node
        predicate = self._description(node)
        return None if predicate is None else self.as_condition(node, predicate)

    def conclusions(self, node: Node) -> list[Conclusion]:
        """What a member of the class is or has, as far as that is reasoned on."""
        if node == THING:
            self.unused.append("owl:Thing as superclass")
            return []
        if isinstance(node, NamedNode):
            return [node]
        predicate = self._description(node)
        return [] if predicate is None else self.as_conclusions(node, predicate)

    def as_condition(
        self, node: Node, predicate: str, value: Term | None = None
    ) -> Expression | None:
        """The description of the node by the predicate, as a condition; `value` is its object."""
        with self._within(node):
            value = self._only(node, predicate) if value is None else value
            if predicate in (_INTERSECTION, _UNION):
                return self._combined(value, is_union=predicate == _UNION)
            property_ = self._on_property(node)
            if predicate == _VALUE:
                return None if property_ is None else HasValue(property_, canonical(value))
            if predicate == _ONLY:
                self.unused.append("owl:allValuesFrom as subclass")
                self.node(value)
                return None
            filler = self.condition(self.node(value))
            return None if property_ is None or filler is None else Some(property_, filler)

    def _combined(self, members: Term, *, is_union: bool) -> Expression | None:
        classes = [self.node(each) for each in self.members(members)]
        parts = [self.condition(each) for each in classes]
        known = tuple(dict.fromkeys(part for part in parts if part is not None))
        if is_union:
            if THING in known:
                return THING
            return (known[0] if len(known) == 1 else Or(known)) if known else None
        if len(parts) != sum(part is not None for part in parts):
            return None
        real = tuple(part for part in known if part != THING)
        return (real[0] if len(real) == 1 else And(real)) if real else THING

    def as_conclusions(
        self, node: Node, predicate: str, value: Term | None = None
    ) -> list[Conclusion]:
        """The description of the node by the predicate, as conclusions; `value` is its object."""
        with self._within(node):
            value = self._only(node, predicate) if value is None else value
            if predicate == _INTERSECTION:
                members = [self.node(each) for each in self.members(value)]
                return [found for each in members for found in self.conclusions(each)]
            if predicate == _UNION:
                self.members(value)
                self.unused.append("owl:unionOf as superclass")
                return []
            property_ = self._on_property(node)
            if predicate == _SOME:
                self.node(value)
                self.unused.append("owl:someValuesFrom as superclass")
                return []
            if predicate == _VALUE:
                return [] if property_ is None else [HasValue(property_, canonical(value))]
            found = self.conclusions(self.node(value))
            return [] if property_ is None else [Only(property_, each) for each in found]

    def described(self, node: Node, predicate: str, value: Term) -> None:
        """Check what the predicate says of the node, be it used or not."""
        with self._within(node):
            if predicate in (_INTERSECTION, _UNION):
                for each in self.members(value):
                    self.node(each)
                return
            self._on_property(node)
            if predicate != _VALUE:
                self.node(value)

    def check_restriction(self, node: Node) -> None:
        """Check that a restriction names its property."""
        self._on_property(node)

    def _description(self, node: Node) -> str | None:
        said = self._of(node)
        found = [predicate for predicate in DESCRIBING if predicate in said]
        if len(found) > 1:
            raise OntologyError(f"{node} is described in two ways", "make two classes of it")
        if not found:
            self.unused.append("anonymous class")
            return None
        return found[0]

    def _on_property(self, node: Node) -> NamedNode | None:
        if _ON not in self._of(node):
            raise OntologyError(
                f"the restriction {node} has no owl:onProperty", "name its property"
            )
        return self.property(self._only(node, _ON))

    def members(self, start: Term) -> list[Term]:
        """The members of an RDF list, one at least."""
        found: list[Term] = []
        cell, seen = start, set[Term]()
        while cell != _NIL:
            if not isinstance(cell, NamedNode | BlankNode) or cell in seen:
                raise OntologyError(f"the list at {start} is broken at {cell}", "write it anew")
            seen.add(cell)
            found.append(self._only(cell, RDF + "first", f"the list at {start}"))
            cell = self._only(cell, RDF + "rest", f"the list at {start}")
        if not found:
            raise OntologyError("an empty list stands in an axiom", "name its members")
        return found

    def _only(self, node: Node, predicate: str, what: str = "") -> Term:
        values = self._of(node).get(predicate, {})
        if len(values) != 1:
            name = predicate.rpartition("#")[2]
            whole = f"{what}: " if what else ""
            raise OntologyError(f"{whole}{node} has {len(values)} {name}", "say one")
        ((value, quad),) = values.items()
        self.quads.append(quad)
        return value

    @contextmanager
    def _within(self, node: Node) -> Iterator[None]:
        if node in self._path or len(self._path) >= _MOST_DEPTH:
            raise OntologyError(f"{node} contains itself, or too much", "write it flat")
        self._path.append(node)
        yield
        self._path.pop()

    def _of(self, node: Node) -> Mapping[str, Mapping[Term, Quad]]:
        self._seen.add(node)
        self._steps += 1
        if self._steps > _MOST_NODES:
            raise OntologyError(f"the axiom at {node} has too many parts", "make several of it")
        return self._said.get(node, {})


def _is_vocabulary(node: NamedNode) -> bool:
    return node.value.startswith((RDF, RDFS, OWL))


def vocabulary_refused(node: NamedNode) -> OntologyError:
    """The error for an axiom about RDF, RDFS or OWL."""
    return OntologyError(
        f"an axiom about {node}, which is of RDF, RDFS or OWL itself", "leave it out"
    )
