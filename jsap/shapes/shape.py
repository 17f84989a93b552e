"""What a JSAP profile's templates insert for a row of the archive, as statements with marks.

A template is executed once, with marks for its values, by the SPARQL engine of the gateway; the
marks stand for columns. So another profile gives another shape to exports, queries and replays
alike, and no row passes through Python. Source: JSAP, `updates`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Store

from jsap.forced_bindings import BindingType
from jsap.template import Template

_MARK = "urn:x-jsap:mark:"
NEEDED = ("OBSERVE_QUANTITY", "OBSERVE_VALUE")
"""The updates that a profile must have to give shapes."""
_SUSPECT, _GEOMETRY = "SUSPECT_CLOCK", "STATE_GEOMETRY"


@dataclass(frozen=True, slots=True)
class Mark:
    """A forced binding's place: an IRI, or a literal of `datatype` (None: the value's own)."""

    name: str
    is_iri: bool
    datatype: str | None = None


Part: TypeAlias = Mark | NamedNode | BlankNode | Literal


@dataclass(frozen=True, slots=True)
class Statement:
    """A triple of a shape."""

    subject: Part
    predicate: Part
    object: Part

    @property
    def parts(self) -> tuple[Part, Part, Part]:
        """Subject, predicate and object."""
        return self.subject, self.predicate, self.object


Shape: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Shapes:
    """For numbers, for positions, for everything else, and what is added to an impossible time."""

    quantity: Shape
    value: Shape
    position: Shape
    suspect: Shape = ()


def shapes_of(updates: Mapping[str, Template]) -> Shapes:
    """The shapes of a profile's updates. Raises KeyError, JsapError, SyntaxError."""
    quantity, value = (shape(updates[name]) for name in NEEDED)
    suspect, geometry = (
        shape(updates[name]) if name in updates else () for name in (_SUSPECT, _GEOMETRY)
    )
    return Shapes(quantity, value, (*value, *geometry), suspect)


def shape(template: Template) -> Shape:
    """What a template inserts into an empty store, in a fixed order."""
    marks: dict[str, NamedNode | Literal] = {}
    known: dict[str, Mark] = {}
    for name, binding in template.forced_bindings.items():
        is_iri = binding.binding_type is BindingType.URI
        datatype = None if binding.datatype is None else binding.datatype.value
        known[_MARK + name] = Mark(name, is_iri, datatype)
        mark = _MARK + name
        marks[name] = NamedNode(mark) if is_iri else Literal(mark, datatype=binding.datatype)
    store = Store()
    store.update(template.render(template.bind(marks)))
    return tuple(
        Statement(*(_part(term, known) for term in (quad.subject, quad.predicate, quad.object)))
        for quad in sorted(store, key=str)
    )


def _part(term: object, known: Mapping[str, Mark]) -> Part:
    assert isinstance(term, NamedNode | BlankNode | Literal)  # noqa: S101 - no quoted triples
    return known.get(term.value, term)
