"""CTS: the context triple store, quads that joins look up, as Python dictionaries.

Between the units and the store. A look-up in the store costs microseconds, one here a few
tenths of one. A table holds the quads of one predicate in one graph, while a LUTT entry of a live
subscription wants it; it is filled from the store and kept up from each Delta. It is a cache: what
is too big for it, or has no constant predicate and graph, is asked of the store itself.

Changes wait until somebody looks: a table that is changed more often than looked up costs next to
nothing, and when more waits than it holds it is forgotten and filled again at the next look-up.
What the store is asked instead of a table is asked once between two changes.
Source: docs/engine.md, "Terms".
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from typing import TypeVar

from pyoxigraph import BlankNode, NamedNode, Quad

from gateway.engine.dataset import Column, LookUp, Objects, Tables, objects_in
from gateway.engine.lutt import LuttEntry, Run
from gateway.rdf.dataset import Dataset
from gateway.rdf.terms import GraphName, Term
from gateway.store.quad_store import QueryResults
from gateway.store.readable import Source

MOST_QUADS = 50_000
"""Room of a table: some 40 MB. A predicate with more is looked up in the store."""

MOST_ASKED = 1_024
"""Subjects of a predicate of which the store's answer is kept until the next change."""

_AS_LOOK_UP, _AS_ROW = 16, 3
"""Quads that are put into an index in the time of a look-up in the store, and of each of its rows.
"""

_FEWEST_INDEXED = 1_000
"""A smaller table is asked as often as one of this size before it has an index."""

_FEWEST_LATE = 1_000
"""Changes that may wait at any rate."""

Place = tuple[Term, GraphName]
Index = dict[Term, dict[Term, Quad]]
"""By one end and then the other: with predicate and graph of the table these say which quad it is.

The hash of a term takes a third of that of a quad.
"""
Key = TypeVar("Key")

_NO_OBJECTS: Mapping[Term, Quad] = {}


class Cts(Tables):
    """A dataset with the tables that are wanted in front of it.

    Terms of a look-up are as the store gives them (`rdf.canonical`). Not for several threads.
    """

    def __init__(self, store: Source) -> None:
        self._store = store
        self._wanted: Counter[Place] = Counter()
        self._tables: dict[Place, _Table] = {}
        self._asked: dict[Place, Objects] = {}

    def __len__(self) -> int:
        """The quads in all tables."""
        return sum(len(table) for table in self._tables.values())

    def size(self, entry: LuttEntry) -> int:
        """The quads in the table that serves an entry; 0 where the store does."""
        table = self._tables.get((entry.predicate, entry.graph))  # type: ignore[arg-type]
        return len(table) if table is not None and table.is_current() else 0

    def hold(self, entries: Iterable[LuttEntry]) -> None:
        """Keep tables for these entries, filled now; linear in their quads."""
        for place in _places(entries):
            self._wanted[place] += 1
            if place not in self._tables:
                self._tables[place] = table = _Table(self._store, place)
                table.refresh()

    def release(self, entries: Iterable[LuttEntry]) -> None:
        """The reverse of `hold`."""
        for place in _places(entries):
            self._wanted[place] -= 1
            if not self._wanted[place]:
                del self._wanted[place]
                self._tables.pop(place).leave()

    def apply(self, changed: Iterable[Run]) -> None:
        """Take up what the store already has."""
        self._asked.clear()
        tables = self._tables
        if tables:
            for run in changed:
                table = tables.get((run.predicate, run.graph))
                if table is not None:
                    table.note(run)

    def look_up(self, predicate: Term, graph: GraphName) -> LookUp:
        """The quads of one predicate and graph, until the next change."""
        table = self._tables.get((predicate, graph))
        if table is not None and table.is_current():
            return table.match
        match = self._store.match
        return lambda subject, object_: match(subject, predicate, object_, graph)

    def objects(self, predicate: Term, graph: GraphName) -> Objects:
        """What subjects have with one predicate in one graph, until the next change."""
        table = self._tables.get((predicate, graph))
        if table is not None:
            return table.held if table.is_current() else table.objects
        look = self._asked.get((predicate, graph))
        if look is None:
            look = _asked_once(objects_in(self._store, predicate, graph))
            self._asked[predicate, graph] = look
        return look

    def column(self, predicate: Term, graph: GraphName) -> Column:
        """What subjects have with one predicate in one graph, now and later."""
        table = self._tables.get((predicate, graph))
        if table is None:
            table = _Table(self._store, (predicate, graph))
            table.leave()
        return table

    def __bool__(self) -> bool:
        return bool(self._tables)

    def cached_match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad] | None:
        """The quads of a pattern from its table; None where there is none that is current."""
        table = self._tables.get((predicate, graph))  # type: ignore[arg-type]
        return None if table is None or not table.is_current() else table.match(subject, object_)

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; None is a wildcard."""
        table = self._tables.get((predicate, graph))  # type: ignore[arg-type]
        if table is None or not table.is_current():
            return self._store.match(subject, predicate, object_, graph)
        return table.match(subject, object_)

    def query(self, text: str, dataset: Dataset | None = None) -> QueryResults:
        """Evaluate a query in the store."""
        return self._store.query(text, dataset)

    def contains_graph(self, graph: NamedNode | BlankNode) -> bool:
        """Whether the named graph exists, be it empty."""
        return self._store.contains_graph(graph)


def _asked_once(ask: Objects) -> Objects:
    """The same answers; of a subject that changed a dozen units want the types, say."""
    known: dict[Term, Collection[Term]] = {}
    return lambda subject: _known(subject, known, ask)


def _known(subject: Term, known: dict[Term, Collection[Term]], ask: Objects) -> Collection[Term]:
    found = known.get(subject)
    if found is None:
        if len(known) >= MOST_ASKED:
            known.clear()
        found = known[subject] = ask(subject)
    return found


class _Table:
    """The quads of one predicate and graph, by subject, and by object once many are looked up.

    Of one that is too big the store is asked, of a subject once until its quads change.
    """

    __slots__ = (
        "_answers",
        "_asked_for",
        "_by_object",
        "_by_subject",
        "_is_filled",
        "_is_left",
        "_late",
        "_late_quads",
        "_place",
        "_size",
        "_store",
        "_too_big",
        "look",
    )

    def __init__(self, store: Source, place: Place) -> None:
        self._store = store
        self._place = place
        self._size = 0
        self._is_filled = False
        self._by_subject: Index = {}
        self._by_object: Index | None = None
        self._asked_for = 0
        self._late: list[Run] = []
        self._late_quads = 0
        self._too_big = False
        self._is_left = False
        self._answers: dict[Term, Collection[Term]] = {}
        self.look: Callable[[Term], Collection[Term] | None] | None = None

    def __len__(self) -> int:
        return self._size

    def note(self, run: Run) -> None:
        """Take note of quads that are there now, or gone."""
        if self._is_filled:
            self.look = None
            self._late.append(run)
            self._late_quads = late = self._late_quads + len(run.quads)
            if late > _FEWEST_LATE and late > self._size:
                self._forget()
        elif self._answers:
            self._answers.clear()

    def leave(self) -> None:
        """Keep nothing any more, since nobody says what changes: who still asks, asks the store."""
        self._forget()
        self._answers.clear()
        self._is_left = True

    def is_current(self) -> bool:
        """Whether it can be asked: brought up to date if need be, not if it is too big."""
        if self._late:
            self._catch_up()
        elif not self._is_filled and not self._too_big:
            self.refresh()
        return self._is_filled

    def match(self, subject: Term | None, object_: Term | None) -> Iterable[Quad]:
        """The quads with these ends; only when it is current."""
        if subject is not None:
            found = self._by_subject.get(subject)
            if found is None:
                return ()
            if object_ is None:
                return found.values()
            quad = found.get(object_)
            return () if quad is None else (quad,)
        if object_ is not None:
            return self._to(object_)
        return [quad for quads in self._by_subject.values() for quad in quads.values()]

    def held(self, subject: Term) -> Collection[Term]:
        """The objects of a subject; only when it is current."""
        return self._by_subject.get(subject, _NO_OBJECTS)

    def objects(self, subject: Term) -> Collection[Term]:
        """The objects of a subject now, from the table or from the store."""
        if self._is_left:
            return self._from_store(subject)
        if self.is_current():
            self.look = self._by_subject.get
            return self._by_subject.get(subject, _NO_OBJECTS)
        return _known(subject, self._answers, self._from_store)

    def _from_store(self, subject: Term) -> Collection[Term]:
        predicate, graph = self._place
        return [quad.object for quad in self._store.match(subject, predicate, None, graph)]

    def _to(self, object_: Term) -> Iterable[Quad]:
        """The quads with an object: the store's, until asking it has cost as much as an index."""
        index = self._by_object
        if index is None:
            if self._asked_for < max(self._size, _FEWEST_INDEXED):
                predicate, graph = self._place
                asked = list(self._store.match(None, predicate, object_, graph))
                self._asked_for += _AS_LOOK_UP + _AS_ROW * len(asked)
                return asked
            index = self._by_object = self._indexed()
        found = index.get(object_)
        return () if found is None else found.values()

    def _indexed(self) -> Index:
        index: Index = {}
        for subject, quads in self._by_subject.items():
            for object_, quad in quads.items():
                index.setdefault(object_, {})[subject] = quad
        return index

    def refresh(self) -> None:
        """Fill it from the store, if it is not too big for that."""
        predicate, graph = self._place
        quads = list(islice(self._store.match(None, predicate, None, graph), MOST_QUADS + 1))
        if len(quads) > MOST_QUADS:
            self._too_big = True
            return
        self._is_filled = True
        for quad in quads:
            self._insert(quad.subject, quad.object, quad)

    def _catch_up(self) -> None:
        late, self._late, self._late_quads = self._late, [], 0
        for run in late:
            ends = zip(run.subjects, run.objects, run.quads, strict=True)
            if run.is_added:
                for subject, object_, quad in ends:
                    self._insert(subject, object_, quad)
            else:
                for subject, object_, _ in ends:
                    self._drop(subject, object_)

    def _insert(self, subject: Term, object_: Term, quad: Quad) -> None:
        found = self._by_subject.get(subject)
        if found is None:
            self._by_subject[subject] = {object_: quad}
        elif object_ in found:
            return
        else:
            found[object_] = quad
        if self._by_object is not None:
            self._by_object.setdefault(object_, {})[subject] = quad
        self._size += 1

    def _drop(self, subject: Term, object_: Term) -> None:
        found = self._by_subject.get(subject)
        if found is None or object_ not in found:
            return
        _leave_out(self._by_subject, subject, object_)
        if self._by_object is not None:
            _leave_out(self._by_object, object_, subject)
        self._size -= 1

    def _forget(self) -> None:
        self.look = None
        self._by_subject, self._by_object, self._late = {}, None, []
        self._size = self._late_quads = 0
        self._is_filled = False


def _leave_out(index: Index, one: Term, other: Term) -> None:
    if len(index[one]) == 1:
        del index[one]
    else:
        del index[one][other]


def _places(entries: Iterable[LuttEntry]) -> set[Place]:
    return {
        (entry.predicate, entry.graph)
        for entry in entries
        if entry.predicate is not None and entry.graph is not None
    }
