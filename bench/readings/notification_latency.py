"""The part of `latency` that is about clients: from POST /update to the WebSocket's notification.

Place on the way of the data: from one gate to the other, at 100, 500 and 1,000 updates/s. Both
ends read the machine's monotonic clock; the value of an update says which one it is.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from bench.http.poster import PREDICATE, Poster
from bench.readings.service import running_service, service_config
from bench.readings.subscriber import Subscriber
from bench.readings.workload import FENCE_UPDATE
from bench.report import Experiment, Figure, Outcome, digest, percentile
from gateway.cli.asking.service import update

RATES = (100.0, 500.0, 1000.0)
SECONDS = 5
_QUERY = f"SELECT ?result {{ ?s <{PREDICATE}> ?result }}"
_READY_S = 60.0
_LAST_S = 120.0


def measure(seconds: float = SECONDS) -> Iterator[Outcome]:
    """Each rate for so long, on a gateway of its own."""
    for rate in RATES:
        yield _play(rate, max(1, round(rate * seconds)))


def _play(rate: float, updates: int) -> Experiment:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
        service = stack.enter_context(running_service(service_config(folder, None)))
        port = urlsplit(service.http_url).port or 0
        listener = stack.enter_context(
            Subscriber(service.subscribe_url, {"all": _QUERY}, "all").child()
        )
        poster = stack.enter_context(Poster(port, updates, rate).child())
        for child in (listener, poster):
            child.wait_for("ready", _READY_S)
        before_s = service.child.cpu_s()
        poster.say("go")
        sent = {int(number): at for number, at in poster.result(_LAST_S).items()}
        cpu_s = service.child.cpu_s() - before_s
        update(service.http_url, FENCE_UPDATE)
        return _experiment(rate, sent, listener.result(_LAST_S), cpu_s)


def _experiment(
    rate: float, sent: Mapping[int, int], heard: Mapping[str, Any], cpu_s: float
) -> Experiment:
    arrivals = heard["arrivals"]
    found = [(sent[n], arrivals[str(n)]) for n in sent if str(n) in arrivals]
    latencies = sorted((arrived - at) / 1e6 for at, arrived in found)
    elapsed_s = (max(sent.values()) - min(sent.values())) / 1e9
    figures = (
        Figure("updates", len(sent)),
        Figure("rate", (len(sent) - 1) / elapsed_s if elapsed_s else 0, "updates/s", f"{rate:g}"),
        Figure("p50", percentile(latencies, 0.50), "ms"),
        Figure("p99", percentile(latencies, 0.99), "ms"),
        Figure("max", latencies[-1], "ms"),
        Figure("gateway CPU", cpu_s / len(sent) * 1e6, "µs/update"),
    )
    answer = heard["answers"]["all"]
    return Experiment(
        f"latency of POST /update, {rate:g}/s",
        figures,
        digest(f"{row['result']} {count}" for row, count in answer),
        digest(f"{number} 1" for number in sent),
        ("store on disk; one subscriber, told of every update",),
    )
