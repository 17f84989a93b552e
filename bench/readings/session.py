"""One play of a workload: broker, gateway, subscriber and publishers, each a process.

Place on the way of the data: from publishers to subscribers, by the protocols that every client
uses. What is measured is checked: what subscribers hold, what the store holds and what was counted
must be what the published readings imply.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.processes import Child
from bench.readings.mosquitto import find_mosquitto, running_mosquitto
from bench.readings.over_windows import over_windows, told
from bench.readings.publisher import Publisher
from bench.readings.service import Service, running_service, service_config
from bench.readings.subscriber import Subscriber
from bench.readings.workload import (
    FENCE_UPDATE,
    LATEST_QUERY,
    RESULTS_QUERY,
    Workload,
    subscriptions,
)
from bench.report import Experiment, Outcome, Skipped, digest
from gateway.cli.asking.service import RESULT_TYPES, query, update

BROKERS = ("external", "embedded")
TIMED = "results"
_PLAY_TIMEOUT_S = 3600.0
"""A publisher that gets no acknowledgement gives up much earlier by itself."""

_EXACT = ("messages", "observations", "updates", "notifications")
_NONE = ("observations_duplicate", "observations_late", "observations_failed", "spu_failures")

_NO_SENSOR = "unknown"
"""For answers without an observation of the store."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play. `rate` readings/s of all publishers together, 0 for as fast as they go.

    `mosquitto` is the program of an external broker, None for the embedded one. With `timed`
    there is one more subscription, to all results; with `windowed` there are those over windows.
    """

    workload: Workload
    mosquitto: str | None = None
    publishers: int = 4
    rate: float = 0.0
    timed: bool = False
    windowed: bool = False

    @property
    def broker(self) -> str:
        """Which broker, for people."""
        return "external" if self.mosquitto else "embedded"

    def queries(self) -> Mapping[str, str]:
        """The subscriptions by alias."""
        over = {alias: text for alias, (text, _) in self._over().items()}
        return subscriptions() | over | ({TIMED: RESULTS_QUERY} if self.timed else {})

    def over(self) -> Mapping[str, Mapping[str, object]]:
        """Further members of some."""
        return {alias: members for alias, (_, members) in self._over().items()}

    def _over(self) -> Mapping[str, tuple[str, Mapping[str, object]]]:
        return over_windows() if self.windowed else {}


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a plan. CPU is of the gateway and of all publishers, while they publish.

    `switches`: how often the gateway's threads waited meanwhile, and were put off their core.
    """

    elapsed_s: float
    gateway_cpu_s: float
    switches: tuple[int, int]
    publishers_cpu_s: float
    counted: Mapping[str, float]
    heard: Mapping[str, Any]
    sent: Mapping[str, int]
    latest: Mapping[str, tuple[str, str]]

    def latencies_ms(self) -> list[float]:
        """From send to notification, sorted; needs a plan with `rate` and `timed`."""
        arrivals: Mapping[str, int] = self.heard["arrivals"]
        pairs = [(self.sent[index], arrivals.get(f"{index}.5")) for index in self.sent]
        return sorted((arrived - sent) / 1e6 for sent, arrived in pairs if arrived is not None)

    def rows(self) -> Iterator[str]:
        """What was found: counters, and each subscriber's answer in terms of the store's."""
        yield from (f"{name} {self.counted[name]:g}" for name in (*_EXACT, *_NONE))
        for alias, answer in self.heard["answers"].items():
            for row, count in answer:
                sensor, result = self.latest.get(row.get("o"), (_NO_SENSOR, "unknown"))
                yield _answer(alias, sensor, row.get("result", result), count)

    def digest(self) -> str:
        """The digest of the rows."""
        return digest(self.rows())


def reference(plan: Plan) -> str:
    """The digest that the published readings imply."""
    readings = plan.workload.readings
    notifications = readings * (1 + plan.timed + plan.windowed)
    rows = [f"{name} {readings:g}" for name in _EXACT if name != "notifications"]
    rows += [f"notifications {notifications:g}", *(f"{name} 0" for name in _NONE)]
    for sensor, result in plan.workload.latest():
        rows += [_answer(alias, sensor, result, 1) for alias in _aliases(plan, sensor)]
    if plan.windowed:
        rows += [_answer(alias, _NO_SENSOR, result, 1) for alias, result in told(plan.workload)]
    return digest(rows)


def play_behind(
    broker: str, name: str, plan: Plan, report: Callable[[Plan, Played], Experiment]
) -> Outcome:
    """Play the plan behind the broker named, if it can be had."""
    if broker == "embedded":
        return report(plan, play(plan))
    program = find_mosquitto()
    if program is None:
        return Skipped(f"{name} {broker}", "mosquitto is not installed")
    plan = replace(plan, mosquitto=program)
    return report(plan, play(plan))


def play(plan: Plan) -> Played:
    """Start everything, publish, wait for the last commit, end everything."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
        service = _start_service(stack, folder, plan.mosquitto)
        timed = TIMED if plan.timed else ""
        subscriber = Subscriber(service.subscribe_url, plan.queries(), timed, plan.over())
        listener = stack.enter_context(subscriber.child())
        publishers = [stack.enter_context(each.child()) for each in _publishers(plan, service)]
        for child in (listener, *publishers):
            child.wait_for("ready")
        return _measure(plan, service, listener, publishers)


def _start_service(stack: ExitStack, folder: Path, mosquitto: str | None) -> Service:
    if mosquitto is None:
        return stack.enter_context(running_service(service_config(folder, None)))
    broker = stack.enter_context(running_mosquitto(mosquitto, folder))
    service = stack.enter_context(running_service(service_config(folder, broker.port)))
    broker.wait_subscribed("bench/+")
    return service


def _publishers(plan: Plan, service: Service) -> Iterator[Publisher]:
    pace_s = plan.publishers / plan.rate if plan.rate else 0.0
    for number in range(plan.publishers):
        yield Publisher(
            service.mqtt_port, plan.workload.readings, number, plan.publishers, pace_s=pace_s
        )


def _measure(plan: Plan, service: Service, listener: Child, publishers: Sequence[Child]) -> Played:
    before, cpu_s, switches = service.counters(), service.child.cpu_s(), service.child.switches()
    for publisher in publishers:
        publisher.say("go")
    shares = [publisher.result(_PLAY_TIMEOUT_S) for publisher in publishers]
    after = service.wait_until("updates", before["updates"] + plan.workload.readings)
    cpu_s = service.child.cpu_s() - cpu_s
    waited, put_off = (b - a for a, b in zip(switches, service.child.switches(), strict=True))
    latest = _latest(service)
    update(service.http_url, FENCE_UPDATE)
    heard = listener.result(_PLAY_TIMEOUT_S)
    return Played(
        elapsed_s=(heard["last_us"] - min(share["first_us"] for share in shares)) / 1e6,
        gateway_cpu_s=cpu_s,
        switches=(waited, put_off),
        publishers_cpu_s=sum(share["cpu_s"] for share in shares),
        counted={name: after[name] - before[name] for name in (*_EXACT, *_NONE)},
        heard=heard,
        sent={index: ns for share in shares for index, ns in share["sent"].items()},
        latest=latest,
    )


def _latest(service: Service) -> Mapping[str, tuple[str, str]]:
    """The observations in the store, by IRI: sensor and result."""
    answer = json.loads(query(service.http_url, LATEST_QUERY, RESULT_TYPES["json"]))
    rows = [
        {name: term["value"] for name, term in row.items()} for row in answer["results"]["bindings"]
    ]
    return {row["o"]: (row["sensor"], row["result"]) for row in rows}


def _aliases(plan: Plan, sensor: str) -> Iterator[str]:
    yield sensor
    if plan.timed:
        yield TIMED


def _answer(alias: str, sensor: str, result: str, count: int) -> str:
    return f"{alias} {sensor} {result} {count}"
