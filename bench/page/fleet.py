"""`python -m bench.page.fleet SPECIFICATION`: devices of many streams, as a process.

Place on the way of the data: before the broker, by real MQTT (QoS 1). It says `ready` once
connected and is told what to do, line by line: `all` tells every stream once, `go` tells one after
another at `rate` until `stop`, and each is answered by how many readings have been sent in all.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic

from bench.processes import Child, python_child
from bench.readings.device import Device
from gateway.demo.devices import Publication

PROPERTIES = (
    "temperature",
    "humidity",
    "pressure",
    "illuminance",
    "carbon_dioxide",
    "power",
    "voltage",
    "current",
    "energy_imported",
    "battery",
)
_WINDOW = 100


def write_profile(folder: Path) -> Path:
    """The JSAP profile whose mappings understand the readings."""
    path = folder / "page.jsap"
    mappings = list(map(_mapping, PROPERTIES))
    profile = {"host": "127.0.0.1", "extended": {"mappings": mappings}}
    path.write_text(json.dumps(profile), encoding="utf-8")
    return path


def _mapping(name: str) -> dict[str, str]:
    return {
        "id": f"urn:bench:page:{name}",
        "topic": f"bench/+/{name}",
        "format": "scalar",
        "sensor": f"urn:bench:sensor:{{1}}-{name}",
        "property": f"https://sosa-gateway.example/property/{name}",
        "feature": "urn:bench:room-{1}",
        "unit": "http://qudt.org/vocab/unit/PERCENT",
    }


@dataclass(frozen=True, slots=True)
class Fleet:
    """So many streams, ten a room, and readings a second of all of them together."""

    port: int
    streams: int
    rate: float

    def child(self) -> Child:
        """The process that does it."""
        return python_child("fleet", "bench.page.fleet", json.dumps(asdict(self)))

    def publication(self, reading: int) -> Publication:
        """The stream that is its turn; no two readings after another have one value."""
        stream = reading % self.streams
        room, name = divmod(stream, len(PROPERTIES))
        turn = reading // self.streams
        value = (stream * 7 + turn * 13) % 990 + (reading % 10) / 10
        topic = f"bench/{room}/{PROPERTIES[name]}"
        return Publication("fleet", topic, f"{value:.1f}".encode())


def _serve(fleet: Fleet) -> None:
    told: SimpleQueue[str] = SimpleQueue()
    Thread(target=_read, args=(told,), name="standard input", daemon=True).start()
    readings = count()
    with Device(fleet.port, "fleet", _WINDOW) as device:
        _say("ready")
        while (line := told.get()) != "":
            if line == "all":
                sent = _tell_all(fleet, device, readings)
            elif line == "go":
                sent = _tell(fleet, device, readings, told)
            else:
                return
            _say(json.dumps({"sent": sent}))


def _tell_all(fleet: Fleet, device: Device, readings: Iterator[int]) -> int:
    for _ in range(fleet.streams):
        reading = next(readings)
        device.publish(fleet.publication(reading))
    device.flush()
    device.drain()
    return reading + 1


def _tell(fleet: Fleet, device: Device, readings: Iterator[int], told: "SimpleQueue[str]") -> int:
    """At the pace until somebody says a word."""
    started = monotonic()
    for number in count():
        reading = next(readings)
        device.publish(fleet.publication(reading))
        device.flush()
        try:
            word = told.get(timeout=max(1e-4, started + (number + 1) / fleet.rate - monotonic()))
        except Empty:
            continue
        if word == "":  # the benchmark is gone
            told.put(word)
        device.drain()
        return reading + 1
    raise AssertionError


def _read(told: "SimpleQueue[str]") -> None:
    for line in sys.stdin:
        told.put(line.strip())
    told.put("")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve(Fleet(**json.loads(sys.argv[1])))
