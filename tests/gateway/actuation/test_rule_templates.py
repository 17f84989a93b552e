"""Topic and payload templates: a value is a value, never a level, a wildcard or JSON syntax."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from gateway.actuation.rules import fill_payload, fill_topic
from gateway.rdf.solutions import Solution

ROW: Solution = {
    "room": Literal("a"),
    "n": Literal(21),
    "on": Literal(True),
    "iri": NamedNode("urn:x/y#z"),
}


@given(st.text(min_size=1))
def test_topic_value_fills_exactly_one_level(value: str) -> None:
    topic = fill_topic("home/{room}/set", {"room": Literal(value)})
    first, level, last = topic.split("/")
    assert (first, last) == ("home", "set")
    assert level
    assert not set("+#\0") & set(level)


def test_topic_values_that_differ_give_topics_that_differ() -> None:
    assert fill_topic("{room}", {"room": Literal("a/b")}) != fill_topic(
        "{room}", {"room": Literal("a%2Fb")}
    )


@pytest.mark.parametrize("template", ["x/{nobody}", "x/{empty}", "x/+", "#", ""])
def test_topic_that_cannot_be_published_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        fill_topic(template, {"empty": Literal("")})


@given(st.text())
def test_json_payload_stays_json_whatever_the_value(value: str) -> None:
    row = {"v": Literal(value)}
    assert json.loads(fill_payload('{"quoted":"<{v}>","bare":{v}}', row)) == {
        "quoted": f"<{value}>",
        "bare": value,
    }


def test_json_payload_has_numbers_and_booleans_as_such() -> None:
    payload = fill_payload('{"level":{n},"on":{on},"of":"{iri}","text":"{{n}}"}', ROW)
    assert json.loads(payload) == {"level": 21, "on": True, "of": "urn:x/y#z", "text": "{21}"}


def test_plain_payload_is_the_text_with_values() -> None:
    assert fill_payload("{n} in {room}", ROW) == b"21 in a"
    assert fill_payload("{n}", ROW) == b"21"


def test_payload_with_an_unbound_variable_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\?nobody"):
        fill_payload("{nobody}", ROW)
