"""`SessionState`: what the broker knows of a client id beside amqtt's own session.

Place: hangs on amqtt's `Session.attributes`, so that it lives and dies with the session; the
connection, the fan-out and the subscription table share it. Source: MQTT 3.1.1, section 3.1.2.4.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from amqtt.session import Session

from gateway.gates.mqtt.embedded.delivery import DeliveryQueue
from gateway.gates.mqtt.embedded.settings import BrokerSettings

_KEY = "sosa_gateway.state"
_OF_THE_CONNECTION = (
    "keep_alive",
    "remote_address",
    "remote_port",
    "ssl_object",
    "will_flag",
    "will_message",
    "will_qos",
    "will_retain",
    "will_topic",
)


class Receiver(Protocol):
    """A live connection, as the fan-out sees it."""

    def wake(self) -> None:
        """Something may be deliverable."""


class _Transitions:
    """Where a session is, as amqtt asks for it."""

    __slots__ = ("_entered", "state")

    def __init__(self, entered: Callable[[str], None]) -> None:
        self.state = "new"
        self._entered = entered

    def connect(self) -> None:
        """The client is there."""
        self.state = "connected"
        self._entered(self.state)

    def disconnect(self) -> None:
        """The client is away."""
        self.state = "disconnected"
        self._entered(self.state)


class ClientSession(Session):  # type: ignore[misc]  # amqtt is untyped
    """amqtt's session without its state machine, which takes 16 kB and 0.25 ms for each client."""

    def _init_states(self) -> None:
        self.transitions = _Transitions(self._entered)

    def _entered(self, state: str) -> None:
        if state == "connected":
            self._on_enter_connected()
        else:
            self._on_enter_disconnected()


@dataclass(slots=True, eq=False)
class SessionState:
    """One client's session, across its connections; `connection` is None while it is away.

    `owner` is whose share of the broker it takes: its user, or its address where nobody is asked.
    `received`: QoS 2 packet identifiers accepted and not yet released [MQTT-4.3.3-2].
    """

    session: Session
    owner: str
    delivery: DeliveryQueue
    received: set[int] = field(default_factory=set)
    filters: set[str] = field(default_factory=set)
    connection: Receiver | None = None

    @property
    def client_id(self) -> str:
        """The client identifier, never empty."""
        return str(self.session.client_id)

    @property
    def user(self) -> str | None:
        """The authenticated user; None for an anonymous client."""
        username: str | None = self.session.username
        return username


@dataclass(frozen=True, slots=True)
class BrokerClient:
    """A client's session as people look at it; no `address` while it is away."""

    client_id: str
    user: str
    address: str
    is_connected: bool
    subscriptions: int


def new_state(session: Session, owner: str, settings: BrokerSettings) -> SessionState:
    """A state without a past, attached to `session`."""
    state = SessionState(
        session,
        owner,
        DeliveryQueue(settings.max_inflight, settings.max_queued, settings.max_queued_bytes),
    )
    session.attributes[_KEY] = state
    return state


def state_of(session: Session) -> SessionState:
    """The state attached to a session of the broker's table."""
    state: SessionState = session.attributes[_KEY]
    return state


def renew(stored: Session, incoming: Session) -> None:
    """Give a stored session what belongs to its new connection, the will included."""
    for name in _OF_THE_CONNECTION:
        setattr(stored, name, getattr(incoming, name))
    stored.parent = 1
