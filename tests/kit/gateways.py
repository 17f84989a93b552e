"""Gateways as a person runs them, devices that publish, subscribers that keep what they are told.

For tests over real sockets: everything listens on the loopback interface, on free ports.
"""

import asyncio
import itertools
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

import httpx
import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion
from pyoxigraph import BlankNode, Literal, NamedNode

from gateway.app.gateway import Gateway
from gateway.config.settings import (
    SHIPPED_PROFILES,
    Config,
    GatewaySettings,
    HttpSettings,
    JsapSettings,
    LimitsSettings,
    MqttSettings,
    StoreSettings,
    WebSocketSettings,
)
from gateway.engine import Notification
from gateway.journal import Record, read_journal
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term
from gateway.runtime.clocks import SYSTEM_CLOCKS, Clocks
from tests.paths import SHARED

LOOPBACK = "127.0.0.1"
PREFIXES = """\
PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX qudt: <http://qudt.org/schema/qudt/>
PREFIX unit: <http://qudt.org/vocab/unit/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX gw: <https://sosa-gateway.example/ns#>
"""
MAPPINGS = "https://sosa-gateway.example/graph/mappings"
VALUES = PREFIXES + "SELECT ?observation ?value { ?observation sosa:hasSimpleResult ?value }"
WAIT_S = 60.0
OWN_SUBSCRIPTIONS = 6
"""Its own: mappings, capabilities, actuators, requested actuations, rules, all of their graph."""


Publication = tuple[str, bytes]
JsonObject = dict[str, object]


def shared_file(name: str) -> Path:
    """A file of recorded data beside the checkout; without it the test is skipped or fails."""
    path = SHARED / "data" / "sensors" / name
    if not path.exists():
        stop = pytest.fail if os.environ.get("SOSA_GATEWAY_REQUIRE_SHARED") == "1" else pytest.skip
        stop(f"no recorded data: {path} is missing")
    return path


def free_port() -> int:
    """A port for what cannot listen on port 0; it is given to nobody else in this run of pytest.

    Below the range that the system takes ports from, each worker process has its own.
    """
    while True:
        port = next(_PORTS)
        with suppress(OSError), socket.create_server((LOOPBACK, port)):
            return port


def _ports() -> Iterator[int]:
    """All ports of this worker process, again and again, each process beginning elsewhere."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first, begin = 20_000 + worker % 10 * 1_000, os.getpid() * 50
    return (first + (begin + number) % 1_000 for number in itertools.count())


_PORTS = _ports()


def mapping(name: str, topic: str, **members: str | float) -> JsonObject:
    """A mapping of a JSAP profile with members that most tests do not care about."""
    return {
        "id": f"urn:mapping:{name}",
        "topic": topic,
        "format": "json",
        "sensor": "urn:sensor:{1}" if "+" in topic else "urn:sensor:1",
        "property": f"urn:property:{name}",
        "feature": "urn:room:{1}" if "+" in topic else "urn:room:1",
        **members,
    }


def write_profile(
    folder: Path,
    mappings: Sequence[JsonObject] = (),
    rules: Sequence[JsonObject] = (),
    queries: Mapping[str, str] | None = None,
    windows: Sequence[JsonObject] = (),
) -> Path:
    """A JSAP profile file; a later call with the same folder replaces it."""
    profile = {
        "host": LOOPBACK,
        "namespaces": {
            "unit": "http://qudt.org/vocab/unit/",
            "sosa": "http://www.w3.org/ns/sosa/",
            "gw": "https://sosa-gateway.example/ns#",
        },
        "queries": {name: {"sparql": text} for name, text in (queries or {}).items()},
        "updates": {},
        "extended": {
            "mappings": list(mappings),
            "rules": list(rules),
            "windows": list(windows),
        },
    }
    path = folder / "test.jsap"
    path.write_text(json.dumps(profile), encoding="utf-8")
    return path


def settings(
    folder: Path,
    profile: Path,
    *,
    kind: str = "memory",
    latest: int = 1,
    mosquitto: int | None = None,
    **limits: int,
) -> Config:
    """The settings of a gateway in `folder`; `mosquitto` is the port of an external broker."""
    mqtt: JsonObject = {"port": 0}
    if mosquitto is not None:
        mqtt = {"mode": "external", "port": mosquitto}
    return Config(
        gateway=GatewaySettings(id="test", data_dir=folder / "data"),
        store=StoreSettings.model_validate({"kind": kind, "latest": latest}),
        mqtt=MqttSettings.model_validate(mqtt),
        http=HttpSettings(port=0),
        websocket=WebSocketSettings(port=0),
        jsap=JsapSettings(profiles=(SHIPPED_PROFILES / "observations.jsap", profile)),
        limits=LimitsSettings.model_validate(limits),
    )


@asynccontextmanager
async def running(config: Config, clocks: Clocks = SYSTEM_CLOCKS) -> AsyncIterator[Gateway]:
    """A gateway in this process, which may start on the same folder again afterwards."""
    async with Gateway(config, clocks) as gateway:
        store = gateway.scheduler.engine.store
        yield gateway
    # Oxigraph gives up a folder when nothing refers to its store any more.
    vars(store).clear()


async def update(gateway: Gateway, text: str) -> None:
    """An UPDATE over HTTP, with the PREFIXES."""
    async with httpx.AsyncClient() as client:
        answer = await client.post(update_url(gateway), data={"update": PREFIXES + text})
    assert answer.status_code == 200, answer.text


async def until_subscribed(gateway: Gateway, count: int) -> None:
    """Wait until the engine has so many subscriptions; the gateway's own are two."""
    engine = gateway.scheduler.engine
    async with asyncio.timeout(WAIT_S):
        while engine.statistics.subscriptions != count:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def resubscribing(gateway: Gateway) -> AsyncIterator[None]:
    """Something is subscribed meanwhile: rules follow what they are made of after an answer."""
    subscribe, done = gateway.scheduler.subscribe, asyncio.Event()

    async def told(*arguments: Any, **options: Any) -> str:
        spuid = await subscribe(*arguments, **options)
        done.set()
        return spuid

    with patch.object(gateway.scheduler, "subscribe", told):
        yield
        await asyncio.wait_for(done.wait(), WAIT_S)


def update_url(gateway: Gateway) -> str:
    return f"http://{LOOPBACK}:{gateway.http_port}/update"


def journal_records(folder: Path) -> list[Record]:
    """Everything in the journal below `folder`, in its order."""
    return list(read_journal(folder / "data" / "journal"))


def wait_until(condition: Callable[[], bool], timeout_s: float = WAIT_S) -> None:
    """Look again and again, where another process tells nobody; fails when it is never true."""
    never, end = threading.Event(), monotonic() + timeout_s
    while not condition():
        assert monotonic() < end
        never.wait(0.02)


class Watch:
    """A sink that keeps its notifications; made and awaited in the event loop."""

    def __init__(self) -> None:
        self.notifications: list[Notification] = []
        self._count = 0
        self._loop = asyncio.get_running_loop()
        self._told = asyncio.Event()

    def __call__(self, notification: Notification) -> None:
        self.notifications.append(notification)
        self._count += len(notification.results.added)
        self._loop.call_soon_threadsafe(self._told.set)

    async def until(self, condition: Callable[[], bool], timeout_s: float = WAIT_S) -> None:
        """Wait until notifications have made the condition true."""
        async with asyncio.timeout(timeout_s):
            while not condition():
                await self._told.wait()
                self._told.clear()

    @property
    def count_added(self) -> int:
        """How many rows have been added so far."""
        return self._count

    @property
    def added(self) -> list[Row]:
        """Every row that was added, in order."""
        return [row for each in self.notifications for row in each.results.added]

    @property
    def answer(self) -> Counter[Row]:
        """What the notifications add up to; fails where a row is removed that was not there."""
        rows: Counter[Row] = Counter()
        for each in self.notifications:
            rows.update(each.results.added)
            rows.subtract(each.results.removed)
            assert min(rows.values(), default=0) >= 0
            rows += Counter()
        return rows

    def values(self, column: int = -1) -> list[str]:
        """The texts of one column of all added rows."""
        return [text(row[column]) for row in self.added]


async def watch(gateway: Gateway, query: str) -> Watch:
    """A new subscription of the gateway; its first answer has come."""
    told = Watch()
    await gateway.scheduler.subscribe(query, sink=told)
    return told


def text(term: Term | None) -> str:
    assert isinstance(term, NamedNode | Literal | BlankNode)
    return term.value


def rows_of(gateway: Gateway, query: str) -> list[list[str]]:
    """The answer of a SELECT now, as texts."""
    results: Any = gateway.scheduler.engine.query(query)
    return sorted([text(term) for term in row] for row in results)


class Device:
    """An MQTT client; a context manager. What it subscribes is kept in `received`."""

    def __init__(
        self,
        port: int,
        client_id: str = "device",
        window: int = 200,
        login: tuple[str, str] | None = None,
    ) -> None:
        self._port = port
        self._acknowledged = threading.Semaphore(0)
        self._subscribed = threading.Event()
        self._received: queue.SimpleQueue[MQTTMessage] = queue.SimpleQueue()
        self._client = Client(CallbackAPIVersion.VERSION2, client_id)
        if login is not None:
            self._client.username_pw_set(*login)
        self._client.max_inflight_messages_set(window)
        self._client.on_publish = lambda *_: self._acknowledged.release()
        self._client.on_subscribe = lambda *_: self._subscribed.set()
        self._client.on_message = lambda _client, _data, message: self._received.put(message)

    def __enter__(self) -> Self:
        self._client.connect(LOOPBACK, self._port)
        self._client.loop_start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def send(self, topic: str, payload: bytes | str, qos: int = 1, *, retain: bool = False) -> None:
        """Publish without waiting."""
        self._client.publish(topic, payload, qos, retain)

    def wait_acknowledged(self, count: int, timeout_s: float = WAIT_S) -> int:
        """How many of `count` messages are acknowledged in time (QoS 0: sent)."""
        for number in range(count):
            if not self._acknowledged.acquire(timeout=timeout_s):
                return number
        return count

    def publish(self, publications: Iterable[Publication], qos: int = 1) -> None:
        """Publish at full speed; returns when all are acknowledged."""
        count = 0
        for topic, payload in publications:
            self.send(topic, payload, qos)
            count += 1
        assert self.wait_acknowledged(count) == count

    def subscribe(self, topic_filter: str) -> None:
        self._client.subscribe(topic_filter, qos=1)
        assert self._subscribed.wait(WAIT_S)

    def receive(self, timeout_s: float = WAIT_S) -> tuple[str, bytes]:
        """The next message that came; raises queue.Empty."""
        message = self._received.get(timeout=timeout_s)
        return message.topic, bytes(message.payload)

    @property
    def waiting(self) -> int:
        """How many messages have come and were not received."""
        return self._received.qsize()


async def publish(
    port: int, publications: Sequence[Publication], qos: int = 1, client_id: str = "device"
) -> None:
    """All of them, acknowledged when it returns."""

    def work() -> None:
        with Device(port, client_id) as device:
            device.publish(publications, qos)

    await asyncio.to_thread(work)


class Program:
    """A process whose output is read; a context manager that surely ends it."""

    def __init__(self, *command: str) -> None:
        self._command = command
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._said: list[str] = []

    @property
    def pid(self) -> int:
        """By which the system knows it."""
        return self._process.pid

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONFAULTHANDLER": "1"},
            start_new_session=True,  # a service has no terminal, whatever the tests are run in
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def wait_for(self, words: str, timeout_s: float = WAIT_S) -> str:
        """The next line with these words; fails when the process ends before."""
        try:
            return self.line_with(words, timeout_s)
        except queue.Empty:
            self._abort()
            self._said.append(f"silent for {timeout_s:g} s, then\n")
            while (line := self._lines.get()) is not None:
                self._said.append(line)
        pytest.fail(self._without(words))

    def line_with(self, words: str, timeout_s: float) -> str:
        """The next line with these words. Raises queue.Empty where none comes for so long."""
        while (line := self._lines.get(timeout=timeout_s)) is not None:
            self._said.append(line)
            if words in line:
                return line
        pytest.fail(self._without(words))

    def rest_until(self, words: str, timeout_s: float = WAIT_S) -> list[str]:
        """The lines before the next one with these words."""
        lines: list[str] = []
        while (line := self._lines.get(timeout=timeout_s)) is not None and words not in line:
            lines.append(line)
        return lines

    def terminate(self) -> int:
        """SIGTERM; the exit status."""
        self._process.terminate()
        return self._process.wait(WAIT_S)

    def hang_up(self) -> None:
        """SIGHUP."""
        self._process.send_signal(signal.SIGHUP)

    def wait(self) -> int:
        """Until it ends by itself; the exit status."""
        return self._process.wait(WAIT_S)

    def kill(self) -> None:
        """SIGKILL, wherever it is."""
        self._process.kill()
        self._process.wait()
        self._reader.join()

    def _without(self, words: str) -> str:
        said = "".join(self._said[-200:])
        return f"{self._command[0]} ended without {words!r}: {said}"

    def _abort(self) -> None:
        """Have it say where each of its threads is, and end it with all that it has started."""
        self._process.send_signal(signal.SIGABRT)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(WAIT_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self._lines.put(line)
        self._lines.put(None)


class Mosquitto:
    """An external broker on a free port."""

    def __init__(self, program: Program, port: int) -> None:
        self.port = port
        self._program = program

    def wait_subscribed(self, *topic_filters: str) -> None:
        """Wait for the next SUBSCRIBE of each of these filters by anyone, in any order."""
        missing = set(topic_filters)
        while missing:
            missing.discard(self._program.wait_for("\n").rpartition(" ")[2].rstrip())

    def stop(self) -> None:
        """Kill the program before the end of the context."""
        self._program.kill()


@contextmanager
def mosquitto(
    folder: Path, port: int | None = None, *, anonymous: bool = True
) -> Iterator[Mosquitto]:
    """Mosquitto, for the time of the context; without it the test is skipped."""
    program = shutil.which("mosquitto") or shutil.which("/usr/sbin/mosquitto")
    if program is None:
        pytest.skip("mosquitto is not installed")
    port = port or free_port()
    file = folder / "mosquitto.conf"
    file.write_text(
        f"listener {port} {LOOPBACK}\nallow_anonymous {str(anonymous).lower()}\npersistence false\n"
        f"max_inflight_messages 1000\nmax_queued_messages 0\n"
        "log_dest stderr\nlog_type information\nlog_type subscribe\n",
        encoding="utf-8",
    )
    with Program(program, "-c", str(file)) as process:
        process.wait_for(" running")
        yield Mosquitto(process, port)


@asynccontextmanager
async def behind(
    mode: str, folder: Path, profile: Path, *topic_filters: str, **options: Any
) -> AsyncIterator[tuple[Gateway, int]]:
    """A gateway and the port of its broker, by `mode` embedded or mosquitto.

    `topic_filters` are some that the gateway subscribes, those by which a test is heard; the
    external broker has them on return.
    """
    if mode == "embedded":
        async with running(settings(folder, profile, **options)) as gateway:
            yield gateway, gateway.mqtt_port
        return
    with mosquitto(folder) as broker:
        async with running(settings(folder, profile, mosquitto=broker.port, **options)) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, *topic_filters)
            yield gateway, broker.port
