"""From rdflib's nodes to ours: variables, and constants as the gateway's store has them.

Place on the way of the data: between the parsed query and the patterns. Literals become canonical
through a store, as they did when the observations were written.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, TypeAlias

from pyoxigraph import Literal, NamedNode, Quad, Store
from rdflib.paths import Path, SequencePath
from rdflib.term import BNode, URIRef
from rdflib.term import Literal as RdflibLiteral
from rdflib.term import Variable as RdflibVariable

from jsap.shapes.refusal import refused


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable by its name; one that begins with `_:` is a blank node of the query."""

    name: str

    def __str__(self) -> str:
        return "a blank node" if self.name.startswith("_:") else f"?{self.name}"


Constant: TypeAlias = NamedNode | Literal
Node: TypeAlias = Variable | NamedNode | Literal


@dataclass(frozen=True, slots=True)
class Pattern:
    """A triple pattern whose predicate is an IRI."""

    subject: Node
    predicate: str
    object: Node

    @property
    def iri(self) -> NamedNode:
        """The predicate as a term."""
        return NamedNode(self.predicate)

    def __str__(self) -> str:
        return f"{self.subject} <{self.predicate}> {self.object}"


_SUBJECT = NamedNode("urn:x")
DATE_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"


def canonical(literal: Literal) -> Literal:
    """The literal as a store gives it back: 21.50 is 21.5."""
    store = Store()
    store.add(Quad(_SUBJECT, _SUBJECT, literal))
    (quad,) = store
    found = quad.object
    return found if isinstance(found, Literal) else literal


def constant(node: Any) -> Constant:
    """An IRI or a literal of the query; raises QueryError for one with a language."""
    if isinstance(node, URIRef):
        return NamedNode(str(node))
    if node.language is not None:
        raise refused(
            f"the text {str(node)!r} with a language", "observations have none: leave it out"
        )
    if node.datatype is None:
        return Literal(str(node))
    return canonical(Literal(str(node), datatype=NamedNode(str(node.datatype))))


def node_of(node: Any) -> Node:
    """A place of a pattern or of an expression."""
    match node:
        case RdflibVariable():
            return Variable(str(node))
        case BNode():
            return Variable(f"_:{node}")
        case URIRef() | RdflibLiteral():
            return constant(node)
    raise AssertionError(f"a pattern with {type(node)}")


def patterns(triples: Any) -> list[Pattern]:
    """The triple patterns of a basic graph pattern; sequence paths are taken apart."""
    numbers = count(1)
    return [
        pattern
        for subject, predicate, object_ in triples
        for pattern in _unfolded(subject, predicate, object_, numbers)
    ]


def _unfolded(subject: Any, predicate: Any, object_: Any, numbers: Iterator[int]) -> list[Pattern]:
    if isinstance(predicate, SequencePath):
        steps = list(predicate.args)
        between = [Variable(f"_:step{id(predicate)}-{next(numbers)}") for _ in steps[1:]]
        ends = [node_of(subject), *between, node_of(object_)]
        return [
            Pattern(start, _iri(step), end)
            for start, step, end in zip(ends[:-1], steps, ends[1:], strict=True)
        ]
    return [Pattern(node_of(subject), _iri(predicate), node_of(object_))]


def _iri(predicate: Any) -> str:
    if isinstance(predicate, RdflibVariable):
        raise refused(f"?{predicate} as a predicate", "name the predicate")
    if isinstance(predicate, Path):
        raise refused(f"the path {predicate.n3()}", "sequences `a/b` are the only paths")
    return str(predicate)


def instant(literal: Literal) -> datetime:
    """An xsd:dateTime constant; raises QueryError without a zone or beyond microseconds."""
    try:
        value = datetime.fromisoformat(literal.value)
    except ValueError as error:
        hint = "write it as 2026-09-01T00:00:00Z"
        raise refused(f"the time {literal.value!r}", hint) from error
    fraction = literal.value.partition(".")[2].rstrip("Z")
    if value.tzinfo is None or len(fraction.split("+")[0].split("-")[0]) > 6:
        raise refused(
            f"the time {literal.value!r}", "write it with its zone and at most six digits of s"
        )
    return value.astimezone(UTC)
