"""What a person sees of the demo: a live screen on a terminal, plain lines elsewhere.

Place on the way of the data: after its end. Functions from an `Activity` and the gateway's
statistics to rich renderables or to lines; nothing here waits or publishes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from gateway.demo.activity import Activity, Change

SUMMARY_KEYS = (
    "readings_in",
    "observations",
    "updates",
    "notifications",
    "commands_out",
    "quarantined",
    "duplicates",
)

SMALL_HEIGHT = 24
"""The lines of the smallest terminal that all fits into."""

_FIXED_LINES = 2 + 1 + len(SUMMARY_KEYS) + 1 + 1 + 1
"""Frame, head and rows of the counters, blank lines, head of the standing queries."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The gateway's counters, `elapsed_s` after the start of the demo."""

    elapsed_s: float
    statistics: Mapping[str, float]

    def rate(self, name: str, before: "Moment") -> float:
        """How fast a counter grew since `before`, per s."""
        passed = self.elapsed_s - before.elapsed_s
        grown = self.count(name) - before.count(name)
        return grown / passed if passed > 0 else 0.0

    def count(self, name: str) -> int:
        """A counter; 0 where the gateway does not have it."""
        return int(self.statistics.get(name, 0))


def screen(
    title: str, activity: Activity, now: Moment, before: Moment, height: int = SMALL_HEIGHT
) -> RenderableType:
    """The whole live screen, `height` lines at most; rates are since `before`."""
    figures = Columns([_counters(now, before), _latencies(activity)], padding=(0, 4))
    told = answers(activity)
    above = _FIXED_LINES + len(activity.subscribed) + len(told)
    return Panel(
        Group(
            figures,
            Text(),
            _subscriptions(activity),
            *(Text(f" {each}", no_wrap=True, overflow="ellipsis") for each in told),
            Text(),
            _changes(activity, max(1, height - above)),
        ),
        title=title,
        subtitle="Ctrl-C ends the demo",
    )


def answers(activity: Activity) -> list[str]:
    """Each question with its answer now, one line."""
    return [f"{name}? {', '.join(rows) or 'none'}" for name, rows in activity.answers]


def line(activity: Activity, now: Moment, before: Moment) -> str:
    """One plain line of progress."""
    return (
        f"{now.elapsed_s:6.1f} s  readings {now.count('readings_in')} "
        f"({now.rate('readings_in', before):.1f}/s)  {_rows(activity)}  "
        f"commands {now.count('commands_out')}  ingest p99 {activity.ingest.p99_ms:.1f} ms"
    )


def summary(activity: Activity, now: Moment) -> str:
    """The last line: `summary: name=number ...`, for people and for tests."""
    added = sum(each.added for each in activity.subscribed)
    removed = sum(each.removed for each in activity.subscribed)
    figures: dict[str, float] = {
        "published": activity.published,
        **{name: now.count(name) for name in SUMMARY_KEYS},
        "rows_added": added,
        "rows_removed": removed,
        "ingest_p50_ms": activity.ingest.p50_ms,
        "ingest_p99_ms": activity.ingest.p99_ms,
        "notification_p50_ms": activity.notification.p50_ms,
        "notification_p99_ms": activity.notification.p99_ms,
    }
    return "summary: " + " ".join(f"{name}={value:g}" for name, value in figures.items())


def _rows(activity: Activity) -> str:
    added = sum(each.added for each in activity.subscribed)
    removed = sum(each.removed for each in activity.subscribed)
    return f"rows +{added} -{removed}"


def _counters(now: Moment, before: Moment) -> Table:
    table = Table("counter", "total", "per s", box=None)
    for name in SUMMARY_KEYS:
        rate = f"{now.rate(name, before):.1f}"
        table.add_row(name.replace("_", " "), str(now.count(name)), rate)
    return table


def _latencies(activity: Activity) -> Table:
    table = Table("latency", "p50 ms", "p99 ms", box=None)
    for name, values in (
        ("publish to stored", activity.ingest),
        ("update to told", activity.notification),
    ):
        table.add_row(name, f"{values.p50_ms:.2f}", f"{values.p99_ms:.2f}")
    return table


def _subscriptions(activity: Activity) -> Table:
    table = Table("standing query", "rows now", "added", "removed", box=None)
    for each in activity.subscribed:
        table.add_row(each.name, str(each.rows), f"+{each.added}", f"-{each.removed}")
    return table


def _changes(activity: Activity, most: int) -> RenderableType:
    return Group(*map(_change, activity.changes[-most:]))


def _change(change: Change) -> Text:
    sign, style = ("+", "green") if change.added else ("-", "red")
    return Text(
        f"{sign} {change.subscription}: {change.text}",
        style=style,
        no_wrap=True,
        overflow="ellipsis",
    )
