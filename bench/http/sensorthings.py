"""`sensorthings`: pages of 20 Datastreams by their ids, each with its latest Observation.

Place on the way of the data: HTTP gate, index, and back, of a gateway with 10,000 streams that does
nothing else. Asked for are `Datastreams?$expand=Observations($top=1)` with a filter of 20 ids.
"""

import json
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.http.sensorthings_load import PAGE, STREAM, SensorThingsLoad
from bench.processes import Child
from bench.readings.service import Service, running_service, service_config
from bench.report import Experiment, Figure, Outcome, digest

STREAMS = 10_000
PAGES = 1_000
CONNECTIONS = 8
TURNS = 3
_TURN_S = 300.0
_CHUNK = 500
_SOSA = "http://www.w3.org/ns/sosa/"
_XSD = "http://www.w3.org/2001/XMLSchema#"


def measure(pages: int = PAGES, streams: int = STREAMS) -> Iterator[Outcome]:
    """One turn to begin with, which makes the index, and then those that count."""
    load = SensorThingsLoad(CONNECTIONS, max(1, pages // CONNECTIONS), streams)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
        service = stack.enter_context(running_service(service_config(folder, None)))
        port = int(service.http_url.rpartition(":")[2])
        for first in range(0, streams, _CHUNK):
            _update(service, _observations(first, min(first + _CHUNK, streams)))
        clients = stack.enter_context(load.child())
        clients.wait_for("ready")
        begun = _turn(clients, port)
        cpu_s = service.child.cpu_s()
        turns = [_turn(clients, port) for _ in range(TURNS)]
        cpu_s = service.child.cpu_s() - cpu_s
    yield _experiment(load, begun, turns, cpu_s)


def _turn(clients: Child, port: int) -> dict[str, object]:
    clients.say(str(port))
    return dict(clients.result(_TURN_S))


def _experiment(
    load: SensorThingsLoad,
    begun: dict[str, object],
    turns: list[dict[str, object]],
    cpu_s: float,
) -> Experiment:
    times = sorted(float(str(time)) for turn in turns for time in _listed(turn["times"]))
    elapsed_s = sum(float(str(turn["elapsed_s"])) for turn in turns)
    first_s = max(float(str(time)) for time in _listed(begun["times"]))
    expected = load.connections * load.each * PAGE
    return Experiment(
        "sensorthings",
        (
            Figure("streams", load.streams),
            Figure("requests", len(times)),
            Figure("pages", len(times) / elapsed_s, "requests/s", "500 wanted"),
            Figure("p95", times[int(len(times) * 0.95)] * 1e3, "ms", "50 wanted"),
            Figure("CPU", cpu_s / len(times) * 1e6, "µs/request"),
            Figure("first", first_s * 1e3, "ms", "which makes the index"),
        ),
        digest(str(turn["observations"]) for turn in turns),
        digest(str(expected) for _ in turns),
        (f"{load.connections} connections, each waits for its answer; {PAGE} Datastreams a page",),
    )


def _listed(value: object) -> list[object]:
    assert isinstance(value, list)  # noqa: S101
    return value


def _observations(first: int, end: int) -> str:
    lines = []
    for number in range(first, end):
        sensor, observed, feature = (each.format(number) for each in STREAM)
        lines.append(
            f"<urn:bench:o:{number}> a <{_SOSA}Observation> ; <{_SOSA}madeBySensor> <{sensor}> ; "
            f"<{_SOSA}observedProperty> <{observed}> ; <{_SOSA}hasFeatureOfInterest> <{feature}> ; "
            f"<{_SOSA}hasSimpleResult> {number}.5 ; "
            f'<{_SOSA}resultTime> "2026-03-02T07:00:00Z"^^<{_XSD}dateTime> .'
        )
    return f"INSERT DATA {{ {' '.join(lines)} }}"


def _update(service: Service, text: str) -> None:
    form = urllib.parse.urlencode({"update": text}).encode()
    # http on loopback, from running_service
    with urllib.request.urlopen(f"{service.http_url}/update", form, _TURN_S) as answer:  # noqa: S310
        json.load(answer)
