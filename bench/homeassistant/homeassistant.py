"""`sosa-gateway bench homeassistant`: readings with and without announcements, and a start.

Place on the way of the data: what a reading takes by itself (path.py), then from MQTT to the store
of two whole gateways, one of which publishes; nobody subscribes to what it publishes. They get the
same readings in turns, and what is told is the CPU time of the processes. The start is one of a
gateway that has its streams already, up to the last announcement.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic

from bench.homeassistant import path
from bench.readings.device import Device
from bench.readings.service import Service, running_service, service_config
from bench.readings.workload import BASE_IRI, value
from bench.report import Experiment, Figure, Outcome, digest
from gateway.config.homeassistant import HomeAssistantSettings
from gateway.config.settings import Config
from gateway.demo.devices import Publication

STREAMS, TURNS, EACH = 1_000, 8, 4_000
_START_S = 120.0
_SETTLE_S = 2.0
_WINDOW = 100


def measure(streams: int = STREAMS, turns: int = TURNS, each: int = EACH) -> Iterator[Outcome]:
    """The way of a reading; states once a second at most, each state; then a start."""
    yield from path.measure(streams)
    with TemporaryDirectory(prefix="sosa-gateway-bench-") as name:
        folder = Path(name)
        for interval_s in (HomeAssistantSettings().interval_s, 0.0):
            yield _readings(folder / f"every {interval_s:g}", interval_s, streams, (turns, each))
        yield _start(folder / "start", streams)


def _config(folder: Path, **members: object) -> Config:
    folder.mkdir(parents=True)
    told = HomeAssistantSettings.model_validate(members)
    return service_config(folder, None).model_copy(update={"homeassistant": told})


def _readings(folder: Path, interval_s: float, streams: int, plan: tuple[int, int]) -> Experiment:
    """In turns: the gateway that is silent, the one that publishes."""
    turns, each = plan
    silent = _config(folder / "silent")
    telling = _config(folder / "telling", publish=True, interval_s=interval_s)
    with running_service(silent, _START_S) as one, running_service(telling, _START_S) as other:
        for service in (one, other):
            _play(service, 0, streams)
        other.wait_until("homeassistant_entities", streams)
        Event().wait(_SETTLE_S)
        spent: dict[str, list[float]] = {"silent": [], "telling": []}
        for turn in range(turns):
            begin = streams + turn * each
            for kind, service in (("silent", one), ("telling", other)):
                spent[kind].append(_play(service, begin, each, streams) / each * 1e6)
        entities = other.counters()["homeassistant_entities"]
        seen = [service.counters()["observations"] for service in (one, other)]
    more = [told - untold for untold, told in zip(spent["silent"], spent["telling"], strict=True)]
    total = streams + turns * each
    return Experiment(
        f"homeassistant, {streams} streams, a state each {interval_s:g} s at most",
        (
            Figure("CPU without", median(spent["silent"]), "µs/reading"),
            Figure("CPU with", median(spent["telling"]), "µs/reading"),
            Figure("more", median(more), "µs/reading", "median of the turns; 20 wanted"),
            Figure("ratio", median(spent["telling"]) / median(spent["silent"]), "times"),
        ),
        digest([f"{count:g}" for count in (*seen, entities)]),
        digest([str(total), str(total), str(streams)]),
        (f"{turns} turns of {each} readings each, embedded broker, nobody subscribes",),
    )


def _play(service: Service, begin: int, count: int, streams: int | None = None) -> float:
    """The CPU seconds of the process for so many readings, all committed."""
    before = service.child.cpu_s()
    done = service.counters()["observations"] + count
    with Device(service.mqtt_port, "bench", _WINDOW) as device:
        for index in range(begin, begin + count):
            sensor = f"{index % (streams or count)}"
            payload = f'{{"value":{value(index)},"sequence":{index}}}'.encode()
            device.publish(Publication(sensor, f"bench/{sensor}", payload))
        device.drain()
    service.wait_until("observations", done)
    return service.child.cpu_s() - before


def _start(folder: Path, streams: int) -> Experiment:
    """From the process that serves to the last announcement."""
    config = _config(folder, publish=True)
    with running_service(config, _START_S) as service:
        _play(service, 0, streams)
        service.wait_until("homeassistant_entities", streams)
    with running_service(config, _START_S) as service:
        began = monotonic()
        found = service.wait_until("homeassistant_entities", streams)
        took_s = monotonic() - began
    return Experiment(
        f"homeassistant, a start with {streams} streams",
        (Figure("until all are announced", took_s, "s", "after it serves; 5 wanted"),),
        digest([f"{found['homeassistant_entities']:g}"]),
        digest([str(streams)]),
        (f"store on disk, embedded broker; the streams are {BASE_IRI}sensor/…",),
    )
