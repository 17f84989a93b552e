"""`Experiment`: the figures of one measurement, and the proof that the right thing was measured.

Place on the way of the data: at the end of every benchmark. The digest is over the rows that the
gateway gave, the reference over those that a simple, independent way says it must give.
"""

import json
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from typing import TextIO

Rows = Iterable[str]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; `note` says where it comes from when the name does not."""

    name: str
    value: float
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What was measured, and the digests of the rows found and of those expected."""

    name: str
    figures: tuple[Figure, ...]
    digest: str
    reference: str
    notes: tuple[str, ...] = ()

    @property
    def matches(self) -> bool:
        """Whether the answers were right; otherwise the figures mean nothing."""
        return self.digest == self.reference


@dataclass(frozen=True, slots=True)
class Skipped:
    """An experiment that cannot be done here, and why."""

    name: str
    reason: str


Outcome = Experiment | Skipped


def digest(rows: Rows) -> str:
    """The SHA-256 of the rows as a bag: their order does not count, their number does.

    >>> digest(["b", "a"]) == digest(["a", "b"]) != digest(["a", "b", "b"])
    True
    """
    return sha256("".join(f"{row}\n" for row in sorted(rows)).encode()).hexdigest()


def versions() -> Mapping[str, str | int]:
    """What the figures depend on."""
    return {
        "python": platform.python_version(),
        "pyoxigraph": version("pyoxigraph"),
        "platform": platform.platform(),
        "cores": os.cpu_count() or 1,
    }


def write_json(out: TextIO, outcome: Outcome) -> None:
    """One JSON object on one line."""
    members: dict[str, object] = {"experiment": outcome.name, **versions()}
    if isinstance(outcome, Skipped):
        members["skipped"] = outcome.reason
    else:
        members |= {
            "figures": {each.name: _number(each.value) for each in outcome.figures},
            "units": {each.name: each.unit for each in outcome.figures if each.unit},
            "digest": outcome.digest,
            "reference": outcome.reference,
            "matches": outcome.matches,
            "notes": [*outcome.notes, *_figure_notes(outcome)],
        }
    out.write(f"{json.dumps(members, ensure_ascii=False)}\n")
    out.flush()


def write_text(out: TextIO, outcome: Outcome) -> None:
    """A small table for people."""
    if isinstance(outcome, Skipped):
        out.write(f"\n{outcome.name}: skipped, {outcome.reason}\n")
    else:
        out.write("".join(f"{line}\n" for line in _lines(outcome)))
    out.flush()


def _lines(experiment: Experiment) -> Iterable[str]:
    yield f"\n{experiment.name}"
    width = max((len(figure.name) for figure in experiment.figures), default=0)
    for figure in experiment.figures:
        note = f" ({figure.note})" if figure.note else ""
        number = _readable(figure.value)
        yield f"  {figure.name:<{width}}  {number:>12} {figure.unit}{note}".rstrip()
    yield from (f"  {note}" for note in experiment.notes)
    if experiment.matches:
        yield f"  digest {experiment.digest}, as the reference"
    else:
        yield f"  MISMATCH: digest {experiment.digest}, reference {experiment.reference}"


def _figure_notes(experiment: Experiment) -> list[str]:
    return [f"{each.name}: {each.note}" for each in experiment.figures if each.note]


def _number(value: float) -> float:
    return int(value) if value == int(value) else float(f"{value:.6g}")


def _readable(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,.4g}"
