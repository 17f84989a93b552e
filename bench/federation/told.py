"""The members of `--json` that every experiment of the federation has."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from bench.report import versions

_NOTHING: Mapping[str, Any] = {
    "gateways": 0,
    "subscriptions": 0,
    "events": 0,
    "delivered": 0,
    "lost": 0,
    "doubled": 0,
    "useless": 0,
    "late": 0,
    "events_per_s": None,
    "cpu_us_per_event": {"source": None, "home": None},
    "delay_ms": {"p50": None, "p95": None, "p99": None},
    "messages": {"announce": None, "data": None, "ack": None, "recovered": None},
    "bytes_per_event": None,
    "carrier": "zenoh",
    "tls": False,
}


def federated(**members: object) -> dict[str, Any]:
    """All members, null for what an experiment does not measure.

    >>> federated(gateways=2)["events_per_s"] is None
    True
    """
    unknown = members.keys() - _NOTHING.keys()
    if unknown:
        raise ValueError(f"not in the form: {', '.join(sorted(unknown))}")
    return {**_NOTHING, **members, "versions": {**versions(), "zenoh": version("eclipse-zenoh")}}
