"""`Workload`: the readings of a benchmark, who subscribes to them, and what must come of it.

Place on the way of the data: the very beginning, and the reference at its end. Reading number i
is of sensor i modulo the number of sensors and has the value i + 0.5, so every value is found only
once and the last one of each sensor is known beforehand.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.demo.devices import Publication
from gateway.rdf.namespaces import SOSA

BASE_IRI = "https://sosa-gateway.example/bench/"
SENSORS = 100
JOINS = 3
FENCE = "fence"
FENCE_QUERY = f"SELECT ?o {{ <{BASE_IRI}fence> <{BASE_IRI}is> ?o }}"
FENCE_UPDATE = f"INSERT DATA {{ <{BASE_IRI}fence> <{BASE_IRI}is> 1 }}"
RESULTS_QUERY = f"SELECT ?o ?result {{ ?o <{SOSA}hasSimpleResult> ?result }}"
LATEST_QUERY = (
    f"SELECT ?o ?sensor ?result {{ ?o <{SOSA}madeBySensor> ?sensor ; "
    f"<{SOSA}hasSimpleResult> ?result }}"
)

_MAPPING = {
    "id": f"{BASE_IRI}mapping",
    "topic": "bench/+",
    "format": "json",
    "selector": "$.value",
    "sequence": "$.sequence",
    "sensor": f"{BASE_IRI}sensor/{{1}}",
    "property": f"{BASE_IRI}property",
    "feature": f"{BASE_IRI}place/{{1}}",
    "unit": "http://qudt.org/vocab/unit/DEG_C",
}


@dataclass(frozen=True, slots=True)
class Workload:
    """`readings` messages of one value each, of `SENSORS` sensors in turn."""

    readings: int

    def publication(self, index: int) -> Publication:
        """The message of one reading."""
        sensor = f"{index % SENSORS}"
        payload = f'{{"value":{value(index)},"sequence":{index}}}'.encode()
        return Publication(sensor, f"bench/{sensor}", payload)

    def share(self, publisher: int, publishers: int) -> Iterator[int]:
        """The readings of one publisher, which has its sensors for itself, in order."""
        return (i for i in range(self.readings) if i % SENSORS % publishers == publisher)

    def latest(self) -> Iterator[tuple[str, str]]:
        """The sensors that have been heard, as IRIs, each with its last value."""
        for index in range(max(0, self.readings - SENSORS), self.readings):
            yield sensor_iri(index % SENSORS), value(index)


def value(index: int) -> str:
    """The result of a reading, an xsd:decimal in canonical form."""
    return f"{index}.5"


def sensor_iri(sensor: int) -> str:
    """What the mapping makes of a topic."""
    return f"{BASE_IRI}sensor/{sensor}"


def subscriptions() -> dict[str, str]:
    """One subscription for each sensor by the sensor's IRI: single patterns, and `JOINS` joins."""
    single = {
        sensor_iri(sensor): f"SELECT ?o {{ ?o <{SOSA}madeBySensor> <{sensor_iri(sensor)}> }}"
        for sensor in range(SENSORS - JOINS)
    }
    joins = {
        sensor_iri(sensor): f"SELECT ?o ?result {{ ?o <{SOSA}madeBySensor> <{sensor_iri(sensor)}> ;"
        f" <{SOSA}hasSimpleResult> ?result }}"
        for sensor in range(SENSORS - JOINS, SENSORS)
    }
    return single | joins


def write_profile(folder: Path) -> Path:
    """The JSAP profile whose mapping understands the readings."""
    path = folder / "bench.jsap"
    profile = {"host": "127.0.0.1", "extended": {"mappings": [_MAPPING]}}
    path.write_text(json.dumps(profile), encoding="utf-8")
    return path
