"""`reasoning`: what deriving costs, beside the bare store and beside `reasonable`.

Place on the way of the data: LUBM's data without engine or subscribers; readings on an engine. Each
part has a process of its own. The closure is right when its size is the known one, for up to
`COMPARED` universities when it is that of `reasonable` triple by triple, and when it is the same
after every round trip.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bench.processes import python_child
from bench.reasoning.part import PARTS
from bench.report import Experiment, Figure, Outcome, TableRow

CLOSURES = {1: 137_931, 2: 314_692, 10: 1_737_937}
"""Quads that are asserted or follow, by universities."""
COMPARED = 1
_PART_S = 3600.0


def measure(number: int = 1) -> Iterator[Outcome]:
    """One experiment."""
    skipped = {"reasonable"} if number > COMPARED else set[str]()
    told = {name: _part(name, number) for name in PARTS if name not in skipped}
    yield _experiment(number, told)


def _part(name: str, number: int) -> Mapping[str, Any]:
    specification = json.dumps({"part": name, "universities": number})
    with python_child(name, "bench.reasoning.part", specification) as child:
        return child.result(_PART_S)


def _experiment(number: int, told: Mapping[str, Mapping[str, Any]]) -> Experiment:
    closure = dict(told["closure"])
    found_digest = closure.pop("digest")
    other = told.get("reasonable", {"cpu_s": None, "digest": None})
    cpu_s = {"engine": closure["closure_cpu_s"], "reasonable": other["cpu_s"]}
    members = {
        "universities": number,
        **closure,
        "closure_cpu_s": cpu_s,
        "ontology": told["ontology"],
        "reading_cpu_us": told["readings"],
        "memory_bytes": told["memory"],
    }
    is_known = closure["closure"] == CLOSURES.get(number, closure["closure"])
    is_right = is_known and closure["round_trip_exact"]
    return Experiment(
        "reasoning",
        tuple(_figures(members)),
        found_digest if is_right else f"{closure['closure']} quads, or a round trip left others",
        other["digest"] or found_digest,
        tuple(_notes(members)),
        table=[_line(kind, each) for kind, each in closure["kinds"].items()],
        members=members,
    )


def _figures(members: Mapping[str, Any]) -> Iterator[Figure]:
    found = [
        ("asserted", members["asserted"], "quads"),
        ("closure", members["closure"], "quads"),
        ("closure from nothing", members["closure_cpu_s"]["engine"], "s CPU"),
        ("reasonable, load + reason", members["closure_cpu_s"]["reasonable"], "s CPU"),
        ("axiom changed", members["axiom_change"]["cpu_ms"], "ms CPU"),
        ("share of the closure", members["axiom_change"]["closure_share"], ""),
        ("Brick read and compiled", members["ontology"]["cpu_s"], "s CPU"),
        ("Brick", members["ontology"]["memory_bytes"], "bytes"),
        *((f"reading, {name}", us, "µs CPU") for name, us in members["reading_cpu_us"].items()),
        ("memory a derived quad", members["memory_bytes"]["per_derived"], "bytes"),
        ("memory a mirrored quad", members["memory_bytes"]["per_mirrored"], "bytes"),
    ]
    return (Figure(name, value, unit) for name, value, unit in found if value is not None)


def _notes(members: Mapping[str, Any]) -> Iterator[str]:
    yield f"the axiom concerns {members['axiom_change']['individuals']} individuals"
    if members["closure_cpu_s"]["reasonable"] is None:
        yield "reasonable was not asked: it is not installed, or there are too many universities"


def _line(kind: str, each: Mapping[str, Any]) -> TableRow:
    row: dict[str, str | float] = {"kind": kind, "triples": each["triples"]}
    for name in ("add_us", "delete_us", "store_add_us", "store_remove_us"):
        for part in ("p50", "p99"):
            row[f"{name} {part}"] = each[name][part]
    return row
