"""`page`: the figures of SEP-BM as one HTML file with plots, beside what the paper's text says.

Place on the way of the data: its end. Plots are SVG that we write; nothing is fetched, no script
runs. Bars are on a logarithmic scale: the adapters are orders of magnitude apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1d2733; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; font-size: .85rem }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #dde3ea;
  font-variant-numeric: tabular-nums } th:first-child, td:first-child { text-align: left }
svg { width: 100%; height: auto; background: #f6f8fa; border-radius: 4px }
text { font-size: 10px; fill: #5a6877 } .grid { stroke: #dde3ea } .legend { font-size: .8rem }
.s0 { fill: #1f6fb2 } .s1 { fill: #2e8b57 } .s2 { fill: #c0392b } .s3 { fill: #c98a12 }
.s4 { fill: #7d55a8 } .s5 { fill: #5a6877 }
@media (prefers-color-scheme: dark) {
  body { color: #dbe3ec; background: #14191f } svg { background: #1d252e }
  th, td { border-color: #2f3a46 } .grid { stroke: #2f3a46 } }
"""
_WIDTH, _HEIGHT, _LEFT, _BELOW = 900.0, 240.0, 46.0, 18.0
_COLOURS = 6

_SUMMARY = {
    "adapter": "adapter",
    "publications": "publications",
    "rows": "rows",
    "complete": "all rows",
    "mean": "mean ms",
    "p50": "p50 ms",
    "p99": "p99 ms",
    "publications_per_s": "publications/s",
    "cpu_ms_per_publication": "CPU ms a publication",
    "delete_cpu_ms": "CPU ms a deletion",
    "load_s": "load s",
    "first_answers_s": "first answers s",
    "memory_bytes": "memory bytes",
    "paper": "paper: mean ms",
}


def page(found: Sequence[Mapping[str, Any]], versions: Mapping[str, object]) -> str:
    """The whole document; `found` are the members of the experiments, one an adapter."""
    first = found[0]
    title = f"SEP-BM, LUBM({first['universities']}), channels: {first['channels_mode']}"
    told = ", ".join(f"{name} {value}" for name, value in versions.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
        f"<p>{escape(told)}; configuration {escape(first['configuration_sha256'])}</p>"
        f"{_table(list(_SUMMARY.values()), [_summary(each) for each in found])}"
        f"{_paper(found)}{_legend(found)}"
        f"<h2>Notification time by channel, mean, ms</h2>{_bars(found, 'mean_ms')}"
        f"<h2>Publications/s by channel</h2>{_bars(found, 'publications_per_s')}"
        f"{_components(found)}"
        f"{''.join(map(_channels, found))}</body></html>\n"
    )


def _summary(members: Mapping[str, Any]) -> list[str]:
    flat = {**members, **members["notification_ms"]}
    flat["paper"] = members["paper"].get("notification_mean_ms")
    return [_text(flat.get(name)) for name in _SUMMARY]


def _paper(found: Sequence[Mapping[str, Any]]) -> str:
    told = {each["paper"]["system"]: each["paper"] for each in found}
    lines = "".join(
        f"<li>{escape(name)}: {escape(', '.join(_said(figures)))}</li>"
        for name, figures in told.items()
    )
    return (
        "<h2>The paper</h2><p>SENS on LUBM(10), a Core2 Duo of 3 GHz; what its text says, as its "
        f"bars are not readable.</p><ul>{lines}</ul>"
    )


def _said(figures: Mapping[str, Any]) -> Iterable[str]:
    for name, value in figures.items():
        if name != "system":
            yield f"{name.replace('_', ' ')} {_text(value)}"


def _components(found: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [each["adapter"], *map(_text, each["components_ms"].values())]
        for each in found
        if each["components_ms"]
    ]
    if not rows:
        return ""
    names = next(each["components_ms"] for each in found if each["components_ms"])
    return f"<h2>CPU ms a publication, by component</h2>{_table(['adapter', *names], rows)}"


def _channels(members: Mapping[str, Any]) -> str:
    rows = [list(map(_text, each.values())) for each in members["channels"]]
    columns = list(members["channels"][0]) if rows else []
    return f"<h2>{escape(members['adapter'])}</h2>{_table(columns, rows)}"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _legend(found: Sequence[Mapping[str, Any]]) -> str:
    parts = "".join(
        f'<svg viewBox="0 0 10 10" style="width:.7rem"><rect class="s{n % _COLOURS}" width="10" '
        f'height="10"/></svg> {escape(each["adapter"])} &nbsp; '
        for n, each in enumerate(found)
    )
    return f'<p class="legend">{parts}</p>'


def _bars(found: Sequence[Mapping[str, Any]], name: str) -> str:
    """Groups of bars, one a channel; a channel without a figure has none."""
    channels = sorted({channel["id"] for each in found for channel in each["channels"]})
    values = {
        (n, channel["id"]): channel[name]
        for n, each in enumerate(found)
        for channel in each["channels"]
        if channel[name]
    }
    if not values:
        return "<p>Nothing was measured.</p>"
    low, high = floor(log10(min(values.values()))), ceil(log10(max(values.values())))
    high = max(high, low + 1)
    room = _HEIGHT - _BELOW
    group = (_WIDTH - _LEFT) / len(channels)
    bar = group * 0.8 / len(found)

    def y(value: float) -> float:
        return room * (high - log10(value)) / (high - low)

    drawn = "".join(
        f'<rect class="s{n % _COLOURS}" x="{_LEFT + channels.index(id_) * group + n * bar:.1f}" '
        f'y="{y(value):.1f}" width="{bar:.1f}" height="{room - y(value):.1f}">'
        f"<title>{escape(id_)}, {escape(found[n]['adapter'])}: {value:.4g}</title></rect>"
        for (n, id_), value in values.items()
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{_grid(low, high, room)}{drawn}'
        f"{_labels(channels, group)}</svg>"
    )


def _grid(low: int, high: int, room: float) -> str:
    lines = []
    for power in range(low, high + 1):
        y = room * (high - power) / (high - low)
        lines.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="2" y="{max(y, 10):.1f}">{10.0**power:g}</text>'
        )
    return "".join(lines)


def _labels(channels: Sequence[str], group: float) -> str:
    return "".join(
        f'<text x="{_LEFT + n * group:.1f}" y="{_HEIGHT - 4}">{escape(name)}</text>'
        for n, name in enumerate(channels)
    )


def _text(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
