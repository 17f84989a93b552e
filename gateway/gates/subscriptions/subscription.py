"""`Subscription`: one of somebody, with what its transports, its limits and its end need to know.

Place on the way of the data: the values that subscribers.py (all of them) and subscriber.py (one
client) share, and what they ask of the scheduler.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from gateway.config.limits import DEFAULT_LIMITS
from gateway.config.network import WebSocketSettings
from gateway.errors import GatewayError
from gateway.gates.subscriptions.kept import Addressed
from gateway.gates.subscriptions.outbox import Consumer, Outbox, OutboxLimits
from gateway.security.principal import Principal


class Owner(Consumer, Protocol):
    """Who has a subscription: a `Subscriber`."""

    @property
    def address(self) -> str:
        """Where the client is, for limits."""

    def hold(self, subscription: "Subscription") -> None:
        """Have a subscription from now on."""

    def release(self, subscription: "Subscription") -> None:
        """Have it no longer."""

    def end(self, ended: "Ended") -> None:
        """Have the client told that a subscription has ended."""


@dataclass(slots=True, eq=False)
class Subscription:
    """One subscription of somebody; `owner` is None while its client is away."""

    principal: Principal
    client: str
    alias: str | None
    outbox: Outbox
    owner: Owner | None
    spuid: str = ""
    refused: GatewayError | None = None
    unwatch: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Ended:
    """A subscription that we have ended, and why."""

    spuid: str
    alias: str | None
    error: GatewayError


@dataclass(frozen=True, slots=True)
class Resumed:
    """A subscription that goes on behind this sequence."""

    spuid: str
    alias: str | None
    sequence: int


Outgoing = Addressed | Ended | Resumed
"""What a client is told without having asked, or first after having asked."""


@dataclass(frozen=True, slots=True)
class SubscriberLimits:
    """Bounds of what clients may hold; a client is an identity, or an address where it has none.

    `held` is for one connection. For `resume_s` seconds, at most `away` subscriptions wait for a
    client that was lost, with `outbox.rows` rows in all. In `stall_s` a peer has to take what is
    sent, or is given up. With `bare_token`, see `decode_message`. `infer` is what a SUBSCRIBE
    means that does not say.
    """

    connections: int = DEFAULT_LIMITS.connections
    client_connections: int = DEFAULT_LIMITS.client_connections
    subscriptions: int = DEFAULT_LIMITS.subscriptions
    client_subscriptions: int = DEFAULT_LIMITS.client_subscriptions
    held: int = DEFAULT_LIMITS.connection_subscriptions
    resume_s: float = DEFAULT_LIMITS.resume_s
    away: int = DEFAULT_LIMITS.resume_subscriptions
    stall_s: float = DEFAULT_LIMITS.stall_s
    bare_token: bool = WebSocketSettings().bare_token
    infer: bool = False
    outbox: OutboxLimits = field(default_factory=OutboxLimits)


@dataclass(slots=True)
class SubscriberStatistics:
    """What is open now (`connections` by transport, `away`), and counters since the start.

    `merged` counts notifications that were added to a waiting one, `overflows` the subscribers
    closed as too slow, `stalls` those that were given up, `ended` the subscriptions that we ended.
    """

    connections: Counter[str] = field(default_factory=Counter)
    away: int = 0
    messages: int = 0
    merged: int = 0
    errors: int = 0
    overflows: int = 0
    stalls: int = 0
    resumed: int = 0
    ended: int = 0
