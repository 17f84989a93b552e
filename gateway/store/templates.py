"""Quad templates of an UPDATE and their instances (SPARQL 1.1 Update, section 3.1.3).

A slot of a template is a term or the name of a variable. An instance with an unbound variable, a
literal subject or a predicate that is no IRI is left out, as the specification says.
"""

from collections.abc import Iterable, Iterator, Mapping

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Variable

from gateway.rdf.terms import DEFAULT_GRAPH, Term
from gateway.sparql.algebra import QuadPattern

Bindings = Mapping[str, Term]
Slot = Term | DefaultGraph | str

_NOTHING: Bindings = {}


class QuadTemplate:
    """The quads between the braces of INSERT or DELETE, ready to be filled."""

    __slots__ = ("_blank_labels", "_constant", "_slots", "variables")

    def __init__(self, quads: Iterable[QuadPattern], with_graph: NamedNode | None = None) -> None:
        default = DEFAULT_GRAPH if with_graph is None else with_graph
        slots = [_slots_of(quad, default) for quad in quads]
        self.variables = tuple(
            dict.fromkeys(slot for row in slots for slot in row if isinstance(slot, str))
        )
        self._blank_labels = {slot for row in slots for slot in row if isinstance(slot, BlankNode)}
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

    def instantiate(self, solution: Bindings = _NOTHING) -> Iterator[Quad]:
        """The quads for one solution; blank nodes of the template are fresh each time."""
        yield from self._constant
        if not self._slots:
            return
        fresh = {label: BlankNode() for label in self._blank_labels}
        for slots in self._slots:
            quad = _instance(slots, solution, fresh)
            if quad is not None:
                yield quad


def _slots_of(
    quad: QuadPattern, default: NamedNode | DefaultGraph
) -> tuple[Slot, Slot, Slot, Slot]:
    graph = default if quad.graph is None else quad.graph
    return (_slot(quad.subject), _slot(quad.predicate), _slot(quad.object), _slot(graph))


def _slot(node: Term | DefaultGraph | Variable) -> Slot:
    return node.value if isinstance(node, Variable) else node


def _is_constant(slots: tuple[Slot, Slot, Slot, Slot]) -> bool:
    return not any(isinstance(slot, str | BlankNode) for slot in slots)


def _instance(
    slots: tuple[Slot, Slot, Slot, Slot],
    solution: Bindings,
    fresh: dict[BlankNode, BlankNode],
) -> Quad | None:
    terms = [solution.get(slot) if isinstance(slot, str) else slot for slot in slots]
    if terms[3] is None:  # to Quad this would be the default graph
        return None
    if fresh:
        terms = [fresh.get(term, term) if isinstance(term, BlankNode) else term for term in terms]
    try:
        return Quad(*terms)  # type: ignore[arg-type]
    except TypeError:  # an unbound variable, a literal as subject ...: no quad
        return None
