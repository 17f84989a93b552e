"""What a person sees of the demo: the fixed pane of a live screen, plain lines elsewhere.

Place on the way of the data: after its end. Functions from a `Sight` to lines; nothing here waits,
asks or publishes. Colours are green and red alone, which are read on light and dark grounds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.text import Text

from gateway.demo.activity import Change
from gateway.demo.seen import Fault, Seen, Sight
from gateway.demo.terminal import heading

SUMMARY_KEYS = (
    "readings_in",
    "observations",
    "updates",
    "notifications",
    "commands_out",
    "quarantined",
    "duplicates",
)

EFFECTS = "what it did by itself"
FAULTS = "what it did not believe"
DEVICES = "a device of each dialect"
ANSWERS = "three questions, and how their answers change"

_MARGIN = 1
_NOTHING = Text(" nothing yet", "dim")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the screen: a title, and rows of which the last ones matter most, or the first.

    `usual` is how many of them the smallest full screen has, `least` how many a smaller one, `most`
    how many a larger one. Rows of an `aged` part have an age at the right edge.
    """

    title: str
    rows: Sequence[Text]
    least: int
    usual: int
    most: int
    first_matter: bool = False
    aged: bool = True


def screen(sight: Sight, width: int, height: int) -> list[Text]:
    """The whole screen, `height` lines at most; what has nothing to show yet keeps its place."""
    parts = list(_parts(sight, width))
    titles = sum(bool(each.title) for each in parts)
    lines = _head(sight)
    for part, count in zip(parts, shares(parts, height - len(lines) - titles), strict=True):
        if part.title:
            lines.append(_title(part.title, " ago" if part.aged else "", width))
        rows = list(
            part.rows[:count] if part.first_matter else part.rows[max(0, len(part.rows) - count) :]
        )
        lines += [*rows, *(Text() for _ in range(count - len(rows)))]
    return lines[: max(0, height)]


def shares(parts: Sequence[Part], height: int) -> list[int]:
    """How many rows each part gets: the least of all first, then as usual, then what is left.

    >>> shares([Part("", (), 1, 2, 3), Part("", (), 1, 3, 9)], 7)
    [2, 5]
    """
    counts = [0 for _ in parts]
    for wanted in ("least", "usual", "most"):
        for index in range(len(parts) - 1, -1, -1) if wanted == "most" else range(len(parts)):
            more = getattr(parts[index], wanted) - counts[index]
            counts[index] += max(0, min(more, height - sum(counts)))
    return counts


def line(seen: Seen) -> str:
    """One plain line of progress."""
    sight, activity = seen.sight(), seen.activity
    now, before = sight.now, sight.before
    added = sum(each.added for each in activity.subscribed)
    removed = sum(each.removed for each in activity.subscribed)
    return (
        f"{now.elapsed_s:6.1f} s  readings {now.count('readings_in')} "
        f"({now.rate('readings_in', before):.1f}/s)  rows +{added} -{removed}  "
        f"commands {now.count('commands_out')}  ingest p99 {activity.ingest.p99_ms:.1f} ms"
    )


def answers(sight: Sight) -> list[str]:
    """Each question with its answer now, one line."""
    return [f"{name}? {', '.join(rows) or 'none'}" for name, rows in sight.answers]


def summary(seen: Seen) -> str:
    """The last figures: `summary: name=number ...`, for people and for tests."""
    activity, now = seen.activity, seen.moment
    figures: dict[str, float] = {
        "published": activity.published,
        **{name: now.count(name) for name in SUMMARY_KEYS},
        "rows_added": sum(each.added for each in activity.subscribed),
        "rows_removed": sum(each.removed for each in activity.subscribed),
        "ingest_p50_ms": activity.ingest.p50_ms,
        "ingest_p99_ms": activity.ingest.p99_ms,
        "notification_p50_ms": activity.notification.p50_ms,
        "notification_p99_ms": activity.notification.p99_ms,
    }
    return "summary: " + " ".join(f"{name}={value:g}" for name, value in figures.items())


def tally(seen: Seen) -> str:
    """What was, in one line."""
    now = seen.moment
    return (
        f"{now.elapsed_s:.0f} s: readings {now.count('readings_in')}, observations "
        f"{now.count('observations')}, quarantined {now.count('quarantined')}, commands "
        f"{now.count('commands_out')}"
    )


def _parts(sight: Sight, width: int) -> Iterator[Part]:
    """From top to bottom; a recording has neither commands nor questions."""
    if sight.answers:
        yield Part(EFFECTS, list(_effects(sight, width)) or [_NOTHING], 1, 2, 4)
    count = sight.now.count("quarantined")
    faults = [_fault(each, sight.at, width) for each in reversed(sight.faults)]
    yield Part(f"{FAULTS}: {count} in quarantine", faults or [_NOTHING], 1, 2, 4)
    asked = f"; {sight.accepted}" if sight.accepted else ""
    devices = list(_devices(sight, width)) or [_NOTHING]
    usual = 7 if sight.answers else len(devices)
    yield Part(f"{DEVICES}{asked}", devices, min(2, usual), usual, usual, first_matter=True)
    if sight.answers:
        told = [Text(f" {each}") for each in answers(sight)]
        yield Part(ANSWERS, told, len(told), len(told), len(told), aged=False)
    yield Part("", [_change(each) for each in sight.changes], 1, 3, 30)


def _head(sight: Sight) -> list[Text]:
    rate = sight.now.rate("readings_in", sight.before)
    readings = f"{sight.now.count('readings_in')} readings, {rate:.0f}/s"
    latencies = f"stored {sight.stored_ms:.0f} ms, told {sight.told_ms:.0f} ms"
    below = Text(f" {sight.addresses}  {latencies}", "dim")
    if sight.alarms:
        below = Text(f" alarm: {'; '.join(sight.alarms)}", "red")
    return [heading(sight.now.elapsed_s, readings, sight.status), below]


def _title(title: str, edge: str, width: int) -> Text:
    line = Text.assemble(("── ", "dim"), (title, "bold"), " ")
    line.append("─" * max(0, width - _MARGIN - line.cell_len - len(edge)), "dim")
    return line.append(edge, "dim")


def _effects(sight: Sight, width: int) -> Iterator[Text]:
    for sentence, at, is_confirmed in sight.effects:
        cause, arrow, outcome = sentence.rpartition("→ ")
        told = Text.assemble(cause, arrow, (outcome, "green" if is_confirmed else "bold"))
        yield _aged(told, at, sight.at, width)


def _fault(fault: Fault, now: datetime, width: int) -> Text:
    told = Text.assemble((fault.reason, "red"), f", {fault.topic}: {fault.detail}")
    return _aged(told, fault.at, now, width)


def _devices(sight: Sight, width: int) -> Iterator[Text]:
    """In columns, so that nothing moves but the values."""
    name = max(20, min(40, width - 45))
    for dialect, reading in sight.devices:
        is_new = (sight.at - reading.at).total_seconds() < 1
        value = _cell(reading.text, 16, "bold" if is_new else "")
        line = Text.assemble(f"{dialect:<12}", "  ", _cell(reading.name, name), "  ", value)
        yield _aged(line, reading.at, sight.at, width)


def _cell(text: str, width: int, style: str = "") -> Text:
    cell = Text(text, style)
    cell.truncate(width, overflow="ellipsis", pad=True)
    return cell


def _change(change: Change) -> Text:
    sign, style = ("+", "green") if change.added else ("-", "red")
    return Text(f" {sign} {change.subscription}: {change.text}", style)


def _aged(told: Text, at: datetime, now: datetime, width: int) -> Text:
    """The line with its age at the right edge."""
    age = f"{_age((now - at).total_seconds()):>6}"
    told.truncate(max(1, width - len(age) - 2 - 2 * _MARGIN), overflow="ellipsis", pad=True)
    return Text.assemble(" ", told, "  ", (age, "dim"))


def _age(seconds: float) -> str:
    """Six signs at most.

    >>> _age(-0.01), _age(9.94), _age(100), _age(7300)
    ('0.0 s', '9.9 s', '100 s', '121 m')
    """
    if seconds < 10:
        return f"{max(0.0, seconds):.1f} s"
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds // 60:.0f} m"
