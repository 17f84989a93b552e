"""`Rooms`: the closures of all domains, by graph, with what they read of a store.

Place: under `Reasoner`. A room is made when something is read in its domain; "*" makes one for each
graph that holds a premise.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from pyoxigraph import NamedNode, Quad

from gateway.rdf.delta import Delta
from gateway.rdf.terms import GraphName
from gateway.reasoning.domains import Domain, Domains
from gateway.reasoning.incremental.adoption import changed_tables
from gateway.reasoning.incremental.closure import Changes, Closure
from gateway.reasoning.incremental.joint import Copies
from gateway.reasoning.incremental.parting import AllKinds, Parted, Parting
from gateway.reasoning.incremental.program import TYPE, Program
from gateway.reasoning.incremental.propagation import BoundPassedError
from gateway.reasoning.incremental.silence import Silence
from gateway.reasoning.relevance import Relevance
from gateway.store.readable import Source


class Room:
    """A domain that is reasoned on: its closure, and for a joint one the copies of triples."""

    __slots__ = ("_copies", "closure", "domain", "step")

    def __init__(self, domain: Domain, program: Program) -> None:
        self.domain = domain
        self.closure = Closure(program, domain.into)
        self._copies = Copies() if domain.is_joint else None
        self.step = self.closure.step if self._copies is None else self._step_net
        """Takes removed and added quads and a limit; BoundPassedError: all is as it was."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is kept."""
        return not (self.closure.individuals or self._copies)

    def _step_net(self, removed: Sequence[Quad], added: Sequence[Quad], limit: float) -> Changes:
        """A step of the triples of which the first copy comes, or the last one goes."""
        assert self._copies is not None  # noqa: S101  (it is joint)
        reads = self.closure.program.reads
        lost, got = [*filter(reads, removed)], [*filter(reads, added)]
        gone, come = self._copies.net(lost, got)
        try:
            return self.closure.step(gone, come, limit)
        except BoundPassedError:
            self._copies.net(got, lost)
            raise

    def adopt(self, program: Program, was: list[Quad], now: list[Quad], limit: float) -> Changes:
        """Go over to another program; see `Closure.adopt`. Raises BoundPassedError."""
        if self._copies is None:
            return self.closure.adopt(program, was, now, limit)
        gone, _ = self._copies.net(was, ())
        _, come = self._copies.net((), now)
        try:
            return self.closure.adopt(program, gone, come, limit)
        except BoundPassedError:
            self._copies.net(now, ())
            self._copies.net((), was)
            raise

    def load(self, quads: Sequence[Quad], limit: float) -> None:
        """Take up what is there at the start. Raises BoundPassedError."""
        if self._copies is not None:
            _, quads = self._copies.net((), quads)
        self.closure.load(quads, limit)


class Parts:
    """The quads of a change that are in a domain, be they read or not."""

    __slots__ = ("added", "removed")

    def __init__(self, removed: Sequence[Quad] = (), added: Sequence[Quad] = ()) -> None:
        self.removed = removed
        self.added = added


Differing = dict[Domain, tuple[list[Quad], list[Quad]]]


class Reading:
    """Which quads a program reads, and of which domain they are; `closures` are by graph."""

    def __init__(
        self, program: Program, domains: Domains, closures: Mapping[GraphName, Closure]
    ) -> None:
        self.program = program
        self.predicates = program.predicates
        self._domains = domains
        self._domain: dict[GraphName, Domain | None] = {}
        self._parting: Parting | None = None
        self.silence = Silence(self.predicates, program.classes, closures)

    def domain(self, graph: GraphName) -> Domain | None:
        """The domain that reads the graph."""
        known = self._domain
        found = known.get(graph)
        if found is None and graph not in known:
            if len(known) >= _MOST_GRAPHS:
                known.clear()
            found = known[graph] = self._domains.of(graph)
        return found

    def parts(self, delta: Delta) -> tuple[dict[Domain, Parts], set[GraphName]]:
        """What a change has of each domain, and the graphs that it touches."""
        graphs: set[GraphName] = set()
        found: dict[Domain, Parts] = {}
        for quads, are_added in ((delta.removed, False), (delta.added, True)):
            if not quads:
                continue
            for graph, some in by_graph(quads):
                graphs.add(graph)
                domain = self._domain.get(graph) or self.domain(graph)
                if domain is None:
                    continue
                part = found.get(domain) if found else None
                if part is None:
                    part = found[domain] = Parts()
                if are_added:
                    part.added = [*part.added, *some] if part.added else some
                else:
                    part.removed = [*part.removed, *some] if part.removed else some
        return found, graphs

    def parted(self, delta: Delta, kinds: AllKinds, relevance: Relevance) -> Parted | None:
        """What is derived from at once, and what may wait; None where nothing can."""
        if self._parting is None or self._parting.relevance is not relevance:
            self._parting = Parting(self.predicates, self.program.classes, self.silence, relevance)
        return self._parting.part(delta, kinds)

    def stored(self, store: Source, delta: Delta) -> Iterator[list[Quad]]:
        """What a store holds that is read, in batches, as it is with the change."""
        removed = frozenset(delta.removed)
        for predicate in self.predicates:
            yield [q for q in store.match(None, predicate, None, None) if q not in removed]
        for cls in self.program.classes:
            yield [q for q in store.match(None, TYPE, cls, None) if q not in removed]
        yield [*filter(self.program.reads, delta.added)]

    def differing(self, other: "Reading", store: Source, without: Set[Quad]) -> Differing:
        """What is read of a store and means another thing to another program, by domain.

        Once as it is read now, and once as the other reads it.
        """
        found: Differing = {}
        for name in changed_tables(self.program, other.program):
            if isinstance(name, NamedNode):
                is_read = name in self.predicates, name in other.predicates
                if any(is_read):
                    quads = [q for q in store.match(None, name, None, None) if q not in without]
                    self._note(found, quads, is_read)
        classes, others = self.program.classes, other.program.classes
        for cls in classes.keys() ^ others.keys():
            is_read = cls in classes, cls in others
            quads = [q for q in store.match(None, TYPE, cls, None) if q not in without]
            self._note(found, quads, is_read)
        return found

    def _note(self, found: Differing, quads: Sequence[Quad], is_read: tuple[bool, bool]) -> None:
        for domain, some in _by_domain(self, quads):
            parts = found.setdefault(domain, ([], []))
            for part, wanted in zip(parts, is_read, strict=True):
                if wanted:
                    part.extend(some)


_MOST_GRAPHS = 4096
"""Graphs whose domain is remembered."""


def built(
    reading: Reading, store: Source, delta: Delta, chosen: frozenset[Domain] | None, bound: int
) -> tuple[dict[Domain, Room], dict[Domain, BoundPassedError]]:
    """The closures of the store with the change, each from nothing; those that pass the bound.

    `chosen` are the domains, None is all of them; `bound` is of all together.
    """
    rooms: dict[Domain, Room] = {}
    refused: dict[Domain, BoundPassedError] = {}
    for batch in reading.stored(store, delta):
        for domain, quads in _by_domain(reading, batch):
            if domain in refused or (chosen is not None and domain not in chosen):
                continue
            room = rooms.get(domain)
            if room is None:
                room = rooms[domain] = Room(domain, reading.program)
            try:
                room.load(quads, bound - _size(rooms.values()) + room.closure.size)
            except BoundPassedError as error:
                refused[domain] = error
                del rooms[domain]
    for domain in sorted(rooms, key=lambda each: str(each.into)):
        closure = rooms[domain].closure
        try:
            closure.settle(bound - _size(rooms.values()) + closure.size)
        except BoundPassedError as error:
            refused[domain] = error
            del rooms[domain]
    return rooms, refused


def _by_domain(reading: Reading, quads: Sequence[Quad]) -> Iterator[tuple[Domain, Sequence[Quad]]]:
    for graph, found in by_graph(quads):
        domain = reading.domain(graph)
        if domain is not None:
            yield domain, found


def by_graph(quads: Sequence[Quad]) -> Iterable[tuple[GraphName, Sequence[Quad]]]:
    """The quads of each graph; most often they are all of one."""
    graph = None
    for quad in quads:
        if quad.graph_name != graph:
            if graph is not None:
                break
            graph = quad.graph_name
    else:
        return () if graph is None else ((graph, quads),)
    found: dict[GraphName, list[Quad]] = {}
    for quad in quads:
        found.setdefault(quad.graph_name, []).append(quad)
    return found.items()


def _size(rooms: Iterable[Room]) -> int:
    return sum(room.closure.size for room in rooms)
