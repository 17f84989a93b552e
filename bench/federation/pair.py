"""`pair`: two gateways, mutual TLS, chain queries at one and events at the other.

Place on the way of the data: two processes, from quads in memory at the source to rows at the home;
the best run of three, as the machine has other things to do too.
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.federation.certificates import certificates
from bench.federation.chains import GATEWAY
from bench.federation.pair_child import HOME, Side
from bench.federation.told import federated
from bench.processes import free_port
from bench.report import Experiment, Figure, digest

QUERIES = 240
EVENTS = 30_000
RUNS = 3
_RUN_S = 120.0


def measure(events: int = EVENTS, queries: int = QUERIES, runs: int = RUNS) -> Experiment:
    """The best run."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sosa-gateway-bench-")))
        files = certificates(folder, (GATEWAY, HOME))
        at = {each: f"127.0.0.1:{free_port()}" for each in (GATEWAY, HOME)}
        sides = [
            Side(role, at[role], at[other], asdict(files[role]), queries, events, runs)
            for role, other in ((GATEWAY, HOME), (HOME, GATEWAY))
        ]
        source, home = (stack.enter_context(each.child()) for each in sides)
        bare_us = json.loads(source.wait_for("ready", _RUN_S))["bare_us"]
        home.wait_for("ready", _RUN_S)
        found = []
        for _ in range(runs):
            source.say("go")
            found.append((source.result(_RUN_S), home.result(_RUN_S)))
        return _experiment(found, events, queries, bare_us)


Run = tuple[Mapping[str, Any], Mapping[str, Any]]


def _rate(run: Run, events: int) -> float:
    source, home = run
    return float(events / ((home["last"] - source["begun"]) / 1e9))


def _experiment(found: list[Run], events: int, queries: int, bare_us: float) -> Experiment:
    faults = _faults(found)
    members = _members(found, events, queries, faults)
    cpu = members["cpu_us_per_event"]
    sent, every = found[-1][0]["messages"], events * len(found)
    figures = (
        Figure("events", members["events_per_s"], "/s", "50,000 wanted"),
        Figure("CPU, source", cpu["source"], "µs/event"),
        Figure("CPU, home", cpu["home"], "µs/event"),
        Figure("CPU of both", sum(cpu.values()), "µs/event", "25 wanted"),
        Figure("CPU, N-Quads of it written and read", bare_us, "µs/event", "what the machine does"),
        Figure("bytes an event", members["bytes_per_event"]),
        Figure("events a message", every / max(1, sent["data"])),
    )
    rows = [f"{name} {count}" for name, count in faults.items()]
    wrong = ("lost", "doubled", "foreign", "useless")
    seen = digest(f"{name} {faults[name]}" for name in wrong)
    return Experiment(
        f"federation pair, {queries} chain queries, mutual TLS",
        figures,
        seen,
        digest(f"{name} 0" for name in wrong),
        (f"the best of {len(found)} runs of {events:,} events; {', '.join(rows)}",),
        members=members,
    )


def _faults(found: list[Run]) -> dict[str, int]:
    """What went wrong in all runs; the last counts useless, late and doubled messages for all."""
    _, last_home = found[-1]
    faults = {name: sum(run[1][name] for run in found) for name in ("lost", "doubled", "foreign")}
    return faults | {name: last_home[name] for name in ("useless", "late", "duplicates")}


def _members(
    found: list[Run], events: int, queries: int, faults: Mapping[str, int]
) -> dict[str, Any]:
    """What `--json` has of the best run, and of the messages of all."""
    _, home = best = max(found, key=lambda run: _rate(run, events))
    last_source, last_home = found[-1]
    cpu = {
        name: each["cpu_s"] / events * 1e6
        for name, each in zip(("source", "home"), best, strict=True)
    }
    sent, answered = last_source["messages"], last_home["messages"]
    return federated(
        gateways=2,
        subscriptions=queries,
        events=events,
        delivered=home["delivered"],
        lost=faults["lost"],
        doubled=faults["doubled"],
        useless=faults["useless"],
        late=faults["late"],
        events_per_s=_rate(best, events),
        cpu_us_per_event=cpu,
        messages={
            "announce": sent["needs"] + answered["needs"],
            "data": sent["data"],
            "ack": answered["ack"],
            "recovered": last_home["resyncs"],
        },
        bytes_per_event=last_source["bytes"] / (events * len(found)),
        tls=True,
    )
