"""`MemberLinks`: the carrier of a gateway whose federation changes while it runs.

    roster, certificate -> a session with the rights of that version -> the next version, another

Place: in the place of a carrier between fixed members. Who joined or left is heard, or no longer
heard, from the next session on; those that stay come again within seconds, and nothing is lost but
the time. What is said about members is for the `Keeper`, and nobody above hears of it.
"""

import logging
from collections.abc import Callable
from threading import Lock

from gateway.errors import ConfigurationError
from gateway.federation.carrier import Carrier, Channel, Received
from gateway.federation.membership.folder import Membership

log = logging.getLogger(__name__)

Opened = Callable[[Membership], Carrier]
"""Makes the carrier of one version, which does not listen yet. Raises ConfigurationError."""


class MemberLinks:
    """As Carrier; none of it is there until `open` was called for the first time."""

    def __init__(self, opened: Opened) -> None:
        self.trouble = ""
        self.up: set[str] = set()
        self.about_members: Callable[[Received], None] = lambda _: None
        self.came: Callable[[str], None] = lambda _: None
        self._opened = opened
        self._lock = Lock()
        self._carrier: Carrier | None = None
        self._received: Callable[[Received], None] | None = None
        self._presence: Callable[[str, bool], None] = lambda _name, _is_up: None
        self._membership: Membership | None = None

    def send(self, to: str, channel: Channel, payload: bytes) -> None:
        """As Carrier."""
        carrier = self._carrier
        if carrier is not None:
            carrier.send(to, channel, payload)

    def renew(self, member: str) -> None:
        """As Carrier."""
        carrier = self._carrier
        if carrier is not None:
            carrier.renew(member)

    def listen(
        self, received: Callable[[Received], None], presence: Callable[[str, bool], None]
    ) -> None:
        """As Carrier; where there is a membership already, its members are heard."""
        with self._lock:
            self._received, self._presence = received, presence
            self._renew()

    def close(self) -> None:
        """As Carrier."""
        with self._lock:
            self._received = None
            self._shut()

    def open(self, membership: Membership | None) -> None:
        """Hear the members of this version from now on; None is nobody. Waits for the session."""
        with self._lock:
            if membership != self._membership:
                self._membership = membership
                self._renew()

    def again(self) -> None:
        """Try once more what did not go: a port in use, or a hub that is away."""
        with self._lock:
            if self.trouble:
                self._renew()

    def _renew(self) -> None:
        self._shut()
        membership = self._membership
        if membership is None or self._received is None:
            self.trouble = ""
            return
        try:
            carrier = self._opened(membership)
            self._carrier = carrier
            carrier.listen(self._take, self._know)
        except ConfigurationError as error:
            self._shut()
            if str(error) != self.trouble:  # it is tried again each second
                log.error("federation_links_closed", extra={"reason": str(error)})
            self.trouble = str(error)
        else:
            self.trouble = ""

    def _shut(self) -> None:
        """Close the session, and tell that all are gone who were there."""
        carrier, self._carrier = self._carrier, None
        if carrier is not None:
            carrier.close()
        for name in sorted(self.up):
            self._presence(name, False)
        self.up.clear()

    def _take(self, message: Received) -> None:
        """In a thread of the carrier."""
        received = self._received
        if message.channel is Channel.MEMBERS:
            self.about_members(message)
        elif received is not None:
            received(message)

    def _know(self, member: str, is_up: bool) -> None:  # as the carrier tells it
        if is_up:
            self.up.add(member)
        else:
            self.up.discard(member)
        self._presence(member, is_up)
        if is_up:
            self.came(member)
