"""The part of `latency` that is about time: how late a subscriber hears that a reading is old.

Place on the way of the data: from the publishers to the WebSocket, over a window of the last second
at 200 readings/s. A row has the time of its reading, which the gateway gave, so it is due to go a
second after that by the clock that all processes share; it is told at the next tick.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic_ns, time_ns
from typing import Any

from bench.readings.publisher import Publisher
from bench.readings.service import Service, running_service, service_config
from bench.readings.subscriber import Subscriber
from bench.readings.workload import FENCE_UPDATE, value
from bench.report import Experiment, Figure, digest, percentile
from gateway.cli.asking.service import update
from gateway.rdf.namespaces import OBSERVATIONS, SOSA
from gateway.scheduler.limits import TICK_MS

RATE = 200.0
READINGS = 2000
_RANGE_S = 1.0
_WINDOW = "urn:bench:second"
_ALIAS = "second"
_QUERY = (
    f"SELECT ?result ?time {{ GRAPH <{_WINDOW}> {{ ?o <{SOSA}hasSimpleResult> ?result ; "
    f"<{SOSA}resultTime> ?time }} }}"
)
_OVER: Mapping[str, object] = {"windows": {_WINDOW: {"stream": OBSERVATIONS, "range": "PT1S"}}}
_PUBLISHERS = 2
_LAST_S = 300.0


def measure(readings: int = READINGS, rate: float = RATE) -> Experiment:
    """A gateway of its own, with nobody else."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
        service = stack.enter_context(running_service(service_config(folder, None)))
        subscriber = Subscriber(service.subscribe_url, {_ALIAS: _QUERY}, _ALIAS, {_ALIAS: _OVER})
        listener = stack.enter_context(subscriber.child())
        publishers = [
            stack.enter_context(
                Publisher(
                    service.mqtt_port, readings, number, _PUBLISHERS, pace_s=_PUBLISHERS / rate
                ).child()
            )
            for number in range(_PUBLISHERS)
        ]
        for child in (listener, *publishers):
            child.wait_for("ready")
        before = service.counters()["updates"]
        for publisher in publishers:
            publisher.say("go")
        for publisher in publishers:
            publisher.result(_LAST_S)
        service.wait_until("updates", before + readings)
        _wait_until_empty(service)
        update(service.http_url, FENCE_UPDATE)
        return _experiment(readings, rate, listener.result(_LAST_S))


def _wait_until_empty(service: Service) -> None:
    """All readings have left by then, or are so late that they count as never told."""
    told = -1.0
    while told < (told := service.counters()["notifications"]):
        Event().wait(3 * _RANGE_S)


def _experiment(readings: int, rate: float, heard: Mapping[str, Any]) -> Experiment:
    late = _late_ms(heard)
    figures = (
        Figure("readings", readings, "", f"{rate:g}/s"),
        Figure("told that they are old", len(late)),
        Figure("p50", percentile(late, 0.50), "ms"),
        Figure("p99", percentile(late, 0.99), "ms", f"{TICK_MS + 50} wanted, tick + 50"),
        Figure("max", late[-1], "ms"),
    )
    left = [f"{row['result']} {count}" for row, count in heard["answers"][_ALIAS]]
    return Experiment(
        f"latency of expiry, {rate:g}/s",
        figures,
        digest([*heard["gone"], *left]),
        digest(map(value, range(readings))),
        ("store on disk; one subscriber, to the readings of the last second",),
    )


def _late_ms(heard: Mapping[str, Any]) -> list[float]:
    """How long after they were due rows went, sorted."""
    wall_ns = time_ns() - monotonic_ns()
    late = []
    for result, arrived in heard["gone"].items():
        due_s = datetime.fromisoformat(heard["times"][result]).timestamp() + _RANGE_S
        late.append(((arrived + wall_ns) / 1e9 - due_s) * 1e3)
    return sorted(late)
