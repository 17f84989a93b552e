"""`sosa-gateway bench page`: the page with many streams, and what a viewer costs the gateway.

Place on the way of the data: all of it, from devices by MQTT to the lines in a browser. At the end
of each measurement nothing is sent any more and the page must show what a fresh query answers.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

from bench.page.fleet import Fleet, write_profile
from bench.page.window import Window, browser, missing, window
from bench.processes import Child, ChildFailedError
from bench.readings.service import Service, running_service, service_config
from bench.report import Experiment, Figure, Outcome, Skipped, digest
from gateway.cli.asking.service import RESULT_TYPES, query
from gateway.config.settings import SHIPPED_PROFILES, JsapSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STREAMS = 1_000
RATE = 200
MEMORY_S = 600
CROWD = 10_000

_WATCHED_S = 60.0
_SCROLLED_S = 10.0
_THROTTLED = 4.0
_VIEWED = 100
_VIEWER_S = 30.0
_VIEWER_TURNS = 3
_LONG_MS = 100.0
_EXACT_S = 10.0
_MB = 1e6
_QUERY = """
PREFIX sosa: <http://www.w3.org/ns/sosa/>
SELECT ?sensor ?property ?place ?value {
  ?o sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ;
     sosa:hasFeatureOfInterest ?place ; sosa:hasSimpleResult ?value }
"""

_FULL = 6
"""The tenth of 600 s after which each line has its 64 points, at a reading in 5 s."""


@dataclass(frozen=True, slots=True)
class _Stage:
    """A gateway whose streams have all told something, their devices, and a browser."""

    service: Service
    fleet: Child
    browser: "Browser"

    def go(self) -> None:
        self.fleet.say("go")

    def stop(self) -> None:
        """Send nothing any more; returns when the gateway has taken all."""
        self.fleet.say("stop")
        sent = float(self.fleet.result(60.0)["sent"])
        self.service.wait_until("observations", sent)


def measure(streams: int, rate: int, memory_s: int, crowd: int) -> Iterator[Outcome]:
    """Each experiment with a gateway of its own; `memory_s` seconds of looking at the heap."""
    lack = missing()
    if lack:
        yield Skipped("page", lack)
        return
    yield _busy(streams, rate, memory_s)
    yield _viewers(rate)
    yield _crowd(crowd, rate)


def _start(stack: ExitStack, streams: int, rate: float) -> _Stage:
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
    profiles = (SHIPPED_PROFILES / "observations.jsap", write_profile(folder))
    config = service_config(folder, None).model_copy(
        update={"jsap": JsapSettings(profiles=profiles)}
    )
    service = stack.enter_context(running_service(config))
    fleet = stack.enter_context(Fleet(service.mqtt_port, streams, rate).child())
    fleet.wait_for("ready")
    fleet.say("all")
    fleet.result(600.0)
    service.wait_until("observations", streams)
    return _Stage(service, fleet, stack.enter_context(browser()))


def _busy(streams: int, rate: int, memory_s: int) -> Experiment:
    """Tasks, frames, a slow processor and the heap while readings come."""
    with ExitStack() as stack:
        stage = _start(stack, streams, rate)
        stage.go()
        with window(stage.browser, stage.service.http_url, _THROTTLED) as slow:
            slow_ms, slow_cpu_s = slow.lines_ms(), slow.cpu_s()
            frame_ms = slow.frame_ms()
        with window(stage.browser, stage.service.http_url) as own:
            lines_ms, cpu_s = own.lines_ms(), own.cpu_s()
            own.wait(_WATCHED_S)
            cpu_s = own.cpu_s() - cpu_s
            tasks = own.tasks_ms(lines_ms)
            scrolled = own.scroll(_SCROLLED_S)
            heap = list(_heap(own, memory_s))
            stage.stop()
            found, expected = _tables(own, stage.service)
    long = [each for each in tasks if each > _LONG_MS]
    return Experiment(
        f"page, {streams:,} streams, {rate} readings/s",
        (
            Figure("lines shown", lines_ms, "ms"),
            Figure("interactive, CPU 4 times slower", frame_ms, "ms", "goal: at most 1500"),
            Figure("lines shown, CPU 4 times slower", slow_ms, "ms"),
            Figure("main thread until then", slow_cpu_s, "s CPU", "as slow as that"),
            Figure("tasks above 100 ms", len(long), "", f"in {_WATCHED_S:g} s after; goal: 0"),
            Figure("longest task", tasks[-1] if tasks else 0, "ms", "0: none above 50 ms"),
            Figure("main thread while watching", 100 * cpu_s / _WATCHED_S, "% of a core"),
            *scrolled.figures(),
            Figure("heap at first", heap[0] / _MB, "MB"),
            Figure("heap, sparklines full", heap[_FULL] / _MB, "MB", "64 points each, 320 s"),
            Figure("heap at last", heap[-1] / _MB, "MB", f"after {memory_s} s"),
            Figure("heap, last by full", heap[-1] / heap[_FULL], "", "goal: flat"),
        ),
        found,
        expected,
    )


def _heap(own: Window, seconds: int) -> Iterator[float]:
    """The heap at the start and at each tenth of the time."""
    yield own.heap_bytes()
    for _ in range(10):
        own.wait(seconds / 10)
        yield own.heap_bytes()


def _viewers(rate: int) -> Experiment:
    """The gateway's CPU with and without somebody who watches, in turns."""
    with ExitStack() as stack:
        stage = _start(stack, _VIEWED, rate * _VIEWED / STREAMS)
        stage.go()
        alone_s = watched_s = 0.0
        for _ in range(_VIEWER_TURNS):
            alone_s += _cpu_s(stage.service)
            with window(stage.browser, stage.service.http_url) as own:
                own.lines_ms()
                watched_s += _cpu_s(stage.service)
        with window(stage.browser, stage.service.http_url) as own:
            own.lines_ms()
            stage.stop()
            found, expected = _tables(own, stage.service)
    cores = _VIEWER_S * _VIEWER_TURNS
    cost = 100 * (watched_s - alone_s) / cores
    return Experiment(
        f"page, a viewer of {_VIEWED} streams",
        (
            Figure("gateway, nobody watching", 100 * alone_s / cores, "% of a core"),
            Figure("gateway, one watching", 100 * watched_s / cores, "% of a core"),
            Figure("a viewer", cost, "% of a core", "goal: at most 2"),
        ),
        found,
        expected,
    )


def _cpu_s(service: Service) -> float:
    before = service.child.cpu_s()
    Event().wait(_VIEWER_S)
    return service.child.cpu_s() - before


def _crowd(streams: int, rate: int) -> Experiment:
    """So many streams that only what is seen can be drawn."""
    with ExitStack() as stack:
        stage = _start(stack, streams, rate)
        stage.go()
        with window(stage.browser, stage.service.http_url) as own:
            lines_ms = own.lines_ms()
            own.wait(_SCROLLED_S)
            tasks = own.tasks_ms(lines_ms)
            scrolled = own.scroll(_SCROLLED_S)
            drawn = float(own.page.evaluate("document.querySelectorAll('.line').length"))
            stage.stop()
            found, expected = _tables(own, stage.service)
    return Experiment(
        f"page, {streams:,} streams",
        (
            Figure("lines shown", lines_ms, "ms"),
            Figure("longest task", tasks[-1] if tasks else 0, "ms", f"in {_SCROLLED_S:g} s after"),
            *scrolled.figures(),
            Figure("lines in the document", drawn),
        ),
        found,
        expected,
    )


def _tables(own: Window, service: Service) -> tuple[str, str]:
    """Digests of what the page shows and of what a fresh query answers."""
    expected, end = _answer(service), monotonic() + _EXACT_S
    while (table := own.table()) != expected and monotonic() < end:
        own.wait(0.2)
    if not table:
        raise ChildFailedError("the page shows nothing")
    return digest(_rows(table)), digest(_rows(expected))


def _answer(service: Service) -> Mapping[str, str]:
    answer = json.loads(query(service.http_url, _QUERY, RESULT_TYPES["json"]))
    return {
        "\n".join(row[name]["value"] for name in ("sensor", "property", "place")): (
            f"{row['value']['value']} %"
        )
        for row in answer["results"]["bindings"]
    }


def _rows(table: Mapping[str, str]) -> Iterator[str]:
    return (f"{key} {value}" for key, value in table.items())
