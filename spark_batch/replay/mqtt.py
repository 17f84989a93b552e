"""To an MQTT broker: packs at QoS 1, each batch acknowledged before the next.

Place on the way of the data: the exit of `replay`. paho connects again by itself and repeats what
was not acknowledged, so a broker may die and come again in the middle of a batch; one that
acknowledges nothing for the time-out ends the replay, whose position is that of the last batch.
"""

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from paho.mqtt.client import Client, MQTTMessageInfo
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode

from spark_batch.errors import ArchiveError
from spark_batch.replay.receiver import Sent
from spark_batch.replay.selection import Row
from spark_batch.replay.senml import DEFAULT_TOPIC, check_topic, pack, topic_of

PASSWORD = "SOSA_REPLAY_PASSWORD"  # noqa: S105 - the name of a variable
_RECONNECT_S = 5
"""Between attempts at most."""

_PORTS = {"mqtt": 1883, "mqtts": 8883}


@dataclass(frozen=True, slots=True)
class Broker:
    """Where a broker is, from `mqtt://user@host:port`; `mqtts` is TLS."""

    host: str
    port: int
    tls: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, url: str) -> Self:
        """Raises ArchiveError; a password in the environment wins over one in the URL."""
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS[parts.scheme]
        except (ValueError, KeyError):
            parts, port = urlsplit(""), 0
        if not parts.hostname or parts.path not in ("", "/"):
            raise ArchiveError(
                "the URL of the broker is wrong", "give mqtt[s]://[user@]host[:port]"
            )
        password = os.environ.get(PASSWORD) or parts.password
        return cls(
            parts.hostname,
            port,
            parts.scheme == "mqtts",
            unquote(parts.username) if parts.username else None,
            unquote(password) if password else None,
        )


class MqttReceiver:
    """A receiver of batches; a context manager that is connected inside."""

    def __init__(
        self,
        broker: Broker,
        topic: str = DEFAULT_TOPIC,
        timeout_s: float = 60,
        ca: Path | None = None,
    ) -> None:
        self._broker = broker
        self._topic = check_topic(topic)
        self._timeout_s = timeout_s
        self._answered = threading.Event()
        self._refusal = ""
        self._client = Client(CallbackAPIVersion.VERSION2)
        self._client.on_connect = self._on_connect
        self._client.on_publish = self._on_publish
        self._client.reconnect_delay_set(1, _RECONNECT_S)
        self._news = threading.Condition()
        self._acknowledged: set[int] = set()
        if broker.user is not None:
            self._client.username_pw_set(broker.user, broker.password)
        if broker.tls:
            self._client.tls_set(None if ca is None else str(ca))

    def __enter__(self) -> Self:
        place = f"{self._broker.host}:{self._broker.port}"
        try:
            self._client.connect(self._broker.host, self._broker.port)
        except OSError as error:
            raise ArchiveError(
                f"the broker {place} cannot be reached: {error}", "start it, or correct --mqtt"
            ) from error
        self._client.loop_start()
        if not self._answered.wait(self._timeout_s) or self._refusal:
            self.__exit__()
            raise ArchiveError(
                f"the broker {place} refused: {self._refusal or 'no answer'}",
                f"give a user in --mqtt and a password in {PASSWORD}",
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def send(self, rows: Sequence[Row]) -> Sent:
        """Publish a batch and wait until all of it is acknowledged; raises ArchiveError."""
        sent = Sent()
        waiting: list[MQTTMessageInfo] = []
        for topic, group in groupby(rows, self._topic_of):
            chosen = list(group)
            payload, reasons = pack(chosen)
            sent.left_out.update(reasons)
            if payload:
                waiting.append(self._client.publish(topic, payload, qos=1))
                sent.rows += len(chosen) - len(reasons)
        self._wait(waiting)
        sent.messages = len(waiting)
        return sent

    def _topic_of(self, row: Row) -> str:
        return topic_of(self._topic, (row.gateway, row.sensor, row.observed_property, row.feature))

    def _wait(self, waiting: Sequence[MQTTMessageInfo]) -> None:
        """Until all are acknowledged, over any number of connections."""
        for info in waiting:
            # Without a connection paho keeps the message for the next one.
            if info.rc not in (MQTTErrorCode.MQTT_ERR_SUCCESS, MQTTErrorCode.MQTT_ERR_NO_CONN):
                raise ArchiveError(f"the broker took no message: {info.rc!r}", "run it again")
        open_mids = {info.mid for info in waiting}
        with self._news:
            while open_mids := open_mids - self._acknowledged:
                if not self._news.wait(self._timeout_s):
                    raise ArchiveError(
                        f"the broker acknowledged nothing for {self._timeout_s:g} s",
                        "look at it, and run the replay again: --position goes on where it was",
                    )
            self._acknowledged.clear()

    def _on_publish(self, client: Client, data: Any, mid: int, reason: Any, _: Any) -> None:
        del client, data, reason
        with self._news:
            self._acknowledged.add(mid)
            self._news.notify_all()

    def _on_connect(self, client: Client, data: Any, flags: Any, reason: Any, _: Any) -> None:
        del client, data, flags
        self._refusal = str(reason) if reason.is_failure else ""
        self._answered.set()
