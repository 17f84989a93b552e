"""Commands by MQTT, as Home Assistant gives them: `<prefix>/<name>/set`, the value as payload.

Place on the way of the data: between a broker and `Commands`; a message to an actuator never
reaches ingest, one to a name that no actuator has is a message like others. A message that the
broker had kept is not executed: it was meant for another time. One that is delivered again (DUP,
MQTT 3.1.1, 3.3.1.1) is not executed again, also not after a restart: its delivery is part of the
IRI of its actuation. What our own rules publish to such a topic becomes an actuation without going
out; nothing else of our own comes back (gates), so nothing loops.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from hashlib import blake2b

from adapters.values.memory import Recent
from adapters.values.message import Message
from gateway.actuation.actuator import Actuator
from gateway.actuation.actuators import Actuators
from gateway.actuation.commands import Commands
from gateway.actuation.rules import Publisher
from gateway.actuation.statistics import ActuationStatistics
from gateway.actuation.values import value_of
from gateway.errors import BadRequestError, GatewayError
from gateway.runtime.loop_calls import LoopCalls

log = logging.getLogger(__name__)

WINDOW = timedelta(minutes=10)
"""As for observations: packet ids are used again."""

_DELIVERIES = 10_000
_DIGEST_BYTES = 8
_MARK = "mqtt-"


class CommandTopics:
    """Knows which topics are those of commands, and makes actuations of what comes there."""

    def __init__(
        self,
        prefix: str,
        actuators: Actuators,
        commands: Commands,
        statistics: ActuationStatistics,
    ) -> None:
        self._prefix = f"{prefix}/"
        self.topic_filter = f"{prefix}/+/set"
        self._actuators = actuators
        self._commands = commands
        self._statistics = statistics
        self._deliveries = Recent[str, datetime](_DELIVERIES)

    def recall(self, actuations: Iterable[tuple[str, datetime]]) -> None:
        """Remember the deliveries of an earlier life, by the IRIs of their actuations."""
        for iri, time in actuations:
            _, found, rest = iri.rpartition("/")[2].partition(_MARK)
            if found:
                self._deliveries.put(rest.partition("-")[0], time)

    def topic(self, actuator: Actuator) -> str:
        """Where commands for an actuator are taken."""
        return f"{self._prefix}{actuator.name}/set"

    def name(self, topic: str) -> str | None:
        """The actuator's name in a topic of commands; None for any other topic."""
        if not topic.startswith(self._prefix) or not topic.endswith("/set"):
            return None
        name = topic[len(self._prefix) : -len("/set")]
        return name if name and "/" not in name else None

    def actuator(self, topic: str) -> Actuator | None:
        """Whose commands are taken at a topic, None where nobody's are."""
        return self._actuators.by_name.get(self.name(topic) or "")

    def takes(self, topic: str) -> bool:
        """Whether messages to a topic are commands."""
        return self.actuator(topic) is not None

    async def accept(self, message: Message) -> None:
        """Make an actuation of a message to such a topic; returns when the store has it.

        Raises a GatewayError where it cannot be stored: then nothing is executed, and the message
        is not acknowledged.
        """
        actuator = self.actuator(message.topic)
        reason = self._ignored(message, actuator)
        if reason or actuator is None:
            self._ignore(message.topic, reason)
            return
        try:
            await self._request(message, actuator)
        except BadRequestError as error:
            self._ignore(message.topic, str(error))

    async def _request(self, message: Message, actuator: Actuator) -> None:
        value = value_of(message.payload.decode().strip())
        if not message.packet_id:
            await self._commands.request(actuator, value)
            return
        digest = _digest(message)
        self._deliveries.put(digest, message.received_at)
        try:
            await self._commands.request(actuator, value, f"{_MARK}{digest}-")
        except BaseException:
            self._deliveries.pop(digest)
            raise

    def _ignored(self, message: Message, actuator: Actuator | None) -> str:
        """Why it is not executed, empty where it is."""
        if not message.payload:
            return "it is empty"
        if actuator is None:
            return "no actuator has this name"
        if message.retained:
            return "the broker had kept it"
        if message.duplicate and self._is_known(message):
            return "it was delivered again"
        try:
            message.payload.decode()
        except UnicodeDecodeError:
            return "it is no UTF-8"
        return ""

    def _is_known(self, message: Message) -> bool:
        before = self._deliveries.get(_digest(message))
        return before is not None and message.received_at - before <= WINDOW

    def _ignore(self, topic: str, reason: str) -> None:
        self._statistics.ignored += 1
        log.warning("command_ignored", extra={"topic": topic, "reason": reason})


def _digest(message: Message) -> str:
    parts = (message.client_id, str(message.packet_id), message.topic)
    content = "\n".join(parts).encode() + b"\n" + message.payload
    return blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


class ActuatingPublisher:
    """Publishes for rules; what they publish to a topic of commands becomes an actuation."""

    def __init__(
        self,
        publisher: Publisher,
        topics: CommandTopics,
        loop_calls: LoopCalls,
        now: Callable[[], datetime],
    ) -> None:
        self._publisher = publisher
        self._topics = topics
        self._loop_calls = loop_calls
        self._now = now
        self._tasks: set[asyncio.Task[None]] = set()

    def publish(self, topic: str, payload: bytes, qos: int, retain: bool) -> None:
        """Send a message; may be called from any thread, does not wait."""
        if self._topics.actuator(topic) is None:
            self._publisher.publish(topic, payload, qos, retain)
        else:
            self._loop_calls.call(self._request, Message(topic, payload, self._now()))

    def _request(self, message: Message) -> None:
        task = asyncio.create_task(self._topics.accept(message), name="command of a rule")
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, GatewayError):
            log.error("command_ignored", extra={"reason": str(error)})
        elif error is not None:
            log.error("command_crashed", exc_info=error)
