"""`MessageExchange`: from one accepted PUBLISH to everyone who may have it.

Place: connection → `accepting` → gateway's inbox and store; then `route` → retained messages and
subscribers' queues. Source: MQTT 3.1.1, sections 3.3.1.3 (RETAIN), 3.3.5, 3.8.4 (QoS of delivery).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

from adapters.values.message import Message
from gateway.gates.mqtt.embedded.frames import BEGINNING_BYTES, Publish
from gateway.gates.mqtt.embedded.retained import GATEWAY, RetainedLimits, RetainedMessages
from gateway.gates.mqtt.embedded.session import SessionState
from gateway.gates.mqtt.embedded.settings import (
    BrokerCounters,
    BrokerSettings,
    Rules,
    TopicAction,
)
from gateway.runtime.log_lines import LogLines

log = logging.getLogger(__name__)

_ROOM = (
    "clear retained messages, or raise [mqtt] retained_messages, retained_bytes, "
    "{0}retained_messages or {0}retained_bytes"
)
LINE_EACH_S = 600.0
BROKEN_EACH_S = 60.0

Subscribers = Callable[[str], Iterable[tuple[SessionState, int]]]


class MessageExchange:
    """Acceptance, rights, fan-out.

    `subscribers(topic)` names each subscribed session once, with its highest granted QoS.
    `authorize` answers at once and does not raise.
    """

    def __init__(
        self,
        settings: BrokerSettings,
        subscribers: Subscribers,
        rules: Rules,
    ) -> None:
        self.settings = settings
        self.counters = BrokerCounters()
        self.retained = RetainedMessages(
            RetainedLimits(
                settings.max_retained,
                settings.max_retained_bytes,
                settings.max_client_retained,
                settings.max_client_retained_bytes,
                settings.max_own_retained,
                settings.max_own_retained_bytes,
            )
        )
        self.closing = False
        self._subscribers = subscribers
        self.broken = LogLines(BROKEN_EACH_S)
        self._too_large = LogLines(LINE_EACH_S)
        self._not_retained = LogLines(LINE_EACH_S)
        self._rules = rules
        self._authorize = rules.authorize

    def allowed(self, user: str | None, topic: str, action: TopicAction) -> bool:
        """Whether `user` may do this."""
        return self._authorize is None or self._authorize(user, topic, action)

    def accepting(self, client_id: str, publish: Publish) -> asyncio.Future[bool | None]:
        """Hand a client's PUBLISH to the gateway; done when it is stored.

        With RETAIN or without it, it is news of now: the flag asks the broker to keep a copy for
        later subscribers, and the gateway is here already [MQTT-3.3.1-9].
        """
        return asyncio.ensure_future(self._rules.accept(self._message(client_id, publish)))

    def refusing(
        self, client_id: str, publish: Publish, payload_bytes: int
    ) -> asyncio.Future[bool | None]:
        """Tell the gateway of a payload that is too long; done, with False, when it knows.

        Of the payload it is told the beginning.
        """
        self.counters.too_large += 1
        if times := self._too_large.due(client_id):
            log.warning(
                "broker_payload_too_large",
                extra={
                    "client_id": client_id,
                    "topic": publish.topic,
                    "bytes": payload_bytes,
                    "times": times,
                    "most": self.settings.longest_payload(publish.topic),
                    "hint": "send less at a time, or raise [limits] payload_bytes",
                },
            )
        beginning = replace(publish, payload=publish.payload[:BEGINNING_BYTES])
        return asyncio.ensure_future(
            self._refused(self._message(client_id, beginning), payload_bytes)
        )

    async def _refused(self, message: Message, payload_bytes: int) -> bool:
        await self._rules.refuse(message, payload_bytes)
        return False

    def _message(self, client_id: str, publish: Publish) -> Message:
        return Message(
            topic=publish.topic,
            payload=publish.payload,
            received_at=self._rules.clock(),
            client_id=client_id,
            packet_id=publish.packet_id,
            duplicate=publish.duplicate,
            qos=publish.qos,
        )

    def route(self, publish: Publish, owner: str = GATEWAY) -> None:
        """Retain and fan out, with RETAIN cleared and at most the QoS of publication [D6, D7]."""
        if publish.retain:
            self._retain(publish, owner)
        for state, granted in self._subscribers(publish.topic):
            qos = min(granted, publish.qos)
            # Only QoS 1 and 2 wait for a client that is away [MQTT-3.1.2-5].
            if qos or state.connection is not None:
                fields = (publish.topic, publish.payload, qos)
                self._queue(state, Publish(*fields, expires_s=publish.expires_s))

    def _retain(self, publish: Publish, owner: str) -> None:
        refused = self.retained.refused
        is_kept = self.retained.keep(publish, owner)
        if self.retained.refused == refused:
            return
        if times := self._not_retained.due(owner):
            log.warning(
                "broker_message_not_retained",
                extra={
                    "client": owner,
                    "topic": publish.topic,
                    "instead": "an older one of the client with most" if is_kept else "",
                    "times": times,
                    "hint": _ROOM.format("own_" if owner == GATEWAY else "client_"),
                },
            )

    def replay(self, state: SessionState, messages: Iterable[Publish], granted: int) -> None:
        """Queue retained messages, which a new subscription asks for [D1]."""
        for kept in messages:
            qos = min(granted, kept.qos)
            self._queue(state, Publish(kept.topic, kept.payload, qos, retain=True))

    def _queue(self, state: SessionState, publish: Publish) -> None:
        if not self.allowed(state.user, publish.topic, TopicAction.RECEIVE):
            return
        if not state.delivery.offer(publish):
            self.counters.dropped += 1
        elif state.connection is not None:
            state.connection.wake()
