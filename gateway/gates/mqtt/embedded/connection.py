"""`Connection`: one MQTT client from CONNACK to the end of its stream.

Place: TCP stream ↔ packets ↔ `MessageExchange` (acceptance, fan-out) and `Subscriptions`. Stands in
for amqtt's `BrokerProtocolHandler`, which acknowledges before anyone has stored. Source: MQTT
3.1.1, sections 3.1.2.5 (will), 3.1.2.10 (keep-alive), 3.3, 4.3, 4.4, 4.6.

Three parties work on a connection: the reader (`_read`), the writer of outgoing messages
(`_deliver`), and the acceptance window's callbacks, which acknowledge without a task of their own.
"""

import asyncio
import itertools
import logging
from dataclasses import replace
from time import monotonic
from typing import Protocol

from amqtt.mqtt import packet as control
from amqtt.mqtt.suback import SubackPacket
from amqtt.session import Session

from gateway.errors import GatewayError
from gateway.gates.mqtt.embedded.acceptance import AcceptanceWindow
from gateway.gates.mqtt.embedded.exchange import MessageExchange
from gateway.gates.mqtt.embedded.frames import (
    Frame,
    LongPublish,
    Publish,
    decode_publish,
    decode_subscribe,
    decode_unsubscribe,
    encode_answer,
    pass_over,
    read_frame,
    require_form,
)
from gateway.gates.mqtt.embedded.session import SessionState
from gateway.gates.mqtt.embedded.settings import TopicAction

log = logging.getLogger(__name__)

PINGRESP = b"\xd0\x00"
KEEP_ALIVE_FACTOR = 1.5
BATCH_BYTES = 65_536
GRACE_S = 0.5
"""What a connection that is stopped has beyond the time to drain."""
PACKETS_PER_TURN = 32
PUBLISH_HEAD_BYTES = 65_535 + 4
"""The longest topic, with its length and a packet identifier."""


class Subscriptions(Protocol):
    """What a connection needs of the subscription table."""

    async def subscribe(self, state: SessionState, topics: list[tuple[str, int]]) -> list[int]:
        """The return codes of SUBACK, one for each topic filter with its wanted QoS."""

    def unsubscribe(self, state: SessionState, filters: list[str]) -> None:
        """Forget subscriptions; unknown filters are ignored."""

    def replay_retained(self, state: SessionState, topic_filter: str, qos: int) -> None:
        """Queue the retained messages that a new subscription asks for."""


class Connection:
    """The conversation with one client; made inside the task that holds the conversation."""

    def __init__(
        self,
        state: SessionState,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        exchange: MessageExchange,
        subscriptions: Subscriptions,
    ) -> None:
        self.state = state
        self._reader = reader
        self._writer = writer
        self._exchange = exchange
        self._subscriptions = subscriptions
        self._task = asyncio.current_task()
        self._window = AcceptanceWindow(exchange.settings.max_inflight, self._settle, self._fail)
        self._ready = asyncio.Event()
        self._reading: asyncio.Task[bool] | None = None
        self._stopping = False

    async def converse(self) -> None:
        """Exchange packets until either side ends it; what was read is settled before it returns.

        A connection that ends without DISCONNECT publishes the client's will, except when the
        gateway itself stops [MQTT-3.1.2-8].
        """
        self.state.connection = self
        self.state.delivery.resume()
        self.wake()
        try:
            clean = await self._exchange_packets()
            if not clean and not self._exchange.closing and self.state.session.will_flag:
                will = _will(self.state.session)
                self._admit(will, len(will.payload))
            await self._window.drain(self._drain_s)
        finally:
            self._window.abandon()
            self.state.delivery.suspend()
            self.state.connection = None

    async def stop(self) -> None:
        """End the conversation: stop reading, answer what is accepted in time, close the stream."""
        self._stopping = True
        if self._reading is not None:
            self._reading.cancel()
        if self._task is None or self._task.done():
            return
        _, late = await asyncio.wait({self._task}, timeout=self._drain_s + GRACE_S)
        if late:
            self._task.cancel()
            await asyncio.wait(late)

    @property
    def _drain_s(self) -> float:
        settings = self._exchange.settings
        return settings.stop_timeout_s if self._exchange.closing else settings.drain_timeout_s

    def wake(self) -> None:
        """Something may be deliverable."""
        self._ready.set()

    async def _exchange_packets(self) -> bool:
        name = self.state.client_id
        async with asyncio.TaskGroup() as tasks:
            delivering = tasks.create_task(self._deliver(), name=f"mqtt-deliver-{name}")
            self._reading = reading = tasks.create_task(self._read(), name=f"mqtt-read-{name}")
            if self._stopping:
                reading.cancel()
            await asyncio.wait({reading})
            delivering.cancel()
        return not reading.cancelled() and reading.result()

    async def _read(self) -> bool:
        """Serve packets until the stream ends; True after DISCONNECT."""
        silence_s = self.state.session.keep_alive * KEEP_ALIVE_FACTOR or None
        max_bytes = self._exchange.settings.max_payload_bytes + PUBLISH_HEAD_BYTES
        try:
            for served in itertools.count(1):
                async with asyncio.timeout(silence_s):
                    frame = await read_frame(self._reader, max_bytes)
                if frame.packet_type == control.PUBLISH:
                    publish = decode_publish(frame)
                    if isinstance(frame, LongPublish):
                        await self._receive_long(publish, frame.rest_bytes, silence_s)
                    else:
                        await self._receive(publish, len(publish.payload))
                elif not await self._serve(frame):
                    return True
                # A client that does not read its acknowledgements is not read either.
                await self._writer.drain()
                # Neither reading what is buffered nor writing gives the other clients a turn.
                if served % PACKETS_PER_TURN == 0:
                    await asyncio.sleep(0)
        except (EOFError, OSError, GatewayError) as error:
            self._say_broken(error)
        return False

    def _say_broken(self, error: Exception) -> None:
        """A line a minute for whoever it is, whatever its client ids are."""
        if times := self._exchange.broken.due(self.state.owner):
            fields = {"client_id": self.state.client_id, "reason": repr(error), "times": times}
            log.info("broker_connection_broken", extra=fields)

    async def _serve(self, frame: Frame) -> bool:
        """Any packet but PUBLISH; False: it was DISCONNECT."""
        require_form(frame)
        match frame.packet_type:
            case control.PINGREQ:
                self._writer.write(PINGRESP)
            case control.SUBSCRIBE:
                await self._subscribe(frame)
            case control.UNSUBSCRIBE:
                filters = decode_unsubscribe(frame)
                self._subscriptions.unsubscribe(self.state, filters)
                self._writer.write(encode_answer(control.UNSUBACK, frame.packet_id))
            case control.PUBREL:
                self.state.received.discard(frame.packet_id)
                self._writer.write(encode_answer(control.PUBCOMP, frame.packet_id))
            case control.DISCONNECT:
                return False
            case _:
                self._delivered(frame)
        return True

    def _delivered(self, frame: Frame) -> None:
        delivery = self.state.delivery
        match frame.packet_type:
            case control.PUBACK:
                delivery.puback(frame.packet_id)
            case control.PUBREC:
                self._writer.write(delivery.pubrec(frame.packet_id))
            case control.PUBCOMP:
                delivery.pubcomp(frame.packet_id)
        self.wake()

    async def _subscribe(self, frame: Frame) -> None:
        topics = decode_subscribe(frame)
        codes = await self._subscriptions.subscribe(self.state, topics)
        self._writer.write(SubackPacket.build(frame.packet_id, codes).to_bytes())
        for (topic_filter, _), code in zip(topics, codes, strict=True):
            if code <= 2:
                self._subscriptions.replay_retained(self.state, topic_filter, code)
                # Linear in the retained messages, each time.
                await asyncio.sleep(0)

    async def _receive_long(
        self, publish: Publish, rest_bytes: int, silence_s: float | None
    ) -> None:
        """Read the rest of what a topic may have; the rest of anything else is never held."""
        size = len(publish.payload) + rest_bytes
        if size > self._exchange.settings.longest_payload(publish.topic):
            await pass_over(self._reader, rest_bytes, silence_s)
        else:
            async with asyncio.timeout(silence_s):
                rest = await self._reader.readexactly(rest_bytes)
            publish = replace(publish, payload=publish.payload + rest)
        await self._receive(publish, size)

    async def _receive(self, publish: Publish, payload_bytes: int) -> None:
        self._exchange.counters.received += 1
        await self._window.room()
        self._admit(publish, payload_bytes)

    def _admit(self, publish: Publish, payload_bytes: int) -> None:
        """Give a PUBLISH to the gateway; one without the right to is only acknowledged."""
        if publish.qos == 2 and publish.packet_id in self.state.received:
            self._window.admit(publish, None)
        elif publish.topic.startswith("$") or not self._exchange.allowed(
            self.state.user, publish.topic, TopicAction.PUBLISH
        ):
            self._exchange.counters.denied += 1
            self._window.admit(publish, None)
        elif payload_bytes > self._exchange.settings.longest_payload(publish.topic):
            refusing = self._exchange.refusing(self.state.client_id, publish, payload_bytes)
            self._window.admit(publish, refusing)
        else:
            self._window.admit(publish, self._exchange.accepting(self.state.client_id, publish))

    def _settle(self, publish: Publish, accepted: bool) -> None:
        if accepted:
            self._exchange.route(publish, self.state.owner)
        if not publish.packet_id:
            return
        if publish.qos == 2:
            self.state.received.add(publish.packet_id)
        if not self._writer.is_closing():
            answer = control.PUBREC if publish.qos == 2 else control.PUBACK
            self._writer.write(encode_answer(answer, publish.packet_id))

    def _fail(self, publish: Publish, error: BaseException | None) -> None:
        self._exchange.counters.failed += 1
        fields = {"client_id": self.state.client_id, "topic": publish.topic}
        log.error("broker_accept_failed", extra=fields, exc_info=error)
        if self._reading is not None:
            self._reading.cancel()

    async def _deliver(self) -> None:
        try:
            while True:
                await self._ready.wait()
                self._ready.clear()
                while batch := self._batch():
                    self._writer.write(batch)
                    await self._writer.drain()
        except OSError:
            return  # The reader sees the end of the same stream and says so.

    def _batch(self) -> bytes:
        batch = bytearray()
        while (
            len(batch) < BATCH_BYTES
            and (packet := self.state.delivery.take(monotonic())) is not None
        ):
            self._exchange.counters.delivered += packet[0] >> 4 == control.PUBLISH
            batch += packet
        return bytes(batch)


def _will(session: Session) -> Publish:
    return Publish(
        session.will_topic,
        bytes(session.will_message),
        session.will_qos or 0,
        bool(session.will_retain),
    )
