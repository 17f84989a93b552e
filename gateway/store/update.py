"""UPDATE -> net Delta: a request compiled once, evaluated with forced bindings as terms.

`Store.update` of pyoxigraph is atomic but does not say what changed. So each operation's WHERE is
evaluated, its templates are instantiated, and what they change is collected in a `Working` view;
the net Delta is then applied in one transaction. Texts of one shape share a plan, with their
constants as bindings (`sparql.shape`); of ground data the quads are read at once. Source: SPARQL
1.1 Update, sections 3 and 4.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, cast

from pyoxigraph import DefaultGraph, NamedNode, Quad, Variable

from gateway.errors import BadRequestError, UpdateFailedError
from gateway.rdf.canonical import canonical, canonical_quad
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.ground_data import GroundData, ground_data
from gateway.rdf.rights import ALL_RIGHTS, Rights
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.runtime.text_cache import remembered
from gateway.sparql import algebra
from gateway.sparql.algebra import HIDDEN_PREFIX
from gateway.sparql.bounds.growth import require_growth
from gateway.sparql.parameters import Parameters
from gateway.sparql.parser import parse_update
from gateway.sparql.shape import SharedPlans
from gateway.store.diverted import Diverted
from gateway.store.join_where import JoinWhere
from gateway.store.joined_patterns import JoinedPatterns, in_graph, joined_patterns
from gateway.store.quad_store import QuadStore
from gateway.store.query_where import QueryWhere
from gateway.store.readable import Source
from gateway.store.templates import Bindings, Kinds, QuadTemplate, Row, kinds, variables
from gateway.store.where import OneSolution, Where, canonical_bindings
from gateway.store.working import Inferring, Working


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """A compiled update request. Immutable, so it may be shared and cached.

    `kinds` are those of the quads that it may change; None is any.
    """

    text: str
    steps: tuple["Step", ...]
    named: tuple[NamedNode | Variable, ...] = ()
    kinds: Kinds | None = None

    def written(self, bindings: Bindings) -> Iterator[Term]:
        """The named graphs that the text says are to be written, be there something or not."""
        for graph in self.named:
            found = bindings.get(graph.value) if isinstance(graph, Variable) else graph
            if found is not None:
                yield found

    def run(self, working: Working, bindings: Bindings) -> None:
        """Evaluate the operations in order on what is there and what they did before."""
        known = canonical_bindings(bindings)
        for step in self.steps:
            step.run(working, known)


Stated = dict[Quad, None]
"""The quads that a request inserts by itself: not what it copies from one graph to another."""

BoundUpdate = tuple[UpdatePlan, Bindings]
"""A plan with its forced bindings: variable name to term."""


def evaluate(
    store: QuadStore,
    updates: Iterable[BoundUpdate],
    rights: Rights = ALL_RIGHTS,
    diverted: Diverted | None = None,
    stated: Stated | None = None,
) -> Delta:
    """The net change of several bound updates as one request; the store stays as it is.

    What they insert into streams is `diverted`; what they insert, new or not, is `stated`.
    """
    return _evaluated(Working(store, rights, diverted), updates, stated)


def evaluate_inferring(
    store: QuadStore,
    entailed: Source,
    updates: Sequence[BoundUpdate],
    rights: Rights = ALL_RIGHTS,
    diverted: Diverted | None = None,
    *,
    stated: Stated | None = None,
) -> Delta:
    """As `evaluate`, where the WHERE of the first operation sees `entailed`.

    Raises BadRequestError where another operation has a WHERE: what follows from what was done
    before is not known yet.
    """
    require_where_first(updates)
    # All that is asked of it is what a WHERE asks, which the entailed view has as the store has it.
    seen = cast(QuadStore, entailed)
    return _evaluated(Inferring(store, seen, rights, diverted), updates, stated)


def require_where_first(updates: Iterable[BoundUpdate]) -> None:
    """Raise BadRequestError where an operation behind the first has a WHERE."""
    steps = [step for plan, _ in updates for step in plan.steps]
    if any(isinstance(step, Modify | DeleteMatches) and step.has_where for step in steps[1:]):
        raise BadRequestError(
            "with infer, a WHERE stands behind another operation of the request",
            "send the operations one by one, or leave infer out",
        )


def _evaluated(working: Working, updates: Iterable[BoundUpdate], stated: Stated | None) -> Delta:
    working.stated = stated
    for plan, bindings in updates:
        plan.run(working, bindings)
    return working.delta()


@remembered()
def compile_update(text: str, using: Dataset | None = None) -> UpdatePlan:
    """Parse and compile; `using` is the protocol's dataset for every WHERE.

    Raises SparqlSyntaxError; BadRequestError where the text has its own USING or WITH beside the
    protocol's (SPARQL 1.1 Protocol, 2.2.3); UnsupportedQueryError for `SERVICE ?variable`.
    """
    return _compiled(text, Parameters({}), using)


def bind_update(text: str, using: Dataset | None = None) -> BoundUpdate:
    """A text as a plan and its bindings, those of its shape if that came before.

    Raises what `compile_update` raises.
    """
    data = ground_data(text)
    if data is not None:
        return UpdatePlan(text, (GroundStep(data),)), {}
    found = _shapes(using).find(text)
    return found or (compile_update(text, using), {})


@lru_cache(maxsize=64)
def _shapes(using: Dataset | None) -> SharedPlans[UpdatePlan]:
    return SharedPlans(lambda text, parameters: _compiled(text, parameters, using))


def _compiled(text: str, parameters: Parameters, using: Dataset | None) -> UpdatePlan:
    operations = parse_update(text, parameters=parameters).operations
    for operation in operations:
        if isinstance(operation, algebra.Modify):
            require_growth(operation.where)
    steps = (_compile(text, operation, using, parameters) for operation in operations)
    named = dict.fromkeys(graph for each in operations for graph in _named(each) if graph)
    return UpdatePlan(text, tuple(steps), tuple(named), _kinds(operations))


def _kinds(operations: Iterable[algebra.UpdateOperation]) -> Kinds | None:
    """The kinds of quads that operations may change."""
    inserted: list[algebra.QuadPattern] = []
    deleted: list[algebra.QuadPattern] = []
    for operation in operations:
        match operation:
            case algebra.InsertData(quads):
                inserted += quads
            case algebra.DeleteData(quads):
                deleted += quads
            case algebra.Modify(delete, insert, _, with_graph):
                inserted += [in_graph(quad, with_graph) for quad in insert]
                deleted += [in_graph(quad, with_graph) for quad in delete]
            case _:
                return None
    return kinds(inserted, deleted)


def _named(operation: algebra.UpdateOperation) -> Iterator[algebra.VarOrIri | None]:
    """The graphs that an operation names to write, variables too; None for the default graph."""
    match operation:
        case algebra.InsertData(quads) | algebra.DeleteData(quads):
            yield from (quad.graph for quad in quads)
        case algebra.Modify(delete, insert, _, with_graph):
            yield from (quad.graph or with_graph for quad in (*delete, *insert))
        case algebra.Load(into=graph) | algebra.Create(graph=graph):
            yield graph
        case algebra.Clear(target=target) | algebra.Drop(target=target):
            if isinstance(target, NamedNode):
                yield target
        case algebra.Move(source, destination):
            yield from (source, destination)
        case algebra.Copy(destination=graph) | algebra.Add(destination=graph):
            yield graph


def change(delta: Delta) -> BoundUpdate:
    """A bound update that makes a known change of quads, as far as it is not made already."""
    return UpdatePlan("", (KnownChange(delta),)), {}


class Step(Protocol):
    """One operation of a request."""

    def run(self, working: Working, bindings: Bindings) -> None:
        """Do to `working` what the operation says; bindings are as the store gives terms."""


class Data:
    """INSERT DATA or DELETE DATA."""

    __slots__ = ("_columns", "_deletes", "_template")

    def __init__(self, quads: Sequence[algebra.QuadPattern], *, deletes: bool) -> None:
        self._columns = tuple(variables(quads))
        self._template = QuadTemplate(quads, self._columns)
        self._deletes = deletes

    def run(self, working: Working, bindings: Bindings) -> None:
        """Add or remove the quads."""
        row = tuple(map(bindings.__getitem__, self._columns))
        if self._deletes:
            working.remove(self._template.instantiate((row,)))
        else:
            _insert(working, self._template, (row,))


class GroundStep:
    """INSERT DATA or DELETE DATA of quads in the default graph that are known beforehand."""

    __slots__ = ("_deletes", "_quads")

    def __init__(self, data: GroundData) -> None:
        self._quads = list(map(canonical_quad, data.quads))
        self._deletes = data.deletes

    def run(self, working: Working, bindings: Bindings) -> None:
        """Add or remove the quads."""
        del bindings
        if self._deletes:
            working.remove(self._quads)
        else:
            working.state(self._quads)


class KnownChange:
    """Quads that are known beforehand, removed and added."""

    __slots__ = ("_added", "_removed")

    def __init__(self, delta: Delta) -> None:
        self._added = tuple(map(canonical_quad, delta.added))
        self._removed = tuple(map(canonical_quad, delta.removed))

    def run(self, working: Working, bindings: Bindings) -> None:
        """Remove and add them; graphs that are new are made."""
        del bindings
        working.remove(self._removed)
        working.add(self._added)
        for graph in {quad.graph_name for quad in self._added}:
            working.create_graph(graph)


def _insert(working: Working, template: QuadTemplate, rows: Sequence[Row]) -> None:
    quads = template.instantiate(rows)
    if working.diverted is not None and template.names_graphs:
        quads, streams = working.diverted.take(template, rows, quads)
        working.require_write(*streams)
    working.state(quads)
    if template.names_graphs:
        for graph in {quad.graph_name for quad in quads}:
            working.create_graph(graph)


class Modify:
    """DELETE/INSERT ... WHERE: all solutions first, then all deletions, then all insertions.

    The last `matched` columns of a row are quads that are deleted as they were found.
    """

    __slots__ = ("_delete", "_insert", "_matched", "_where")

    def __init__(
        self, delete: QuadTemplate, insert: QuadTemplate, where: Where, matched: int
    ) -> None:
        self._delete = delete
        self._insert = insert
        self._where = where
        self._matched = matched

    @property
    def has_where(self) -> bool:
        """Whether it looks at anything."""
        return not isinstance(self._where, OneSolution)

    def run(self, working: Working, bindings: Bindings) -> None:
        """Remove and add what the solutions make of the templates."""
        rows = self._where.rows(working.seen, bindings)
        if self._matched:
            found = [quad for row in rows for quad in row[-self._matched :]]
            working.remove_present(dict.fromkeys(found))
        if not self._delete.is_empty:
            working.remove(self._delete.instantiate(rows))
        if not self._insert.is_empty:
            _insert(working, self._insert, rows)


class DeleteMatches:
    """DELETE of what one pattern matches, in one graph: most of what makes readings leave."""

    __slots__ = ("_graph", "_slots")
    has_where = True

    def __init__(self, pattern: algebra.QuadPattern) -> None:
        nodes = (pattern.subject, pattern.predicate, pattern.object)
        self._slots = [_slot(node) for node in nodes]
        self._graph = pattern.graph if isinstance(pattern.graph, NamedNode) else DEFAULT_GRAPH

    @property
    def subject(self) -> str | None:
        """The name of the variable all of whose quads in the default graph it deletes, if so."""
        name = self._slots[0]
        is_whole = all(isinstance(slot, str) for slot in self._slots)
        return name if isinstance(name, str) and is_whole and self._graph == DEFAULT_GRAPH else None

    def run(self, working: Working, bindings: Bindings) -> None:
        """Remove what matches."""
        subject, predicate, object_ = [
            bindings.get(slot) if isinstance(slot, str) else slot for slot in self._slots
        ]
        working.remove_present(working.match(subject, predicate, object_, self._graph))


def _slot(node: algebra.PatternTerm) -> Term | str:
    return node.value if isinstance(node, Variable) else canonical(node)


class Load:
    """LOAD: a document of a host that may be reached, as if it were INSERT DATA."""

    __slots__ = ("_operation",)

    def __init__(self, operation: algebra.Load) -> None:
        self._operation = operation

    def run(self, working: Working, bindings: Bindings) -> None:
        """Add the triples; SILENT is about documents that do not come, not about forbidden ones."""
        del bindings
        graph = _graph_name(self._operation.into)
        working.require_write(graph)
        try:
            quads = working.remote.load(self._operation.source.value, graph)
        except UpdateFailedError:
            if self._operation.silent:
                return
            raise
        working.create_graph(graph)
        working.state(quads)


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
    """COPY, MOVE or ADD as pyoxigraph does: a missing source is empty, only MOVE complains."""
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
    text: str, operation: algebra.UpdateOperation, using: Dataset | None, parameters: Parameters
) -> Step:
    match operation:
        case algebra.InsertData(quads=quads):
            return Data(quads, deletes=False)
        case algebra.DeleteData(quads=quads):
            return Data(quads, deletes=True)
        case algebra.Modify() as modify:
            return _compile_modify(text, modify, using, parameters)
        case algebra.Load():
            return Load(operation)
        case _:
            return ManageGraphs(operation)


def _only_pattern(
    modify: algebra.Modify, joined: JoinedPatterns | None
) -> algebra.QuadPattern | None:
    """The pattern whose matches are deleted, where that is all: each variable once, one graph."""
    if joined is None or modify.insert or joined.constants or joined.equalities:
        return None
    delete = tuple(in_graph(quad, modify.with_graph) for quad in modify.delete)
    if delete != joined.patterns or len(delete) != 1 or isinstance(delete[0].graph, Variable):
        return None
    (pattern,) = delete
    nodes = [pattern.subject, pattern.predicate, pattern.object]
    names = [node for node in nodes if isinstance(node, Variable)]
    return pattern if len(set(names)) == len(names) else None


def _compile_modify(
    text: str, modify: algebra.Modify, using: Dataset | None, parameters: Parameters
) -> Step:
    if using is not None and (modify.using or modify.with_graph):
        raise BadRequestError(
            "the request names its dataset twice",
            "leave out using-graph-uri, or USING and WITH in the text",
        )
    dataset = using or modify.using
    joined = joined_patterns(modify) if dataset is None else None
    only = _only_pattern(modify, joined)
    if only is not None:
        return DeleteMatches(only)
    patterns = () if joined is None else joined.patterns
    delete = [*dict.fromkeys(in_graph(quad, modify.with_graph) for quad in modify.delete)]
    insert = [in_graph(quad, modify.with_graph) for quad in modify.insert]
    matched = {f"{HIDDEN_PREFIX}q{n}": quad for n, quad in enumerate(delete) if quad in patterns}
    delete = [quad for quad in delete if quad not in patterns]
    names = tuple(variables([*delete, *insert]))
    columns = (*names, *matched)

    def query(columns: Sequence[str]) -> QueryWhere:
        return QueryWhere(text, modify, columns, dataset, parameters)

    where: Where
    if joined is not None:
        where = JoinWhere(joined, columns, matched, query)
    elif modify.where.elements:
        where = query(columns)
    else:
        where = OneSolution(columns)
    templates = (QuadTemplate(delete, columns), QuadTemplate(insert, columns))
    return Modify(*templates, where, len(matched))
