"""kill -9 under load: windows answer afterwards as those of a gateway that was never killed."""

import json
import random
import threading
from collections import Counter
from pathlib import Path

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.gateway.app.test_kill import BATCH, COMMAND, Sensors
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    WAIT_S,
    JsonObject,
    Program,
    free_port,
    journal_records,
    mapping,
    write_profile,
)

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]

HOUR, COUNTED = "urn:window:hour", "urn:window:counted"
WINDOWS: tuple[JsonObject, ...] = (
    {"id": HOUR, "stream": "gw:observations", "range": "PT1H"},
    {"id": COUNTED, "stream": "urn:mapping:v", "elements": 100},
)
Bag = Counter[tuple[str, ...]]


def asked(window: str) -> str:
    return f"""{PREFIXES} SELECT ?sensor ?value {{ GRAPH <{window}> {{
      ?o sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ?value }} }}"""


SUMS = f"""{PREFIXES} SELECT ?sensor (SUM(?value) AS ?sum) (COUNT(?o) AS ?n) {{
  GRAPH <{HOUR}> {{ ?o sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ?value }}
}} GROUP BY ?sensor"""


class Watcher:
    """A client that adds up what it is told."""

    def __init__(self, socket: ClientConnection, query: str) -> None:
        self.bag: Bag = Counter()
        self._socket = socket
        socket.send(json.dumps({"subscribe": {"sparql": query}}))
        self.take()

    def take(self) -> None:
        """The next notification."""
        told = json.loads(self._socket.recv(WAIT_S))["notification"]
        for side, sign in (("addedResults", 1), ("removedResults", -1)):
            for row in told[side].get("results", {}).get("bindings", ()):
                self.bag[tuple(row[name]["value"] for name in sorted(row))] += sign
        self.bag = Counter({row: count for row, count in self.bag.items() if count})

    def until(self, wanted: Bag) -> None:
        while self.bag != wanted:
            self.take()


class Service:
    """A gateway that declares windows, on one folder, started as often as it is killed."""

    def __init__(self, folder: Path) -> None:
        self.mqtt_port, self.http_port = free_port(), free_port()
        self._folder = folder
        known = mapping("v", "box/+", selector="$.v", sequence="$.n")
        profile = write_profile(folder, [known], windows=WINDOWS)
        self.config = folder / "gateway.toml"
        self.config.write_text(
            f'[gateway]\nid = "test"\n[store]\nkind = "disk"\n[mqtt]\nport = {self.mqtt_port}\n'
            f"[http]\nport = {self.http_port}\n[websocket]\nport = 0\n"
            f'[jsap]\nprofiles = ["observations", "{profile}"]\n[log]\nformat = "json"\n',
            encoding="utf-8",
        )

    def started(self) -> Program:
        return Program(*COMMAND, "run", "--config", str(self.config))

    def watch(self, query: str) -> Watcher:
        socket = connect(f"ws://{LOOPBACK}:{self.http_port}/subscribe", ping_interval=None)
        return Watcher(socket, query)

    def truth(self) -> tuple[Bag, Bag, Bag]:
        """What the windows have of all that is in the journal."""
        seen = [record.observation for record in journal_records(self._folder)]
        rows = [(each.sensor, each.lexical) for each in seen]
        sums: Counter[str] = Counter()
        for sensor, value in rows:
            sums[sensor] += int(value)
        counts = Counter(sensor for sensor, _ in rows)
        told: Bag = Counter((str(counts[each]), each, str(sums[each])) for each in sums)
        return Counter[tuple[str, ...]](rows), Counter[tuple[str, ...]](rows[-100:]), told


def test_after_a_kill_windows_are_as_if_there_had_been_none(tmp_path: Path) -> None:
    chance = random.Random(7)
    service, sensors = Service(tmp_path), Sensors()
    for _ in range(2):
        with service.started() as program:
            program.wait_for('"serving"')
            before = service.watch(asked(HOUR))
            sensors.publish(service.mqtt_port, chance.randrange(1, BATCH), then=program)
            del before
    with service.started() as program:
        program.wait_for('"serving"')
        publishing = threading.Thread(target=sensors.publish, args=(service.mqtt_port, BATCH))
        publishing.start()
        watchers = [service.watch(query) for query in (asked(HOUR), asked(COUNTED), SUMS)]
        publishing.join()
        for watcher, wanted in zip(watchers, service.truth(), strict=True):
            watcher.until(wanted)
        late = [service.watch(query).bag for query in (asked(HOUR), asked(COUNTED), SUMS)]
        assert late == list(service.truth())
        assert program.terminate() == 0
    assert sensors.acknowledged == set(range(sensors.published))
