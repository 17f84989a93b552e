"""The demo's mappings understand what the demo's devices send."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.observation import Observation
from gateway.demo.announced import BRIDGE, ESPHOME, SHELLY, TASMOTA
from gateway.demo.devices import Publication
from gateway.demo.house import House, step
from gateway.demo.recording import read_recording
from gateway.demo.settings import HOUSE_PROFILE

NOW = datetime(2026, 3, 2, 7, 14, 55, 102_000, UTC)
DEMO = "https://sosa-gateway.example/demo/"
VOCABULARY = "https://sosa-gateway.example/property/"
ANNOUNCED = {BRIDGE, SHELLY, TASMOTA, ESPHOME}
"""Nobody writes mappings for them: they say themselves what they are."""


def compiled(profile: dict[str, Any]) -> Registry:
    """The mappings of a profile, as gateway.ingest.mappings makes them from RDF."""
    namespaces = profile["namespaces"]

    def iri(text: str) -> str:
        prefix, _, rest = text.partition(":")
        return namespaces[prefix] + rest if prefix in namespaces else text

    registry, errors = Registry.compile(
        Mapping(
            iri(each["id"]),
            each["topic"],
            each["format"],
            iri(each["sensor"]),
            iri(each["property"]),
            iri(each["feature"]),
            each.get("selector", ""),
            iri(each["unit"]) if "unit" in each else None,
            each.get("time", ""),
            each.get("sequence", ""),
        )
        for each in profile["extended"]["mappings"]
    )
    assert errors == ()
    return registry


def house_registry() -> Registry:
    return compiled(json.loads(HOUSE_PROFILE.read_text(encoding="utf-8")))


def message(publication: Publication) -> Message:
    return Message(publication.topic, publication.payload, NOW)


def is_mapped(publication: Publication) -> bool:
    return publication.device not in ANNOUNCED


def one_step() -> list[Observation]:
    registry, told = house_registry(), step(House(), 15.0, (), NOW)[1]
    published = list(filter(is_mapped, told))
    decoded = [registry.decode(message(publication)) for publication in published]
    assert all(each.matched and each.faults == () for each in decoded)
    return [observation for each in decoded for observation in each.observations]


def test_every_value_of_a_house_without_faults_is_observed() -> None:
    observed = Counter(each.observed_property.removeprefix(VOCABULARY) for each in one_step())
    assert observed == {
        "temperature": 3,
        "humidity": 2,
        "occupancy": 3,
        "battery": 1,
        "power": 1,
        "energy": 1,
        "power_state": 1,
    }


def test_every_room_has_a_temperature_and_says_whether_somebody_is_in() -> None:
    for name in ("temperature", "occupancy"):
        rooms = {
            each.feature_of_interest
            for each in one_step()
            if each.observed_property.endswith(f"/{name}")
        }
        assert rooms == {f"{DEMO}room/{room}" for room in ("kitchen", "living", "office")}


def test_states_are_booleans_and_temperatures_have_a_unit() -> None:
    for each in one_step():
        if each.observed_property.endswith(("/occupancy", "/running")):
            assert each.datatype.endswith("#boolean")
        if each.observed_property.endswith("/temperature"):
            assert each.unit == "http://qudt.org/vocab/unit/DEG_C"


def test_the_bridge_tells_the_time_and_the_meter_counts() -> None:
    by_sensor = {each.sensor.rpartition("/")[2]: each for each in one_step()}
    assert by_sensor["climate_living"].phenomenon_time == NOW
    assert by_sensor["meter"].device_sequence == "2"


def test_every_fault_of_the_house_is_a_fault_of_its_message() -> None:
    registry, house, faults = house_registry(), House(), 0
    for _ in range(30):
        house, published = step(house, 15.0, (), NOW)
        for publication in filter(is_mapped, published):
            decoded = registry.decode(message(publication))
            broken = publication.payload == b"nan" or publication.payload.endswith(b"\xff\x00")
            is_null = b'"temperature": null' in publication.payload
            assert bool(decoded.faults) == (broken or is_null)
            assert bool(decoded.observations) != broken  # beside a null there is more to read
            faults += broken
    assert faults >= 4


def test_every_row_of_a_recording_is_observed(tmp_path: Path) -> None:
    path = tmp_path / "lab.csv"
    path.write_text(
        "time,reading,box_id,it's,CO2 [ppm]\n0,1,a/b,2.50,400\n5,2,c,3.50,\n", encoding="utf-8"
    )
    recording = read_recording(path)
    registry = compiled(json.loads(json.dumps(recording.profile())))
    decoded = [registry.decode(message(each)) for each, _ in recording.publications()]
    observed = [observation for each in decoded for observation in each.observations]
    assert [each.lexical for each in observed] == ["2.50", "400", "3.50"]
    assert [each.device_sequence for each in observed] == ["1", "1", "2"]
    assert [each.sensor.rpartition("/")[2] for each in observed] == [
        "lab-a%252Fb",
        "lab-a%252Fb",
        "lab-c",
    ]
