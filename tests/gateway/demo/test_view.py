"""gateway.demo.activity, .seen and .view: what is counted, and how a person sees it."""

import re
from collections.abc import Iterable
from io import StringIO

import pytest
from pyoxigraph import Literal, NamedNode
from rich.cells import cell_len
from rich.console import Console

from gateway.demo import view
from gateway.demo.activity import (
    CHANGES_KEPT,
    Activity,
    Change,
    Percentiles,
    answer_text,
    describe,
)
from gateway.demo.seen import Moment, Seen
from gateway.demo.terminal import render
from gateway.rdf.solutions import Solution
from tests.gateway.demo.sights import HOSTILE, busy, told
from tests.paths import ROOT

START = Moment(0.0, {"readings_in": 0})
NOW = Moment(2.0, {"readings_in": 30, "commands_out": 1, "quarantined": 2})
TERMINAL = Console(file=StringIO(), force_terminal=True, color_system="standard")
COLOURLESS = Console(file=StringIO(), force_terminal=True, no_color=True)
SIZES = [(80, 24), (80, 25), (132, 43), (60, 14), (40, 10), (20, 5), (8, 3), (1, 1), (300, 100)]


def numbers(values: Iterable[int]) -> list[Solution]:
    return [{"n": Literal(value)} for value in values]


def heard(*notifications: tuple[Iterable[int], Iterable[int]], is_question: bool = False) -> Seen:
    seen = Seen("", lambda: 2.0)
    seen.activity.subscribe("numbers", is_question=is_question)
    for sequence, (added, removed) in enumerate(notifications):
        seen.told("numbers", told(sequence, numbers(added), numbers(removed)))
    return seen


def drawn(seen: Seen, width: int, height: int, console: Console = TERMINAL) -> list[str]:
    return render(view.screen(seen.sight(), width, height), width, console)


def plain(lines: Iterable[str]) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in lines]


def test_rows_are_counted_by_subscription() -> None:
    activity = heard(([1, 2], []), ([3], [1])).activity
    activity.subscribe("others")
    first, others = activity.subscribed
    assert (first.name, first.rows, first.added, first.removed) == ("numbers", 2, 3, 1)
    assert (others.rows, others.added, others.removed) == (0, 0, 0)


def test_changes_are_kept_in_order_removed_before_added() -> None:
    assert heard(([1, 2], []), ([3], [1])).activity.changes == [
        Change("numbers", True, "n=1"),
        Change("numbers", True, "n=2"),
        Change("numbers", False, "n=1"),
        Change("numbers", True, "n=3"),
    ]


def test_only_the_latest_changes_are_kept() -> None:
    activity = heard((range(1_000), [])).activity
    assert len(activity.changes) == CHANGES_KEPT
    assert activity.changes[-1].text == "n=999"


def test_acknowledgements_are_counted_and_timed() -> None:
    activity = Activity()
    activity.acknowledge(0.002)
    activity.acknowledge(0.004)
    assert activity.published == 2
    assert activity.ingest == Percentiles(2.0, 4.0)


@pytest.mark.parametrize(
    ("sequence", "time", "latency"), [(0, 1, 0.0), (1, 10**17, 0.0), (1, 3_000, 2.0)]
)
def test_a_notification_took_as_long_as_the_clock_of_the_gateway_says(
    sequence: int, time: int, latency: float
) -> None:
    """But the first answer, which is no change, and one from the future."""
    activity = Activity()
    activity.subscribe("numbers")
    activity.told("numbers", told(sequence, numbers([1]), time=time), 5_000)
    assert activity.notification == Percentiles(latency, latency)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([], Percentiles(0.0, 0.0)),
        ([0.5], Percentiles(500.0, 500.0)),
        ([each / 1_000 for each in range(100, -1, -1)], Percentiles(50.0, 99.0)),
    ],
)
def test_percentiles_are_by_the_nearest_rank(seconds: list[float], expected: Percentiles) -> None:
    assert Percentiles.of(seconds) == expected


def test_a_row_is_described_by_last_segments_and_lexical_forms() -> None:
    row = {"room": NamedNode("urn:x/room/living"), "property": NamedNode("http://x/y#z")}
    assert describe(row) == "room=living  property=z"


def test_an_answer_names_what_people_call_the_device() -> None:
    assert answer_text({"a": Literal("bath window"), "b": Literal(12)}) == "bath window 12"


def test_a_rate_is_by_the_second() -> None:
    assert NOW.rate("readings_in", START) == 15.0
    assert START.rate("readings_in", START) == 0.0


def test_a_line_tells_counts() -> None:
    seen = heard(([1, 2], []), ([3], [1]))
    seen.counted(NOW.counters)
    line = view.line(seen)
    assert "readings 30 (" in line
    assert "rows +3 -1" in line
    assert "commands 1" in line


def test_the_summary_gives_every_count_by_name() -> None:
    seen = heard(([1, 2], []), ([3], [1]))
    seen.acknowledge(0.002)
    seen.counted(NOW.counters)
    words = view.summary(seen).split()
    assert words[0] == "summary:"
    figures = dict(word.split("=") for word in words[1:])
    assert {"published", "rows_added", "rows_removed", *view.SUMMARY_KEYS} < set(figures)
    assert (figures["published"], figures["readings_in"], figures["rows_added"]) == ("1", "30", "3")


def test_what_came_is_green_and_what_went_is_red() -> None:
    lines = "\n".join(drawn(heard(([1, 2], []), ([3], [1])), 80, 24))
    assert "\n\x1b[32m + numbers: n=3" in lines
    assert "\n\x1b[31m - numbers: n=1" in lines


def test_a_question_is_shown_with_its_answer_now() -> None:
    seen = heard(([2, 1, 2], []), ([3], [1, 2]), is_question=True)
    assert view.answers(seen.sight()) == ["numbers? 2, 3"]
    seen.told("numbers", told(2, [], numbers([3, 2])))
    assert view.answers(seen.sight()) == ["numbers? none"]


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("text", ["bath window contact", HOSTILE])
def test_the_screen_fits_every_terminal(text: str, width: int, height: int) -> None:
    lines = drawn(busy(text), width, height)
    assert len(lines) <= height
    assert all(cell_len(re.sub(r"\x1b\[[0-9;]*m", "", line)) == width for line in lines)


def test_a_screen_of_80_by_24_has_all_that_matters() -> None:
    lines = plain(drawn(busy(), 80, 24))
    assert len(lines) == 24
    titles = [number for number, line in enumerate(lines) if line.startswith("──")]
    assert titles == [2, 5, 8, 16]
    assert [line.split("  ")[0].strip() for line in lines[9:16]] == [
        "Zigbee2MQTT",
        "Shelly",
        "Tasmota",
        "ESPHome",
        "SenML",
        "line of text",
        "bare number",
    ]
    assert [line.partition("?")[0] for line in lines[17:20]] == [
        " which windows are open",
        " what uses more than 100 W",
        " which batteries are low",
    ]
    assert all(line[1] in "+-" for line in lines[20:24])
    assert "22 proposals accepted" in lines[8]
    assert "12 in quarantine" in lines[5]


def test_what_has_nothing_to_show_yet_keeps_its_place() -> None:
    empty = Seen("", lambda: 0.0)
    for each in busy().activity.subscribed:
        empty.activity.subscribe(each.name, is_question=each.is_question)
    lines = plain(drawn(empty, 80, 24))
    assert [n for n, line in enumerate(lines) if line.startswith("──")] == [2, 5, 8, 16]


def test_an_alarm_is_red_on_the_second_line() -> None:
    seen = busy()
    seen.counted({"readings_in": 1}, ["disk: 3 % left", "journal: behind"])
    second = drawn(seen, 80, 24)[1]
    assert second.startswith("\x1b[31m alarm: disk: 3 % left; journal: behind ")
    seen.counted({"readings_in": 1})
    assert "alarm" not in drawn(seen, 80, 24)[1]


@pytest.mark.parametrize("console", [TERMINAL, COLOURLESS])
def test_a_device_cannot_write_into_the_terminal(console: Console) -> None:
    """Only what chooses bold, dim, green, red gets there, whatever a device sends."""
    screen = "".join(drawn(busy(HOSTILE), 200, 60, console))
    steering = set(re.findall(r"\x1b(?:\[[0-9;]*m)?", screen))
    colours = set() if console is COLOURLESS else {"\x1b[31m", "\x1b[32m"}
    assert steering == {"\x1b[0m", "\x1b[1m", "\x1b[2m", *colours}
    rest = re.sub(r"\x1b\[[0-9;]*m", "", screen)
    assert rest.isprintable()
    assert "[bold red]" in rest
    assert not set(rest) & {"\u202e", "\ufe0f", "\x9b"}


def test_the_same_line_is_the_same_in_every_frame() -> None:
    """Nothing but spinner and ages moves while nothing happens."""
    seen = busy()
    assert drawn(seen, 80, 24)[8:20] == drawn(seen, 80, 24)[8:20]


def test_the_screen_in_the_readme_is_the_screen() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```\n( sosa-gateway demo .*?)\n```", readme, re.DOTALL)
    lines, drawn_now = shown.split("\n"), plain(drawn(busy(), 80, 24))
    assert len(lines) == 24
    assert max(map(len, lines)) <= 80
    for kept in (slice(2, 3), slice(5, 6), slice(8, 9), slice(16, 17)):
        assert [re.sub(r"\d+ in|─+", "", line) for line in lines[kept]] == [
            re.sub(r"\d+ in|─+", "", line) for line in drawn_now[kept]
        ]
    assert [line[:14] for line in lines[9:16]] == [line[:14] for line in drawn_now[9:16]]
    asked = [line.partition("?")[0] for line in drawn_now[17:20]]
    assert [line.partition("?")[0] for line in lines[17:20]] == asked
    for line in lines[3:5]:
        assert re.search(r" office .* → fan7 (on|off) → confirmed in \d\.\d\d s +\S+ s$", line)
