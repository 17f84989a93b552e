"""The parsers of URLs: what they read, what they refuse, whatever comes."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import ClientError, TooLargeError
from gateway.exchange.sensorthings.model import Set
from gateway.exchange.sensorthings.translation import Asked, question
from gateway.exchange.sensorthings.url.bounds import BOUNDS
from gateway.exchange.sensorthings.url.expression_parser import parse_expression
from gateway.exchange.sensorthings.url.options_parser import parse_options
from gateway.exchange.sensorthings.url.resource_path import parse_resource_path
from gateway.exchange.sensorthings.url.syntax import Binary, Constant, Kind, Path
from gateway.exchange.sensorthings.url.writing import expression_text, written

WORDS = (
    *("and", "or", "not", "eq", "gt", "add", "mod", "null", "true", "'a''b'", "2.5", "-1", "1e400"),
    *("(", ")", ",", "/", ";", "$top", "=", "result", "Datastream/name", "st_within(", "now()"),
    *("2026-03-02T07:00:00Z", "2026-02-31", "duration'PT1H'", "geography'POINT(1 2)'", "$expand"),
    *("'", "%", "\x00", "é", "\ud800", "$filter", "@iot.id", "07:00:00", "INF"),
)


@pytest.mark.property
@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join))
def test_whatever_stands_in_a_filter_is_read_or_refused(text: str) -> None:
    try:
        read = parse_expression(text)
    except ClientError:
        return
    assert expression_text(parse_expression(expression_text(read))) == expression_text(read)


@pytest.mark.property
@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), max_size=20).map("".join),
    st.sampled_from(
        (
            "$filter",
            "$expand",
            "$orderby",
            "$select",
            "$top",
            "$skip",
            "$count",
            "$resultFormat",
            "x",
        )
    ),
)
def test_whatever_stands_in_a_query_string_is_read_or_refused(text: str, name: str) -> None:
    try:
        options = parse_options(f"{name}={text}")
    except ClientError:
        return
    assert parse_options(written(options)) == options


@pytest.mark.property
@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_whatever_stands_in_a_path_is_read_or_refused(text: str) -> None:
    for path in (text, f"Things('{text}')/Datastreams", f"Things({text})"):
        with suppress(ClientError):
            assert parse_resource_path(path).segments


def test_operators_bind_as_in_odata() -> None:
    read = parse_expression("a eq 1 or b eq 2 and not c add 2 mul 3 gt 4")
    text = "((a eq 1.0) or ((b eq 2.0) and ((not (c) add (2.0 mul 3.0)) gt 4.0)))"
    assert expression_text(read) == text
    assert parse_expression("1 sub 2 sub 3") == parse_expression("(1 sub 2) sub 3")


def test_literals_are_read_in_one_form() -> None:
    for text, kind, form in (
        ("2026-03-02T08:00:00.50+01:00", Kind.TIME, "2026-03-02T07:00:00.5Z"),
        ("'it''s'", Kind.STRING, "it's"),
        ("geography'SRID=4326;POINT (1 2)'", Kind.GEOMETRY, "POINT (1 2)"),
        ("-1.50", Kind.NUMBER, "-1.5"),
        ("07:00", Kind.CLOCK, "07:00:00"),
        ("duration'PT90M'", Kind.DURATION, "PT90M"),
    ):
        assert parse_expression(text) == Constant(kind, form)
    interval = parse_expression("2026-03-02T07:00:00Z/2026-03-02T07:00:00.5Z")
    assert isinstance(interval, Constant)
    assert interval.end == "2026-03-02T07:00:00.5Z"


def test_expansions_of_one_name_are_one() -> None:
    nested = parse_options("$expand=Datastreams/Sensor,Datastreams($top=1;$expand=Thing)")
    (streams,) = nested.expand
    assert (streams.options.top, [each.name for each in streams.options.expand]) == (
        1,
        ["Sensor", "Thing"],
    )


def test_a_chain_as_long_as_it_may_be_is_translated() -> None:
    text = " or ".join([f"result eq {n}" for n in range((BOUNDS.operators + 1) // 2)])
    asked = Asked(Set.OBSERVATIONS, parse_expression(text), (), "urn:o/")
    assert question(asked).texts[0].count(" || ") == (BOUNDS.operators + 1) // 2 - 1
    with pytest.raises(TooLargeError):
        parse_expression(f"{text} or result eq 1 and result eq 2")


def test_paths_lead_through_ids_with_anything_in_them() -> None:
    path = parse_resource_path("Things('a/b''c)')/Datastreams(7)/name/$value")
    assert [each.id for each in path.segments] == ["a/b'c)", "7"]
    assert (path.property, path.is_value) == ("name", True)
    assert isinstance(parse_expression("a eq b"), Binary)
    assert parse_expression("a/b/@iot.id") == Path(("a", "b", "@iot.id"))
