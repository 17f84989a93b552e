"""`bench federation`: gateways that answer together, beside one alone, and beside other ways.

Place on the way of the data: `pair` and `growth` are about compound events and routing, `delay`
about changes from gate to gate, and what the lamps of a city cost where their subscribers are at
another gateway; `resync` is about a link that was down; `baselines` has the algorithms of
EventCloud beside ours, and `fleet` up to a thousand gateways, both in simulated time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.city.streets import ROADS
from bench.federation import baselines, delay, fleet, growth, lamps, pair, resync
from bench.report import Outcome

EVENTS = pair.EVENTS


@dataclass(frozen=True, slots=True)
class Plan:
    """One part, or all, and how much of each."""

    part: str = "all"
    events: int = EVENTS
    roads: int = ROADS
    grid: str = "short"
    hop_s: float = baselines.HOP_S
    gateways: Sequence[int] = fleet.SIZES


def measure(plan: Plan) -> Iterator[Outcome]:
    """One part, or all."""
    for name in PARTS if plan.part == "all" else (plan.part,):
        yield from _MEASURES[name](plan)


def _delay(plan: Plan) -> Iterator[Outcome]:
    yield from delay.measure()
    yield lamps.measure(plan.roads)


_MEASURES: Mapping[str, Callable[[Plan], Iterator[Outcome]]] = {
    "pair": lambda plan: iter((pair.measure(plan.events),)),
    "growth": lambda plan: growth.measure(roads=plan.roads),
    "delay": _delay,
    "resync": lambda _: resync.measure(),
    "baselines": lambda plan: iter((baselines.measure(plan.grid, plan.hop_s),)),
    "fleet": lambda plan: iter((fleet.measure(plan.gateways),)),
}

PARTS = tuple(_MEASURES)
