"""A Mosquitto that runs on the files of a gateway, as its own user, and clients of MQTT 5."""

import queue
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import which
from types import TracebackType
from typing import Self

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from gateway.app.brokers.settings import beside_of
from gateway.config.settings import Config, MqttSettings, SecuritySettings
from gateway.gates.mqtt.mosquitto.configuration import CONFIGURATION
from gateway.security.identity import Identity
from gateway.security.identity_store import IdentityStore
from gateway.security.mosquitto_hash import mosquitto_hash
from gateway.security.policy import Policy
from tests.gateway.security.clients import identity
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    JsonObject,
    Program,
    free_port,
    mapping,
    settings,
    write_profile,
)

STATE = mapping("state", "home/+/state", format="scalar", sensor="urn:sensor:{1}")
LAMP = Policy(publish=frozenset({"home/lamp/state"}), receive=frozenset({"home/lamp/#"}))


def known(name: str, policy: Policy = LAMP) -> Identity:
    """Somebody whom Mosquitto knows as well."""
    stored = mosquitto_hash(f"{name}-secret", 101)
    return replace(identity(name, policy), mosquitto_hash=stored)


def beside(folder: Path, *identities: Identity, **mqtt: object) -> Config:
    """A gateway that asks who comes, where there are identities."""
    config = settings(folder, write_profile(folder, [STATE]))
    chosen: JsonObject = {
        "mode": "mosquitto",
        "port": free_port(),
        "mosquitto_dir": folder / "mosquitto",
        **mqtt,
    }
    store = IdentityStore(folder / "data" / "security" / "identities.sqlite")
    for each in identities:
        store.add(each)
    security = SecuritySettings(enabled=bool(identities))
    changes = {"mqtt": MqttSettings.model_validate(chosen), "security": security}
    return config.model_copy(update=changes)


@contextmanager
def mosquitto_of(config: Config) -> Iterator[Program]:
    """Started before the gateway, by files of an earlier life; it tells all that it does."""
    told = beside_of(config)
    assert told is not None
    told.write()
    program = which("mosquitto") or which("/usr/sbin/mosquitto")
    if program is None:
        pytest.skip("mosquitto is not installed")
    folder = config.mqtt.mosquitto_dir
    configuration = str(folder / CONFIGURATION)
    with Program("env", "-C", str(folder), program, "-v", "-c", configuration) as process:
        process.wait_for(" running")
        yield process


class Person:
    """A client with a name, of MQTT 5 unless it is said otherwise; a context manager.

    `code` is the answer to its CONNECT.
    """

    def __init__(
        self,
        port: int,
        user: str = "",
        password: str = "",
        tls: ssl.SSLContext | None = None,
        protocol: MQTTProtocolVersion = MQTTProtocolVersion.MQTTv5,
    ) -> None:
        self.code = -1
        self._port = port
        self._told = threading.Event()
        self._answers: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._received: queue.SimpleQueue[MQTTMessage] = queue.SimpleQueue()
        self.ended = threading.Event()
        client = Client(CallbackAPIVersion.VERSION2, protocol=protocol)
        if user:
            client.username_pw_set(user, password)
        if tls is not None:
            client.tls_set_context(tls)
        client.on_connect = lambda _c, _u, _f, reason, _p: self._connected(reason.value)
        client.on_publish = lambda _c, _u, _m, reason, _p: self._answers.put(reason.value)
        client.on_subscribe = lambda _c, _u, _m, reasons, _p: self._answers.put(reasons[0].value)
        client.on_message = lambda _c, _u, message: self._received.put(message)
        client.on_disconnect = lambda *_: self.ended.set()
        self._client = client

    def _connected(self, code: int) -> None:
        self.code = code
        self._told.set()

    def __enter__(self) -> Self:
        self._client.connect(LOOPBACK, self._port)
        self._client.loop_start()
        assert self._told.wait(WAIT_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def publish(self, topic: str, payload: str) -> int:
        """The reason code of PUBACK."""
        self._client.publish(topic, payload, 1)
        return self._answers.get(timeout=WAIT_S)

    def subscribe(self, topic_filter: str) -> int:
        """The reason code of SUBACK."""
        self._client.subscribe(topic_filter, 1)
        return self._answers.get(timeout=WAIT_S)

    def received(self) -> Mapping[str, str]:
        """The next message."""
        message = self._received.get(timeout=WAIT_S)
        return {message.topic: message.payload.decode()}


def code_of(port: int, user: str, password: str, tls: ssl.SSLContext | None = None) -> int:
    """How a login is answered (MQTT 5.0, 3.2.2.2)."""
    with Person(port, user, password, tls) as person:
        return person.code
