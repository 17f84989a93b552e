"""What a peer has: quads of its zone by event, and subscriptions whose first pattern meets it.

Place: inside a peer. Look-ups are as direct as can be, so that what is measured is the algorithm
and not its store: rewritten subscriptions by the event, others by the predicate that they begin
with.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from pyoxigraph import Variable

from bench.federation.eventcloud.messages import Event, Subscription
from bench.federation.eventcloud.patterns import Term, Terms


@dataclass(slots=True)
class StoredQuads:
    """Quads by the graph of their event."""

    by_graph: dict[Term, dict[Terms, Event]] = field(default_factory=dict)

    def add(self, quad: Terms, event: Event) -> bool:
        """Have one; False where it is there already."""
        known = self.by_graph.setdefault(quad[0], {})
        if quad in known:
            return False
        known[quad] = event
        return True

    def of(self, graph: Term) -> Iterable[tuple[Terms, Event]]:
        """The quads of an event."""
        return list(self.by_graph.get(graph, {}).items())

    def since(self, time: float) -> Iterator[tuple[Terms, Event]]:
        """The quads of events from a time on."""
        for known in list(self.by_graph.values()):
            yield from [(quad, event) for quad, event in known.items() if event.time >= time]

    def __len__(self) -> int:
        return sum(map(len, self.by_graph.values()))


@dataclass(slots=True)
class StoredSubscriptions:
    """Subscriptions by what their first pattern has."""

    rewritten: dict[Term, list[Subscription]] = field(default_factory=dict)
    by_predicate: dict[Term, list[Subscription]] = field(default_factory=dict)
    of_any: list[Subscription] = field(default_factory=list)

    def add(self, subscription: Subscription) -> None:
        """Have one more."""
        graph, _, predicate, _ = subscription.patterns[0]
        if subscription.is_rewritten and not isinstance(graph, Variable):
            self.rewritten.setdefault(graph, []).append(subscription)
        elif isinstance(predicate, Variable):
            self.of_any.append(subscription)
        else:
            self.by_predicate.setdefault(predicate, []).append(subscription)

    def original(self, quad: Terms) -> list[Subscription]:
        """The subscriptions of clients whose first pattern may match a quad."""
        return [*self.by_predicate.get(quad[2], ()), *self.of_any]

    def about(self, graph: Term) -> list[Subscription]:
        """The rewritten ones of an event."""
        return list(self.rewritten.get(graph, ()))

    def __iter__(self) -> Iterator[Subscription]:
        return chain(self.of_any, *self.by_predicate.values(), *self.rewritten.values())
