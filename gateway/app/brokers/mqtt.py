"""What a link to a broker needs, and what every link is.

Each has a `publisher` that takes commands at once, and `listening`, within which messages come in.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from gateway.actuation.command_topics import CommandTopics
from gateway.actuation.host_state import HostState, sparkplug_host_state
from gateway.admin.onboarding.onboarding import Onboarding
from gateway.app.reception import Reception
from gateway.app.security import Security
from gateway.app.subscribers import Subscribing
from gateway.app.tasks import Tasks
from gateway.config.settings import Config
from gateway.exchange.homeassistant.publisher import Carrier
from gateway.exchange.homeassistant.topics import Topics
from gateway.gates.mqtt.embedded.broker import BrokerClient
from gateway.gates.mqtt.embedded.gate import EmbeddedPublisher
from gateway.gates.mqtt.external.broker import ExternalBroker
from gateway.runtime.alarms import Source
from gateway.runtime.clocks import Clocks
from gateway.runtime.loop_calls import LoopCalls
from gateway.runtime.measures import Measure


@dataclass(frozen=True, slots=True)
class MqttContext:
    """What a link to a broker needs of others."""

    config: Config
    clocks: Clocks
    reception: Reception
    loop_calls: LoopCalls
    security: Security
    subscribing: Subscribing
    onboarding: Onboarding
    tasks: Tasks
    is_taken: Callable[[str], bool]
    """Whether another gate alone reads a topic."""
    announced: Topics | None = None
    """The topics at which Home Assistant is told something, where it is."""

    def host_state(self) -> HostState | None:
        """What a broker is told of us, where the configuration names us a host application."""
        host_id = self.config.sparkplug.host_id
        return sparkplug_host_state(host_id, self.clocks.now()) if host_id else None


class BrokerLink(Protocol):
    """Where messages come from; `port` is known within `listening`."""

    @property
    def publisher(self) -> EmbeddedPublisher | ExternalBroker:
        """Where commands go out."""
        ...

    @property
    def port(self) -> int:
        """Where the broker is reached."""
        ...

    def names(self, level: str) -> bool:
        """Whether somebody may listen to topics that begin with a level; in any thread."""
        ...

    def listens(self, topic: str) -> bool:
        """Whether somebody may listen to a topic; on another broker that is not known."""
        ...

    def tell(self, topic: str, payload: bytes) -> bool:
        """Publish what is nobody's command, with QoS 0; False where nobody is told."""
        ...

    def listening(self, topics: CommandTopics) -> AbstractAsyncContextManager[None]:
        """Messages come in, commands by `topics`; at the end nothing more is taken."""
        ...

    def announcing(
        self, topics: Topics, anew: Callable[[], None]
    ) -> AbstractAsyncContextManager[Carrier]:
        """The way for announcements, within `listening`; `anew` asks to have all sent again."""
        ...

    def measures(self) -> tuple[Measure, ...]:
        """What it counts."""
        ...

    def alarms(self) -> Source:
        """What is wrong with it."""
        ...

    def clients(self) -> Sequence[BrokerClient]:
        """Who is connected: devices here, or the gateway there."""
        ...
