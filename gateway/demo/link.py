"""`Link`: one MQTT connection of the demo's devices, with what it learns about acknowledgements.

Place on the way of the data: carries the devices' publications to the gateway's gate over real
MQTT (3.1.1, QoS 1). The gateway acknowledges when the reading is stored, so the time to a PUBACK
is the latency of ingest, and a window of unacknowledged messages is the back-pressure.
"""

import queue
from collections import deque
from collections.abc import Callable
from threading import BoundedSemaphore, Event
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from gateway.demo.devices import Publication
from gateway.errors import StorageError

ACKNOWLEDGE_TIMEOUT_S = 10.0


class Link:
    """A connected client; a context manager. `acknowledged` is told each latency in s.

    Acknowledgements come in the order of the messages (MQTT 3.1.1, section 4.6).
    """

    def __init__(
        self, port: int, client_id: str, acknowledged: Callable[[float], None], window: int = 64
    ) -> None:
        self._port = port
        self._window = window
        self._free = BoundedSemaphore(window)
        self._sent: deque[float] = deque()
        self._acknowledged = acknowledged
        self._commands: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._subscribed = Event()
        self._client = Client(CallbackAPIVersion.VERSION2, client_id)
        self._client.max_inflight_messages_set(window)
        self._client.on_publish = self._on_publish
        self._client.on_subscribe = self._on_subscribe
        self._client.on_message = self._on_message

    def __enter__(self) -> Self:
        self._client.connect("127.0.0.1", self._port)
        self._client.loop_start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        client = self._client
        client.disconnect()
        client.loop_stop()
        # It closes what wakes its thread when it goes, and in a cycle that may be too late.
        client.on_publish = client.on_subscribe = client.on_message = None

    def publish(self, publication: Publication) -> None:
        """Publish with QoS 1; waits while the window is full."""
        self._take_place()
        self._sent.append(perf_counter())
        self._client.publish(
            publication.topic, publication.payload, qos=1, retain=publication.retain
        )

    def drain(self) -> None:
        """Wait until everything is acknowledged."""
        for _ in range(self._window):
            self._take_place()
        for _ in range(self._window):
            self._free.release()

    def listen(self, topic: str) -> None:
        """Subscribe a topic; what comes is kept for `commands`."""
        self._client.subscribe(topic, qos=1)
        if not self._subscribed.wait(ACKNOWLEDGE_TIMEOUT_S):
            raise StorageError(f"no SUBACK for {topic} in {ACKNOWLEDGE_TIMEOUT_S:g} s")

    def commands(self) -> list[bytes]:
        """The payloads that came since the last call."""
        return [self._commands.get_nowait() for _ in range(self._commands.qsize())]

    def _take_place(self) -> None:
        if not self._free.acquire(timeout=ACKNOWLEDGE_TIMEOUT_S):
            raise StorageError(f"no PUBACK in {ACKNOWLEDGE_TIMEOUT_S:g} s", "see the log")

    def _on_publish(self, *_: Any) -> None:
        self._acknowledged(perf_counter() - self._sent.popleft())
        self._free.release()

    def _on_subscribe(self, *_: Any) -> None:
        self._subscribed.set()

    def _on_message(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        self._commands.put(bytes(message.payload))
