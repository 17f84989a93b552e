"""kill -9 of the service under load: what was acknowledged is there, and there once.

The gateway is a process with its store on disk. Behind its own broker the publisher keeps what is
not acknowledged and sends it again, as devices do; behind Mosquitto the session keeps it.
"""

import json
import random
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest
from paho.mqtt.client import Client, MQTTMessageInfo
from paho.mqtt.enums import CallbackAPIVersion
from pyoxigraph import QuerySolutions

from gateway.engine import Engine
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    WAIT_S,
    Device,
    Program,
    free_port,
    journal_records,
    mapping,
    mosquitto,
    text,
    wait_until,
    write_profile,
)

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]

TOPIC = "box/+"
STREAMS = 5
WAITING = 20_000
BATCH = 400
PRESENT = f"""{PREFIXES}
SELECT ?observation ?sensor ?value {{
  ?observation sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ?value
}}"""
KILLS = [3, pytest.param(20, marks=pytest.mark.slow)]
COMMAND = (
    sys.executable,
    "-W",
    "error",
    "-c",
    "from gateway.cli.command import main; exit(main())",
)

Numbers = dict[str, list[int]]
"""By stream: the numbers of its readings, in order."""


def reading(number: int) -> tuple[str, bytes]:
    return f"box/{number % STREAMS}", json.dumps({"n": number, "v": number}).encode()


def by_stream(numbers: range) -> Numbers:
    found = defaultdict(list)
    for number in numbers:
        found[f"urn:sensor:{number % STREAMS}"].append(number)
    return found


class Sensors:
    """A client that keeps each reading until its PUBACK, beyond the life of a connection."""

    def __init__(self) -> None:
        self.published = 0
        self.acknowledged: set[int] = set()

    def publish(self, port: int, enough: int, then: Program | None = None) -> None:
        """Send what is unacknowledged again and new readings up to BATCH in all.

        When `enough` of them are acknowledged the program is killed.
        """
        waiting = [n for n in range(self.published) if n not in self.acknowledged]
        new = range(self.published, self.published + BATCH - len(waiting))
        self.published += len(new)
        with _connected(port) as (client, acknowledgement):
            sent = {number: client.publish(*reading(number), qos=1) for number in [*waiting, *new]}
            for _ in range(enough):
                assert acknowledgement.acquire(timeout=WAIT_S)
            if then is not None:
                then.kill()
        self.acknowledged.update(number for number, info in sent.items() if _is_acknowledged(info))


@contextmanager
def _connected(port: int) -> Iterator[tuple[Client, threading.Semaphore]]:
    """A client of one connection, and what is released at each PUBACK."""
    acknowledgement, connected = threading.Semaphore(0), threading.Event()
    client = Client(CallbackAPIVersion.VERSION2, "sensors", reconnect_on_failure=False)
    client.max_inflight_messages_set(100)
    client.on_publish = lambda *_: acknowledgement.release()
    client.on_connect = lambda *_: connected.set()
    client.connect(LOOPBACK, port)
    client.loop_start()
    assert connected.wait(WAIT_S)
    try:
        yield client, acknowledgement
    finally:
        client.disconnect()
        client.loop_stop()


def _is_acknowledged(info: MQTTMessageInfo) -> bool:
    return not info.rc and info.is_published()


class Service:
    """`sosa-gateway run` on one folder, started as often as it is killed."""

    def __init__(self, folder: Path, broker: int | None = None) -> None:
        self.mqtt_port = broker or free_port()
        self._folder = folder
        profile = write_profile(folder, [mapping("v", TOPIC, selector="$.v", sequence="$.n")])
        self._config = folder / "gateway.toml"
        self._config.write_text(
            f'[gateway]\nid = "test"\n[store]\nkind = "disk"\n'
            f'[mqtt]\nmode = "{"embedded" if broker is None else "external"}"\n'
            f"port = {self.mqtt_port}\n[http]\nport = {free_port()}\n[websocket]\nport = 0\n"
            f'[jsap]\nprofiles = ["observations", "{profile}"]\n[log]\nformat = "json"\n',
            encoding="utf-8",
        )

    @contextmanager
    def started(self) -> Iterator[Program]:
        with Program(*COMMAND, "run", "--config", str(self._config)) as program:
            program.wait_for('"serving"')
            yield program

    def journal(self) -> Numbers:
        found = defaultdict(list)
        for record in journal_records(self._folder):
            seen = record.observation
            assert seen.device_sequence == seen.lexical
            found[seen.sensor].append(int(seen.lexical))
        return found

    def check_store(self) -> dict[str, int]:
        """The store as the kill left it: whole, and of the journal. The value of each stream."""
        engine = Engine.open(self._folder / "data" / "store")
        rows = engine.query(PRESENT)
        assert isinstance(rows, QuerySolutions)
        present = [[text(term) for term in row] for row in rows]
        engine.close()
        records = {str(each.position): each.observation for each in journal_records(self._folder)}
        for observation, sensor, value in present:
            seen = records[observation.rsplit("/", 1)[1]]
            assert (seen.sensor, seen.lexical) == (sensor, value)
        assert len({sensor for _, sensor, _ in present}) == len(present)
        return {sensor: int(value) for _, sensor, value in present}


@pytest.mark.parametrize("kills", KILLS)
def test_what_the_embedded_broker_acknowledged_outlives_a_kill(tmp_path: Path, kills: int) -> None:
    chance = random.Random(kills)
    service, sensors = Service(tmp_path), Sensors()
    for _ in range(kills):
        with service.started() as program:
            sensors.publish(service.mqtt_port, chance.randrange(1, BATCH), then=program)
        journal = service.journal()
        service.check_store()
        assert sensors.acknowledged <= {n for numbers in journal.values() for n in numbers}
    with service.started() as program:
        sensors.publish(service.mqtt_port, BATCH)
        assert program.terminate() == 0
    assert sensors.acknowledged == set(range(sensors.published))
    assert service.journal() == by_stream(range(sensors.published))
    last = {sensor: numbers[-1] for sensor, numbers in service.journal().items()}
    assert service.check_store() == last


@pytest.mark.parametrize("kills", KILLS)
def test_what_mosquitto_was_given_outlives_a_kill(tmp_path: Path, kills: int) -> None:
    chance = random.Random(kills)
    published = 0
    with mosquitto(tmp_path) as broker:
        service = Service(tmp_path, broker.port)
        for _ in range(kills):
            with service.started() as program, Device(broker.port) as device:
                broker.wait_subscribed(TOPIC)
                device.publish(reading(n) for n in range(published, published + BATCH))
                published += BATCH
                chosen = published - chance.randrange(1, BATCH)
                wait_until(lambda: count(service.journal()) >= chosen)  # noqa: B023
                program.kill()
            service.check_store()
        with service.started() as program:
            wait_until(lambda: count(service.journal()) >= published)
            assert program.terminate() == 0
    journal = {sensor: sorted(numbers) for sensor, numbers in service.journal().items()}
    assert journal == by_stream(range(published))
    assert service.check_store() == {sensor: numbers[-1] for sensor, numbers in journal.items()}


@pytest.mark.alone
def test_stopping_with_a_full_inbox_takes_seconds_and_what_had_no_turn_comes_again(
    tmp_path: Path,
) -> None:
    with mosquitto(tmp_path) as broker:
        service = Service(tmp_path, broker.port)
        with service.started() as program:
            broker.wait_subscribed(TOPIC)
            assert program.terminate() == 0
        with Device(broker.port) as device:
            device.publish(reading(n) for n in range(WAITING))
        with service.started() as program:
            wait_until(lambda: count(service.journal()) > 0)
            begin = monotonic()
            assert program.terminate() == 0
            assert monotonic() - begin < 10  # 2 s for the inbox, the rest for a busy machine
        had_turn = count(service.journal())
        with service.started() as program:
            wait_until(lambda: count(service.journal()) >= WAITING, 60)
            assert program.terminate() == 0
    assert had_turn < WAITING
    journal = {sensor: sorted(numbers) for sensor, numbers in service.journal().items()}
    assert journal == by_stream(range(WAITING))


def count(numbers: Numbers) -> int:
    return sum(map(len, numbers.values()))
