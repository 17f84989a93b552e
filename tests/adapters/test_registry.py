"""The registry: mappings that compile or not, several of them on one message, one cache."""

import tracemalloc
from datetime import UTC, datetime

import pytest

from adapters.adapter import FaultReason
from adapters.registry import UNMATCHED, Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def mapping(
    number: int,
    topic_filter: str,
    family: str = "scalar",
    selector: str = "",
    *,
    sensor: str = "urn:s",
    unit: str | None = None,
) -> Mapping:
    return Mapping(
        f"urn:m:{number}", topic_filter, family, sensor, f"urn:p:{number}", "urn:f", selector, unit
    )


def registry_of(*mappings: Mapping) -> Registry:
    registry, errors = Registry.compile(mappings)
    assert not errors
    return registry


def test_topic_without_a_mapping_is_unmatched_and_no_fault() -> None:
    decoded = registry_of(mapping(1, "a/b")).decode(Message("a/c", b"\xff", NOW))
    assert decoded is UNMATCHED
    assert (decoded.observations, decoded.faults, decoded.matched) == ((), (), False)


def test_empty_registry_matches_nothing() -> None:
    registry = registry_of()
    assert registry.topic_filters == frozenset()
    assert not registry.decode(Message("a", b"1", NOW)).matched


def test_topic_filters_are_those_of_the_good_mappings() -> None:
    registry, errors = Registry.compile(
        [mapping(1, "a/+"), mapping(2, "a/+", "json", "$.v"), mapping(3, "b/#"), mapping(4, "#/c")]
    )
    assert registry.topic_filters == {"a/+", "b/#"}
    assert [error.mapping for error in errors] == ["urn:m:4"]


@pytest.mark.parametrize(
    ("bad", "member"),
    [
        (Mapping("urn:x", "a/#/b", "scalar", "urn:s", "urn:p", "urn:f"), "topic_filter"),
        (Mapping("urn:x", "a", "yaml", "urn:s", "urn:p", "urn:f"), "format"),
        (Mapping("urn:x", "a", "scalar", "no iri", "urn:p", "urn:f"), "sensor"),
        (Mapping("urn:x", "a", "scalar", "urn:s:{1}", "urn:p", "urn:f"), "sensor"),
        (Mapping("urn:x", "a", "scalar", "urn:s:{name}", "urn:p", "urn:f"), "sensor"),
        (Mapping("urn:x", "+", "scalar", "urn:s", "urn:p:{1}", "urn:f"), "observed_property"),
        (Mapping("urn:x", "+", "scalar", "urn:s", "urn:p", "f"), "feature_of_interest"),
        (Mapping("urn:x", "+", "scalar", "urn:s", "urn:p", "urn:f", unit="furlong"), "unit"),
        (Mapping("urn:x", "+", "scalar", "urn:s", "urn:p", "urn:f", "$.v"), "selector"),
        (
            Mapping("urn:x", "+", "scalar", "urn:s", "urn:p", "urn:f", time_selector="t"),
            "time_selector",
        ),
        (
            Mapping("urn:x", "+", "scalar", "urn:s", "urn:p", "urn:f", sequence_selector="n"),
            "sequence_selector",
        ),
    ],
)
def test_bad_mapping_costs_itself_only(bad: Mapping, member: str) -> None:
    registry, (error,) = Registry.compile([mapping(1, "a"), bad, mapping(2, "a")])
    assert (error.mapping, error.member) == ("urn:x", member)
    assert member in str(error)
    seen = registry.decode(Message("a", b"5", NOW)).observations
    assert [each.observed_property for each in seen] == ["urn:p:1", "urn:p:2"]


def test_unit_is_a_symbol_or_an_iri() -> None:
    registry = registry_of(mapping(1, "t", unit="°C"), mapping(2, "t", unit="http://u/x"))
    units = [each.unit for each in registry.decode(Message("t", b"5", NOW)).observations]
    assert units == ["http://qudt.org/vocab/unit/DEG_C", "http://u/x"]


def test_boolean_has_no_unit() -> None:
    (seen,) = registry_of(mapping(1, "t", unit="°C")).decode(Message("t", b"on", NOW)).observations
    assert (seen.lexical, seen.unit) == ("true", None)


def test_wildcards_fill_the_templates() -> None:
    registry = registry_of(mapping(1, "home/+/x/#", sensor="http://h/{1}/{2}"))
    (seen,) = registry.decode(Message("home/lab 1/x/a/b?", b"5", NOW)).observations
    assert seen.sensor == "http://h/lab%201/a%2Fb%3F"


def test_observations_of_several_filters_and_formats_are_in_mapping_order() -> None:
    registry = registry_of(
        mapping(1, "a/#", "json", "$.t"),
        mapping(2, "+/b", "text", r'"h":(\d+)'),
        mapping(3, "a/b", "json", "$.p"),
        mapping(4, "a/#", "json", "$.h"),
        mapping(5, "a/b", "scalar", "string"),
    )
    decoded = registry.decode(Message("a/b", b'{"t":1,"h":2,"p":3}', NOW))
    assert not decoded.faults
    assert [(each.observed_property, each.lexical) for each in decoded.observations[:4]] == [
        ("urn:p:1", "1"),
        ("urn:p:2", "2"),
        ("urn:p:3", "3"),
        ("urn:p:4", "2"),
    ]
    assert decoded.observations[4].lexical == '{"t":1,"h":2,"p":3}'


def test_missing_of_one_filter_is_silent_when_another_finds_something() -> None:
    registry = registry_of(mapping(1, "a/+", "json", "$.t"), mapping(2, "+/b", "json", "$.h"))
    assert not registry.decode(Message("a/b", b'{"h":1}', NOW)).faults
    faults = registry.decode(Message("a/b", b'{"x":1}', NOW)).faults
    assert [(fault.mapping, fault.reason) for fault in faults] == [(None, FaultReason.MISSING)]


def test_payload_that_is_no_json_is_one_fault_for_several_filters() -> None:
    registry = registry_of(mapping(1, "a/+", "json", "$.t"), mapping(2, "+/b", "senml"))
    faults = registry.decode(Message("a/b", b"offline", NOW)).faults
    assert [(fault.mapping, fault.reason) for fault in faults] == [(None, FaultReason.MALFORMED)]


def test_bare_word_on_a_json_topic_costs_one_message() -> None:
    registry = registry_of(mapping(1, "a", "json", "$.v"))
    assert registry.decode(Message("a", b"online", NOW)).faults
    assert registry.decode(Message("a", b'{"v":1}', NOW)).observations


@pytest.mark.alone
def test_topics_that_never_come_again_do_not_fill_the_memory() -> None:
    registry = registry_of(mapping(1, "#", sensor="http://h/{1}"))

    def traced_after(first: int, count: int, topic_chars: int) -> int:
        for number in range(first, first + count):
            topic = f"{number}/".ljust(topic_chars, "x")
            assert registry.decode(Message(topic, b"1", NOW)).observations
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        full = traced_after(0, 5_000, 400)
        assert traced_after(5_000, 5_000, 400) < full + 500_000
        assert traced_after(10_000, 100, 60_000) < full + 500_000
    finally:
        tracemalloc.stop()
