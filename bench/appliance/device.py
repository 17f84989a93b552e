"""`device`: a gateway with one core and 512 MB: what it takes at rest, and 200 readings a second.

Place on the way of the data: all of it, embedded broker, store on disk, journal with fsync, no
worker processes. 1,000 streams are known and 100 subscriptions held. Publisher and subscriber are
processes of their own on the cores that are left. An emulation: not the speed of any board.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic, monotonic_ns
from typing import Any

from bench.appliance.confined import confined
from bench.appliance.proc import family, of_status
from bench.processes import Child
from bench.readings.device import Device
from bench.readings.service import Service, running_service, service_config
from bench.readings.session import TIMED
from bench.readings.subscriber import Subscriber
from bench.readings.workload import (
    FENCE_UPDATE,
    LATEST_QUERY,
    RESULTS_QUERY,
    sensor_iri,
    subscriptions,
    value,
)
from bench.report import Experiment, Figure, Outcome, digest, percentile
from gateway.cli.asking.service import RESULT_TYPES, query, update
from gateway.demo.devices import Publication

MEMORY_BYTES = 512 * 2**20
STREAMS, RATE, SECONDS = 1_000, 200, 60
_SETTLE_S = 15.0
_START_S = 120.0
_MB = 1e6


@dataclass(frozen=True, slots=True)
class Idle:
    """Parts of a core and bytes at rest, of all processes, and how many these are."""

    core: float
    resident: int
    processes: int


@dataclass(frozen=True, slots=True)
class Busy:
    """Parts of a core, the most bytes, bytes of swap; s until the rest was committed."""

    core: float
    most_resident: int
    swapped: int
    behind_s: float
    counted: Mapping[str, float]


def measure(seconds: int = SECONDS) -> Iterator[Outcome]:
    """At rest, then under load, in one life of the gateway."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
        bounds = stack.enter_context(confined(MEMORY_BYTES))
        config = service_config(folder, None)
        service = stack.enter_context(running_service(config, _START_S, bounds.within))
        device = stack.enter_context(Device(service.mqtt_port, "bench", 100))
        for index in range(STREAMS):
            device.publish(_publication(index))
        device.drain()
        service.wait_until("updates", STREAMS)
        queries = {**subscriptions(), TIMED: RESULTS_QUERY}
        listener = stack.enter_context(Subscriber(service.subscribe_url, queries, TIMED).child())
        listener.wait_for("ready")
        label = f"emulated, uncalibrated: {bounds.how}"
        yield _idle_experiment(_idle(service, seconds), label)
        yield _busy(service, device, listener, seconds, label)


def _publication(index: int) -> Publication:
    sensor = str(index % STREAMS)
    payload = f'{{"value":{value(index)},"sequence":{index}}}'.encode()
    return Publication(sensor, f"bench/{sensor}", payload)


def _idle(service: Service, seconds: float) -> Idle:
    Event().wait(_SETTLE_S)
    cpu_s, begin = service.child.cpu_s(), monotonic()
    Event().wait(seconds)
    core = (service.child.cpu_s() - cpu_s) / (monotonic() - begin)
    processes = family(service.child.pid)
    return Idle(core, sum(of_status(pid, "VmRSS") for pid in processes), len(processes))


def _idle_experiment(idle: Idle, label: str) -> Experiment:
    figures = (
        Figure("of a core", 100 * idle.core, "%", "goal: 2"),
        Figure("memory", idle.resident / _MB, "MB", "goal: 150"),
        Figure("processes", idle.processes, "", "goal: 1"),
    )
    rows = [f"processes {idle.processes}"]
    name = f"device at rest: {STREAMS:,} streams, 100 subscriptions"
    return Experiment(name, figures, digest(rows), digest(["processes 1"]), (label,))


def _busy(
    service: Service, device: Device, listener: Child, seconds: int, label: str
) -> Experiment:
    readings = RATE * seconds
    before, cpu_s, begin = service.counters(), service.child.cpu_s(), monotonic()
    sent = _publish(device, readings)
    last = monotonic()
    after = service.wait_until("updates", before["updates"] + readings)
    behind_s = monotonic() - last
    core = (service.child.cpu_s() - cpu_s) / (monotonic() - begin)
    pid = service.child.pid
    counted = {name: after[name] - before.get(name, 0.0) for name in after}
    busy = Busy(core, of_status(pid, "VmHWM"), of_status(pid, "VmSwap"), behind_s, counted)
    rows = [f"swapped {busy.swapped}", *_counted(counted), *_latest(service)]
    update(service.http_url, FENCE_UPDATE)
    heard = listener.result(_START_S)
    expected = ["swapped 0", *_counted(dict.fromkeys(("observations", "updates"), readings))]
    expected += [
        f"{sensor_iri(i % STREAMS)} {value(i)}" for i in range(readings, readings + STREAMS)
    ]
    name = f"device under load: {RATE} readings/s for {seconds} s"
    figures = tuple(_busy_figures(busy, _latencies_ms(sent, heard)))
    return Experiment(name, figures, digest(rows), digest(expected), (label,))


def _publish(device: Device, readings: int) -> Mapping[int, int]:
    """When each was sent, ns; one after the other at the rate."""
    sent: dict[int, int] = {}
    started = monotonic()
    for number in range(readings):
        Event().wait(max(0.0, started + number / RATE - monotonic()))
        index = STREAMS + number
        sent[index] = monotonic_ns()
        device.publish(_publication(index))
        device.flush()
    device.drain()
    return sent


def _counted(counted: Mapping[str, float]) -> list[str]:
    return [f"{name} {counted[name]:g}" for name in ("observations", "updates")]


def _latest(service: Service) -> Iterator[str]:
    answer = json.loads(query(service.http_url, LATEST_QUERY, RESULT_TYPES["json"]))
    for row in answer["results"]["bindings"]:
        yield f"{row['sensor']['value']} {row['result']['value']}"


def _latencies_ms(sent: Mapping[int, int], heard: Mapping[str, Any]) -> list[float]:
    arrivals: Mapping[str, int] = heard["arrivals"]
    pairs = [(at, arrivals.get(value(index))) for index, at in sent.items()]
    return sorted((arrived - at) / 1e6 for at, arrived in pairs if arrived is not None)


def _busy_figures(busy: Busy, latencies_ms: list[float]) -> Iterator[Figure]:
    yield Figure("of a core", 100 * busy.core, "%")
    yield Figure("most memory", busy.most_resident / _MB, "MB", "bound: 537")
    yield Figure("swap", busy.swapped, "bytes")
    yield Figure("committed after the last", busy.behind_s, "s", "asked each 0.2 s")
    yield Figure("latency p50", percentile(latencies_ms, 0.5), "ms", "publish to notification")
    yield Figure("latency p99", percentile(latencies_ms, 0.99), "ms")
