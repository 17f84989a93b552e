"""CSMA, the Chained Semantic Matching Algorithm: one pattern after the other, from peer to peer.

    publish: each quad to the peer that has its point
    a quad and the first pattern match -> the rest, rewritten, to where its first pattern may match
    the last one matched -> the subscriber is told the graph, and asks for its quads

Place: a kind of peer. A subscription that comes looks for quads that were there before it and are
not older, so the order in which quads and subscriptions arrive does not matter: happened-before.
Source: the paper, section 4.1.
"""

from collections.abc import Sequence

from pyoxigraph import NamedNode, Quad

from bench.federation.eventcloud.messages import Event, Message, Subscription, written
from bench.federation.eventcloud.patterns import Terms, box_of, can_match, matched, rewritten
from bench.federation.eventcloud.peer import Peer, graph_of
from bench.federation.eventcloud.space import point


class CsmaPeer(Peer):
    """A peer of CSMA."""

    def publish(self, quads: Sequence[Quad]) -> None:
        """Send each quad on its own way."""
        distinct = list(dict.fromkeys(quads))
        for quad in distinct:
            head = [self.net.begun, len(distinct)]
            self.route(Message("quad", point(quad), head=head, body=written([quad])))

    def take(self, message: Message) -> None:
        """Take a quad, a subscription, or the question for the quads of an event."""
        match message.kind:
            case "quad":
                (quad,) = graph_of(message)
                self._take_quad(quad, Event(*message.head))
            case "subscribe":
                self._take_subscription(Subscription.of(message))
            case "fetch":
                home, graph = message.head
                self.fetched(NamedNode(graph), home)

    def _take_quad(self, quad: Terms, event: Event) -> None:
        if self.quads.add(quad, event):
            for each in (*self.subscriptions.original(quad), *self.subscriptions.about(quad[0])):
                self._advance(each, quad, event)

    def _take_subscription(self, subscription: Subscription) -> None:
        """Keep it, and look for quads that were here first."""
        self.subscriptions.add(subscription)
        self._look_back(subscription)

    def _look_back(self, subscription: Subscription) -> None:
        graph = subscription.patterns[0][0]
        if subscription.is_rewritten and isinstance(graph, NamedNode):
            found = self.quads.of(graph)
        else:
            found = list(self.quads.since(subscription.since))
        for quad, event in found:
            self._advance(subscription, quad, event)

    def _advance(self, subscription: Subscription, quad: Terms, event: Event) -> None:
        """Where a quad matches the first pattern, have the others matched where they may be."""
        if event.time < subscription.since:
            return
        bindings = matched(subscription.patterns[0], quad)
        if bindings is None:
            return
        rest = rewritten(subscription.patterns[1:], bindings)
        number, since, home = subscription.number, subscription.since, subscription.home
        if not rest:
            head = [number, quad[0].value, event.count]  # type: ignore[union-attr]
            self.tell(home, Message("notify", head=head))
            return
        if can_match(rest):
            left = Subscription(number, since, home, rest, event.count)
            self.route(left.message(box_of(rest[0]), self.new_id()))
