"""`bench windows`: aggregates over the last minutes, beside what else there is to tell them.

Place on the way of the data: each case and each way is a process of its own, one after the other.
The ways must tell the same in the checked readings, else no figure counts. *Before* are the
engine's other tiers on the same quads in a graph of the store, its writing included; Bytewax is in
an environment of its own (`make interop`), tells when a window closes, and is checked against a
plain count of its own.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.processes import Child, python_child
from bench.report import Experiment, Figure, Outcome
from bench.windows.case import Case

BYTEWAX = Path("build/interop/bytewax/bin/python")

_CASE_S = 600.0
_SLOW = 600
"""Timed readings of *before*."""
_SLOWEST = 150
"""The same, where each takes milliseconds."""
_OF_BYTEWAX = 14_000
"""More than a window has."""
_LONG_S = 36_000
_TEN_MINUTES = 12_000
"""Readings: at least one boundary is timed."""
_DEAR = 8
"""Checked readings of a text that takes the bare store a second."""

_DEFAULT = Case("aggregates")
CASES = (
    _DEFAULT,
    replace(_DEFAULT, name="step of 10 s", step_s=10, readings=_TEN_MINUTES),
    replace(_DEFAULT, name="step of 10 min", step_s=600, readings=_TEN_MINUTES),
    Case("example", "example", checked=_DEAR),
    Case("sub-select", "sub-select", checked=_DEAR),
    replace(_DEFAULT, name="20 sensors, 10 min", sensors=20),
    replace(_DEFAULT, name="20 sensors, 10 h", sensors=20, range_s=_LONG_S, checked=20),
    Case("1,000 subscriptions", "example", subscriptions=1000, checked=2),
    replace(_DEFAULT, name="one range", query="mean", checked=20),
    replace(_DEFAULT, name="ten ranges", query="mean", ranges=10, checked=20),
    replace(_DEFAULT, name="fill", range_s=6000, checked=5),
)
"""A few minutes."""

_BEFORE = {"aggregates": _SLOW, "example": _SLOW, "sub-select": _SLOWEST}
"""The cases that the engine's other tiers are timed on, and how many readings."""

_BYTEWAX = {"aggregates": 10, "step of 10 s": 10, "step of 10 min": 600}
"""The cases that Bytewax is timed on, and its steps: it tells of none that does not close."""


def measure() -> Iterator[Outcome]:
    """One experiment a case."""
    for case in CASES:
        yield _experiment(case)


def _experiment(case: Case) -> Experiment:
    reference = _told(replace(case, way="asked"))
    found = _told(case)
    before: Mapping[str, Any] = {}
    if case.name in _BEFORE:
        before = _told(replace(case, way="before", readings=_BEFORE[case.name]))
        _require_equal(before["digest"], reference["digest"], "the other tiers")
    bytewax = _bytewax(case) if case.name in _BYTEWAX else {}
    members = {
        "case": case.name,
        **{
            name: getattr(case, name)
            for name in ("sensors", "subscriptions", "range_s", "step_s", "ranges", "readings")
        },
        **{name: value for name, value in found.items() if name != "digest"},
        "before_us_per_reading": before.get("us_per_reading"),
        "bytewax_us_per_reading": bytewax.get("us_per_reading"),
    }
    figures = tuple(_figures(members))
    return Experiment(
        "windows", figures, found["digest"], reference["digest"], _notes(case), (), members
    )


def _told(case: Case) -> Mapping[str, Any]:
    specification = json.dumps(case.members())
    with python_child(case.way, "bench.windows.child", specification) as child:
        return child.result(_CASE_S)


def _bytewax(case: Case) -> Mapping[str, Any]:
    """What Bytewax takes; nothing where it is not there."""
    if not BYTEWAX.exists():
        return {}
    specification = {
        "sensors": case.sensors,
        "readings": _OF_BYTEWAX,
        "range_s": case.range_s,
        "step_s": _BYTEWAX[case.name],
    }
    command = [str(BYTEWAX), "-m", "bench.windows.flow", json.dumps(specification)]
    with Child("bytewax", command) as child:
        found = child.result(_CASE_S)
    _require_equal(found["digest"], found["reference"], "Bytewax")
    return found


def _require_equal(digest: str, reference: str, who: str) -> None:
    if digest != reference:
        raise RuntimeError(f"{who}: digest {digest}, reference {reference}")


def _figures(members: Mapping[str, Any]) -> Iterator[Figure]:
    units = {
        "us_per_reading": "µs",
        "before_us_per_reading": "µs",
        "bytewax_us_per_reading": "µs",
        "notifications": "",
        "elements": "",
        "bytes_per_element": "bytes",
        "bytes_per_element_of_aggregates": "bytes",
        "bytes_per_triple": "bytes",
        "fill_ms": "ms",
    }
    for name, unit in units.items():
        if members.get(name) is not None:
            yield Figure(name, members[name], unit)


def _notes(case: Case) -> tuple[str, ...]:
    step = "continuous" if case.step_s is None else f"a step of {case.step_s} s"
    return (
        f"{case.name}: {case.sensors} sensors, {case.range_s} s, {step}, "
        f"{case.subscriptions * case.ranges} subscriptions",
    )
