"""`http`: UPDATEs of one lamp by POST /update, beside a bare echo on the same server.

Place on the way of the data: HTTP gate, scheduler, engine, store, and back. Echo and gateway are
processes that take turns, with the same clients, so that what else the machine does falls on both.
"""

import json
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.city.streets import CITY
from bench.http.echo import echo_child
from bench.http.http_load import HttpLoad
from bench.processes import Child
from bench.readings.service import Service, running_service, service_config
from bench.report import Experiment, Figure, Outcome, digest

REQUESTS = 2000
CONNECTIONS = 16
TURNS = 5
_TURN_S = 300.0

Row = Mapping[str, Mapping[str, str]]


@dataclass(slots=True)
class _Side:
    """One of the two servers, and what its turns took."""

    child: Child
    port: int
    elapsed_s: float = 0.0
    cpu_s: float = 0.0

    def take_turn(self, clients: Child, first: int) -> None:
        """One turn of the clients."""
        cpu_s = self.child.cpu_s()
        clients.say(f"{self.port} {first}")
        self.elapsed_s += float(clients.result(_TURN_S)["elapsed_s"])
        self.cpu_s += self.child.cpu_s() - cpu_s


def measure(requests: int = REQUESTS) -> Iterator[Outcome]:
    """With the store in memory, as the paper's experiments, and on disk, as it is in service."""
    load = HttpLoad(CONNECTIONS, max(1, requests // CONNECTIONS))
    for kind in ("memory", "disk"):
        yield _experiment(load, kind)


def _experiment(load: HttpLoad, kind: str) -> Experiment:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
        config = service_config(folder, None)
        store = config.store.model_copy(update={"kind": kind})
        service = stack.enter_context(running_service(config.model_copy(update={"store": store})))
        echo = _echo(stack)
        gateway = _Side(service.child, int(service.http_url.rpartition(":")[2]))
        clients = stack.enter_context(load.child())
        clients.wait_for("ready")
        _post(service, "update", load.fill())
        gateway.take_turn(clients, 0)  # what is compiled once has been
        echo.take_turn(clients, 0)
        gateway.elapsed_s = gateway.cpu_s = echo.elapsed_s = echo.cpu_s = 0.0
        for turn in range(1, TURNS + 1):
            echo.take_turn(clients, turn * load.each)
            gateway.take_turn(clients, turn * load.each)
        found = digest(_values(service))
    expected = digest(f"{lamp} {value}" for lamp, value in load.values(TURNS + 1))
    return Experiment(
        f"http {kind}",
        tuple(_figures(load.requests * TURNS, echo, gateway)),
        found,
        expected,
        (f"{load.connections} connections, each waits for its answer; {TURNS} turns",),
    )


def _echo(stack: ExitStack) -> _Side:
    child = stack.enter_context(echo_child())
    return _Side(child, int(json.loads(child.wait_for('"port"'))["port"]))


def _figures(requests: int, echo: _Side, gateway: _Side) -> Iterator[Figure]:
    yield Figure("requests", requests)
    yield Figure("echo", requests / echo.elapsed_s, "requests/s")
    yield Figure("update", requests / gateway.elapsed_s, "requests/s")
    yield Figure("ratio", echo.elapsed_s / gateway.elapsed_s, "", "update to echo; 0.5 wanted")
    yield Figure("echo CPU", echo.cpu_s / requests * 1e6, "µs/request")
    yield Figure("update CPU", gateway.cpu_s / requests * 1e6, "µs/request")
    yield Figure("CPU ratio", echo.cpu_s / gateway.cpu_s, "", "independent of the clients")


def _values(service: Service) -> Iterator[str]:
    query = f"SELECT ?lamp ?value {{ ?lamp <{CITY}hasDimmingValue> ?value }}"
    for row in _post(service, "query", query)["results"]["bindings"]:
        yield f"{row['lamp']['value']} {row['value']['value']}"


def _post(service: Service, operation: str, text: str) -> Mapping[str, dict[str, list[Row]]]:
    form = urllib.parse.urlencode({operation: text}).encode()
    # http on loopback, from running_service
    with urllib.request.urlopen(f"{service.http_url}/{operation}", form, _TURN_S) as answer:  # noqa: S310
        found: Mapping[str, dict[str, list[Row]]] = json.load(answer)
    return found
