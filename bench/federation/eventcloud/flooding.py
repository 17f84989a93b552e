"""Naive flooding: every event to everybody, who each find out whether it concerns them.

Place: a kind of peer, without an overlay: all know all. Subscriptions stay where they are.
"""

from collections.abc import Sequence

from pyoxigraph import Quad

from bench.federation.eventcloud.messages import Message, read, written
from bench.federation.eventcloud.patterns import terms
from bench.federation.eventcloud.peer import Peer


class FloodingPeer(Peer):
    """A peer that sends everything to all `neighbours`, and has its own subscriber's queries."""

    def publish(self, quads: Sequence[Quad]) -> None:
        """Send the event to everybody."""
        payload = Message("flood", body=written(quads)).encode()
        for name in self.neighbours:
            self._send(name, payload)
        self._match(quads)

    def route(self, message: Message, payload: bytes | None = None, sender: str = "") -> None:
        """Take it: nothing is sent on."""
        del payload, sender
        self.take(message)

    def take(self, message: Message) -> None:
        """Take an event; a subscription stays here."""
        if message.kind == "flood":
            self._match(read(message.body))

    def _match(self, quads: Sequence[Quad]) -> None:
        if self.home is not None:
            self.home.heard([terms(each) for each in quads])
