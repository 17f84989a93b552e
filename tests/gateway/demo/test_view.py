"""gateway.demo.activity and .view: what is counted, and how a person sees it."""

from collections.abc import Iterable
from io import StringIO

import pytest
from pyoxigraph import Literal, NamedNode
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
from gateway.demo.settings import standing_queries
from gateway.demo.view import Moment
from gateway.engine import Notification
from gateway.rdf.solutions import ResultsDelta, Row

START = Moment(0.0, {"readings_in": 0})
NOW = Moment(2.0, {"readings_in": 30, "commands_out": 1, "quarantined": 2})


def row(value: int) -> Row:
    return (Literal(value),)


def told(
    sequence: int, added: Iterable[int] = (), removed: Iterable[int] = (), time: int = 0
) -> Notification:
    delta = ResultsDelta(("n",), tuple(map(row, added)), tuple(map(row, removed)))
    return Notification("urn:spuid", sequence, None, time, delta)


def busy() -> Activity:
    activity = Activity()
    sink = activity.sink("numbers")
    sink(told(0, [1, 2]))
    sink(told(1, [3], [1]))
    activity.acknowledge(0.002)
    return activity


def test_rows_are_counted_by_subscription() -> None:
    activity = busy()
    activity.sink("others")
    numbers, others = activity.subscribed
    assert (numbers.name, numbers.rows, numbers.added, numbers.removed) == ("numbers", 2, 3, 1)
    assert (others.rows, others.added, others.removed) == (0, 0, 0)


def test_changes_are_kept_in_order_removed_before_added() -> None:
    assert busy().changes == [
        Change("numbers", True, "n=1"),
        Change("numbers", True, "n=2"),
        Change("numbers", False, "n=1"),
        Change("numbers", True, "n=3"),
    ]


def test_only_the_latest_changes_are_kept() -> None:
    activity = Activity()
    activity.sink("numbers")(told(0, range(1_000)))
    assert len(activity.changes) == CHANGES_KEPT
    assert activity.changes[-1].text == "n=999"


def test_acknowledgements_are_counted_and_timed() -> None:
    activity = busy()
    activity.acknowledge(0.004)
    assert activity.published == 2
    assert activity.ingest == Percentiles(2.0, 4.0)


def test_the_first_answer_is_no_latency() -> None:
    activity = Activity()
    activity.sink("numbers")(told(0, [1]))
    assert activity.notification == Percentiles()


def test_a_notification_from_the_future_took_no_time() -> None:
    activity = Activity()
    activity.sink("numbers")(told(1, [1], time=10**17))
    assert activity.notification == Percentiles(0.0, 0.0)


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
    variables = ("room", "property", "unbound")
    terms = (NamedNode("urn:x/room/living"), NamedNode("http://x/y#z"), None)
    assert describe(variables, terms) == "room=living  property=z"


def test_a_row_cannot_steer_the_terminal() -> None:
    shown = describe(("value",), (Literal("2\x1b[31m"),))
    assert shown == "value=2\N{REPLACEMENT CHARACTER}[31m"


def test_a_rate_is_by_the_second() -> None:
    assert NOW.rate("readings_in", START) == 15.0
    assert START.rate("readings_in", START) == 0.0


def test_a_line_tells_counts_and_rates() -> None:
    line = view.line(busy(), NOW, START)
    assert "readings 30 (15.0/s)" in line
    assert "rows +3 -1" in line
    assert "commands 1" in line


def test_the_summary_gives_every_count_by_name() -> None:
    words = view.summary(busy(), NOW).split()
    assert words[0] == "summary:"
    figures = dict(word.split("=") for word in words[1:])
    assert {"published", "rows_added", "rows_removed", *view.SUMMARY_KEYS} < set(figures)
    assert (figures["published"], figures["readings_in"], figures["rows_added"]) == ("1", "30", "3")


def test_the_screen_shows_changes_with_their_sign() -> None:
    out = StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system="standard")
    console.print(view.screen("demo", busy(), NOW, START))
    shown = out.getvalue()
    assert "\x1b[32m+ numbers: n=3" in shown
    assert "\x1b[31m- numbers: n=1" in shown
    assert "standing query" in shown


def test_a_question_is_shown_with_its_answer_now() -> None:
    activity = Activity()
    asked = activity.sink("which?", is_question=True)
    activity.sink("numbers")(told(0, [9]))
    asked(told(0, [2, 1, 2]))
    asked(told(1, [3], [1, 2]))
    assert view.answers(activity) == ["which?? 2, 3"]
    asked(told(2, [], [3, 2]))
    assert view.answers(activity) == ["which?? none"]


def test_an_answer_names_what_people_call_the_device() -> None:
    assert answer_text((Literal("bath window"), None, Literal(12))) == "bath window 12"


@pytest.mark.parametrize("height", [24, 30])
def test_the_screen_of_the_house_fits_its_terminal(height: int) -> None:
    activity = Activity()
    for each in standing_queries(None):
        activity.sink(each.name, is_question=each.is_question)(told(0, range(1000, 1040)))
    out = StringIO()
    Console(file=out, width=80).print(view.screen("demo", activity, NOW, START, height))
    lines = out.getvalue().splitlines()
    assert len(lines) == min(height, 21 + CHANGES_KEPT)
    assert {len(line) for line in lines} == {80}
    assert sum("1000, 1001" in line for line in lines) == 3


def test_the_screen_takes_device_text_as_text() -> None:
    activity = Activity()
    activity.sink("[bold]")(told(0, [1]))
    out = StringIO()
    Console(file=out, width=100).print(view.screen("demo", activity, NOW, START))
    assert "+ [bold]: n=1" in out.getvalue()
