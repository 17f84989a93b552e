"""`lamp` and `road`: the paper's two experiments on the city, by every way, in one run.

Place on the way of the data: SPARQL text in and notifications out, in memory; no gate, no
scheduler. Each way is a process of its own (city_child.py); they take turns, one round of all
updates after the other, so that what else the machine does meanwhile falls on all of them alike.
A figure is the median of the rounds, in CPU time. The reference of every way is the model in
city_profile.py. Source: seed 000, sections IV to VI; engine.md, section 6.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from gateway.bench.city import ROADS
from gateway.bench.city_profile import Model, Profile, Update, row_text
from gateway.bench.city_report import Measured, report
from gateway.bench.city_ways import WAYS
from gateway.bench.clips_city import is_installed
from gateway.bench.processes import Child, python_child
from gateway.bench.report import Outcome

ROUNDS = 5
SAMPLED = {"naive": 6, "lutt_off": 31}
"""How many updates the slow ways are given, in the first round only."""

_READY_S = 300.0
_ROUND_S = 300.0


@dataclass(slots=True)
class _Turn:
    """A way that takes turns: its process, what must come of it, what has."""

    child: Child
    model: Model
    measured: Measured = field(default_factory=Measured)


def measure(name: str, roads: int = ROADS, rounds: int = ROUNDS) -> Iterator[Outcome]:
    """Run `lamp` or `road` by every way."""
    profile = Profile(name, roads)
    ways = [way for way in WAYS if way != "clips" or is_installed()]
    with ExitStack() as children:
        turns = {way: _start(way, profile, children) for way in ways}
        for number in range(rounds):
            for way, turn in turns.items():
                if number == 0 or way not in SAMPLED:
                    updates = profile.updates(f"{100 + number}")[: SAMPLED.get(way)]
                    _take(way, turn, updates)
    yield report(profile, {way: turn.measured for way, turn in turns.items()}, rounds)


def _start(way: str, profile: Profile, children: ExitStack) -> _Turn:
    specification = {"way": way, "profile": profile.name, "roads": profile.roads}
    child = python_child(way, "gateway.bench.city_child", json.dumps(specification))
    turn = _Turn(children.enter_context(child), Model(profile.subscriptions))
    turn.measured.memory = child.result(_READY_S)["memory_bytes"]
    list(turn.model.apply(profile.warm_up))
    return turn


def _take(way: str, turn: _Turn, updates: list[Update]) -> None:
    """One round; all updates of it set one value."""
    turn.child.say(f"{updates[0].value} {len(updates)}")
    said = turn.child.result(_ROUND_S)
    measured = turn.measured
    measured.cpu_ms.append(said["cpu_ms"])
    measured.wall_ms.append(said["wall_ms"])
    measured.performance = said["performance"]
    measured.told += said["rows"]
    measured.expected += _values(updates) if way == "bare_store" else turn.model.rows(updates)


def _values(updates: Iterable[Update]) -> Iterator[str]:
    """What the bare store must hold afterwards."""
    for update in updates:
        for lamp in update.lamps.names():
            yield row_text(update, -1, "=", *lamp, update.value)
