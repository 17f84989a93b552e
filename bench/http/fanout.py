"""`fanout`: one notification to many sockets, against a bare loop of sends on the same server.

Place on the way of the data: from an UPDATE to the last of its subscribers. Both ways take turns,
each server is a process, and so are the sockets; what is compared is the server's CPU time for a
message, and the time until the last socket has it.
"""

import json
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic_ns

from pyoxigraph import Literal

from bench.http.fanout_listener import FanoutListener
from bench.processes import Child, python_child
from bench.readings.service import running_service, service_config
from bench.report import Experiment, Figure, Outcome, digest, percentile
from gateway.cli.asking.service import update
from gateway.gates.protocol.wire import encode_results

SOCKETS = 1000
ROUNDS = 40
_TURN = 5
_READY_S = 300.0
_ROUND_S = 60.0
_TICK_S = 0.01  # what the kernel counts CPU time in: a short run may have none
_QUERY = "SELECT ?o { <urn:bench> <urn:is> ?o }"


@dataclass(slots=True)
class _Way:
    """One server with its sockets, and what came of the rounds so far."""

    server: Child
    listener: Child
    trigger: Callable[[int], None]
    times_ms: list[float] = field(default_factory=list)
    different: list[int] = field(default_factory=list)
    cpu_s: float = 0.0

    def percentile(self, part: float) -> float:
        """The percentile `part` of the times so far, ms."""
        return percentile(sorted(self.times_ms), part)

    def play(self, rounds: Sequence[int]) -> None:
        """Send, and wait until everybody has it, so many times."""
        before_s = self.server.cpu_s()
        for number in rounds:
            begun = monotonic_ns()
            self.trigger(number)
            seen = self.listener.result(_ROUND_S)
            self.times_ms.append((seen["at"] - begun) / 1e6)
            self.different.append(seen["different"])
        self.cpu_s += self.server.cpu_s() - before_s


def measure(sockets: int = SOCKETS, rounds: int = ROUNDS) -> Iterator[Outcome]:
    """The gateway and the bare loop."""
    with ExitStack() as stack:
        gateway, bare = _gateway(stack, sockets), _bare(stack, sockets)
        for begin in range(0, rounds, _TURN):
            turn = range(begin, min(begin + _TURN, rounds))
            gateway.play(turn)
            bare.play(turn)
    yield _experiment(gateway, bare, sockets, rounds)


def _gateway(stack: ExitStack, sockets: int) -> _Way:
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
    service = stack.enter_context(running_service(service_config(folder, None)))
    hello = json.dumps({"subscribe": {"sparql": _QUERY, "alias": "bench"}})
    listener = _listening(stack, FanoutListener(service.subscribe_url, sockets, hello))

    def trigger(number: int) -> None:
        update(service.http_url, f"INSERT DATA {{ <urn:bench> <urn:is> {number} }}")

    return _Way(service.child, listener, trigger)


def _bare(stack: ExitStack, sockets: int) -> _Way:
    server = stack.enter_context(python_child("bare loop", "bench.http.fanout_bare", "{}"))
    port = server.result(_READY_S)["port"]
    url = f"ws://127.0.0.1:{port}/subscribe"
    listener = _listening(stack, FanoutListener(url, sockets))

    def trigger(number: int) -> None:
        body = _like_a_notification(number).encode()
        # http on loopback
        request = urllib.request.Request(f"http://127.0.0.1:{port}/send", body)
        with urllib.request.urlopen(request, timeout=_ROUND_S):  # noqa: S310
            pass

    return _Way(server, listener, trigger)


def _listening(stack: ExitStack, listener: FanoutListener) -> Child:
    child = stack.enter_context(listener.child())
    child.wait_for("ready", _READY_S)
    return child


def _like_a_notification(number: int) -> str:
    """A text as long as the notification that the gateway sends."""
    empty = encode_results(["o"], [])
    added = encode_results(["o"], [(Literal(str(number)),)])
    head = '{"notification":{"spuid":"sepa://subscription/' + "0" * 36
    head += '","alias":"bench","sequence":100,"time":1763740800000000,"addedResults":'
    return f'{head}{added},"removedResults":{empty}}}}}'


def _experiment(gateway: _Way, bare: _Way, sockets: int, rounds: int) -> Experiment:
    messages = sockets * rounds
    ways = {"gateway": gateway, "bare loop": bare}
    figures = [Figure("sockets", sockets), Figure("rounds", rounds)]
    for name, way in ways.items():
        figures += [
            Figure(f"{name} CPU", way.cpu_s / messages * 1e6, "µs/message"),
            Figure(f"{name} p50", way.percentile(0.5), "ms", "to the last socket"),
            Figure(f"{name} p99", way.percentile(0.99), "ms"),
        ]
    figures += [
        Figure(
            "ratio by CPU", bare.cpu_s / max(gateway.cpu_s, _TICK_S), "", "at least 0.5 is wanted"
        ),
        Figure("ratio by time", bare.percentile(0.5) / gateway.percentile(0.5)),
    ]
    found = [f"{way.different}" for way in ways.values()]
    expected = [f"{[1] * rounds}"] * 2
    return Experiment("fanout", tuple(figures), digest(found), digest(expected))
