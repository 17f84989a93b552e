"""`QuadStore`: pyoxigraph's store with one way to change it, a `Delta` applied atomically.

On disk each Delta is one RocksDB transaction: kill -9 leaves all of it or nothing. A commit is
not fsynced, so a power cut may lose the last ones; for observations the journal makes up for
that (docs/engine.md). Readers in other threads see whole Deltas only; `writing` is held while
one is made.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import RLock, get_ident
from typing import Never, Self
from weakref import ref

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

from gateway.errors import StorageError
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.geometry import GEOMETRY
from gateway.rdf.terms import GraphName, Term
from gateway.sparql.order.total_order import with_total_order
from gateway.store.bundles.bundle import Bundle
from gateway.store.bundles.flushed import Flushed
from gateway.store.clock import Clock, with_clock
from gateway.store.delta_text import Functions
from gateway.store.disk.commit import commit, take_back, update_text
from gateway.store.disk.outage import Outage
from gateway.store.disk.stored import unopened
from gateway.store.disk.upkeep import Folder, Home, Memory, copy
from gateway.store.faults import fault
from gateway.store.known_subjects import KnownSubjects
from gateway.store.pending import Pending, without
from gateway.store.quad_cache import QuadCache
from gateway.store.remote import Remote

log = logging.getLogger(__name__)

QueryResults = QuerySolutions | QueryBoolean | QueryTriples


class QuadStore:
    """The dataset: a default graph and named graphs, in memory or in a folder.

    `changes` counts those that were made, deferred ones too.

    >>> store = QuadStore.open(None)
    >>> quad = Quad(NamedNode("urn:a"), NamedNode("urn:p"), Literal("1"))
    >>> store.apply(Delta(added=(quad,)))
    >>> quad in store
    True
    """

    def __init__(self, store: Store, home: Home | None = None) -> None:
        """Without a home, `store` is one in memory."""
        self.writing = RLock()
        self.clock = Clock()
        self.remote = Remote()
        self._home = home or Memory(store)
        self._store = store
        self._pending = Pending()
        self._flushed = Flushed()
        self._subjects = KnownSubjects()
        self._absent = self._subjects.absent
        self._graphs: set[NamedNode | BlankNode] = set()
        self._scattered: set[NamedNode | None] = set()
        self._asking: set[int] = set()
        self._cache: Callable[[], QuadCache | None] = lambda: None
        self._unmarked = 0
        self._outage: Outage | None = None
        self.changes = 0

    @classmethod
    def open(cls, path: Path | None) -> Self:
        """Open the folder `path`, made if missing, or an empty store in memory.

        Raises StorageError where another process holds the folder or it cannot be read.
        """
        try:
            home = Memory(Store()) if path is None else Folder(path)
            return cls(home.store, home)
        except (OSError, RuntimeError) as error:  # as RocksDB has it, damage is of the latter
            raise unopened(path or Path(), error) from error

    def __contains__(self, quad: Quad) -> bool:
        pending = self._pending
        if pending.bundles:
            pending.expose(quad.subject)
        if quad in pending.added:
            return True
        if quad in pending.removed:
            return False
        if self._home.is_lasting:
            return self._subjects.has(quad, self._store)
        return quad in self._store

    def expect_new(self, prefix: NamedNode) -> None:
        """Expect new subjects whose IRIs begin with `prefix`; linear in the store, once.

        Without it the disk is asked about each; the answers are the same.
        """
        with self.writing:
            self._write_pending()
            if self._home.is_lasting:
                self._subjects.expect_new(prefix, self._store)
                self._pending = Pending(prefix.value)

    def missing(self, quads: Sequence[Quad]) -> list[Quad]:
        """The quads that are not here: what `in` says of each, faster."""
        pending = self._pending
        if pending:
            for quad in quads if pending.bundles else ():
                pending.expose(quad.subject)
            added, removed = pending.added, pending.removed
            if removed and not removed.keys().isdisjoint(quads):
                return [quad for quad in quads if quad not in self]
            quads = [quad for quad in quads if quad not in added]
        store = self._store
        if self._home.is_lasting:
            has = self._subjects.has
            return [quad for quad in quads if not has(quad, store)]
        return [quad for quad in quads if quad not in store]

    def __len__(self) -> int:
        return len(self._store) + len(self._pending) - 2 * len(self._pending.removed)

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> list[Quad]:
        """The quads of a pattern; None is a wildcard, for the graph also over the default one."""
        if isinstance(subject, Literal) or not isinstance(predicate, _PREDICATE):
            return []
        pending = self._pending
        if pending.bundles and (graph is None or isinstance(graph, DefaultGraph)):
            pending.expose(subject, predicate)
        if self._absent and subject in self._absent:
            return pending.index.match(subject, predicate, object_, graph)
        found = self._stored(subject, predicate, object_, graph)
        if pending.removed:
            found = without(found, pending.removed)
        if pending.added:
            found += pending.index.match(subject, predicate, object_, graph)
        return found

    def each(self, graph: GraphName) -> Iterator[Quad]:
        """The quads of a graph one by one, for who keeps none; nothing may change meanwhile."""
        self._pending.expose(None)
        removed = self._pending.removed
        for quad in self._store.quads_for_pattern(None, None, None, graph):
            if quad not in removed:
                yield quad
        yield from self._pending.index.match(None, None, None, graph)

    def is_unwritten(self, iri: str) -> bool:
        """Whether it is sure, without a look at the disk, that nothing has this subject."""
        subjects = self._subjects.namespace
        return not self._pending.is_written(iri) and subjects.is_new_iri(iri)

    def bundle(self, iri: str) -> Bundle | None:
        """The quads about an IRI and others, which came as one and are still as they came."""
        return self._pending.bundles.get(iri) or self._flushed.get(iri)

    def look_up(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """What `match` gives, from the cache where it has it; terms are canonical."""
        cache = self._cache()
        if cache is not None and not self._unmarked:
            found = cache.cached_match(subject, predicate, object_, graph)
            if found is not None:
                return found
        return self.match(subject, predicate, object_, graph)

    def attach_cache(self, cache: QuadCache) -> None:
        """Look up there from now on, while each change is followed by `mark_current`."""
        self._cache = ref(cache)

    def mark_current(self, cache: QuadCache) -> None:
        """Note that the cache has taken up the last change; one that it misses disables it."""
        if self._unmarked and cache is self._cache():
            self._unmarked -= 1

    def _stored(
        self,
        subject: NamedNode | BlankNode | Triple | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> list[Quad]:
        """Look up what Oxigraph has.

        To name the default graph there costs as much as the look-up, so where a pattern selects,
        all graphs are asked, but for predicates that were found in many others.
        """
        quads_for_pattern = self._store.quads_for_pattern
        selects = subject is not None or object_ is not None
        if selects and isinstance(graph, DefaultGraph) and predicate not in self._scattered:
            everywhere = list(quads_for_pattern(subject, predicate, object_))
            found = [quad for quad in everywhere if quad.graph_name == graph]
            if len(everywhere) > len(found) + MOST_ELSEWHERE:
                self._scattered.add(predicate)
            return found
        return list(quads_for_pattern(subject, predicate, object_, graph))

    def contains_graph(self, graph: NamedNode | BlankNode) -> bool:
        """Whether the named graph exists, be it empty."""
        if graph in self._graphs:
            return True
        there = self._store.contains_named_graph(graph)
        if there and len(self._graphs) < _MOST_GRAPHS:
            self._graphs.add(graph)
        return there

    def named_graphs(self) -> list[NamedNode | BlankNode]:
        """All named graphs, empty ones too."""
        return list(self._store.named_graphs())

    def query(
        self,
        text: str,
        dataset: Dataset | None = None,
        with_graph: NamedNode | None = None,
    ) -> QueryResults:
        """Evaluate a query on a snapshot; without a dataset, on what the text chooses.

        `with_graph` is that of an UPDATE's WITH: the default graph, where nothing chooses.
        Its clock is `clock`, at one value for the whole query.
        """
        self._asking.add(get_ident())  # before `flush`, which waits for one that goes on
        try:
            self._write_pending()
            return self._store.query(
                with_clock(with_total_order(text)),
                default_graph=with_graph if dataset is None else list(dataset.default_graphs),
                named_graphs=None if dataset is None else list(dataset.named_graphs),
                custom_functions={**GEOMETRY, **self.clock.functions()},
            )
        except (SyntaxError, RuntimeError, ValueError, OSError) as error:
            raise fault("query", error) from error
        finally:
            self._asking.discard(get_ident())

    def defer(self, delta: Delta) -> None:
        """Make the change, on disk with the next `flush`; only for what the journal can repeat.

        Readers see it at once. Raises StorageError like `apply`, when there is too much to defer.
        """
        if delta.graphs_created or delta.graphs_dropped:
            self._write(delta)
            return
        with self.writing:
            if len(self._pending) > self._home.most_pending:
                self._write_pending()
            self._flushed.forget(delta)
            self._pending.apply(delta)
            self.changes += 1
            self._unmarked += bool(self._cache())

    @property
    def is_pending(self) -> bool:
        """Whether the disk lacks something that readers see, or has refused to be written."""
        return self._outage is not None or (self._home.is_lasting and len(self._pending) > 0)

    @property
    def alarm(self) -> str:
        """Why nothing can be written, "" is all right."""
        outage = self._outage
        return "" if outage is None else str(outage.error())

    def flush(self) -> None:
        """Bring deferred changes to Oxigraph; end an outage, if the disk has room by now.

        Raises StorageError.
        """
        with self.writing:
            if self._outage is not None:
                self._end_outage(self._outage)
            self._write_pending()

    def rest(self) -> None:
        """Hand to the disk's files what nobody has added to since the last call."""
        with self.writing:
            if self._outage is None:
                self._home.rest()

    def _write_pending(self) -> None:
        """One transaction of what was deferred. Raises StorageError."""
        if not self._pending:
            return
        with self.writing:
            pending = self._pending
            self._apply(pending.delta())
            self._flushed.take(pending.each_bundle())
            self._pending = Pending(pending.namespace)

    def apply(self, delta: Delta) -> None:
        """Make the change, all or nothing. Raises StorageError and leaves the store as it was.

        In memory there is nothing to lose: it waits for the next query to be written.
        """
        (self._write if self._home.is_lasting else self.defer)(delta)

    def _write(self, delta: Delta) -> None:
        with self.writing:
            self._write_pending()
            self._flushed.forget(delta)
            self._apply(delta)
            self.changes += 1
            self._unmarked += bool(self._cache())

    def _apply(self, delta: Delta) -> None:
        """Commit; what is refused is tried once more, since there may be room by now."""
        self._subjects.forget()
        if self._outage is not None:
            self._end_outage(self._outage)
        refused = self._refused(delta)
        if refused is not None:
            self._open_again(refused)
            refused = self._refused(delta)
        if refused is not None:
            raise refused.error()
        self._subjects.learn(delta)
        if delta.graphs_dropped:
            self._graphs.clear()
        self._home.keep_up(delta)
        self._store = self._home.store

    def _refused(self, delta: Delta) -> Outage | None:
        """Write one transaction; where the disk refuses it, an outage has begun."""
        is_alone = not self._home.is_lasting and self._asking <= {get_ident()}
        try:
            commit(self._store, delta, is_alone=is_alone)
        except (OSError, RuntimeError) as error:
            self._outage = Outage(delta, str(error))
        return self._outage

    def _end_outage(self, outage: Outage) -> None:
        """Open the store again, unless that was tried just now. Raises StorageError."""
        if not outage.is_worth_a_try:
            raise outage.error()
        self._open_again(outage)

    def _open_again(self, outage: Outage) -> None:
        try:
            self._home.renew(lambda fresh: take_back(fresh, outage.delta))
        except (OSError, RuntimeError) as error:
            outage.goes_on(str(error))
            raise outage.error() from error
        self._store = self._home.store
        self._outage = None
        log.warning("store_opened_again", extra={"reason": outage.reason})

    def load(self, quads: Iterable[Quad], graphs: Iterable[NamedNode | BlankNode]) -> None:
        """Take up quads and graphs that are not here, all at once; for a store in memory."""
        self._store.bulk_extend(quads)
        for graph in graphs:
            self._store.add_graph(graph)

    def update_text(self, delta: Delta) -> tuple[str, Functions]:
        """SPARQL Update text that makes this change here, with the functions that it calls."""
        return update_text(self._store, delta)

    def rehearse(self, text: str, functions: Functions) -> None:
        """Evaluate an update in a transaction that is always rolled back; `clock` is its clock.

        The caller has put `with_clock` around what may call NOW().
        """
        self._write_pending()
        try:
            self._store.update(
                f"{text} ;\nCLEAR GRAPH <{_NEVER}>",
                custom_functions={**GEOMETRY, **self.clock.functions(), **functions},
            )
        except (SyntaxError, RuntimeError, OSError) as error:
            if _NEVER not in str(error):
                raise fault("update", error) from error

    def copy_to(self, folder: Path) -> int:
        """A copy in a new folder, which another process can open; which of `changes` it has.

        On disk a checkpoint, hard links but for what was not flushed; in memory linear. Updates go
        on meanwhile. Raises StorageError.
        """
        try:
            if not self._home.is_lasting:
                return self._copied(folder)
            try:
                return self._copied(folder)
            except OSError as error:  # nor can RocksDB make another one, until it is opened again
                with self.writing:
                    self._open_again(self._outage or Outage(Delta(), str(error)))
            return self._copied(folder)
        except (OSError, RuntimeError) as error:
            raise StorageError(
                f"the store cannot be copied: {error}", "check the disk's free space and health"
            ) from error

    def _copied(self, folder: Path) -> int:
        with self.writing:
            self._write_pending()
            changes, store = self.changes, self._store
        if self._home.is_lasting:
            store.backup(str(folder))
        else:
            written = Store(str(folder))
            copy(store, written)
            written.flush()
        return changes

    def close(self) -> None:
        """Hand everything to the disk and let go of it; closing again is nothing.

        Another may open the folder at once. Raises StorageError; then it is still open.
        """
        with self.writing:
            if "_store" in self.__dict__:
                self.flush()
                try:
                    self._home.close()
                except (OSError, RuntimeError) as error:
                    self._outage = Outage(Delta(), str(error))
                    raise self._outage.error() from error
                self.remote.documents.close()
                del self._store

    def __getattr__(self, name: str) -> Never:
        """Only `close` takes something away."""
        if name == "_store":
            raise StorageError("the store is closed", "open it again")
        raise AttributeError(name)


_PREDICATE = (NamedNode, type(None))

_MOST_GRAPHS = 10_000
"""Named graphs that are remembered to exist, until one is dropped."""

MOST_ELSEWHERE = 16
"""Quads of other graphs that a look-up in the default graph may pass over."""

_NEVER = "https://sosa-gateway.example/ns#a-graph-that-never-exists"
