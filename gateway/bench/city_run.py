"""`lamp` and `road`: the paper's two experiments on the city, by every way, in one run.

Place on the way of the data: SPARQL text in and notifications out, in memory; no gate, no
scheduler. A figure is the median of the rounds, in CPU time. The reference of every way is the
model in city_profile.py. Source: seed 000, sections IV to VI; engine.md, section 6.
"""

from collections.abc import Iterator
from contextlib import ExitStack

from gateway.bench.city import ROADS
from gateway.bench.city_profile import Profile
from gateway.bench.city_report import report
from gateway.bench.city_turns import Turn, rounds
from gateway.bench.city_ways import WAYS
from gateway.bench.clips_city import is_installed
from gateway.bench.report import Outcome

ROUNDS = {"lamp": 5, "road": 1}
"""A store that removes and inserts gets slower, so ROAD is measured as in the paper: once."""


def measure(name: str, roads: int = ROADS, number: int | None = None) -> Iterator[Outcome]:
    """Run `lamp` or `road` by every way, in so many rounds."""
    number = number or ROUNDS[name]
    profile = Profile(name, roads)
    ways = [way for way in WAYS if not way.startswith("clips") or is_installed()]
    with ExitStack() as children:
        turns = [Turn(way, profile, children) for way in ways]
        rounds(turns, roads, number)
    yield report(profile, {turn.way: turn.measured for turn in turns}, number)
