"""kill -9 of the service: what it knew of the streams, its next life knows from store and journal.

A cached value that is sent again is no observation, a change that no sensor can show is a jump, a
device that was switched to another unit meanwhile ends a series, a retained value is nothing new.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    Device,
    Program,
    free_port,
    journal_records,
    mapping,
    mosquitto,
    wait_until,
    write_profile,
)

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]

COMMAND = (
    sys.executable,
    "-W",
    "error",
    "-c",
    "from gateway.cli.command import main; exit(main())",
)
SENSOR = {"sensor": "urn:{1}", "feature": "urn:hall"}
MAPPINGS = [
    mapping("z", "zigbee2mqtt/+", format="zigbee2mqtt", selector="temperature", **SENSOR),
    mapping("t", "tele/+/SENSOR", format="tasmota", selector="A.Temperature", **SENSOR),
    mapping("h", "homie/5/+/tank/top", format="homie", **SENSOR),
]
SLOW = (
    PREFIXES
    + """PREFIX ssn-system: <http://www.w3.org/ns/ssn/systems/>
INSERT DATA { <urn:wall> ssn-system:hasSystemCapability <urn:c> .
  <urn:c> ssn-system:hasSystemProperty <urn:r> . <urn:r> gw:maximumRate 0.01 }"""
)
ENDED = PREFIXES + "ASK { ?s gw:seriesEnded ?t ; qudt:hasUnit unit:DEG_C }"
FIRST = [
    ("zigbee2mqtt/wall", '{"temperature":21.50}'),
    ("zigbee2mqtt/roof", '{"temperature":4}'),
    ("tele/oven/SENSOR", '{"A":{"Temperature":100.0},"TempUnit":"C"}'),
    (
        "homie/5/boiler/$description",
        '{"nodes":{"tank":{"properties":{"top":{"datatype":"float","unit":"°C"}}}}}',
    ),
    ("homie/5/boiler/tank/top", "61.5"),
]
SECOND = [
    ("zigbee2mqtt/wall", '{"temperature":21.5,"linkquality":3}'),
    ("zigbee2mqtt/wall", '{"temperature":95}'),
    ("zigbee2mqtt/roof", '{"temperature":4}'),
    ("zigbee2mqtt/roof", '{"temperature":5}'),
    ("tele/oven/SENSOR", '{"A":{"Temperature":212.0},"TempUnit":"F"}'),
    ("homie/5/boiler/tank/top", "62"),
]


class Service:
    """`sosa-gateway run` on one folder, behind an external broker."""

    def __init__(self, folder: Path, broker: int) -> None:
        self.folder = folder
        self._http = free_port()
        self._config = folder / "gateway.toml"
        self._config.write_text(
            f'[gateway]\nid = "test"\n[store]\nkind = "disk"\n'
            f'[mqtt]\nmode = "external"\nport = {broker}\n'
            f"[http]\nport = {self._http}\n[websocket]\nport = 0\n"
            f'[jsap]\nprofiles = ["observations", "{write_profile(folder, MAPPINGS)}"]\n'
            f'[log]\nformat = "json"\n',
            encoding="utf-8",
        )

    @contextmanager
    def started(self) -> Iterator[Program]:
        with Program(*COMMAND, "run", "--config", str(self._config)) as program:
            program.wait_for('"serving"')
            yield program

    def update(self, text: str) -> None:
        answer = httpx.post(self._url("update"), data={"update": text})
        assert answer.status_code == 200, answer.text

    def ask(self, text: str) -> bool:
        accept = {"Accept": "application/sparql-results+json"}
        answer = httpx.post(self._url("query"), data={"query": text}, headers=accept)
        return bool(answer.json()["boolean"])

    def counted(self, name: str) -> int:
        """A counter of /metrics."""
        lines = httpx.get(self._url("metrics")).text.splitlines()
        [value] = [line.split()[1] for line in lines if line.startswith(f"sosa_gateway_{name} ")]
        return int(float(value))

    def journal(self) -> list[tuple[str, str, str]]:
        """Sensor, result and unit of each record."""
        seen = [each.observation for each in journal_records(self.folder)]
        return [(s.sensor, s.lexical, (s.unit or "").rpartition("/")[2]) for s in seen]

    def _url(self, path: str) -> str:
        return f"http://{LOOPBACK}:{self._http}/{path}"


def test_next_life_knows_what_was_known_before_the_kill(tmp_path: Path) -> None:
    known = [
        ("urn:wall", "21.50", ""),
        ("urn:roof", "4", ""),
        ("urn:oven", "100.0", "DEG_C"),
        ("urn:boiler", "61.5", "DEG_C"),
    ]
    with mosquitto(tmp_path) as broker, Device(broker.port) as device:
        service = Service(tmp_path, broker.port)
        with service.started() as program:
            broker.wait_subscribed("homie/5/+/tank/top")
            service.update(SLOW)
            device.publish((topic, text.encode()) for topic, text in FIRST)
            wait_until(lambda: service.journal() == known)
            program.kill()
        device.send("zigbee2mqtt/wall", b'{"temperature":21.5}', retain=True)
        with service.started() as program:
            broker.wait_subscribed("homie/5/+/tank/top")
            device.publish((topic, text.encode()) for topic, text in SECOND)
            known += [
                ("urn:roof", "5", ""),
                ("urn:oven", "212.0", "DEG_F"),
                ("urn:boiler", "62", "DEG_C"),
            ]
            wait_until(lambda: service.journal() == known)
            wait_until(lambda: service.ask(ENDED))
            # What the kill left without PUBACK comes again, and is known already.
            assert 3 <= service.counted("heartbeats_total") <= 3 + len(FIRST)
            assert service.counted("messages_quarantined_total") == 1
            assert service.counted("unit_changes_total") == 1
            program.kill()
        with service.started() as program:
            broker.wait_subscribed("homie/5/+/tank/top")
            assert service.ask(ENDED)
            device.publish([("tele/oven/SENSOR", FIRST[2][1].encode())])
            wait_until(lambda: service.counted("unit_changes_total") == 1)
            assert program.terminate() == 0
        assert service.journal() == [*known, ("urn:oven", "100.0", "DEG_C")]
