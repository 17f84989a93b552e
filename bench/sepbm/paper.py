"""What the paper's text says of its own runs; its bars are not readable.

SENS on LUBM(10), a Core2 Duo of 3 GHz. Source: Murth et al., "Performance Testing of Semantic
Publish/Subscribe Systems", section 4.
"""

from collections.abc import Mapping

PAPER: Mapping[str, Mapping[str, object]] = {
    "naive": {
        "system": "SENS, re-evaluation",
        "notification_mean_ms": 1013,
        "slow_channels_ms": [316, 3407],
        "slow_channels": 10,
        "worst_channels": ["C14", "C15", "C16", "C17", "C19", "C20"],
    },
    "stringrs": {
        "system": "SENS with StringRS",
        "notification_mean_ms": 461,
        "slow_channels_throughput_factor": 1.76,
    },
    "graphss": {
        "system": "SENS with GraphSS",
        "notification_mean_ms": 260,
        "slow_channels_throughput_factor": 5.9,
    },
}


def of_paper(adapter: str) -> Mapping[str, object]:
    """The paper's figures beside an adapter: its own system of that kind, else its slowest."""
    return PAPER.get(adapter, PAPER["naive"])
