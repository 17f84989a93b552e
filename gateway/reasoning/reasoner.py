"""`Reasoner`: asserted Delta in, entailed Delta out.

Place on the way of the data: between the evaluation of an UPDATE and its commit. The engine hands
each net Delta here before the store has it; what comes back is the change of the entailed view, the
store's quads with what follows from them. All it knows is a function of what is asserted, so it can
be made anew at any time. Domains are closed apart (gateway/reasoning/incremental/closure.py);
axioms are learned from the ontology graph as any other change.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from pyoxigraph import DefaultGraph, Quad

from gateway.errors import ConfigurationError, DerivedLimitError, OntologyError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import GraphName
from gateway.reasoning.axioms import Axiom, Axioms, Disjoint, Ontology
from gateway.reasoning.domains import SCHEMA, Domain, Domains
from gateway.reasoning.incremental.attribution import counted_by_axiom
from gateway.reasoning.incremental.bits import Bits
from gateway.reasoning.incremental.closure import Changes, Closure
from gateway.reasoning.incremental.concluding import Pattern, could_conclude
from gateway.reasoning.incremental.contradictions import Contradictions, Excluded
from gateway.reasoning.incremental.derived import DerivedQuads
from gateway.reasoning.incremental.facts import Individual
from gateway.reasoning.incremental.netted import Came, apart, net, of_ontology
from gateway.reasoning.incremental.parting import AllKinds, Among, Parted
from gateway.reasoning.incremental.program import Program
from gateway.reasoning.incremental.propagation import BoundPassedError
from gateway.reasoning.incremental.rooms import Parts, Reading, Room, built
from gateway.reasoning.incremental.schema import SchemaQuads, asserted_schema
from gateway.reasoning.relevance import Relevance
from gateway.reasoning.wording import mostly_by
from gateway.store.readable import GraphNode, Source
from gateway.store.update import BoundUpdate

log = logging.getLogger(__name__)

_NO_BOUND = 1 << 62
_LESS = "ask for less, or raise [reasoning] derived"

_OFF = "[reasoning] lists no graphs"
"""How to get at what stops a start."""

_MOST_WRITABLE = 4096
"""Graphs that are known to be none of conclusions, and none of axioms."""


class Reasoner:
    """What follows from the quads of a store, kept while they change; in one thread.

    `bound` is the most derived quads of all domains. `axioms` and `suspended` are other objects
    after they changed, and only then.
    """

    def __init__(self, store: Source, domains: Domains, *, bound: int) -> None:
        self._store = store
        self._domains = domains
        self._bound = bound
        self._bits = Bits()
        self._size = 0
        self._ontology = Ontology()
        self._rooms: dict[Domain, Room] = {}
        self._closures: dict[GraphName, Closure] = {}
        self._learn(Program((), self._bits))
        self.axioms: Axioms = Axioms()
        self.suspended: Mapping[Domain, str] = {}
        self._schema = SchemaQuads()
        self._contradictions = Contradictions()
        self._special: frozenset[GraphNode] = frozenset()
        self._suspended_before: Mapping[Domain, str] = {}
        self._there: Set[GraphNode] = frozenset()
        self._writable: set[GraphName] = set()
        self._are_mixed = False
        self.derived = DerivedQuads(
            lambda: self._closures,
            {ONTOLOGY_GRAPH: self._schema, CONTRADICTIONS_GRAPH: self._contradictions.index},
        )

    def _learn(self, program: Program) -> None:
        self._program = program
        self._reading = Reading(program, self._domains, self._closures)
        self._excluded = Excluded(program)

    def start(self) -> None:
        """Take up what the store holds; domains that pass the bound are suspended.

        Raises OntologyError, and ConfigurationError where a graph that is for conclusions holds
        something.
        """
        targets = [CONTRADICTIONS_GRAPH, *(each.into for each in self._domains.joint)]
        for graph in targets:
            if next(iter(self._store.match(None, None, None, graph)), None) is not None:
                raise ConfigurationError(
                    f"{graph} is for conclusions and holds what is asserted",
                    f"CLEAR it while {_OFF}",
                )
        self._special = frozenset(
            graph
            for graph in targets
            if not isinstance(graph, DefaultGraph) and not self._store.contains_graph(graph)
        )
        try:
            self._ontology.change(self._store.match(None, None, None, ONTOLOGY_GRAPH), ())
        except OntologyError as error:
            raise OntologyError(
                f"the axioms kept in {ONTOLOGY_GRAPH} cannot be read: {error}",
                f"mend their file, or that graph by an UPDATE while {_OFF}",
            ) from error
        self.axioms = self._ontology.axioms
        self._learn(Program(self.axioms, self._bits))
        self._change_schema(self.axioms, Delta(), self._bound, is_reading=True)
        self._build(Delta(), None)
        self._there = self._existing()

    def step(self, delta: Delta, *, is_reading: bool = False, among: Among = None) -> Delta:
        """The change of the entailed view by a net change of the store, which has it not yet.

        Of a reading perhaps that `among` its quads alone, the others come in later steps.
        Raises ForbiddenError for a write into a graph of conclusions, OntologyError for axioms
        that cannot be read, DerivedLimitError for too much that would follow, which names the axiom
        that derives most; then nothing has changed. With `is_reading` a domain that would pass the
        bound is suspended instead.
        """
        parts, graphs = self._reading.parts(delta if among is None else among)
        are_known = graphs <= self._writable
        if not are_known or delta.graphs_created or delta.graphs_dropped:
            self._require_writable({*graphs, *delta.graphs_created, *delta.graphs_dropped})
        self._suspended_before = self.suspended
        if not are_known and ONTOLOGY_GRAPH in graphs:
            return self._step_axioms(delta, is_reading=is_reading)
        if not parts:
            return delta
        came, went = self._derive(parts, self._bound, is_reading=is_reading)
        return self._entailed(delta, came, went, are_mixed=self._are_mixed)

    def is_silent(self, bound: Iterable[BoundUpdate]) -> bool:
        """Whether it is certain that nothing that these updates may change is read."""
        return not self._domains.joint and self._reading.silence.holds(bound)

    def parted(self, delta: Delta, kinds: AllKinds, relevance: Relevance) -> Parted | None:
        """What of a reading's change is relevant, and what else means something."""
        return None if self._domains.joint else self._reading.parted(delta, kinds, relevance)

    def undo(self, delta: Delta) -> None:
        """Forget the last step, whose change the store has refused."""
        before = self._suspended_before
        parts, graphs = self._reading.parts(delta.negate())
        if ONTOLOGY_GRAPH in graphs:
            self._undo_axioms(delta)
        else:
            self._derive(parts, _NO_BOUND, is_reading=True)
        for domain in before.keys() - self.suspended.keys():
            self._suspend(domain, None)
        back = frozenset(self.suspended.keys() - before.keys())
        if back:
            if SCHEMA in back:
                self._change_schema(self.axioms, Delta(), _NO_BOUND)
            self._build(Delta(), back, _NO_BOUND)
        if before != self.suspended or back:
            self._contradictions.changes()
            self.suspended = before
        self._there = self._existing()

    def resume(self) -> Delta:
        """Derive again what is suspended, as far as the bound allows; the entailed change."""
        came, _ = self._change_schema(self.axioms, Delta(), self._bound)
        came = came + self._build(Delta(), frozenset(self.suspended))
        return self._entailed(Delta(), came, [])

    def _require_writable(self, graphs: Iterable[GraphName]) -> None:
        """Raise ForbiddenError for a graph of conclusions."""
        for graph in graphs:
            self._domains.require_writable((graph,))
            if graph != ONTOLOGY_GRAPH and len(self._writable) < _MOST_WRITABLE:
                self._writable.add(graph)

    def _derive(
        self, parts: Mapping[Domain, Parts], bound: int, *, is_reading: bool
    ) -> tuple[list[Quad], list[Quad]]:
        """Step the domains; derived quads that came and went. Raises DerivedLimitError."""
        self._are_mixed = False
        came: list[Quad] = []
        went: list[Quad] = []
        done: list[tuple[Domain, Parts]] = []
        for domain, part in parts.items():
            if self.suspended and domain in self.suspended:
                continue
            try:
                changes = self._step_room(domain, part, bound)
            except BoundPassedError as error:
                if not is_reading:
                    self._undo_parts(done)
                    raise self._limit_error(error.axiom) from error
                went += self._suspend(domain, error.axiom)
                self._are_mixed = True
                continue
            done.append((domain, part))
            self._are_mixed |= changes.are_mixed
            came += changes.added
            went += changes.removed
        if self._contradictions.changed:
            more, less = self._derive_contradictions(done, bound, is_reading=is_reading)
            if less:  # what has come in this step may have gone with its domain
                return net([(came, went), (more, less)])
            came += more
        return came, went

    def _derive_contradictions(
        self, done: Sequence[tuple[Domain, Parts]], bound: int, *, is_reading: bool
    ) -> Came:
        """Contradictions that domains came to have; they count as derived quads do."""
        went: list[Quad] = []
        if self._at_end() > bound:
            if not is_reading:
                self._undo_parts(done)
                raise self._limit_error(self._excluded.axiom)
            self._are_mixed = True
            for domain, _ in done:
                went += self._suspend(domain, self._excluded.axiom)
        came, less = self._contradictions.changes()
        return came, went + less

    def _step_room(self, domain: Domain, part: Parts, bound: int) -> Changes:
        room = self._rooms.get(domain)
        if room is None:
            if not any(map(self._program.reads, (*part.removed, *part.added))):
                return Changes()
            room = Room(domain, self._program)
            self._put(room)
        closure, size = room.closure, room.closure.size
        others = self._size - size + self._schema.size + len(self._contradictions.index.quads)
        changes = room.step(part.removed, part.added, bound - others)
        self._size += closure.size - size
        if changes.retyped and self._excluded.watched:
            self._contradictions.retype(changes.retyped, self._excluded)
        if not closure.individuals and room.is_empty:
            self._drop(domain)
        return changes

    def _undo_parts(self, done: Iterable[tuple[Domain, Parts]]) -> None:
        for domain, part in done:
            self._step_room(domain, Parts(part.added, part.removed), _NO_BOUND)
        self._contradictions.changes()

    def _put(self, room: Room) -> None:
        self._rooms[room.domain] = room
        self._closures[room.domain.into] = room.closure
        self._size += room.closure.size

    def _drop(self, domain: Domain) -> None:
        room = self._rooms.pop(domain)
        del self._closures[domain.into]
        self._size -= room.closure.size

    def _total(self) -> int:
        return self._size + self._schema.size + len(self._contradictions.index.quads)

    def _at_end(self) -> int:
        """As many as there are derived quads once contradictions are told."""
        return self._size + len(self._schema) + len(self._contradictions)

    def _limit_error(self, axiom: Axiom | None) -> DerivedLimitError:
        return DerivedLimitError(self._too_much(axiom), _LESS)

    def _too_much(self, axiom: Axiom | None) -> str:
        return f"more than {self._bound} quads would be derived{mostly_by(axiom)}"

    def _suspend(self, domain: Domain, axiom: Axiom | None) -> list[Quad]:
        """Derive nothing in the domain any more; what was derived until now."""
        reason = self._too_much(axiom)
        self.suspended = {**self.suspended, domain: reason}
        log.warning("reasoning_suspended", extra={"graph": str(domain.into), "reason": reason})
        if domain == SCHEMA:
            return self._schema.clear()
        room = self._rooms.get(domain)
        if room is None:
            return []
        went = self.derived.match(None, None, None, domain.into)
        self._contradictions.drop(room.closure.individuals.values(), self._excluded)
        self._drop(domain)
        return went

    # Axioms, and everything from nothing.

    def _step_axioms(self, delta: Delta, *, is_reading: bool) -> Delta:
        """A step that changes the ontology graph.

        What data lose goes before the axioms change, what they get comes after: so there is never
        more than at the end.
        """
        changed = any(self._ontology.change(*of_ontology(delta)))
        axioms, program = self._ontology.axioms, self._program
        changes = [self._derive_side(Delta(removed=delta.removed), is_reading=True)]
        try:
            changes.append(self._change_schema(axioms, delta, self._bound, is_reading=is_reading))
            if changed:
                now = Program(axioms, self._bits)
                changes += self._adopt(now, delta, self._bound, is_reading=is_reading)
            changes.append(
                self._derive_side(Delta(added=delta.added), self._bound, is_reading=is_reading)
            )
        except DerivedLimitError:
            self._ontology.change(*reversed(of_ontology(delta)))
            if changed:
                self._adopt(program, delta, _NO_BOUND)
            self._change_schema(self.axioms, Delta(), _NO_BOUND)
            self._derive_side(Delta(added=delta.removed), is_reading=True)
            self._suspend_again(self._suspended_before)
            raise
        self.axioms = axioms
        if changed and self.suspended:
            changes.append((self._build(delta, frozenset(self.suspended)), []))
        return self._entailed(delta, *net(changes))

    def _suspend_again(self, before: Mapping[Domain, str]) -> None:
        """Suspend what was suspended before a step that is taken back."""
        resumed = before.keys() - self.suspended.keys()
        for domain in resumed:
            self._suspend(domain, None)
        if resumed:
            self._contradictions.changes()
            self.suspended = before

    def _derive_side(self, delta: Delta, bound: int = _NO_BOUND, *, is_reading: bool) -> Came:
        parts, _ = self._reading.parts(delta)
        return self._derive(parts, bound, is_reading=is_reading)

    def _undo_axioms(self, delta: Delta) -> None:
        """The way back of a step that changed the ontology graph; the store has not changed."""
        changed = any(self._ontology.change(*reversed(of_ontology(delta))))
        self.axioms = self._ontology.axioms
        self._derive_side(Delta(removed=delta.added), is_reading=True)
        if changed:
            self._adopt(Program(self.axioms, self._bits), delta, _NO_BOUND)
        self._change_schema(self.axioms, Delta(), _NO_BOUND)
        self._derive_side(Delta(added=delta.removed), is_reading=True)

    def _change_schema(
        self, axioms: Axioms, stored: Delta, bound: int, *, is_reading: bool = False
    ) -> Came:
        """The schema closure by these axioms. Raises DerivedLimitError, if it is not suspended."""
        most = bound - self._size - len(self._contradictions)
        try:
            changes = self._schema.change(axioms, asserted_schema(self._store, stored), most)
        except BoundPassedError as error:
            if SCHEMA in self.suspended:
                return [], []
            if is_reading:
                return [], self._suspend(SCHEMA, None)
            raise self._limit_error(None) from error
        if SCHEMA in self.suspended:
            self._no_longer_suspended({SCHEMA})
        return changes

    def _no_longer_suspended(self, domains: Set[Domain]) -> None:
        kept = self.suspended.items()
        self.suspended = {each: reason for each, reason in kept if each not in domains}

    def _adopt(
        self, program: Program, delta: Delta, bound: int, *, is_reading: bool = False
    ) -> list[Came]:
        """Go over to another program in all domains that are not suspended.

        What the change removes from the store is taken back already, what it adds not yet there.
        Raises DerivedLimitError; then some have gone over, and others not.
        """
        reading, excluded = self._reading, self._excluded
        self._learn(program)
        is_same = self._excluded.pairs == excluded.pairs
        if not is_same:
            self._contradictions.drop(self._individuals(), excluded)
        differing = reading.differing(self._reading, self._store, frozenset(delta.removed))
        changes: list[Came] = []
        try:
            for domain in sorted({*self._rooms, *differing}, key=lambda each: str(each.into)):
                if domain not in self.suspended:
                    was, now = differing.get(domain, ([], []))
                    try:
                        found = self._adopt_room(domain, was, now, bound)
                    except BoundPassedError as error:
                        if not is_reading:
                            raise self._limit_error(error.axiom) from error
                        if not is_same and domain in self._rooms:  # dropped before, all of them
                            individuals = self._rooms[domain].closure.individuals.values()
                            self._contradictions.take(individuals, self._excluded)
                        changes.append(([], self._suspend(domain, error.axiom)))
                        continue
                    changes.append((found.added, found.removed))
                    if is_same:
                        self._contradictions.retype(found.retyped, self._excluded)
        finally:
            if not is_same:
                self._contradictions.take(self._individuals(), self._excluded)
        if self._at_end() > bound:
            changes.append(([], self._suspend_all(is_reading=is_reading)))
        changes.append(self._contradictions.changes())
        return changes

    def _suspend_all(self, *, is_reading: bool) -> list[Quad]:
        """Contradictions pass the bound: refused, or for a reading every domain is suspended."""
        axiom = self._excluded.axiom
        if not is_reading:
            raise self._limit_error(axiom)
        return [quad for domain in tuple(self._rooms) for quad in self._suspend(domain, axiom)]

    def _adopt_room(self, domain: Domain, was: list[Quad], now: list[Quad], bound: int) -> Changes:
        room = self._rooms.get(domain)
        if room is None:
            room = Room(domain, self._program)
            self._put(room)
            was = []
        elif room.closure.program is self._program:  # the way back of what stopped before it
            return Changes()
        closure = room.closure
        size = closure.size
        try:
            found = room.adopt(self._program, was, now, bound - self._total() + size)
        except BoundPassedError:
            if room.is_empty:
                self._drop(domain)
            raise
        self._size += closure.size - size
        if room.is_empty:
            self._drop(domain)
        return found

    def _individuals(self) -> Iterator[Individual]:
        for room in self._rooms.values():
            yield from room.closure.individuals.values()

    def _build(
        self, delta: Delta, chosen: frozenset[Domain] | None, bound: int | None = None
    ) -> list[Quad]:
        """Close domains from nothing, None is all; what is derived in them then."""
        bound = self._bound if bound is None else bound
        rooms, refused = built(self._reading, self._store, delta, chosen, bound - self._total())
        self._no_longer_suspended((self.suspended.keys() if chosen is None else chosen) - {SCHEMA})
        came: list[Quad] = []
        for domain, room in rooms.items():
            self._put(room)
            self._contradictions.take(room.closure.individuals.values(), self._excluded)
            if self._at_end() > bound:
                refused[domain] = BoundPassedError(self._excluded.axiom)
            else:
                came += self.derived.match(None, None, None, domain.into)
        for domain, error in refused.items():
            self._suspend(domain, error.axiom)
        more, _ = self._contradictions.changes()
        return came + more

    # What is told.

    def concludes(self, entry: Pattern) -> bool:
        """Whether a rule could conclude a quad of the pattern, be there premises or not."""
        return could_conclude(self._program, self._domains, entry)

    def derived_by_axiom(self) -> Counter[Axiom]:
        """How many derived quads each axiom is a last step to; linear in all facts."""
        found: Counter[Axiom] = Counter()
        for domain, room in self._rooms.items():
            found += counted_by_axiom(room.closure, self._store, domain.graphs)
        for axiom in self.axioms:
            if isinstance(axiom, Disjoint):
                pair = axiom.first, axiom.second
                found[axiom] += len(self.derived.match(None, *pair, CONTRADICTIONS_GRAPH))
        return +found

    def _existing(self) -> Set[GraphNode]:
        """The graphs that exist by what is derived in them alone."""
        return {graph for graph in self._special if self.derived.holds(graph)}

    def _entailed(
        self, delta: Delta, came: list[Quad], went: list[Quad], *, are_mixed: bool = True
    ) -> Delta:
        """The change of the entailed view, where derived quads came and went.

        They `are_mixed` where the change may have what was derived before, or is now.
        """
        if not (came or went):
            return delta
        created, dropped = delta.graphs_created, delta.graphs_dropped
        before = self._there
        if before or self._domains.joint or self._contradictions.index.quads:
            now = self._there = self._existing()
            if now != before:
                created += tuple(graph for graph in self._special if graph in now - before)
                dropped += tuple(graph for graph in self._special if graph in before - now)
        added: Sequence[Quad] = delta.added
        removed: Sequence[Quad] = delta.removed
        if are_mixed and came and removed:
            came, removed = apart(came, removed)
        if are_mixed and went and added:
            went, added = apart(went, added)
        return Delta((*added, *came), (*removed, *went), created, dropped)
