"""`lamp` and `road`: the paper's two experiments on the city, by every way, in one run.

Place on the way of the data: SPARQL text in and notifications out, in memory; no gate, no
scheduler. A figure is the median of the rounds, in CPU time. The reference of every way is the
model in profile.py. Source: Roffia et al., "A Semantic Publish-Subscribe Architecture for the
Internet of Things", 2016, sections IV to VI; docs/engine.md, "Performance model".
"""

from collections.abc import Iterator
from contextlib import ExitStack

from bench.city.clips import is_installed
from bench.city.profile import Profile
from bench.city.report import report
from bench.city.streets import ROADS
from bench.city.turns import Turn, rounds
from bench.city.ways import WAYS
from bench.report import Outcome

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
