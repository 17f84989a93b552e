"""Random axioms of every kind, as quads of the ontology graph.

Few names, so that axioms meet: cycles through neighbours, self-loops, hierarchies in circles and
classes that support themselves come by themselves. Each axiom has blank nodes of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from gateway.rdf.canonical import canonical_quad
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, OWL, RDF, RDFS, XSD
from gateway.rdf.terms import Term

Node = NamedNode | BlankNode

CLASSES, PROPERTIES, INDIVIDUALS = (
    tuple(NamedNode(f"urn:x:{name}") for name in names) for names in ("ABCDE", "pqrs", "abcd")
)
THING, NOTHING = NamedNode(OWL + "Thing"), NamedNode(OWL + "Nothing")
TYPE, FIRST, REST, NIL = (NamedNode(RDF + name) for name in ("type", "first", "rest", "nil"))
VALUES: tuple[Term, ...] = (
    *INDIVIDUALS[:2],
    Literal("v"),
    Literal("01", datatype=NamedNode(XSD + "integer")),
)


@dataclass(frozen=True, slots=True)
class Form:
    """A class expression: `kind` is a predicate of OWL, `parts` are classes or one filler."""

    kind: str
    parts: tuple["Form | NamedNode", ...] = ()
    on: NamedNode | None = None
    value: Term | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """An axiom: a predicate of RDFS or OWL between two ends, or a list behind it."""

    predicate: str
    left: Form | NamedNode
    right: Form | NamedNode | tuple[NamedNode, ...]

    def quads(self, number: int) -> tuple[Quad, ...]:
        """Its quads; the number names its blank nodes."""
        return tuple(dict.fromkeys(_Writer(number).statement(self)))


class _Writer:
    def __init__(self, number: int) -> None:
        self._names = (BlankNode(f"x{number}y{count}") for count in range(1000))
        self._quads: list[Quad] = []

    def statement(self, statement: Statement) -> Iterator[Quad]:
        left = self._class(statement.left)
        if isinstance(statement.right, tuple):
            right: Term = self._list(statement.right)
        else:
            right = self._class(statement.right)
        self._say(left, statement.predicate, right)
        return map(canonical_quad, self._quads)

    def _say(self, subject: Node, predicate: str, object_: Term) -> None:
        self._quads.append(Quad(subject, NamedNode(predicate), object_, ONTOLOGY_GRAPH))

    def _class(self, form: Form | NamedNode) -> Node:
        if isinstance(form, NamedNode):
            return form
        node = next(self._names)
        if form.on is not None:
            self._say(node, RDF + "type", NamedNode(OWL + "Restriction"))
            self._say(node, OWL + "onProperty", form.on)
        if form.value is not None:
            self._say(node, form.kind, form.value)
        elif form.on is not None:
            self._say(node, form.kind, self._class(form.parts[0]))
        else:
            self._say(node, form.kind, self._list(form.parts))
        return node

    def _list(self, members: Iterable[Form | NamedNode]) -> Node:
        nodes: Sequence[Node] = [self._class(member) for member in members]
        head: Node = NIL
        for node in reversed(nodes):
            cell = next(self._names)
            self._say(cell, RDF + "first", node)
            self._say(cell, RDF + "rest", head)
            head = cell
        return head


_class = st.sampled_from(CLASSES)
_property = st.sampled_from(PROPERTIES)


def _value() -> st.SearchStrategy[Form]:
    return st.builds(
        lambda on, value: Form(OWL + "hasValue", (), on, value), _property, st.sampled_from(VALUES)
    )


def _restricted(kind: str, filler: st.SearchStrategy[Form | NamedNode]) -> st.SearchStrategy[Form]:
    return st.builds(lambda on, part: Form(OWL + kind, (part,), on), _property, filler)


def _combined(kind: str, part: st.SearchStrategy[Form | NamedNode]) -> st.SearchStrategy[Form]:
    return st.builds(
        lambda parts: Form(OWL + kind, tuple(parts)), st.lists(part, min_size=1, max_size=3)
    )


_filler = st.one_of(_class, _class, st.just(THING))
_plain: st.SearchStrategy[Form | NamedNode] = st.one_of(
    _class, _class, _value(), _restricted("someValuesFrom", _filler)
)
CONDITIONS: st.SearchStrategy[Form | NamedNode] = st.one_of(
    _class,
    _value(),
    _restricted("someValuesFrom", st.one_of(_filler, _plain)),
    _combined("intersectionOf", _plain),
    _combined("unionOf", _plain),
    _restricted("someValuesFrom", _combined("intersectionOf", _plain)),
    _restricted("allValuesFrom", _class),
)
"""What can stand on the left, and allValuesFrom, which is not used there."""

CONCLUSIONS: st.SearchStrategy[Form | NamedNode] = st.one_of(
    _class,
    _class,
    _value(),
    _restricted("allValuesFrom", st.one_of(_class, _value(), st.just(NOTHING))),
    _restricted("allValuesFrom", _restricted("allValuesFrom", _class)),
    _combined("intersectionOf", st.one_of(_class, _value(), _restricted("allValuesFrom", _class))),
    _restricted("someValuesFrom", _class),
    _combined("unionOf", _class),
    st.just(NOTHING),
    st.just(THING),
)
"""What can stand on the right, and what is not used there."""

_BOTH = st.one_of(
    _class,
    _value(),
    _restricted("someValuesFrom", _filler),
    _combined("intersectionOf", _plain),
    _combined("unionOf", _plain),
    _restricted("allValuesFrom", _class),
)


def _of(
    predicate: str,
    left: st.SearchStrategy[Form | NamedNode],
    right: st.SearchStrategy[Form | NamedNode] | st.SearchStrategy[tuple[NamedNode, ...]],
) -> st.SearchStrategy[Statement]:
    return st.builds(lambda one, other: Statement(predicate, one, other), left, right)


_HIERARCHIES = (
    _of(RDFS + "subClassOf", _class, CONCLUSIONS),
    _of(RDFS + "subClassOf", CONDITIONS, _class),
    _of(RDFS + "subClassOf", CONDITIONS, CONCLUSIONS),
    _of(OWL + "equivalentClass", _class, _BOTH),
    _of(RDFS + "subPropertyOf", _property, _property),
    _of(OWL + "equivalentProperty", _property, _property),
)
_OF_PROPERTIES = (
    _of(OWL + "inverseOf", _property, _property),
    _of(RDF + "type", _property, st.just(NamedNode(OWL + "SymmetricProperty"))),
    _of(RDF + "type", _property, st.just(NamedNode(OWL + "TransitiveProperty"))),
    _of(RDFS + "domain", _property, CONCLUSIONS),
    _of(RDFS + "range", _property, CONCLUSIONS),
    _of(
        OWL + "propertyChainAxiom",
        _property,
        st.lists(_property, min_size=1, max_size=3).map(tuple),
    ),
)
_OTHERS = (
    _of(OWL + "disjointWith", _class, _class),
    _of(OWL + "intersectionOf", _class, st.lists(_class, min_size=1, max_size=2).map(tuple)),
    _of(OWL + "unionOf", _class, st.lists(_class, min_size=1, max_size=2).map(tuple)),
)
STATEMENTS: st.SearchStrategy[Statement] = st.one_of(*_HIERARCHIES, *_OF_PROPERTIES, *_OTHERS)
"""Axioms of every kind. Two lists of one class, by two axioms, are a mistake that is refused."""

_MONOTONE = st.one_of(
    _class,
    _restricted("someValuesFrom", _class),
    _combined("intersectionOf", st.one_of(_class, _restricted("someValuesFrom", _class))),
    _combined("unionOf", _class),
)
FOR_OTHERS: st.SearchStrategy[Statement] = st.one_of(
    _of(RDFS + "subClassOf", _MONOTONE, _class),
    _of(RDFS + "subClassOf", _class, _restricted("allValuesFrom", _class)),
    _of(OWL + "equivalentClass", _class, _class),
    _of(OWL + "equivalentClass", _class, _combined("intersectionOf", _class)),
    *_HIERARCHIES[4:],
    *_OF_PROPERTIES[:3],
    _of(RDFS + "domain", _property, _class),
    _of(RDFS + "range", _property, _class),
    _OF_PROPERTIES[5],
)
"""Axioms of which full OWL 2 RL concludes no more than we do: it also orders existentials."""
