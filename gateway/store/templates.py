"""Quad templates of an UPDATE and their instances (SPARQL 1.1 Update, section 3.1.3).

A slot of a template is a term or a name: of a variable, or `_:label` of a blank node. An instance
with an unbound variable, a literal subject or a predicate that is no IRI is left out, as the
specification says.
"""

from collections.abc import Iterable, Mapping

from pyoxigraph import BlankNode, NamedNode, Quad, Variable

from gateway.rdf.terms import Term
from gateway.sparql.algebra import QuadPattern

Bindings = Mapping[str, Term]
Slot = Term | str
Slots = tuple[Slot, Slot, Slot, Slot | None]
"""Subject, predicate, object, graph; None is the default graph."""

_NOTHING: Bindings = {}


class QuadTemplate:
    """The quads between the braces of INSERT or DELETE, ready to be filled."""

    __slots__ = ("_blank_labels", "_constant", "_slots", "variables")

    def __init__(self, quads: Iterable[QuadPattern], with_graph: NamedNode | None = None) -> None:
        slots = [_slots_of(quad, with_graph) for quad in quads]
        names = dict.fromkeys(slot for row in slots for slot in row if isinstance(slot, str))
        self._blank_labels = [name for name in names if name.startswith("_:")]
        self.variables = tuple(name for name in names if not name.startswith("_:"))
        self._slots = [row for row in slots if not _is_constant(row)]
        self._constant = tuple(
            Quad(*row)  # type: ignore[arg-type]
            for row in slots
            if _is_constant(row)
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to instantiate."""
        return not (self._slots or self._constant)

    def instantiate(self, solution: Bindings = _NOTHING) -> list[Quad]:
        """The quads for one solution; blank nodes of the template are fresh each time."""
        if self._blank_labels:
            solution = {**solution, **{label: BlankNode() for label in self._blank_labels}}
        made = [_instance(slots, solution) for slots in self._slots]
        return [*self._constant, *(quad for quad in made if quad is not None)]


def _slots_of(quad: QuadPattern, with_graph: NamedNode | None) -> Slots:
    graph = with_graph if quad.graph is None else quad.graph
    where = None if graph is None else _slot(graph)
    return (_slot(quad.subject), _slot(quad.predicate), _slot(quad.object), where)


def _slot(node: Term | Variable) -> Slot:
    if isinstance(node, BlankNode):
        return f"_:{node.value}"
    return node.value if isinstance(node, Variable) else node


def _is_constant(slots: Slots) -> bool:
    return not any(isinstance(slot, str) for slot in slots)


def _instance(slots: Slots, solution: Bindings) -> Quad | None:
    subject, predicate, object_, graph = slots
    if subject.__class__ is str:
        subject = solution.get(subject)  # type: ignore[assignment]
    if predicate.__class__ is str:
        predicate = solution.get(predicate)  # type: ignore[assignment]
    if object_.__class__ is str:
        object_ = solution.get(object_)  # type: ignore[assignment]
    if graph.__class__ is str:
        graph = solution.get(graph)
        if graph is None:  # to Quad this would be the default graph
            return None
    try:
        if graph is None:  # saying DefaultGraph() instead would cost as much as the rest
            return Quad(subject, predicate, object_)  # type: ignore[arg-type]
        return Quad(subject, predicate, object_, graph)  # type: ignore[arg-type]
    except TypeError:  # an unbound variable, a literal as subject ...: no quad
        return None
