"""A quality report that is one HTML file: what is wrong, stream by stream, the worst first.

Place on the way of the data: after `quality`. Plots are SVG that we write; nothing is fetched, no
script runs, and what came from a device is escaped.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape

from spark_batch.chart import HEIGHT, WIDTH, Curve, Finding, chart, moment

_STYLE = """
:root { color-scheme: light dark; --text: #1d2733; --page: #fff; --soft: #5a6877; --rule: #dde3ea;
  --plot: #f6f8fa; --line: #1f6fb2; --area: #9cc3e6; --bad: #c0392b; --odd: #b9770e }
@media (prefers-color-scheme: dark) {
  :root { --text: #dbe3ec; --page: #14191f; --soft: #93a1b0; --rule: #2f3a46; --plot: #1d252e;
    --line: #6fb3ea; --area: #31506b; --bad: #ff7b6b; --odd: #f0b95b } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 56rem;
  padding: 0 1rem; color: var(--text); background: var(--page); overflow-wrap: anywhere }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
section { border-top: 1px solid var(--rule); margin-top: 1.5rem }
h3 { font-size: 1rem; margin: 1rem 0 .25rem }
p, ul { margin: .25rem 0 } .about { color: var(--soft); font-size: .85rem }
table { border-collapse: collapse; width: 100%; font-size: .85rem }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem .25rem 0;
  border-bottom: 1px solid var(--rule) }
th:nth-child(-n+2), tr:has(td:nth-child(4)) td:nth-child(-n+2) { white-space: nowrap }
svg { width: 100%; height: auto; background: var(--plot); border-radius: 4px }
svg text { font-size: 11px; fill: var(--soft) } .grid { stroke: var(--rule) }
.area { fill: var(--area); opacity: .6 }
.line { fill: none; stroke: var(--line); stroke-width: 1.5 } .bar { fill: var(--line) }
.mark { fill: var(--bad); opacity: .8 }
.gap, .silence { opacity: .22 } .stuck, .duplicate, .revision, .clock_drift { fill: var(--odd) }
line.mark { stroke: var(--odd); stroke-width: 1.5; stroke-dasharray: 5 3 }
@media (max-width: 40rem) { svg text { font-size: 20px } }
"""


@dataclass(frozen=True, slots=True)
class Advice:
    """What a check found, in words for people, and what to do about it."""

    means: str
    do: str


ADVICE: Mapping[str, Advice] = {
    "gap": Advice(
        "nothing came for much longer than usual",
        "look at the device's power and radio, and at the broker's log of that time",
    ),
    "silence": Advice(
        "nothing comes any more, while others go on",
        "look for the device: a flat battery, a new address, or it was put away",
    ),
    "stuck": Advice(
        "the same value far longer than this stream keeps one",
        "try the sensor by hand: breathe at it, open the door; then replace it",
    ),
    "spike": Advice(
        "one value far from both beside it",
        "give the mapping a plausible range, or look at cable and supply",
    ),
    "clock_drift": Advice(
        "the device's clock is too fast or too slow",
        "let it set its clock (NTP), or believe the gateway's: leave the time out of the mapping",
    ),
    "clock_jump": Advice(
        "the device told times that nobody can believe; the gateway's were taken",
        "let it set its clock (NTP), and look whether it loses the time when it starts",
    ),
    "duplicate": Advice(
        "the same reading came more than once",
        "is it published by two bridges, or by a device that sends again? one of them is enough",
    ),
    "revision": Advice(
        "the device told another result under the counter of one before",
        "it may correct itself; where nobody expects it, look at its firmware, or for a second one",
    ),
    "unit_change": Advice(
        "the unit became another one",
        "declare one unit in the mapping, and the old and the new become one stream",
    ),
    "missing": Advice(
        "lines of a gateway's journal that never came (yet)",
        "they may be on their way: `sosa-gateway journal status` there; ingest again",
    ),
    "lost": Advice(
        "lines that a gateway gave up, and said so",
        "give its disk room, or ship more often",
    ),
}
"""By check; those of `spark_batch.transforms.quality`, and those of the ledger."""


@dataclass(frozen=True, slots=True)
class Section:
    """A stream, or a gateway: its `name` for people, what there is to know, what is wrong.

    `left_out` findings are told by their number alone. Without numbers there is no curve.
    """

    name: str
    about: Mapping[str, str]
    findings: Sequence[Finding] = ()
    left_out: int = 0
    curve: Curve | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a report shows; `checks` are numbers of findings, `left_out` of sections."""

    title: str
    made_at: datetime
    figures: Mapping[str, str]
    checks: Mapping[str, int]
    days: Mapping[str, int]
    sections: Sequence[Section] = field(default_factory=tuple)
    left_out: int = 0

    def html(self) -> str:
        """The whole document."""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head><body>"
            f"<h1>{escape(self.title)}</h1><p>{self.made_at:%Y-%m-%d %H:%M} UTC</p>"
            f"{_table((), self.figures.items())}"
            f"<h2>What is wrong, and what to do</h2>{_checks(self.checks)}"
            f"<h2>Observations a day</h2>{_bars(self.days)}"
            f"<h2>Streams, the worst first</h2>{''.join(map(_section, self.sections))}"
            f"{_left_out(self.left_out)}</body></html>\n"
        )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows
    )
    return f"<table>{f'<tr>{head}</tr>' if head else ''}{body}</table>"


def _checks(checks: Mapping[str, int]) -> str:
    if not checks:
        return "<p>Nothing: every stream is as expected.</p>"
    unknown = Advice("", "")
    rows = [
        (name, str(count), ADVICE.get(name, unknown).means, ADVICE.get(name, unknown).do)
        for name, count in sorted(checks.items(), key=lambda each: -each[1])
    ]
    return _table(("check", "findings", "what it means", "what to do"), rows)


def _section(section: Section) -> str:
    about = " · ".join(f"{name} {text}" for name, text in section.about.items() if text)
    drawn = "" if section.curve is None else chart(section.curve, section.findings)
    found = "".join(map(_finding, section.findings))
    more = f"<li>{section.left_out} more</li>" if section.left_out else ""
    wrong = f"<ul>{found}{more}</ul>" if found or more else "<p>as expected</p>"
    return (
        f"<section><h3>{escape(section.name)}</h3>"
        f'<p class="about">{escape(about)}</p>{drawn}{wrong}</section>'
    )


def _finding(finding: Finding) -> str:
    start, end = (f"{moment(us):%Y-%m-%d %H:%M:%S}" for us in (finding.start_us, finding.end_us))
    when = start if start == end else f"{start} to {end[11:] if start[:10] == end[:10] else end}"
    return f"<li><b>{escape(finding.check)}</b> {when}: {escape(finding.detail)}</li>"


def _left_out(count: int) -> str:
    told = f"{count} more streams: what is wrong with them is in the table <code>quality</code>."
    return f"<p>{told}</p>" if count else ""


def _bars(days: Mapping[str, int]) -> str:
    """One bar a day, no broader than those of two weeks; which days below them."""
    if not days:
        return "<p>Nothing yet.</p>"
    most, margin = max(days.values()) or 1, 22.0
    room, width = HEIGHT - 2 * margin, WIDTH / max(len(days), 14)
    bars = "".join(
        f'<rect class="bar" x="{index * width:.2f}" width="{max(width * 0.8, 0.5):.2f}" '
        f'y="{margin + room * (1 - count / most):.1f}" height="{room * count / most:.1f}">'
        f"<title>{escape(day)}: {count}</title></rect>"
        for index, (day, count) in enumerate(days.items())
    )
    names = list(days)
    told = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    labels = (
        f'<text x="0" y="{HEIGHT - 3}">{escape(told)}</text>'
        f'<text x="0" y="17">{most} observations</text>'
    )
    return f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img">{bars}{labels}</svg>'
