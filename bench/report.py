"""`Experiment`: the figures of one measurement, and the proof that the right thing was measured.

Place on the way of the data: at the end of every benchmark. The digest is over the rows that the
gateway gave, the reference over those that a simple, independent way says it must give.
"""

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import TextIO

Rows = Iterable[str]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; `note` says where it comes from when the name does not."""

    name: str
    value: float
    unit: str = ""
    note: str = ""


TableRow = Mapping[str, str | float]
"""A line of a table: column to value; all lines of a table have the same columns."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What was measured, and the digests of the rows found and of those expected.

    `table` is for figures that come once for each of many things; `members` are for `--json` only.
    """

    name: str
    figures: tuple[Figure, ...]
    digest: str
    reference: str
    notes: tuple[str, ...] = ()
    table: Sequence[TableRow] = ()
    members: Mapping[str, object] = field(default_factory=dict)

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


def percentile(values: Sequence[float], part: float) -> float:
    """The smallest value that at least `part` of the sorted values do not exceed.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.0
    """
    return values[max(0, -int(-part * len(values) // 1) - 1)]


def versions() -> Mapping[str, str | int]:
    """What the figures depend on."""
    found: dict[str, str | int] = {
        "python": platform.python_version(),
        "pyoxigraph": version("pyoxigraph"),
    }
    with suppress(PackageNotFoundError):
        found["clipspy"] = version("clipspy")
    return found | {"platform": platform.platform(), "cores": os.cpu_count() or 1}


def write_json(out: TextIO, outcome: Outcome) -> None:
    """One JSON object on one line."""
    members: dict[str, object] = {"experiment": outcome.name, "versions": versions()}
    if isinstance(outcome, Skipped):
        members["skipped"] = outcome.reason
    else:
        members |= outcome.members
        members |= {
            "figures": {each.name: _number(each.value) for each in outcome.figures},
            "units": {each.name: each.unit for each in outcome.figures if each.unit},
            "table": list(outcome.table),
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
    yield from _table_lines(experiment.table)
    yield from (f"  {note}" for note in experiment.notes)
    if experiment.matches:
        yield f"  digest {experiment.digest}, as the reference"
    else:
        yield f"  MISMATCH: digest {experiment.digest}, reference {experiment.reference}"


def _table_lines(table: Sequence[TableRow]) -> Iterator[str]:
    """Numbers to the right, words to the left."""
    if not table:
        return
    lines = [list(table[0]), *([_cell(value) for value in row.values()] for row in table)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numeric = [not isinstance(value, str) for value in table[0].values()]
    for line in lines:
        cells = zip(line, widths, numeric, strict=True)
        text = "  ".join(f"{c:>{w}}" if right else f"{c:<{w}}" for c, w, right in cells)
        yield f"  {text}".rstrip()


def _cell(value: str | float) -> str:
    return value if isinstance(value, str) else _readable(value)


def _figure_notes(experiment: Experiment) -> list[str]:
    return [f"{each.name}: {each.note}" for each in experiment.figures if each.note]


def _number(value: float) -> float:
    return int(value) if value == int(value) else float(f"{value:.6g}")


def _readable(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,.4g}"
