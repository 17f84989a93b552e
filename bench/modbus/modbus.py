"""`sosa-gateway bench modbus`: devices with registers that are all read once a second.

Place on the way of the data: from the registers to observations, and on to journal, store and
engine of a whole gateway, store on disk and journal with fsync, as every gateway has them. The
devices are a process of their own; what is told is the CPU time of who reads them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic

from bench.processes import END_TIMEOUT_S, python_child
from bench.readings.service import Service, running_service, service_config
from bench.report import Experiment, Figure, Outcome, digest
from gateway.cli.asking.service import RESULT_TYPES, query
from gateway.config.modbus import UNCHANGED_S, BusSettings, ModbusSettings
from gateway.config.settings import Config, JsapSettings

DEVICES, REGISTERS, SECONDS = 100, 20, 30
_SETTLE_S = 5.0
_START_S = 60.0
_COUNT = """PREFIX sosa: <http://www.w3.org/ns/sosa/>
SELECT (COUNT(DISTINCT ?sensor) AS ?streams) { ?o sosa:madeBySensor ?sensor }"""


@dataclass(frozen=True, slots=True)
class Played:
    """Parts of a core, what was counted meanwhile, and how many streams there are then."""

    core: float
    counted: Mapping[str, float]
    streams: int


def measure(devices: int = DEVICES, seconds: int = SECONDS) -> Iterator[Outcome]:
    """Read and decoded; then through a gateway, all values as they come, and those that changed."""
    plan = json.dumps({"devices": devices, "registers": REGISTERS})
    with python_child("devices", "bench.modbus.devices", plan) as child:
        ports = json.loads(child.wait_for('"ports"'))["ports"]
        yield _reading(ports, seconds)
        idle = _played((), seconds, 0.0)
        yield _experiment("all values move", ports, seconds, idle, _played(ports, seconds, 0.0))
    steady = json.dumps({"devices": devices, "registers": REGISTERS, "moving": 1})
    with python_child("devices", "bench.modbus.devices", steady) as child:
        ports = json.loads(child.wait_for('"ports"'))["ports"]
        yield _experiment("one of them moves", ports, seconds, idle, _played(ports, seconds))


def _reading(ports: Sequence[int], seconds: float) -> Experiment:
    """Without journal, store and engine."""
    plan = json.dumps({"ports": ports, "registers": REGISTERS, "seconds": seconds})
    with python_child("reader", "bench.modbus.reader", plan) as child:
        told = json.loads(child.wait_for('"cpu_s"', seconds + END_TIMEOUT_S))
    wanted = len(ports) * REGISTERS * seconds
    figures = (
        Figure("of a core", 100 * told["cpu_s"] / seconds, "%", "read and decoded"),
        Figure("CPU of an observation", 1e6 * told["cpu_s"] / told["observations"], "µs"),
        Figure(
            "observations", told["observations"] / seconds, "/s", f"{wanted / seconds:g} wanted"
        ),
    )
    rows = [f"on time {told['observations'] >= 0.9 * wanted}"]
    return Experiment(_name("read", ports), figures, digest(rows), digest(["on time True"]))


def _played(ports: Sequence[int], seconds: float, unchanged_s: float = UNCHANGED_S) -> Played:
    """Read for so long; nothing is read where there are no ports."""
    with (
        TemporaryDirectory(prefix="sosa-gateway-bench-") as folder,
        running_service(_config(Path(folder), ports, unchanged_s), _START_S) as service,
    ):
        if ports:
            service.wait_until("observations", len(ports) * REGISTERS)
        Event().wait(_SETTLE_S)
        before, cpu_s, begin = service.counters(), service.child.cpu_s(), monotonic()
        Event().wait(seconds)
        used = (service.child.cpu_s() - cpu_s) / (monotonic() - begin)
        after = service.counters()
        counted = {name: after[name] - before.get(name, 0) for name in after}
        return Played(used, counted, _streams(service))


def _streams(service: Service) -> int:
    answer = query(service.http_url, _COUNT, RESULT_TYPES["json"])
    return int(json.loads(answer)["results"]["bindings"][0]["streams"]["value"])


def _config(folder: Path, ports: Sequence[int], unchanged_s: float) -> Config:
    config = service_config(folder, None)
    buses = tuple(
        BusSettings(
            name=f"b{at}", host="127.0.0.1", port=port, interval_s=1.0, unchanged_s=unchanged_s
        )
        for at, port in enumerate(ports)
    )
    profile = folder / "registers.jsap"
    mappings = [_mapping(at, place) for at in range(len(ports)) for place in range(REGISTERS)]
    document = {"host": "127.0.0.1", "queries": {}, "updates": {}}
    profile.write_text(json.dumps({**document, "extended": {"mappings": mappings}}))
    jsap = JsapSettings(profiles=(*config.jsap.profiles, profile))
    return config.model_copy(update={"modbus": ModbusSettings(buses=buses), "jsap": jsap})


def _mapping(device: int, place: int) -> Mapping[str, object]:
    return {
        "id": f"urn:m:{device}:{place}",
        "format": "modbus",
        "topic": f"modbus/meter{device}",
        "selector": f"b{device}/1 holding {place} int16",
        "scale": 0.1,
        "sensor": f"urn:s:{device}:{place}",
        "property": "urn:p:power",
        "feature": f"urn:f:{device}",
    }


def _experiment(
    what: str, ports: Sequence[int], seconds: int, idle: Played, busy: Played
) -> Experiment:
    streams = len(ports) * REGISTERS
    core, observations = busy.core - idle.core, busy.counted["observations"]
    rows = [f"streams {busy.streams}", f"silent {busy.counted['modbus_devices_silent']:g}"]
    figures = (
        Figure("of a core", 100 * core, "%", "without that of a gateway that reads none"),
        Figure("CPU of an observation", 1e6 * core * seconds / max(1, observations), "µs"),
        Figure("observations", observations / seconds, "/s"),
    )
    reference = [f"streams {streams}", "silent 0"]
    return Experiment(_name(what, ports), figures, digest(rows), digest(reference))


def _name(what: str, ports: Sequence[int]) -> str:
    return f"modbus, {len(ports)} devices with {REGISTERS} registers each second: {what}"
