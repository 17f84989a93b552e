"""`Carrier`: what brings messages from one member to another; a small interface.

Place: below all of the federation. A carrier keeps the order of each channel between two members as
far as it delivers at all. It may lose messages, bring one twice, and come back after a while:
numbers, lives and acknowledgements are for those above it (gateway/federation/wire.py).
"""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, Protocol


class Channel(Enum):
    """What travels apart: a slow one holds no other up."""

    NEEDS = "needs"
    DATA = "data"
    ACK = "ack"
    MEMBERS = "members"


class Received(NamedTuple):
    """A message; who sent it is known by the carrier, never by the payload."""

    sender: str
    channel: Channel
    payload: bytes


class Carrier(Protocol):
    """One member's end; methods never wait."""

    def send(self, to: str, channel: Channel, payload: bytes) -> None:
        """Have a message brought to a member, if that can be; nobody is told where it cannot."""

    def listen(
        self, received: Callable[[Received], None], presence: Callable[[str, bool], None]
    ) -> None:
        """Be told of messages, and of members that come (True) and go; from then on."""

    def renew(self, member: str) -> None:
        """Close the links to a member, which are opened again: nothing comes through them."""

    def close(self) -> None:
        """Go; others are told."""
