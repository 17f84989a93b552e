"""`bench federation {pair,growth,delay}`: gateways that answer together, beside one alone.

Place on the way of the data: `pair` and `growth` are about compound events and routing, `delay`
about changes from gate to gate, and what the lamps of a city cost where their subscribers are at
another gateway. Fleets of gateways, and CSMA and OSMA of the paper, are none of this.
"""

from collections.abc import Callable, Iterator, Mapping

from bench.city.streets import ROADS
from bench.federation import delay, growth, lamps, pair
from bench.report import Outcome

EVENTS = pair.EVENTS
PARTS = ("pair", "growth", "delay")


def measure(part: str = "all", events: int = EVENTS, roads: int = ROADS) -> Iterator[Outcome]:
    """One part, or all."""
    for name in PARTS if part == "all" else (part,):
        yield from _MEASURES[name](events, roads)


def _pair(events: int, roads: int) -> Iterator[Outcome]:
    del roads
    yield pair.measure(events)


def _growth(events: int, roads: int) -> Iterator[Outcome]:
    del events
    return growth.measure(roads=roads)


def _delay(events: int, roads: int) -> Iterator[Outcome]:
    del events
    yield from delay.measure()
    yield lamps.measure(roads)


_MEASURES: Mapping[str, Callable[[int, int], Iterator[Outcome]]] = {
    "pair": _pair,
    "growth": _growth,
    "delay": _delay,
}
