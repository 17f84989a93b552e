"""A stream's values over time as SVG, with what is wrong where it was: axes, units, marks.

Place on the way of the data: within the report of `quality`. Nothing is fetched, no script runs,
and what came from a device is escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from itertools import pairwise
from math import floor, log10

WIDTH, HEIGHT = 720.0, 200.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 10.0, 20.0, 26.0
_DAY_US = 86_400_000_000
_TICKS = 4

BANDS = ("gap", "silence")
"""Checks that are of a time without values."""

LINES = ("clock_jump", "unit_change")
"""Checks that are of a moment at which something else became different."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, from when to when (µs since 1970), and the words for it."""

    check: str
    start_us: int
    end_us: int
    detail: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Values in equal parts of a stream's time (µs since 1970): (part, mean, least, greatest).

    There are `parts` of them; those without a value are left out.
    """

    first_us: int
    last_us: int
    parts: int
    points: Sequence[tuple[int, float, float, float]]
    unit: str = ""


def chart(curve: Curve, findings: Sequence[Finding]) -> str:
    """The mean as a line within its extremes; findings are marked by their kind."""
    drawing = _Drawing(curve)
    marks = "".join(map(drawing.mark, findings))
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img">{drawing.axes()}'
        f"{drawing.values()}{marks}</svg>"
    )


def moment(time_us: int) -> datetime:
    """A time that came as µs since 1970."""
    return datetime.fromtimestamp(time_us / 1e6, UTC)


class _Drawing:
    """Where times and values of one curve lie."""

    def __init__(self, curve: Curve) -> None:
        self._curve = curve
        least = min((low for _, _, low, _ in curve.points), default=0.0)
        most = max((high for _, _, _, high in curve.points), default=1.0)
        self._step = _nice((most - least) / _TICKS or abs(most) or 1.0)
        self._low = floor(least / self._step) * self._step
        ticks = max(1, -floor((self._low - most) / self._step))
        self._ticks = [self._low + number * self._step for number in range(ticks + 1)]

    def axes(self) -> str:
        """Values at the left, the unit at the right above, times below."""
        lines = "".join(
            f'<line class="grid" x1="{_LEFT:g}" x2="{WIDTH - _RIGHT:g}" y1="{self._y(tick):.1f}" '
            f'y2="{self._y(tick):.1f}"/><text x="{_LEFT - 6:g}" y="{self._y(tick) + 4:.1f}" '
            f'text-anchor="end">{tick:.6g}</text>'
            for tick in self._ticks
        )
        span = self._curve.last_us - self._curve.first_us
        form = "%H:%M" if span < 2 * _DAY_US else "%b %d"
        places = (
            (0.0, "start", "%Y-%m-%d %H:%M" if span < 2 * _DAY_US else "%Y-%m-%d"),
            (0.5, "middle", form),
            (1.0, "end", form),
        )
        times = "".join(
            f'<text x="{self._x(self._curve.first_us + part * span):.1f}" y="{HEIGHT - 8:g}" '
            f'text-anchor="{anchor}">'
            f"{moment(int(self._curve.first_us + part * span)):{text}}</text>"
            for part, anchor, text in places
        )
        unit = f'<text x="{WIDTH - _RIGHT:g}" y="15" text-anchor="end">'
        unit += f"{escape(self._curve.unit)}</text>"
        return lines + times + unit

    def values(self) -> str:
        """Pieces of what follows without a hole."""
        drawn = []
        for piece in _pieces(self._curve.points):
            upper = [f"{self._part(part):.1f},{self._y(most):.1f}" for part, _, _, most in piece]
            lower = [f"{self._part(part):.1f},{self._y(least):.1f}" for part, _, least, _ in piece]
            line = " ".join(f"{self._part(at):.1f},{self._y(mean):.1f}" for at, mean, _, _ in piece)
            drawn.append(
                f'<polygon class="area" points="{" ".join(upper + lower[::-1])}"/>'
                f'<polyline class="line" points="{line}"/>'
            )
        return "".join(drawn)

    def mark(self, finding: Finding) -> str:
        """A band, a line, a bar below or a triangle above, with its words."""
        start, end = self._x(finding.start_us), self._x(finding.end_us)
        name, bottom = f"mark {escape(finding.check)}", HEIGHT - _BOTTOM
        words = f"<title>{escape(f'{finding.check}: {finding.detail}')}</title>"
        if finding.check in BANDS:
            shape = f'x="{start:.1f}" y="{_TOP:g}" height="{bottom - _TOP:g}"'
            return f'<rect class="{name}" {shape} width="{max(end - start, 2):.1f}">{words}</rect>'
        if finding.check in LINES:
            shape = f'x1="{start:.1f}" x2="{start:.1f}" y1="{_TOP:g}" y2="{bottom:g}"'
            return f'<line class="{name}" {shape}>{words}</line>'
        if finding.check == "spike":
            shape = f"M{start - 5:.1f},{_TOP - 10:g}h10l-5,9z"
            return f'<path class="{name}" d="{shape}">{words}</path>'
        shape = f'x="{start:.1f}" y="{bottom - 5:g}" height="5"'
        return f'<rect class="{name}" {shape} width="{max(end - start, 3):.1f}">{words}</rect>'

    def _x(self, time_us: float) -> float:
        """Findings may begin before the days that were looked at."""
        span = max(self._curve.last_us - self._curve.first_us, 1)
        part = (time_us - self._curve.first_us) / span
        return _LEFT + min(max(part, 0.0), 1.0) * (WIDTH - _LEFT - _RIGHT)

    def _part(self, part: int) -> float:
        width = WIDTH - _LEFT - _RIGHT
        return _LEFT + part / max(self._curve.parts - 1, 1) * width

    def _y(self, value: float) -> float:
        span = (self._ticks[-1] - self._low) or 1.0
        return HEIGHT - _BOTTOM - (value - self._low) / span * (HEIGHT - _TOP - _BOTTOM)


def _pieces(
    points: Sequence[tuple[int, float, float, float]],
) -> list[list[tuple[int, float, float, float]]]:
    """Points whose parts are close: a stream that says little has a hole between any two."""
    gaps = sorted(after[0] - before[0] for before, after in pairwise(points))
    usual = gaps[len(gaps) // 2] if gaps else 1
    pieces: list[list[tuple[int, float, float, float]]] = []
    for point in points:
        if pieces and point[0] - pieces[-1][-1][0] <= 3 * usual:
            pieces[-1].append(point)
        else:
            pieces.append([point])
    return pieces


def _nice(step: float) -> float:
    """The next of 1, 2, 5, 10 times a power of ten.

    >>> _nice(0.37), _nice(23.0)
    (0.5, 50.0)
    """
    power = 10.0 ** floor(log10(step))
    return next(each * power for each in (1.0, 2.0, 5.0, 10.0) if each * power >= step * 0.999)
