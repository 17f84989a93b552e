"""`Shape`: what an INSERT template makes of whatever it is bound to, known when it is compiled.

Place: between the templates that write readings and `Bundle`. All quads of a reading but two or
three have subjects of its own; how many they are, which predicates they have and which forced
bindings they need is the same for every reading of a template.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pyoxigraph import BlankNode, NamedNode, Quad, Triple, Variable

from gateway.rdf.canonical import canonical
from gateway.rdf.terms import Term
from gateway.sparql.algebra import Modify, QuadPattern
from gateway.sparql.parser import parse_update
from gateway.store.templates import QuadTemplate, variables


class Own(NamedTuple):
    """A quad in the default graph whose subject is one of the reading's own.

    The object is a constant, in the form of the store, or the name of a forced binding.
    """

    subject: str
    predicate: NamedNode
    object: Term | str


_MOST_FILLED = 4_096
"""Rows whose other quads are kept: those of a sensor are the same in all its readings."""


class Filled(NamedTuple):
    """Quads of a template, and the IRIs of their subjects."""

    quads: Sequence[Quad]
    subjects: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """The quads of one row: `own` ones, and those of the template `others`, filled from `columns`.

    `subjects` are the names of the reading's own subjects; no two of `own` can be the same quad, as
    long as these are bound to different terms.
    """

    subjects: tuple[str, ...]
    own: tuple[Own, ...]
    columns: tuple[str, ...]
    others: QuadTemplate
    _filled: dict[tuple[Term, ...], Filled] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.own)

    def has(self, predicate: Term) -> bool:
        """Whether one of `own` has it."""
        return any(each.predicate == predicate for each in self.own)

    def filled(self, bindings: Mapping[str, Term]) -> Filled:
        """The other quads with these bindings, as the store gives them back."""
        row = tuple([bindings[name] for name in self.columns])
        found = self._filled.get(row)
        if found is None:
            quads = self.others.instantiate((tuple(map(canonical, row)),))
            subjects = [quad.subject.value for quad in quads if isinstance(quad.subject, NamedNode)]
            found = Filled(quads, frozenset(subjects))
            if len(self._filled) >= _MOST_FILLED:
                self._filled.clear()
            self._filled[row] = found
        return found


def shape_of(text: str, minted: Collection[str]) -> Shape | None:
    """The shape of an update's text, where the names `minted` are bound to subjects of its own.

    None where it is not one INSERT of constant predicates into the default graph without a WHERE,
    or where two of its own quads may be the same.

    >>> shape = shape_of("INSERT { ?o a <urn:O> ; <urn:by> ?s . ?s a <urn:S> } WHERE {}", ["o"])
    >>> shape.subjects, len(shape), shape.columns
    (('o',), 2, ('s',))
    """
    operations = parse_update(text).operations
    modify = operations[0] if len(operations) == 1 else None
    if not isinstance(modify, Modify):
        return None
    if modify.delete or modify.where.elements or modify.with_graph or modify.using:
        return None
    if not all(map(_is_plain, modify.insert)):
        return None
    own = [quad for quad in modify.insert if _name(quad.subject) in minted]
    others = [quad for quad in modify.insert if quad not in own]
    if _may_coincide(own):
        return None
    columns = tuple(variables(others))
    return Shape(
        tuple(dict.fromkeys(_name(quad.subject) for quad in own)),
        tuple(map(_own, own)),
        columns,
        QuadTemplate(others, columns),
    )


def _is_plain(quad: QuadPattern) -> bool:
    """Whether whatever it is bound to, it is a quad of the default graph if the subject is one."""
    nodes = (quad.subject, quad.predicate, quad.object)
    return (
        quad.graph is None
        and isinstance(quad.predicate, NamedNode)
        and not any(isinstance(node, BlankNode | Triple) for node in nodes)
    )


def _may_coincide(quads: Sequence[QuadPattern]) -> bool:
    """Whether two quads of one subject and predicate may have one object."""
    seen: dict[object, list[QuadPattern]] = {}
    for quad in dict.fromkeys(quads):
        seen.setdefault((quad.subject, quad.predicate), []).append(quad)
    alike = [each for each in seen.values() if len(each) > 1]
    return len(dict.fromkeys(quads)) < len(quads) or any(_any_variable(each) for each in alike)


def _any_variable(quads: Iterable[QuadPattern]) -> bool:
    return any(isinstance(quad.object, Variable) for quad in quads)


def _own(quad: QuadPattern) -> Own:
    object_ = quad.object
    known = object_.value if isinstance(object_, Variable) else canonical(object_)
    return Own(_name(quad.subject), quad.predicate, known)  # type: ignore[arg-type]


def _name(node: object) -> str:
    return node.value if isinstance(node, Variable) else ""
