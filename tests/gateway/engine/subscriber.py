"""A subscriber that sees data come in pieces, leave and come back, in either mode of the engine."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from pyoxigraph import DefaultGraph, NamedNode, Quad, QueryBoolean, QuerySolutions

from gateway.engine import Engine, Notification
from gateway.engine.workers.workers import WorkerCount
from gateway.rdf.solutions import SolutionBag
from gateway.rdf.terms import Term
from gateway.store.update import BoundUpdate
from tests.gateway.engine.query_cases import Case


class Home:
    """An engine in which one case after the other lives; workers tell later, from other threads."""

    def __init__(self, workers: WorkerCount) -> None:
        self._told: list[Notification] = []
        self._lock = Lock()
        self.engine = Engine.open(workers=workers, on_notification=self._tell)

    def _tell(self, notification: Notification) -> None:
        with self._lock:
            self._told.append(notification)

    def take(self) -> list[Notification]:
        """What was told since the last time; every UPDATE so far is done."""
        self.engine.drain()
        with self._lock:
            told, self._told = self._told, []
        return told

    @contextmanager
    def subscriber(self, text: str) -> Iterator["Subscriber"]:
        """A subscriber on an empty store; nothing of it is left, even where it fails."""
        subscriber = Subscriber(self, text)
        try:
            yield subscriber
        finally:
            self.engine.unsubscribe(subscriber.spuid)
            self.engine.update("DROP ALL")
            self.take()


class Subscriber:
    """Adds up what it is told and compares it with the query evaluated again."""

    def __init__(self, home: Home, text: str) -> None:
        self._text = text
        self._home = home
        self._engine = home.engine
        # A forced binding may be a blank node, which INSERT DATA would rename.
        self._plans = {
            (verb, named): self._engine.prepare(f"{verb} {{ {quad} }} WHERE {{}}")
            for verb in ("INSERT", "DELETE")
            for named, quad in ((False, "?s ?p ?o"), (True, "GRAPH ?g { ?s ?p ?o }"))
        }
        first = self._engine.subscribe(text)
        self.spuid = first.spuid
        self._variables = first.results.variables
        self._sequence = 0
        self._rows: SolutionBag = Counter(first.results.added)

    def play(self, case: Case) -> None:
        """Everything arrives in pieces; pieces leave and come back; compared after each step."""
        chance = random.Random(case.name)
        self._compare()
        for path in case.named:
            self._create_graph(NamedNode(path.as_uri()))
        pieces = _pieces(case.quads(), chance)
        for piece in pieces:
            self._update("INSERT", piece)
            if chance.random() < 0.3:
                self._leave_and_come_back(piece)
        for piece in chance.sample(pieces, min(2, len(pieces))):
            self._leave_and_come_back(piece)

    def rows(self) -> list[dict[str, Term]]:
        """What it was told, as mappings."""
        return [
            {
                name: term
                for name, term in zip(self._variables, row, strict=True)
                if term is not None
            }
            for row in self._rows.elements()
        ]

    def _leave_and_come_back(self, piece: Sequence[Quad]) -> None:
        self._update("DELETE", piece)
        self._update("INSERT", piece)

    def _create_graph(self, graph: NamedNode) -> None:
        self._engine.update(f"CREATE SILENT GRAPH {graph}")
        self._hear()

    def _update(self, verb: str, quads: Sequence[Quad]) -> None:
        updates: list[BoundUpdate] = []
        for quad in quads:
            bindings: dict[str, Term] = {"s": quad.subject, "p": quad.predicate, "o": quad.object}
            if not isinstance(quad.graph_name, DefaultGraph):
                bindings["g"] = quad.graph_name
            updates.append((self._plans[verb, "g" in bindings], bindings))
        self._engine.update(updates)
        self._hear()

    def _hear(self) -> None:
        for notification in self._home.take():
            self._sequence += 1
            assert (notification.spuid, notification.sequence) == (self.spuid, self._sequence)
            added, removed = (
                Counter(rows) for rows in (notification.results.added, notification.results.removed)
            )
            assert removed <= self._rows
            assert not added & removed
            self._rows = self._rows - removed + added
        self._compare()

    def _compare(self) -> None:
        assert self._engine.statistics.failures == 0
        assert self._rows == self._answer()

    def _answer(self) -> SolutionBag:
        results = self._engine.query(self._text)
        if isinstance(results, QueryBoolean):
            return Counter([()] if results else [])
        if isinstance(results, QuerySolutions):
            return Counter(tuple(row) for row in results)
        return Counter({(t.subject, t.predicate, t.object): 1 for t in results})


def _pieces(quads: Sequence[Quad], chance: random.Random) -> list[list[Quad]]:
    """The quads in random order, in two to five pieces."""
    shuffled = chance.sample(quads, len(quads))
    size = max(1, len(quads) // chance.randint(2, 5))
    return [shuffled[first : first + size] for first in range(0, len(shuffled), size)]
