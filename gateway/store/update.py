"""UPDATE -> net Delta: a request compiled once, evaluated with forced bindings as terms.

`Store.update` of pyoxigraph is atomic but does not say what changed. So each operation's WHERE is
evaluated, its templates are instantiated, and what they change is collected in a `Working` view;
the net Delta is then applied in one transaction (engine.md, section 4). Source: SPARQL 1.1 Update,
sections 3 and 4.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from pyoxigraph import DefaultGraph, NamedNode

from gateway.errors import BadRequestError, UnsupportedQueryError, UpdateFailedError
from gateway.rdf.delta import Delta
from gateway.rdf.rights import ALL_RIGHTS, Rights
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName
from gateway.sparql import algebra
from gateway.sparql.parser import parse_update
from gateway.store.quad_store import QuadStore
from gateway.store.templates import Bindings, QuadTemplate
from gateway.store.where import PatternWhere, Where, compile_where
from gateway.store.working import Working


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """A compiled update request. Immutable, so it may be shared and cached."""

    text: str
    steps: tuple["Step", ...]

    def run(self, working: Working, bindings: Bindings) -> None:
        """Evaluate the operations in order on what is there and what they did before."""
        for step in self.steps:
            step.run(working, bindings)


BoundUpdate = tuple[UpdatePlan, Bindings]
"""A plan with its forced bindings: variable name to term."""


def evaluate(
    store: QuadStore, updates: Iterable[BoundUpdate], rights: Rights = ALL_RIGHTS
) -> Delta:
    """The net change of several bound updates as one request; the store stays as it is."""
    working = Working(store, rights)
    for plan, bindings in updates:
        plan.run(working, bindings)
    return working.delta()


@lru_cache(maxsize=4096)
def compile_update(
    text: str,
    using_graphs: tuple[NamedNode, ...] = (),
    using_named_graphs: tuple[NamedNode, ...] = (),
) -> UpdatePlan:
    """Parse and compile; `using_graphs` are the protocol's dataset for every WHERE.

    Raises SparqlSyntaxError; BadRequestError where the text has its own USING or WITH beside the
    protocol's (SPARQL 1.1 Protocol, 2.2.3); UnsupportedQueryError for LOAD and SERVICE.
    """
    operations = parse_update(text).operations
    using = (using_graphs, using_named_graphs)
    return UpdatePlan(text, tuple(_compile(text, operation, using) for operation in operations))


class Step(Protocol):
    """One operation of a request."""

    def run(self, working: Working, bindings: Bindings) -> None:
        """Do to `working` what the operation says."""


class Insert:
    """INSERT DATA."""

    __slots__ = ("template",)

    def __init__(self, template: QuadTemplate) -> None:
        self.template = template

    def run(self, working: Working, bindings: Bindings) -> None:
        """Add the quads."""
        working.add_all(self.template.instantiate(bindings))


class Delete:
    """DELETE DATA."""

    __slots__ = ("template",)

    def __init__(self, template: QuadTemplate) -> None:
        self.template = template

    def run(self, working: Working, bindings: Bindings) -> None:
        """Remove the quads."""
        for quad in self.template.instantiate(bindings):
            working.remove(quad)


class Modify:
    """DELETE/INSERT ... WHERE: all solutions first, then all deletions, then all insertions."""

    __slots__ = ("delete", "insert", "where")

    def __init__(self, delete: QuadTemplate, insert: QuadTemplate, where: Where) -> None:
        self.delete = delete
        self.insert = insert
        self.where = where

    def run(self, working: Working, bindings: Bindings) -> None:
        """Remove and add what the solutions make of the templates."""
        solutions = list(self.where.solutions(working, bindings))
        if not self.delete.is_empty:
            for solution in solutions:
                for quad in self.delete.instantiate(solution):
                    working.remove(quad)
        if not self.insert.is_empty:
            for solution in solutions:
                working.add_all(self.insert.instantiate(solution))


class DeleteMatches:
    """DELETE WHERE of one pattern: what matches is what goes."""

    __slots__ = ("where",)

    def __init__(self, where: PatternWhere) -> None:
        self.where = where

    def run(self, working: Working, bindings: Bindings) -> None:
        """Remove what matches."""
        for quad in self.where.quads(working, bindings):
            working.remove_present(quad)


class ManageGraphs:
    """CLEAR, DROP, CREATE, COPY, MOVE, ADD (SPARQL 1.1 Update, section 3.2)."""

    __slots__ = ("operation",)

    def __init__(self, operation: algebra.UpdateOperation) -> None:
        self.operation = operation

    def run(self, working: Working, bindings: Bindings) -> None:
        """Change whole graphs."""
        del bindings
        match self.operation:
            case algebra.Clear(target=target, silent=silent):
                for graph in _targets(working, target, silent):
                    working.clear_graph(graph)
            case algebra.Drop(target=target, silent=silent):
                for graph in _targets(working, target, silent):
                    _drop(working, graph)
            case algebra.Create(graph=graph, silent=silent):
                working.require_write(graph)
                if working.contains_graph(graph) and not silent:
                    raise UpdateFailedError(f"the graph {graph} already exists", "use SILENT")
                working.create_graph(graph)
            case algebra.Copy() | algebra.Move() | algebra.Add() as transfer:
                _transfer(working, transfer)


def _targets(working: Working, target: algebra.GraphTarget, silent: bool) -> Sequence[GraphName]:
    """The graphs meant; of the named ones those that may be read, as there are no others."""
    if target is algebra.GraphSet.DEFAULT:
        return [DEFAULT_GRAPH]
    if target is algebra.GraphSet.NAMED:
        return working.named_graphs()
    if target is algebra.GraphSet.ALL:
        return [DEFAULT_GRAPH, *working.named_graphs()]
    working.require_write(target)
    if working.contains_graph(target):
        return [target]
    if silent:
        return []
    raise UpdateFailedError(f"the graph {target} does not exist", "use SILENT or CREATE it")


def _drop(working: Working, graph: GraphName) -> None:
    if isinstance(graph, DefaultGraph):
        working.clear_graph(graph)
    else:
        working.drop_graph(graph)


def _transfer(working: Working, operation: algebra.Copy | algebra.Move | algebra.Add) -> None:
    """As the pinned pyoxigraph does: a missing source is empty, only MOVE complains about it."""
    source = _graph_name(operation.source)
    destination = _graph_name(operation.destination)
    moves = isinstance(operation, algebra.Move)
    working.require_write(*((source, destination) if moves else (destination,)))
    if source == destination:
        return
    if moves and not operation.silent and not working.exists(source):
        raise UpdateFailedError(f"the graph {source} does not exist", "use SILENT")
    if not isinstance(operation, algebra.Add):
        _drop(working, destination)
    working.copy_graph(source, destination)
    if moves and working.may_read(source):
        _drop(working, source)


def _graph_name(graph: NamedNode | None) -> GraphName:
    return DEFAULT_GRAPH if graph is None else graph


def _compile(
    text: str,
    operation: algebra.UpdateOperation,
    using: tuple[tuple[NamedNode, ...], tuple[NamedNode, ...]],
) -> Step:
    match operation:
        case algebra.InsertData(quads=quads):
            return Insert(QuadTemplate(quads))
        case algebra.DeleteData(quads=quads):
            return Delete(QuadTemplate(quads))
        case algebra.Modify() as modify:
            return _compile_modify(text, modify, using)
        case algebra.Load():
            raise UnsupportedQueryError("LOAD is not allowed", "fetch the data and INSERT it")
        case _:
            return ManageGraphs(operation)


def _compile_modify(
    text: str,
    modify: algebra.Modify,
    using: tuple[tuple[NamedNode, ...], tuple[NamedNode, ...]],
) -> Step:
    if any(using) and (modify.using or modify.using_named or modify.with_graph):
        raise BadRequestError(
            "the request names its dataset twice",
            "leave out using-graph-uri, or USING and WITH in the text",
        )
    delete = QuadTemplate(modify.delete, modify.with_graph)
    insert = QuadTemplate(modify.insert, modify.with_graph)
    variables = tuple(dict.fromkeys(delete.variables + insert.variables))
    dataset = using if any(using) else (modify.using, modify.using_named)
    where = compile_where(text, modify, variables, dataset)
    if (
        isinstance(where, PatternWhere)
        and insert.is_empty
        and len(modify.delete) == 1
        and where.equals(modify.delete[0], modify.with_graph)
    ):
        return DeleteMatches(where)
    return Modify(delete, insert, where)
