"""LUTT: look-up triples tables, one index over those of all SPUs.

An entry is a quad pattern with wildcards. The paper scans every SPU's table for each changed
triple; here a changed quad is looked up once per combination of constants in use, so
the cost does not grow with the number of SPUs. What a table lets through goes into the ARTQ of
its SPU: the added and the removed quads that may concern it.

An UPDATE mostly changes many quads of one predicate: they are looked at as one `Run`, and what is
read of its quads is read once for all who look at them. Source: Roffia et al., "A Semantic
Publish-Subscribe Architecture for the Internet of Things", 2016, section III.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, repeat
from operator import attrgetter
from typing import Generic, TypeVar

from pyoxigraph import NamedNode, Quad

from gateway.rdf.delta import Delta
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.store.bundles.bundle import Bundle
from gateway.store.bundles.reading_delta import ReadingDelta
from gateway.store.bundles.shape import Shape
from gateway.store.readable import Source

Owner = TypeVar("Owner")
Key = tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class LuttEntry:
    """A pattern; None is a wildcard. A wildcard graph stands for every graph."""

    subject: Term | None = None
    predicate: Term | None = None
    object: Term | None = None
    graph: GraphName | None = None


EVERYTHING = LuttEntry()


class Run:
    """Quads of one predicate and graph, one after the other on one side of a Delta."""

    __slots__ = (
        "_by_subject",
        "_objects",
        "_parts",
        "_subjects",
        "graph",
        "is_added",
        "predicate",
        "quads",
    )

    def __init__(
        self,
        predicate: NamedNode,
        graph: GraphName,
        quads: Sequence[Quad],
        *,
        is_added: bool,
        ends: tuple[Sequence[Term] | None, Sequence[Term] | None] = (None, None),
    ) -> None:
        """`ends` are subjects and objects, where they are known."""
        self.predicate = predicate
        self.graph = graph
        self.quads = quads
        self.is_added = is_added
        self._subjects, self._objects = ends
        self._by_subject: Mapping[Term, Mapping[Term, None]] | None = None
        self._parts: dict[tuple[int, ...], Run] | None = None

    @property
    def subjects(self) -> Sequence[Term]:
        """The subject of each quad; each read makes new objects, hence once."""
        found = self._subjects
        if found is None:
            found = self._subjects = [quad.subject for quad in self.quads]
        return found

    @property
    def objects(self) -> Sequence[Term]:
        """The object of each quad."""
        found = self._objects
        if found is None:
            found = self._objects = [quad.object for quad in self.quads]
        return found

    @property
    def by_subject(self) -> Mapping[Term, Mapping[Term, None]]:
        """The objects of each subject."""
        found = self._by_subject
        if found is None:
            made: dict[Term, dict[Term, None]] = {}
            for subject, object_ in zip(self.subjects, self.objects, strict=True):
                its = made.get(subject)
                if its is None:
                    made[subject] = {object_: None}
                else:
                    its[object_] = None
            found = self._by_subject = made
        return found

    def some(self, quads: Sequence[Quad]) -> "Run":
        """A run of these of its quads alone."""
        return Run(self.predicate, self.graph, quads, is_added=self.is_added)

    def part(self, places: tuple[int, ...]) -> "Run":
        """The run of the quads in these places, in order: the same one for all who ask."""
        if len(places) == len(self.quads):
            return self
        parts = self._parts
        if parts is None:
            parts = self._parts = {}
        found = parts.get(places)
        if found is None:
            quads, subjects, objects = self.quads, self.subjects, self.objects
            ends = [subjects[at] for at in places], [objects[at] for at in places]
            own = [quads[at] for at in places]
            found = Run(self.predicate, self.graph, own, is_added=self.is_added, ends=ends)
            parts[places] = found
        return found


_RUN_OF = attrgetter("predicate", "graph_name")


def runs(
    delta: Delta,
    predicates: Container[Term | None] | None = None,
    graphs: Container[GraphName] = (),
) -> list[Run]:
    """The quads of a Delta in its order, removed ones first.

    Where `predicates` are given, those that have one of them, or stand in one of `graphs`.
    """
    sides: Sequence[tuple[bool, Iterable[Quad]]] = ((False, delta.removed), (True, delta.added))
    if predicates is not None and graphs:
        sides = [
            (
                is_added,
                [q for q in side if q.predicate in predicates or q.graph_name in graphs],
            )
            for is_added, side in sides
        ]
    elif predicates is not None:
        sides = [
            (is_added, [quad for quad in side if quad.predicate in predicates])
            for is_added, side in sides
        ]
    return [
        Run(*place, list(quads), is_added=is_added)
        for is_added, side in sides
        for place, quads in groupby(side, _RUN_OF)
    ]


def bundle_runs(bundle: Bundle, places: Iterable[int], *, is_added: bool) -> Iterator[Run]:
    """These quads of a bundle, each by itself."""
    for place in places:
        subject, predicate, object_ = bundle.terms(place)
        ends = (subject,), (object_,)
        yield Run(predicate, DEFAULT_GRAPH, (bundle.quad(place),), is_added=is_added, ends=ends)


@dataclass(slots=True)
class Artq:
    """Added/removed triples queue: the quads of one Delta that an SPU's LUTT let through."""

    runs: list[Run] = field(default_factory=list)

    @property
    def added(self) -> list[Quad]:
        """All added quads; made anew by each read."""
        return [quad for run in self.runs if run.is_added for quad in run.quads]

    @property
    def removed(self) -> list[Quad]:
        """All removed quads; made anew by each read."""
        return [quad for run in self.runs if not run.is_added for quad in run.quads]


_KEYS: Mapping[int, Callable[[Run], Iterable[Key]]] = {
    1: lambda run: zip(run.subjects),
    2: lambda run: zip(run.objects),
    3: lambda run: zip(run.subjects, run.objects, strict=True),
}
"""The constants of each quad beside its predicate, by mask: 1 subject, 2 object."""

Table = dict[Key, dict[Owner, None]]
Place = tuple[GraphName | None, int]
"""Graph and mask of a table."""


_Ways = tuple[Sequence[Owner] | None, Sequence[tuple[int, Table[Owner]]]]
"""Where a run leads: to its owners, if all want all of it, and to tables, with their masks."""

_MOST_WAYS = 1_000
"""That are known; there may be many graphs."""


class LuttIndex(Generic[Owner]):
    """All look-up tables together: which owners does a changed quad concern?

    >>> index: LuttIndex[str] = LuttIndex()
    >>> index.insert(LuttEntry(predicate=NamedNode("urn:p")), "spu")
    >>> quad = Quad(NamedNode("urn:s"), NamedNode("urn:p"), NamedNode("urn:o"))
    >>> list(index.match(Delta(added=(quad,))))
    ['spu']
    """

    def __init__(self) -> None:
        # By predicate first: most changed quads have one that nobody asks for, and are done.
        self._predicates: dict[Term | None, dict[Place, Table[Owner]]] = {}
        self._known_ways: dict[tuple[Term, GraphName], _Ways[Owner]] = {}
        self._known_places: dict[Shape, tuple[int, ...]] = {}
        self._whole_graphs: frozenset[GraphName] | None = frozenset()

    def insert(self, entry: LuttEntry, owner: Owner) -> None:
        """Let the owner be told of quads that match the entry."""
        self._forget_known()
        place, key = _place(entry)
        tables = self._predicates.setdefault(entry.predicate, {})
        tables.setdefault(place, {}).setdefault(key, {})[owner] = None
        self._note_graphs()

    def remove(self, entry: LuttEntry, owner: Owner) -> None:
        """The reverse of `insert`; leaves no empty table behind."""
        self._forget_known()
        place, key = _place(entry)
        tables = self._predicates[entry.predicate]
        owners = tables[place][key]
        owners.pop(owner, None)
        if not owners:
            del tables[place][key]
        if not tables[place]:
            del tables[place]
        if not tables:
            del self._predicates[entry.predicate]
        self._note_graphs()

    def _forget_known(self) -> None:
        self._known_ways.clear()
        self._known_places.clear()

    def _note_graphs(self) -> None:
        """The graphs of which any predicate is asked for; None where it is of any graph."""
        graphs = {graph for graph, _ in self._predicates.get(None, ())}
        named = frozenset(graph for graph in graphs if graph is not None)
        self._whole_graphs = None if None in graphs else named

    def runs(self, delta: Delta) -> list[Run]:
        """The quads of a Delta but for those with a predicate that nobody asks for."""
        if isinstance(delta, ReadingDelta):
            return self._runs_of_reading(delta)
        if self._whole_graphs is None:
            return runs(delta)
        return runs(delta, self._predicates, self._whole_graphs)

    def _runs_of_reading(self, delta: ReadingDelta) -> list[Run]:
        """The same, of bundles without a look at their other quads."""
        found = self.runs(delta.rest)
        sides = ((delta.leaving, False), (delta.entering, True))
        for bundles, is_added in sides:
            for each in bundles:
                places = self._known_places.get(each.shape)
                if places is None:
                    places = self._known_places[each.shape] = self._places(each.shape)
                found += bundle_runs(each, places, is_added=is_added)
        return found

    def _places(self, shape: Shape) -> tuple[int, ...]:
        """Where the quads are that somebody may ask for: by predicate, as a CTS has them."""
        return tuple(at for at, own in enumerate(shape.own) if self._may_ask(own.predicate))

    def _may_ask(self, predicate: Term) -> bool:
        """Whether an entry may match a quad with it in the default graph, whatever its object.

        A table of the CTS that an entry with a constant wants has all quads of the predicate, since
        a WHERE looks there too.
        """
        return any(
            graph is None or graph == DEFAULT_GRAPH
            for each in (predicate, None)
            for graph, _ in self._predicates.get(each, ())
        )

    def match(self, delta: Delta, changed: Iterable[Run] | None = None) -> dict[Owner, Artq]:
        """The owners that the change may concern, each with its ARTQ, in order of the change.

        `changed` are the `runs` of the change, if the caller has them.
        """
        queues: dict[Owner, Artq] = {}
        for run in self.runs(delta) if changed is None else changed:
            for owner, let_through in self._owners(run):
                queue = queues.get(owner)
                if queue is None:
                    queues[owner] = Artq([let_through])
                else:
                    queue.runs.append(let_through)
        if delta.graphs_created or delta.graphs_dropped:
            for owner in self._unconditional():
                queues.setdefault(owner, Artq())
        return queues

    def _owners(self, run: Run) -> Iterable[tuple[Owner, Run]]:
        if run.predicate not in self._predicates and None not in self._predicates:
            return ()
        whole, tables = self._ways(run)
        if whole is not None:
            return zip(whole, repeat(run))
        if len(tables) == 1:
            return _owners_in(*tables[0], run)
        found: dict[Owner, set[int] | None] = {}
        for mask, table in tables:
            if not mask:
                found.update(dict.fromkeys(table[()]))
                continue
            for at, owners in enumerate(map(table.get, _KEYS[mask](run))):
                for owner in owners or ():
                    its = found.setdefault(owner, set())
                    if its is not None:
                        its.add(at)
        return [
            (owner, run if its is None else run.part(tuple(sorted(its))))
            for owner, its in found.items()
        ]

    def _ways(self, run: Run) -> _Ways[Owner]:
        place = run.predicate, run.graph
        ways = self._known_ways.get(place)
        if ways is None:
            tables = [
                (mask, table)
                for predicate in (run.predicate, None)
                for (graph, mask), table in self._predicates.get(predicate, {}).items()
                if graph is None or graph == run.graph
            ]
            whole = tuple(
                dict.fromkeys(owner for _, table in tables for owner in table.get((), ()))
            )
            ways = None if any(mask for mask, _ in tables) else whole, tables
            if len(self._known_ways) >= _MOST_WAYS:
                self._known_ways.clear()
            self._known_ways[place] = ways
        return ways

    def _unconditional(self) -> Iterable[Owner]:
        return self._predicates.get(None, {}).get((None, 0), {}).get((), ())


def _place(entry: LuttEntry) -> tuple[Place, Key]:
    nodes = (entry.subject, entry.object)
    mask = sum(1 << position for position, node in enumerate(nodes) if node is not None)
    return (entry.graph, mask), tuple(node for node in nodes if node is not None)


def _owners_in(mask: int, table: Table[Owner], run: Run) -> Iterator[tuple[Owner, Run]]:
    """The owners that one table with constants leads to, each with its quads."""
    found: dict[Owner, list[int]] = {}
    for at, owners in enumerate(map(table.get, _KEYS[mask](run))):
        for owner in owners or ():
            places = found.get(owner)
            if places is None:
                found[owner] = [at]
            else:
                places.append(at)
    for owner, places in found.items():
        yield owner, run.part(tuple(places))


def matches(store: Source, entry: LuttEntry) -> Iterable[Quad]:
    """The quads in the store that match an entry."""
    return store.match(entry.subject, entry.predicate, entry.object, entry.graph)


def quads_then(
    store: Source, entries: Iterable[LuttEntry], deltas: Sequence[Delta]
) -> tuple[Quad, ...]:
    """The quads that matched an entry before these Deltas, the oldest first, were applied."""
    index: LuttIndex[str] = LuttIndex()
    found: dict[Quad, None] = {}
    for entry in entries:
        index.insert(entry, "")
        found.update(dict.fromkeys(matches(store, entry)))
    for delta in reversed(deltas):
        for quad in delta.added:
            found.pop(quad, None)
        then = index.match(Delta(removed=delta.removed)).get("")
        found.update(dict.fromkeys(then.removed if then is not None else ()))
    return tuple(found)
