"""What the paper measured and expects, to be printed beside what we measure.

The paper's test bed: a 2 GHz Core i7 of 2012, Virtuoso as the SPARQL endpoint, RedLand as CTS.
Source: Roffia et al., "A Semantic Publish-Subscribe Architecture for the Internet of Things",
2016, Tables 5 to 9.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """One experiment: counts that must come out, and the figures of Table 8."""

    notifications: int
    hit_rate: str
    triples: int
    kpi: Mapping[str, float]
    lutt_ratio: float


PAPER = {
    "lamp": Published(
        23,
        "0.40",
        1,
        {"ups": 68, "sps": 68e3, "tps": 68e3, "nl_min_ms": 1.7, "nl_max_ms": 9.3, "e2e": 1.0},
        122,
    ),
    "road": Published(
        1004,
        "0.72",
        31,
        {
            "ups": 3.8,
            "sps": 3.8e3,
            "tps": 117.3e3,
            "nl_min_ms": 1.3,
            "nl_max_ms": 541.3,
            "e2e": 1.8,
        },
        130,
    ),
}
"""`lutt_ratio`: how much slower the paper estimates its engine to be without LUTTs (Table 9)."""
