"""Devices of many families at one gateway, by MQTT: what their pages say appears in the store."""

import json
import re
from pathlib import Path

from tests.kit.gateways import (
    PREFIXES,
    JsonObject,
    publish,
    rows_of,
    running,
    settings,
    write_profile,
)
from tests.paths import ROOT

PAGES = ROOT / "docs" / "families"
HOME = (
    "zigbee2mqtt",
    "tasmota",
    "shelly",
    "shelly_gen1",
    "esphome",
    "homeassistant",
    "homie",
    "generic",
)
SEEN = f"""{PREFIXES}
SELECT ?sensor ?value (COALESCE(STR(?told), "") AS ?unit) {{
  ?o sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ?value
  OPTIONAL {{ ?o sosa:hasResult/qudt:hasUnit ?told }} }}
"""


def typed(name: str) -> list[JsonObject]:
    """The mappings that a page tells to type."""
    blocks = re.findall(r"```json\n(.*?)```", (PAGES / f"{name}.md").read_text(), re.DOTALL)
    return [mapping for block in blocks for mapping in json.loads(f"[{block}]")]


async def test_devices_of_every_family_appear_as_their_pages_say(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [mapping for name in HOME for mapping in typed(name)])
    tank = {"properties": {"top": {"datatype": "float", "unit": "°C"}}}
    description = {"homie": "5.0", "name": "Boiler", "nodes": {"tank": tank}}
    notify = {"ts": 1772435712.44, "switch:0": {"id": 0, "apower": 63.2}}
    frame = {"src": "plug", "dst": "plug/events", "method": "NotifyStatus", "params": notify}
    state = '{"battery":87,"temperature":21.37,"voltage":2985,"linkquality":112}'
    telemetry = {"Time": "2026-03-02T08:15:00", "BME280": {"Temperature": 69.62}, "TempUnit": "F"}
    sent = [
        ("zigbee2mqtt/lab/north_wall", state),
        ("zigbee2mqtt/lab/north_wall", state.replace("112", "90")),
        ("tele/bench/SENSOR", json.dumps(telemetry)),
        ("stat/bench/POWER", "ON"),
        ("plug/events/rpc", json.dumps(frame)),
        ("shellies/old/relay/0/power", "41.25"),
        ("greenhouse/sensor/soil_moisture/state", "41.5"),
        ("boiler/state", '{"tank":{"top":615}}'),
        ("homie/5/boiler/$description", json.dumps(description)),
        ("homie/5/boiler/tank/top", "61.25"),
        ("meters/house", '{"total":48211.337}'),
        ("site", '{"rooms":[{"id":"hall","t":20.5,"at":"2026-03-02T08:00:00Z"}]}'),
        ("log", "station;at;temperature\nnorth;2026-03-02T08:00:00Z;1.5\n"),
        ("meters/house/lwt", "offline"),
    ]
    async with running(settings(tmp_path, profile)) as gateway:
        publications = [(topic, text.encode()) for topic, text in sent]
        await publish(gateway.mqtt_port, [*publications, ("probe/a", bytes.fromhex("0512fc"))])
        rows = sorted([s, v, u.rpartition("/")[2]] for s, v, u in rows_of(gateway, SEEN))
        counted = gateway.statistics()
    assert rows == sorted(
        [
            ["urn:my:zigbee:lab%2Fnorth_wall:temperature", "21.37", "DEG_C"],
            ["urn:my:tasmota:bench:bme280", "20.9", "DEG_C"],
            ["urn:my:tasmota:bench:relay", "true", ""],
            ["urn:my:shelly:plug:switch-0", "63.2", "W"],
            ["urn:my:shelly:old:relay-0:power", "41.25", "W"],
            ["urn:my:esphome:greenhouse:soil-moisture", "41.5", "PERCENT"],
            ["urn:my:boiler:top", "61.5", "DEG_C"],
            ["urn:my:homie:boiler:tank:top", "61.25", "DEG_C"],
            ["urn:my:meter:house", "48.211337", "KiloW-HR"],
            ["urn:my:hall:t", "20.5", "DEG_C"],
            ["urn:my:north:t", "1.5", "DEG_C"],
            ["urn:my:probe:a", "24.3", "DEG_C"],
        ]
    )
    assert counted["observations"] == len(rows)
    assert counted["quarantined"] == 0
