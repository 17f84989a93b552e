"""`QuadStore`: pyoxigraph's store with one way to change it, a `Delta` applied atomically.

On disk each Delta is one RocksDB transaction: kill -9 leaves all of it or nothing. A commit is
not fsynced, so a power cut may lose the last ones; for observations the journal makes up for
that (engine.md, section 3a). Readers in other threads see whole Deltas only.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolutions,
    QueryTriples,
    Store,
    Triple,
)

from gateway.errors import SparqlSyntaxError, StorageError, UpdateFailedError
from gateway.rdf.delta import Delta
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.store.upkeep import REMOVALS, Flusher, rewritten

QueryResults = QuerySolutions | QueryBoolean | QueryTriples
Functions = dict[NamedNode, Callable[..., Term | None]]

_TERM_OF = NamedNode("https://sosa-gateway.example/ns#internal-term")


class QuadStore:
    """The dataset: a default graph and named graphs, in memory or in a folder.

    >>> store = QuadStore.open(None)
    >>> quad = Quad(NamedNode("urn:a"), NamedNode("urn:p"), Literal("1"))
    >>> store.apply(Delta(added=(quad,)))
    >>> quad in store
    True
    """

    def __init__(self, store: Store, *, on_disk: bool = False) -> None:
        self._store = store
        self._flusher = Flusher(store) if on_disk else None
        self._removals = 0
        self._due = REMOVALS

    @classmethod
    def open(cls, path: Path | None) -> Self:
        """Open the folder `path`, made if missing, or an empty store in memory.

        Raises StorageError where another process holds the folder or it cannot be read.
        """
        if path is None:
            return cls(Store())
        try:
            path.mkdir(parents=True, exist_ok=True)
            return cls(Store(str(path)), on_disk=True)
        except OSError as error:
            raise StorageError(
                f"the store in {path} does not open: {error}",
                "another gateway may be running on it, or the disk is full or read-only",
            ) from error

    def __contains__(self, quad: Quad) -> bool:
        return quad in self._store

    def __len__(self) -> int:
        return len(self._store)

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; None is a wildcard, for the graph also over the default one."""
        if isinstance(subject, Literal) or not isinstance(predicate, NamedNode | None):
            return ()
        return self._store.quads_for_pattern(subject, predicate, object_, graph)

    def contains_graph(self, graph: NamedNode | BlankNode) -> bool:
        """Whether the named graph exists, be it empty."""
        return self._store.contains_named_graph(graph)

    def named_graphs(self) -> list[NamedNode | BlankNode]:
        """All named graphs, empty ones too."""
        return list(self._store.named_graphs())

    def query(
        self,
        text: str,
        default_graphs: Sequence[GraphName] | None = None,
        named_graphs: Sequence[NamedNode | BlankNode] | None = None,
        functions: Functions | None = None,
    ) -> QueryResults:
        """Evaluate a query on a snapshot; None leaves that part of the dataset to the text."""
        try:
            return self._store.query(
                text,
                default_graph=None if default_graphs is None else list(default_graphs),
                named_graphs=None if named_graphs is None else list(named_graphs),
                custom_functions=functions,
            )
        except SyntaxError as error:
            raise SparqlSyntaxError(str(error)) from error
        except (RuntimeError, ValueError) as error:
            raise UpdateFailedError(f"the query failed: {error}") from error

    def apply(self, delta: Delta) -> None:
        """Make the change, all or nothing. Raises StorageError and leaves the store as it was."""
        try:
            if delta.removed or delta.graphs_created or delta.graphs_dropped:
                text, functions = self.update_text(delta)
                self._store.update(text, custom_functions=functions)
            else:
                self._store.extend(delta.added)
        except (OSError, RuntimeError) as error:
            raise StorageError(
                f"the store cannot be written: {error}", "check the disk's free space and health"
            ) from error
        self._keep_up(len(delta.removed))

    def update_text(self, delta: Delta) -> tuple[str, Functions]:
        """SPARQL Update text that makes this change here, with the functions that it calls.

        Linear in the change, but where a graph named by a blank node is dropped: no text can say
        that, so then all named graphs are dropped and what stays of them is put back.
        """
        if all(_named(graph) for graph in delta.graphs_dropped):
            return _update_text(delta)
        text, functions = _update_text(self._once_named_are_dropped(delta))
        return f"DROP NAMED ;\n{text}" if text else "DROP NAMED", functions

    def _once_named_are_dropped(self, delta: Delta) -> Delta:
        removed, dropped = set(delta.removed), set(delta.graphs_dropped)
        kept = tuple(
            quad
            for quad in self._store
            if not isinstance(quad.graph_name, DefaultGraph) and quad not in removed
        )
        in_default = (q for q in delta.removed if isinstance(q.graph_name, DefaultGraph))
        graphs = tuple(graph for graph in self._store.named_graphs() if graph not in dropped)
        return Delta(kept + delta.added, tuple(in_default), graphs + delta.graphs_created)

    def rehearse(self, text: str, functions: Functions) -> None:
        """Evaluate an update in a transaction that is always rolled back."""
        try:
            self._store.update(f"{text} ;\nCLEAR GRAPH <{_NEVER}>", custom_functions=functions)
        except SyntaxError as error:
            raise SparqlSyntaxError(str(error)) from error
        except RuntimeError as error:
            if _NEVER not in str(error):
                raise UpdateFailedError(f"the update failed: {error}") from error

    def close(self) -> None:
        """Hand everything to the disk."""
        if self._flusher is not None:
            self._flusher.close()

    def _keep_up(self, removals: int) -> None:
        """Forget the past when there is more of it than of the present."""
        self._removals += removals
        if self._removals < self._due:
            return
        self._removals = 0
        if self._flusher is not None:
            self._flusher.flush_soon()
        else:
            self._store = rewritten(self._store)
            self._due = max(REMOVALS, len(self._store))


_NEVER = "https://sosa-gateway.example/ns#a-graph-that-never-exists"


def _update_text(delta: Delta) -> tuple[str, Functions]:
    """The text of a change that drops no graph named by a blank node.

    DELETE DATA refuses blank nodes and INSERT DATA renames them, so quads with blank nodes are
    handed over as values of a function, which keeps the store's identity of the node.
    """
    plain_removed, special_removed = _by_text(delta.removed)
    plain_added, special_added = _by_text(delta.added)
    holders = [_holder(graph) for graph in delta.graphs_created if not _named(graph)]
    operations = [f"DROP SILENT GRAPH {graph}" for graph in delta.graphs_dropped]
    if plain_removed:
        operations.append(f"DELETE DATA {{ {' '.join(plain_removed)} }}")
    if special_removed:
        operations.append(_function_text("DELETE", special_removed, 0))
    operations += [
        f"CREATE SILENT GRAPH {graph}" for graph in delta.graphs_created if _named(graph)
    ]
    if holders:
        operations += [
            _function_text(verb, holders, len(special_removed)) for verb in ("INSERT", "DELETE")
        ]
    if plain_added:
        operations.append(f"INSERT DATA {{ {' '.join(plain_added)} }}")
    if special_added:
        first = len(special_removed) + len(holders)
        operations.append(_function_text("INSERT", special_added, first))
    functions: Functions = {}
    if special := special_removed + holders + special_added:
        terms = [_positions(quad) for quad in special]
        functions[_TERM_OF] = lambda row, column: terms[int(row.value)][int(column.value)]
    return " ;\n".join(operations), functions


def _holder(graph: NamedNode | BlankNode) -> Quad:
    """A quad that, put in and taken out again, creates a graph that CREATE cannot name."""
    return Quad(_TERM_OF, _TERM_OF, _TERM_OF, graph)


def _named(graph: NamedNode | BlankNode) -> bool:
    return isinstance(graph, NamedNode)


def _has_blank(term: Term | GraphName) -> bool:
    if isinstance(term, Triple):
        return _has_blank(term.subject) or _has_blank(term.object)
    return isinstance(term, BlankNode)


def _by_text(quads: Iterable[Quad]) -> tuple[list[str], list[Quad]]:
    """Quads that SPARQL text can say, as text, and those with blank nodes."""
    plain: list[str] = []
    special: list[Quad] = []
    for quad in quads:
        graph = quad.graph_name
        text = str(quad)
        if "_:" in text and (
            _has_blank(quad.subject) or _has_blank(quad.object) or _has_blank(graph)
        ):
            special.append(quad)
        elif graph == DEFAULT_GRAPH:
            plain.append(f"{text} .")
        else:
            plain.append(f"GRAPH {graph} {{ {quad.triple} }}")
    return plain, special


def _positions(quad: Quad) -> tuple[Term, ...]:
    """The terms by column; the default graph has none, and is never asked for."""
    graph = quad.graph_name
    terms = (quad.subject, quad.predicate, quad.object)
    return terms if isinstance(graph, DefaultGraph) else (*terms, graph)


def _function_text(verb: str, quads: Sequence[Quad], first: int) -> str:
    """One operation over rows `first`...: in a named graph and in the default graph apart."""
    operations = []
    for named in (False, True):
        rows = [
            str(first + index)
            for index, quad in enumerate(quads)
            if isinstance(quad.graph_name, DefaultGraph) is not named
        ]
        if rows:
            template = "GRAPH ?g { ?s ?p ?o }" if named else "?s ?p ?o"
            variables = "spog" if named else "spo"
            binds = " ".join(
                f"BIND({_TERM_OF}(?row, {column}) AS ?{name})"
                for column, name in enumerate(variables)
            )
            operations.append(
                f"{verb} {{ {template} }} WHERE {{ VALUES ?row {{ {' '.join(rows)} }} {binds} }}"
            )
    return " ;\n".join(operations)
