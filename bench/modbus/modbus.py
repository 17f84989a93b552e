"""`sosa-gateway bench modbus`: devices with registers that are all read once a second.

Place on the way of the data: from the registers to journal, store and engine of a whole gateway,
store on disk and journal with fsync, as every gateway has them. The devices are a process of their
own; what is told is the CPU time of the gateway, beside that of one that is asked to read nothing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic

from bench.processes import python_child
from bench.readings.service import Service, running_service, service_config
from bench.report import Experiment, Figure, Outcome, digest
from gateway.cli.asking.service import RESULT_TYPES, query
from gateway.config.modbus import BusSettings, ModbusSettings
from gateway.config.settings import Config, JsapSettings

DEVICES, REGISTERS, SECONDS = 100, 20, 30
_SETTLE_S = 5.0
_COUNT = """PREFIX sosa: <http://www.w3.org/ns/sosa/>
SELECT (COUNT(DISTINCT ?sensor) AS ?streams) { ?o sosa:madeBySensor ?sensor }"""


@dataclass(frozen=True, slots=True)
class Played:
    """Parts of a core, what was counted meanwhile, and how many streams there are then."""

    core: float
    counted: Mapping[str, float]
    streams: int


def measure(devices: int = DEVICES, seconds: int = SECONDS) -> Iterator[Outcome]:
    """One experiment: all of them, each second."""
    plan = json.dumps({"devices": devices, "registers": REGISTERS})
    idle = _played((), seconds)
    with python_child("devices", "bench.modbus.devices", plan) as child:
        ports = json.loads(child.wait_for('"ports"'))["ports"]
        busy = _played(ports, seconds)
    yield _experiment(devices, seconds, idle.core, busy)


def _played(ports: Sequence[int], seconds: float) -> Played:
    """Read for so long; nothing is read where there are no ports."""
    with (
        TemporaryDirectory(prefix="sosa-gateway-bench-") as folder,
        running_service(_config(Path(folder), ports)) as service,
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


def _config(folder: Path, ports: Sequence[int]) -> Config:
    config = service_config(folder, None)
    buses = tuple(
        BusSettings(name=f"b{at}", host="127.0.0.1", port=port, interval_s=1.0)
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
    devices: int,
    seconds: int,
    idle: float,
    busy: Played,
) -> Experiment:
    observations = busy.counted["observations"]
    wanted = devices * REGISTERS * seconds
    is_on_time = observations >= 0.9 * wanted
    rows = [f"streams {busy.streams}", f"on time {is_on_time}"]
    rows += [f"silent {busy.counted['modbus_devices_silent']:g}"]
    reference = [f"streams {devices * REGISTERS}", "on time True", "silent 0"]
    figures = (
        Figure(
            "of a core", 100 * (busy.core - idle), "%", "without that of a gateway that reads none"
        ),
        Figure("idle", 100 * idle, "%"),
        Figure("CPU of an observation", 1e6 * (busy.core - idle) * seconds / observations, "µs"),
        Figure("observations", observations / seconds, "/s", f"{wanted / seconds:g} wanted"),
    )
    name = f"modbus, {devices} devices with {REGISTERS} registers each second"
    return Experiment(name, figures, digest(rows), digest(reference))
