"""How the settings make subscribers: their limits, and those who come over a broker."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from typing import NamedTuple

from gateway.app.federation.federating import Federation, GoOnBehind, Kept, federating
from gateway.app.security import Security
from gateway.app.tasks import Tasks
from gateway.config.limits import LimitsSettings
from gateway.config.settings import Config
from gateway.engine import Engine
from gateway.errors import UnauthorizedError
from gateway.gates.mqtt.embedded.subscriptions import Identify
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.mqtt.external.subscriptions import ExternalExchange
from gateway.gates.sparql.queries_apart import QueriesApart
from gateway.gates.subscriptions.federated import Federated
from gateway.gates.subscriptions.kept import KeptLimits
from gateway.gates.subscriptions.mqtt import MqttGate
from gateway.gates.subscriptions.open_windows import OpenWindows
from gateway.gates.subscriptions.outbox import OutboxLimits
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import SubscriberLimits
from gateway.gates.subscriptions.tried_first import TriedFirst
from gateway.runtime.clocks import Clocks
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.scheduler import Scheduler
from gateway.security.policy import EVERYTHING, Policy
from gateway.security.principal import Principal
from gateway.sparql.bounds.answer import AnswerBounds

Policies = Callable[[str], Policy | None]
"""What an identity may do; None is one that is not known."""


def subscriber_limits(config: Config) -> SubscriberLimits:
    """What clients may hold."""
    limits = config.limits
    return SubscriberLimits(
        connections=limits.connections,
        client_connections=limits.client_connections,
        subscriptions=limits.subscriptions,
        client_subscriptions=limits.client_subscriptions,
        held=limits.connection_subscriptions,
        resume_s=limits.resume_s,
        away=limits.resume_subscriptions,
        stall_s=limits.stall_s,
        bare_token=config.websocket.bare_token,
        infer=config.reasoning.infer,
        outbox=OutboxLimits(
            messages=limits.outbox,
            rows=limits.outbox_rows,
            kept=KeptLimits(
                messages=limits.resume_messages if limits.resume_s else 0,
                bytes=limits.resume_bytes,
                total_bytes=limits.resume_total_bytes,
            ),
        ),
    )


def identify_by(policies: Policies | None) -> Identify:
    """Who a user of the embedded broker is; without policies, anybody with all rights."""

    def identify(user: str | None) -> Principal:
        if policies is None:
            return Principal(user or "", EVERYTHING)
        policy = policies(user or "")
        if user is None or policy is None:
            raise UnauthorizedError(
                "nobody knows this user of the broker", "log in to it with an identity"
            )
        return Principal(user, policy)

    return identify


@dataclass(frozen=True, slots=True)
class Subscribing:
    """What subscribers over MQTT need, whatever the broker."""

    subscribers: Subscribers
    apart: QueriesApart
    prefix: str
    identify: Identify
    federation: Federation | None = None

    @asynccontextmanager
    async def over(self, settings: ExternalSettings) -> AsyncIterator[None]:
        """Serve those who come over an external broker."""
        exchange = ExternalExchange(settings, self.prefix)
        async with MqttGate(self.subscribers, exchange, self.prefix) as gate:
            exchange.serve(gate, self.subscribers.guard.principal)
            async with exchange:
                yield


class Beside(NamedTuple):
    """What is there when subscribers come; `kept` is what members missed.

    `overtaken` has this gateway go on behind a position that they know of it.
    """

    loop_calls: LoopCalls
    security: Security
    clocks: Clocks
    tasks: Tasks
    kept: Kept = None
    overtaken: GoOnBehind = None


@asynccontextmanager
async def subscribing(
    config: Config, scheduler: Scheduler, beside: Beside
) -> AsyncIterator[Subscribing]:
    """Subscribers can come, by whatever transport."""
    loop_calls, security, clocks, tasks, kept, overtaken = beside
    policies = None if security.authority is None else security.authority.policy
    limits = subscriber_limits(config)
    async with AsyncExitStack() as stack:
        apart = stack.enter_context(closing(_queries_apart(config, scheduler.engine)))
        windows = OpenWindows(scheduler, config.limits.query_memory_bytes // _COPIED)
        tried = stack.enter_context(closing(TriedFirst(scheduler, apart, windows)))
        federation = await stack.enter_async_context(
            federating(config, scheduler, clocks.now, tasks, kept=kept, overtaken=overtaken)
        )
        federated = Federated(tried, None if federation is None else federation.service)
        subscribers = Subscribers(federated, loop_calls, limits, security.guard)
        await stack.enter_async_context(subscribers)
        identify = identify_by(policies)
        yield Subscribing(subscribers, apart, config.mqtt.sparql_topic, identify, federation)


_COPIED = 10
"""A copy of windows may have one in so many bytes of what a query's process may take."""


def _queries_apart(config: Config, engine: Engine) -> QueriesApart:
    folder, limits = config.gateway.data_dir / "snapshots", config.limits
    return QueriesApart(engine, folder, rendering_limits(limits), limits.query_memory_bytes)


def rendering_limits(limits: LimitsSettings) -> AnswerBounds:
    """How long an answer may be, and may take."""
    return AnswerBounds(solutions=limits.query_solutions, timeout_s=limits.query_s)
