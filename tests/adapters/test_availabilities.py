"""Availability on several topics, and in words of its own: who is there, and what is refused."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.memory import Memory
from adapters.values.message import Message
from adapters.values.notice import Liveness

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
TWO = [{"topic": "bridge"}, {"topic": "lamp/there", "available": "up", "notAvailable": "down"}]


def mapping(
    rule: Any,
    name: str = "lamp",
    topic: str = "lamp",
    *,
    sensor: str = "",
    form: str = "homeassistant",
) -> Mapping:
    text = rule if isinstance(rule, str) else json.dumps(rule)
    return Mapping(
        f"urn:m:{name}",
        topic,
        form,
        sensor or f"urn:{name}",
        "urn:p",
        "urn:f",
        availabilities=text,
    )


def heard(registry: Registry, topic: str, payload: str) -> list[bool]:
    """Whether the streams are there, by the notices of a message."""
    decoded = registry.decode(Message(topic, payload.encode(), NOW))
    return [each.is_online for each in decoded.notices if isinstance(each, Liveness)]


def compiled(mappings: Sequence[Mapping], memory: Memory | None = None) -> Registry:
    registry, errors = Registry.compile(mappings, memory)
    assert errors == ()
    return registry


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("all", [[], [True], [False], [False], [False]]),
        ("any", [[True], [True], [True], [False], [True]]),
        ("latest", [[True], [True], [False], [False], [True]]),
    ],
)
def test_topics_decide_by_their_mode(mode: str, told: list[list[bool]]) -> None:
    registry = compiled([mapping({"mode": mode, "topics": TWO})])
    said = [("bridge", "online"), ("lamp/there", "up"), ("bridge", "offline")]
    said += [("lamp/there", "down"), ("bridge", "online")]
    assert [heard(registry, *each) for each in said] == told


def test_the_last_words_outlive_the_mappings_that_are_compiled_anew() -> None:
    memory, rule = Memory(), {"mode": "all", "topics": TWO}
    assert heard(compiled([mapping(rule)], memory), "bridge", "online") == []
    again = compiled([mapping(rule), mapping(rule, "other", "other")], memory)
    assert heard(again, "lamp/there", "up") == [True, True]


def test_a_template_reads_the_word() -> None:
    template = "{{ 'up' if value_json.ok else 'down' }}"
    topics = [{"topic": "t", "template": template, "available": "up", "notAvailable": "down"}]
    registry = compiled([mapping({"topics": topics})])
    assert heard(registry, "t", '{"ok":true}') == [True]
    assert heard(registry, "t", '{"ok":false}') == [False]
    assert heard(registry, "t", "") == []
    [fault] = registry.decode(Message("t", b"{", NOW)).faults
    assert fault.reason.value == "malformed"


def test_another_word_is_a_fault_and_changes_nothing() -> None:
    registry = compiled([mapping({"topics": TWO})])
    [fault] = registry.decode(Message("lamp/there", b"asleep", NOW)).faults
    assert (fault.reason.value, "asleep" in fault.detail) == ("not_a_value", True)


def test_one_device_behind_a_wildcard_has_its_topics() -> None:
    registry = compiled([mapping({"topics": TWO}, topic="lamp/+/state")])
    assert heard(registry, "bridge", "online") == [True]
    one = Mapping("urn:m", "a/+", "scalar", "urn:s", "urn:p", "urn:f", availability_topic="a/lwt")
    assert heard(compiled([one]), "a/lwt", "offline") == [False]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("{", "JSON"),
        ("[" * 9000, "JSON"),
        ({"topics": []}, "topics"),
        ({"topics": [{"topic": "t"}] * 17}, "topics"),
        ({"mode": "most", "topics": TWO}, "mode"),
        ({"topics": [{"topic": "t/+"}]}, "wildcards"),
        ({"topics": [{"topic": ""}]}, ""),
        ({"topics": [{"topic": "t", "word": "x"}]}, "topic has"),
        ({"topics": [{"topic": "t", "available": "no", "notAvailable": "no"}]}, "same word"),
        ({"topics": [{"topic": "t", "template": "{{ now() }}"}]}, "now"),
        ({"topics": [{"topic": "t" * 20_000}]}, "longer"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(rule: Any, reason: str) -> None:
    _, [error] = Registry.compile([mapping(rule)])
    assert error.member == "availabilities"
    assert reason in error.reason


def test_a_rule_of_several_devices_is_refused() -> None:
    _, [error] = Registry.compile([mapping({"topics": TWO}, topic="a/+", sensor="urn:s:{1}")])
    assert error.member == "availabilities"


def test_a_format_without_templates_says_so() -> None:
    rule = {"topics": [{"topic": "t", "template": "{{ value }}"}]}
    _, [error] = Registry.compile([mapping(rule, form="scalar")])
    assert (error.member, "no templates" in error.reason) == ("availabilities", True)
