"""A quality report that is one HTML file: figures, findings and curves, without any asset.

Place on the way of the data: after `quality`. Plots are SVG that we write; nothing is fetched, no
script runs, and what came from a device is escaped.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1d2733; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100%; font-size: .85rem }
th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #dde3ea;
  overflow-wrap: anywhere }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
figure { display: inline-block; margin: .5rem 1rem .5rem 0; width: 21rem; vertical-align: top }
figcaption { font-size: .75rem; color: #5a6877; overflow-wrap: anywhere }
svg { width: 100%; height: auto; background: #f6f8fa; border-radius: 4px }
.area { fill: #9cc3e6; opacity: .6 } .line { fill: none; stroke: #1f6fb2; stroke-width: 1.5 }
.bar { fill: #1f6fb2 } .mark { fill: #c0392b; opacity: .8 } text { font-size: 10px; fill: #5a6877 }
@media (prefers-color-scheme: dark) {
  body { color: #dbe3ec; background: #14191f } svg { background: #1d252e }
  th, td { border-color: #2f3a46 } }
"""
_WIDTH, _HEIGHT, _MARGIN = 320.0, 120.0, 14.0


@dataclass(frozen=True, slots=True)
class Curve:
    """A stream's values in equal parts of its time: (part, mean, least, greatest) of `parts`.

    `marks` are where its findings lie, 0 to 1.
    """

    name: str
    parts: int
    points: Sequence[tuple[int, float, float, float]]
    marks: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What a report shows. `findings` are rows of texts below `columns`."""

    title: str
    made_at: datetime
    figures: Mapping[str, str]
    checks: Mapping[str, int]
    days: Mapping[str, int]
    columns: Sequence[str]
    findings: Sequence[Sequence[str]]
    left_out: int = 0
    curves: Sequence[Curve] = field(default_factory=tuple)

    def html(self) -> str:
        """The whole document."""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head><body>"
            f"<h1>{escape(self.title)}</h1><p>{self.made_at:%Y-%m-%d %H:%M} UTC</p>"
            f"{_table(('', ''), self.figures.items())}"
            f"<h2>Observations a day</h2>{_bars(self.days)}"
            f"<h2>Findings</h2>{_counts(self.checks)}"
            f"<h2>Streams with the most findings</h2>{''.join(map(_figure, self.curves))}"
            f"<h2>Each finding</h2>{_table(self.columns, self.findings)}"
            f"{_left_out(self.left_out)}</body></html>\n"
        )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _counts(checks: Mapping[str, int]) -> str:
    if not checks:
        return "<p>None: every stream is as expected.</p>"
    return _table(("check", "findings"), [(name, str(n)) for name, n in checks.items()])


def _left_out(count: int) -> str:
    return f"<p>{count} more are in the table <code>quality</code>.</p>" if count else ""


def _bars(days: Mapping[str, int]) -> str:
    """One bar a day; labels at both ends."""
    if not days:
        return "<p>Nothing yet.</p>"
    most = max(days.values())
    room, width = _HEIGHT - 2 * _MARGIN, 2.5 * _WIDTH / len(days)
    bars = "".join(
        f'<rect class="bar" x="{index * width:.2f}" width="{max(width * 0.8, 0.5):.2f}" '
        f'y="{_MARGIN + room * (1 - count / most):.1f}" height="{room * count / most:.1f}">'
        f"<title>{escape(day)}: {count}</title></rect>"
        for index, (day, count) in enumerate(days.items())
    )
    names = list(days)
    labels = (
        f'<text x="0" y="{_HEIGHT - 2}">{escape(names[0])}</text>'
        f'<text x="{2.5 * _WIDTH}" y="{_HEIGHT - 2}" text-anchor="end">{escape(names[-1])}</text>'
        f'<text x="0" y="10">{most}</text>'
    )
    return f'<svg viewBox="0 0 {2.5 * _WIDTH} {_HEIGHT}" role="img">{bars}{labels}</svg>'


def _figure(curve: Curve) -> str:
    """The mean as a line within its extremes, findings as marks below."""
    low = min((least for _, _, least, _ in curve.points), default=0.0)
    high = max((most for _, _, _, most in curve.points), default=1.0)
    range_ = (high - low) or 1.0

    def x(part: float) -> float:
        return part / max(curve.parts - 1, 1) * _WIDTH

    def y(number: float) -> float:
        return _HEIGHT - _MARGIN - (number - low) / range_ * (_HEIGHT - 2 * _MARGIN)

    upper = [f"{x(part):.1f},{y(most):.1f}" for part, _, _, most in curve.points]
    lower = [f"{x(part):.1f},{y(least):.1f}" for part, _, least, _ in curve.points]
    line = " ".join(f"{x(part):.1f},{y(mean):.1f}" for part, mean, _, _ in curve.points)
    marks = "".join(
        f'<rect class="mark" x="{min(place, 1) * _WIDTH - 1:.1f}" y="{_HEIGHT - 10}" '
        'width="2" height="8"/>'
        for place in curve.marks
    )
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
        f'<polygon class="area" points="{" ".join(upper + lower[::-1])}"/>'
        f'<polyline class="line" points="{line}"/>{marks}'
        f'<text x="2" y="10">{high:.6g}</text><text x="2" y="{_HEIGHT - 14}">{low:.6g}</text>'
        f"</svg><figcaption>{escape(curve.name)}</figcaption></figure>"
    )
