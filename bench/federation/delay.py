"""`delay`: from POST /update at one gateway to a WebSocket at another, beside one gateway alone.

Place on the way of the data: four gateways as they run, each a process with its store on disk; the
way from gate to gate is that of `notification_latency`, with the carrier between. Without TLS: what
that costs is in `pair`. Beside it the city's lamps, whose subscriptions are at another gateway.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from bench.federation.told import federated
from bench.http.poster import PREDICATE, Poster
from bench.processes import free_port
from bench.readings.service import Service, running_service, service_config
from bench.readings.subscriber import Subscriber
from bench.readings.workload import FENCE, FENCE_UPDATE
from bench.report import Experiment, Figure, Outcome, digest, percentile
from gateway.cli.asking.service import call, update
from gateway.config.federation import FederationSettings
from gateway.config.settings import Config

GATEWAYS = 4
RATE = 200.0
SECONDS = 10
_QUERY = f"SELECT ?result {{ ?s <{PREDICATE}> ?result }}"
_READY_S = 60.0
_LAST_S = 120.0
_POLL_S = 0.2

Times = Mapping[str, float]


def measure(seconds: int = SECONDS, gateways: int = GATEWAYS) -> Iterator[Outcome]:
    """One gateway, then as many: what a notification takes longer."""
    updates = max(1, round(RATE * seconds))
    alone = _played(1, updates)
    yield _experiment(gateways, updates, alone, _played(gateways, updates))


class Played:
    """What was posted at the first gateway and heard at the last one."""

    def __init__(self, sent: Mapping[int, int], heard: Mapping[str, Any]) -> None:
        arrivals = heard["arrivals"]
        self.delays_ms = sorted(
            (arrivals[str(number)] - at) / 1e6
            for number, at in sent.items()
            if str(number) in arrivals
        )
        self.rows = [f"{row['result']} {count}" for row, count in heard["answers"]["all"]]
        self.wanted = [f"{number} 1" for number in sent]

    def at(self, part: float) -> float:
        """A percentile of the delays, ms."""
        return percentile(self.delays_ms, part)


def _played(gateways: int, updates: int) -> Played:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
        services = [
            stack.enter_context(running_service(each)) for each in _configs(folder, gateways)
        ]
        first, last = services[0], services[-1]
        for each in services if gateways > 1 else ():
            _wait_for_all(each)
        over = {"gateways": "all"} if gateways > 1 else {}
        told = {"all": over, FENCE: over}
        listener = stack.enter_context(
            Subscriber(last.subscribe_url, {"all": _QUERY}, "all", told).child()
        )
        poster = stack.enter_context(Poster(_port(first), updates, RATE).child())
        for child in (listener, poster):
            child.wait_for("ready", _READY_S)
        poster.say("go")
        sent = {int(number): at for number, at in poster.result(_LAST_S).items()}
        update(first.http_url, FENCE_UPDATE)
        return Played(sent, listener.result(_LAST_S))


def _wait_for_all(service: Service) -> None:
    """Return once it hears every other one. Raises TimeoutError."""
    deadline = monotonic() + _READY_S
    while not all(each["state"] == "up" for each in _members(service)):
        if monotonic() > deadline:
            raise TimeoutError("the gateways do not hear each other")
        Event().wait(_POLL_S)


def _members(service: Service) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = call(f"{service.http_url}/federation", "GET", None)[
        "members"
    ]
    return found


def _port(service: Service) -> int:
    return urlsplit(service.http_url).port or 0


def _configs(folder: Path, gateways: int) -> Sequence[Config]:
    """Gateways that know each other, or one alone."""
    names = [f"gateway{number}" for number in range(gateways)]
    ports = {name: free_port() for name in names}
    found = []
    for name in names:
        (folder / name).mkdir()
        config = service_config(folder / name, None)
        peers = {each: {"at": f"127.0.0.1:{port}"} for each, port in ports.items() if each != name}
        settings = {"listen": f"127.0.0.1:{ports[name]}" if peers else "", "peers": peers}
        gateway = config.gateway.model_copy(update={"id": name})
        federation = FederationSettings.model_validate(settings)
        found.append(config.model_copy(update={"gateway": gateway, "federation": federation}))
    return found


def _experiment(gateways: int, updates: int, alone: Played, played: Played) -> Experiment:
    times = {name: played.at(part) for name, part in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}
    figures = (
        Figure("updates", updates),
        *(Figure(name, value, "ms") for name, value in times.items()),
        Figure("p50 to one gateway alone", times["p50"] / alone.at(0.5), "times", "2 wanted"),
        Figure("p99 to one gateway alone", times["p99"] / alone.at(0.99), "times", "3 wanted"),
    )
    counted = [int(row.rpartition(" ")[2]) for row in played.rows]
    members = federated(
        gateways=gateways,
        subscriptions=1,
        events=updates,
        delivered=len(played.rows),
        lost=updates - len(played.rows),
        doubled=sum(count - 1 for count in counted),
        events_per_s=RATE,
        delay_ms=times,
    )
    return Experiment(
        f"federation delay, {gateways} gateways, {RATE:g} updates/s",
        figures,
        digest([*alone.rows, *played.rows]),
        digest([*alone.wanted, *played.wanted]),
        ("POST /update at one, WebSocket at another; store on disk; loopback without TLS",),
        members=members,
    )
