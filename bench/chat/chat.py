"""`chat`: the experiments of SEPA's paper with its chat, its figures beside ours.

Place on the way of the data: from agents of `gateway.client` to agents. The first one asks what
the broker adds to its store: ten SEND, ten SENT, ten SET_RECEIVED, ten RECEIVED, ten REMOVE, by the
bare store, by the engine, and by a gateway over HTTP. In the second one a client sends messages to
itself without a break, and each goes the whole way: SEND, notification, SET_RECEIVED, notification,
REMOVE, notification. Source: Roffia et al., "Dynamic Linked Data: A SPARQL Event Processing
Architecture", 2018, section 5.5.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.chat.overhead import WAYS, Costs, compare
from bench.chat.to_oneself import Times, send_to_oneself
from bench.readings.service import Service, running_service, service_config
from bench.report import Experiment, Figure, Outcome, TableRow, digest, percentile
from gateway.config.settings import SHIPPED_PROFILES
from jsap import Profile

MESSAGES = 100
_ROUNDS_EACH = 4
"""The first experiment has so many times the messages of the second, ten in a round."""


def measure(messages: int = MESSAGES) -> Iterator[Outcome]:
    """Both experiments, against one gateway."""
    with TemporaryDirectory() as folder:
        config = service_config(Path(folder), None)
        with running_service(config) as service:
            profile = chat_profile(service)
            rounds = max(1, messages // 10) * _ROUNDS_EACH
            yield _overhead(compare(Path(folder), profile, service.child, rounds), rounds)
            yield _to_oneself(asyncio.run(send_to_oneself(profile, messages)), messages)


def chat_profile(service: Service) -> Profile:
    """The profile that ships, at this gateway."""
    members: dict[str, Any] = json.loads((SHIPPED_PROFILES / "chat.jsap").read_text("utf-8"))
    members["sparql11protocol"]["port"] = _port(service.http_url)
    channels = members["sparql11seprotocol"]["availableProtocols"]
    channels["ws"]["port"] = _port(service.subscribe_url.removesuffix("/subscribe"))
    return Profile.parse(members)


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def _overhead(costs: Mapping[str, Costs], rounds: int) -> Experiment:
    store = costs["store"]
    table: list[TableRow] = [
        {"CPU ms a request": way, **{kind: costs[way].ms(kind) for kind in store.kinds}}
        for way in WAYS
    ]
    figures = (
        Figure("requests", 50 * rounds),
        Figure("store", store.mean_ms(), "ms", "CPU of a request"),
        Figure("engine", costs["engine"].mean_ms(), "ms"),
        Figure("gateway", costs["gateway"].mean_ms(), "ms", "with HTTP and JSON"),
        Figure("engine/store", costs["engine"].mean_ms() / store.mean_ms()),
        Figure("overhead", 100 * (costs["engine"].mean_ms() / store.mean_ms() - 1), "%", "1.5"),
    )
    found = [f"{way} {row}" for way in WAYS for row in costs[way].rows]
    expected = [
        f"{way} {kind} {count}"
        for way in WAYS
        for kind, count in {"SENT": 10, "RECEIVED": 10, "left": 0}.items()
        for _ in range(rounds if kind == "left" else 10 * rounds)
    ]
    notes = (
        "store on disk, each UPDATE committed; overhead: what the engine adds to its bare store,"
        " in the paper 1.5 % of 50 to 100 ms that Virtuoso takes, 0.8 to 1.5 ms (Figure 10)",
    )
    return Experiment("chat overhead", figures, digest(found), digest(expected), notes, table)


def _to_oneself(times: Times, messages: int) -> Experiment:
    updates, told = sorted(times.updates_ms), sorted(times.notified_ms)
    figures = (
        Figure("messages", messages),
        Figure("rate", messages / times.elapsed_s, "messages/s", "paper: at most 10"),
        Figure("update p50", percentile(updates, 0.50), "ms", "paper: 50 to 100"),
        Figure("update p99", percentile(updates, 0.99), "ms"),
        Figure("notification p50", percentile(told, 0.50), "ms", "paper: 10 to 60"),
        Figure("notification p99", percentile(told, 0.99), "ms"),
        Figure("notification max", told[-1], "ms"),
    )
    expected = [
        f"{kind} {number}"
        for kind in ("received", "confirmed", "removed")
        for number in range(messages)
    ]
    notes = ("wall time; a notification is timed from the sending of its UPDATE (Figures 11, 12)",)
    return Experiment("chat to oneself", figures, digest(times.rows), digest(expected), notes)
