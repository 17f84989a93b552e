"""Quad templates of an UPDATE and their instances (SPARQL 1.1 Update, section 3.1.3).

A template is filled from a row of terms, one for each of the columns that it is compiled for. An
instance with an unbound variable, a literal subject or a predicate that is no IRI is left out, as
the specification says.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from pyoxigraph import BlankNode, NamedNode, Quad, Variable

from gateway.rdf.canonical import canonical
from gateway.rdf.namespaces import RDF
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.sparql.algebra import QuadPattern

Bindings = Mapping[str, Term]
Row = tuple[Any, ...]
"""Terms, None where unbound, and whole quads, by columns: compiled code reads and writes it."""

_Places = tuple[int, ...]
"""Where the subject, predicate, object, and the graph if named, stand among the values."""


def variables(quads: Iterable[QuadPattern]) -> dict[str, None]:
    """The variables of quad patterns, in order of appearance."""
    nodes = (node for quad in quads for node in _nodes(quad))
    return {node.value: None for node in nodes if isinstance(node, Variable)}


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The kinds of quads that an UPDATE changes, whatever its templates are filled with.

    Inserted are quads with these `predicates`, and types with these `classes`. Deleted are quads
    with the predicates `deleted`, types with `deleted_classes`, and in a graph whatever has the
    subject that a variable is bound to (`deleted_of`). Of predicates None is any. All of it is in
    these `graphs`. Each is another one: what is found out of it is remembered by it.
    """

    predicates: frozenset[Term] | None
    classes: frozenset[Term]
    graphs: frozenset[GraphName]
    deleted: frozenset[Term] | None = frozenset()
    deleted_classes: frozenset[Term] = frozenset()
    deleted_of: tuple[tuple[GraphName, str], ...] = ()


_TYPE = NamedNode(f"{RDF}type")


def kinds(inserted: Iterable[QuadPattern], deleted: Iterable[QuadPattern]) -> Kinds | None:
    """The kinds that quad patterns name, which have their graphs; None where one is a variable.

    >>> observed = QuadPattern(Variable("o"), _TYPE, NamedNode("urn:Observation"))
    >>> found = kinds([observed], [QuadPattern(Variable("o"), Variable("p"), Variable("v"))])
    >>> len(found.predicates), [cls.value for cls in found.classes], len(found.graphs)
    (0, ['urn:Observation'], 1)
    >>> [name for _, name in found.deleted_of]
    ['o']
    """
    graphs = {quad.graph for quad in (*inserted, *deleted)}
    if any(isinstance(graph, Variable) for graph in graphs):
        return None
    whole = [quad for quad in deleted if _is_whole(quad)]
    named: Any = frozenset(map(_named, graphs))
    of: Any = dict.fromkeys((_named(quad.graph), quad.subject.value) for quad in whole)  # type: ignore[union-attr]
    gone = [quad for quad in deleted if not _is_whole(quad)]
    return Kinds(*_predicates(inserted), named, *_predicates(gone), tuple(of))


def _is_whole(quad: QuadPattern) -> bool:
    """Whether a pattern stands for quads of any predicate with a subject that bindings say."""
    return isinstance(quad.predicate, Variable) and isinstance(quad.subject, Variable)


def _named(graph: Any) -> Any:
    return DEFAULT_GRAPH if graph is None else graph


def _predicates(quads: Iterable[QuadPattern]) -> tuple[frozenset[Term] | None, frozenset[Term]]:
    """The predicates of patterns, None is any, but for types the classes that are named."""
    predicates: set[Any] = set()
    classes: set[Any] = set()
    for quad in quads:
        if quad.predicate == _TYPE and not isinstance(quad.object, Variable):
            classes.add(quad.object)
        else:
            predicates.add(quad.predicate)
    is_any = any(isinstance(name, Variable) for name in predicates)
    return None if is_any else frozenset(predicates), frozenset(classes)


class QuadTemplate:
    """The quads between the braces of INSERT or DELETE, ready to be filled from `columns`."""

    __slots__ = ("_blanks", "_constants", "_default", "_named", "_ready")

    def __init__(self, quads: Iterable[QuadPattern], columns: Sequence[str]) -> None:
        rows = [_nodes(quad) for quad in quads]
        nodes = dict.fromkeys(node for row in rows for node in row)
        constants = [node for node in nodes if not isinstance(node, Variable | BlankNode)]
        blanks = [node for node in nodes if isinstance(node, BlankNode)]
        order = (*map(Variable, columns), *constants, *blanks)
        place = {node: number for number, node in enumerate(order)}
        self._constants = tuple(canonical(node) for node in constants)
        self._blanks = len(blanks)
        places = [tuple(place[node] for node in row) for row in rows]
        self._default = _Part([row for row in places if len(row) == 3])
        self._named = _Part([row for row in places if len(row) == 4])
        self._ready: list[Quad] | None = None
        if len(constants) == len(nodes):
            self._ready = self._fill((None,) * len(columns))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to instantiate."""
        return not (self._default or self._named)

    @property
    def names_graphs(self) -> bool:
        """Whether some of its quads are in named graphs."""
        return bool(self._named)

    def instantiate(self, rows: Sequence[Row]) -> list[Quad]:
        """The quads for these rows; blank nodes of the template are fresh in each."""
        if not rows:
            return []
        if self._ready is not None:
            return self._ready
        if len(rows) == 1:
            return self._fill(rows[0])
        return self._fill_all(rows)

    def _fill(self, row: Row) -> list[Quad]:
        values = (*row, *self._constants)
        if self._blanks:
            values += tuple(BlankNode() for _ in range(self._blanks))
        # Saying DefaultGraph() to Quad would cost as much as the rest.
        return self._default.fill(values) + self._named.fill(values)

    def _fill_all(self, rows: Sequence[Row]) -> list[Quad]:
        """Quad by quad of the template, for all rows at once."""
        columns = [*zip(*rows, strict=True), *((term,) * len(rows) for term in self._constants)]
        columns += [tuple([BlankNode() for _ in rows]) for _ in range(self._blanks)]
        return self._default.fill_all(columns) + self._named.fill_all(columns)


class _Part:
    """The quads of a template in the default graph, or those in named graphs."""

    __slots__ = ("_columns", "_rows")

    def __init__(self, rows: list[_Places]) -> None:
        self._rows = rows
        self._columns = [_pick(column) for column in zip(*rows, strict=True)]

    def __bool__(self) -> bool:
        return bool(self._rows)

    def fill(self, values: Row) -> list[Quad]:
        """The quads that can be; others have an unbound variable, a literal as subject ..."""
        if not self._rows:
            return []
        if None not in values:  # as a graph it would be the default one
            try:
                return list(map(Quad, *[pick(values) for pick in self._columns]))
            except TypeError:
                pass
        return _legal(values, self._rows)

    def fill_all(self, columns: Sequence[Row]) -> list[Quad]:
        """The same for values in columns."""
        if not any(None in column for column in columns):
            try:
                return [
                    quad for row in self._rows for quad in map(Quad, *[columns[p] for p in row])
                ]
            except TypeError:
                pass
        return [quad for values in zip(*columns, strict=True) for quad in self.fill(values)]


def _pick(places: Sequence[int]) -> Callable[[Row], Sequence[Any]]:
    """The values at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    (place,) = places
    return lambda values: (values[place],)


def _legal(values: Row, rows: Iterable[_Places]) -> list[Quad]:
    """The quads that can be, row by row; the others are left out."""
    made: list[Quad] = []
    for row in rows:
        terms = [values[place] for place in row]
        if None in terms:
            continue
        try:
            made.append(Quad(*terms))
        except TypeError:
            continue
    return made


def _nodes(quad: QuadPattern) -> tuple[Term | Variable, ...]:
    nodes = (quad.subject, quad.predicate, quad.object)
    return nodes if quad.graph is None else (*nodes, quad.graph)
