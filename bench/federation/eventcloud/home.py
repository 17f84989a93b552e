"""`Home`: a subscriber at its peer: drops what it was told before, and has events put together.

    notified of a graph -> (CSMA) all quads of it asked of the overlay, again until all are there
    a whole event (OSMA) -> its rows

Place: at the end of each way. Reconstruction is synchronous: one event after the other, each until
all of its quads have come; the notification says how many these are. Source: the paper, section
4.1, "Reconstruction".
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Variable

from bench.federation.eventcloud.messages import Message, Subscription
from bench.federation.eventcloud.patterns import Pattern, Term, Terms, box_of, row_text, solutions
from bench.federation.eventcloud.peer import Peer, event_box, graph_of

WAIT_S = 0.01
"""What is still missing is asked for again after so long."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a client asks: patterns, and the variables of its rows."""

    number: int
    patterns: Sequence[Pattern]
    selected: frozenset[str]

    def rows(self, quads: Iterable[Terms]) -> list[str]:
        """The rows of a query on the quads of an event, as lines."""
        return [
            row_text(
                self.number,
                {name: term for name, term in found.items() if name.value in self.selected},
            )
            for found in solutions(self.patterns, dict.fromkeys(quads))
        ]


@dataclass(slots=True)
class _Rebuilt:
    """An event of which quads come."""

    number: int
    graph: Term
    count: int
    quads: dict[Terms, None] = field(default_factory=dict)


class Home:
    """The subscriptions of one client; `rows` are told, `duplicates` were dropped."""

    def __init__(self, peer: Peer, rows: Callable[[str, Sequence[str]], None]) -> None:
        self.duplicates = self.reconstructions = 0
        self._peer = peer
        self._rows = rows
        self._queries: dict[int, Query] = {}
        self._by_predicate: dict[Term | None, list[Query]] = {}
        self._had: set[tuple[int, str]] = set()
        self._waiting: deque[_Rebuilt] = deque()
        self._now: _Rebuilt | None = None
        peer.home = self

    def subscribe(self, query: Query) -> None:
        """Have a query stored where its first pattern may match."""
        predicate = query.patterns[0][2]
        begins_with = None if isinstance(predicate, Variable) else predicate
        self._by_predicate.setdefault(begins_with, []).append(query)
        self._queries[query.number] = query
        peer = self._peer
        subscription = Subscription(query.number, peer.net.begun, peer.name, query.patterns)
        peer.route(subscription.message(box_of(query.patterns[0]), peer.new_id()))

    def told(self, message: Message) -> None:
        """Take what a peer tells this subscriber."""
        match message.kind:
            case "notify":
                number, graph, count = message.head
                if self._is_new(number, graph):
                    self._waiting.append(_Rebuilt(number, NamedNode(graph), count))
                    self._go_on()
            case "whole":
                number, graph = message.head
                if self._is_new(number, graph):
                    self._tell(number, graph, graph_of(message))
            case _:
                self._found(graph_of(message))

    def heard(self, quads: Sequence[Terms]) -> None:
        """Take an event that nobody has matched yet."""
        for predicate in (None, *dict.fromkeys(quad[2] for quad in quads)):
            for query in self._by_predicate.get(predicate, ()):
                rows = query.rows(quads)
                if rows:
                    self._rows(quads[0][0].value, rows)  # type: ignore[union-attr]

    def _is_new(self, number: int, graph: str) -> bool:
        if (number, graph) in self._had:
            self.duplicates += 1
            return False
        self._had.add((number, graph))
        return True

    def _go_on(self) -> None:
        """Begin with the next event once none is under way."""
        while self._now is None and self._waiting:
            self._now = self._waiting.popleft()
            self.reconstructions += 1
            self._ask(self._now)

    def _ask(self, rebuilt: _Rebuilt) -> None:
        """Ask for all quads of an event, and again if they do not all come."""
        if rebuilt is not self._now:
            return
        peer = self._peer
        peer.net.post(peer.name, lambda: self._ask(rebuilt), WAIT_S)
        head = [peer.name, rebuilt.graph.value]  # type: ignore[union-attr]
        peer.route(Message("fetch", event_box(rebuilt.graph), peer.new_id(), head))

    def _found(self, quads: Sequence[Terms]) -> None:
        rebuilt = self._now
        if rebuilt is None or quads[0][0] != rebuilt.graph:
            return
        rebuilt.quads.update(dict.fromkeys(quads))
        if len(rebuilt.quads) == rebuilt.count:
            self._now = None
            self._tell(rebuilt.number, quads[0][0].value, list(rebuilt.quads))  # type: ignore[union-attr]
            self._go_on()

    def _tell(self, number: int, graph: str, quads: Sequence[Terms]) -> None:
        self._rows(graph, self._queries[number].rows(quads))
