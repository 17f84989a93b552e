"""OSMA, the One-step Semantic Matching Algorithm: the whole event to each of its quads' peers.

    publish: the event once for each quad, to the peer that has that one's point
    a peer keeps its own quads, matches the event as a whole, and if it has the first quad that the
    first pattern matches, sends the event to the subscriber

Place: a kind of peer. No other peer has that quad, so nobody is told twice and nothing has to be
put together. A subscription that comes behind an event that is not older is matched as CSMA does:
the paper falls back to it. Source: the paper, section 4.2.
"""

from collections.abc import Sequence

from pyoxigraph import Quad

from bench.federation.eventcloud.csma import CsmaPeer
from bench.federation.eventcloud.messages import Event, Message, Subscription, written
from bench.federation.eventcloud.patterns import Term, Terms, matched, solutions
from bench.federation.eventcloud.peer import graph_of
from bench.federation.eventcloud.space import coordinate, point


class OsmaPeer(CsmaPeer):
    """A peer of OSMA."""

    def publish(self, quads: Sequence[Quad]) -> None:
        """Send the event once for each of its quads."""
        distinct = list(dict.fromkeys(quads))
        head, body = [self.net.begun, len(distinct)], written(distinct)
        for quad in distinct:
            self.route(Message("event", point(quad), head=head, body=body))

    def take(self, message: Message) -> None:
        """Take a whole event, or as CSMA does."""
        if message.kind == "event":
            self._take_event(message)
        else:
            super().take(message)

    def _take_event(self, message: Message) -> None:
        event, quads = Event(*message.head), graph_of(message)
        own = [quad for quad in quads if self._is_own(quad)]
        if [quad for quad in own if not self.quads.add(quad, event)]:
            return  # it came before, by another of its quads
        for quad in own:
            for each in self.subscriptions.original(quad):
                if event.time >= each.since and _is_first(each, quad, quads):
                    self._match(each, quad[0], quads, message)
            for each in self.subscriptions.about(quad[0]):
                self._advance(each, quad, event)

    def _match(
        self, subscription: Subscription, graph: Term, quads: Sequence[Terms], message: Message
    ) -> None:
        if next(solutions(subscription.patterns, quads), None) is not None:
            head = [subscription.number, graph.value]  # type: ignore[union-attr]
            self.tell(subscription.home, Message("whole", head=head, body=message.body))

    def _is_own(self, quad: Terms) -> bool:
        graph, subject, predicate, object_ = map(coordinate, quad)
        return self.zone.has((graph, subject, predicate, object_))


def _is_first(subscription: Subscription, quad: Terms, quads: Sequence[Terms]) -> bool:
    """Whether a quad is the first of the event that the first pattern matches."""
    pattern = subscription.patterns[0]
    return next((each for each in quads if matched(pattern, each) is not None), None) == quad
