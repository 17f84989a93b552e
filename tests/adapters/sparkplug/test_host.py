"""What the host remembers between messages, where files of cases say too little."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.adapter import Decoded
from adapters.registry import Registry
from adapters.sparkplug.host import MAX_METRICS, Address, SparkplugHost
from adapters.sparkplug.payload import (
    Metric,
    SparkplugPayload,
    decode_payload,
    encode_payload,
    rebirth_command,
)
from adapters.values.mapping import Mapping
from adapters.values.memory import Memory
from adapters.values.message import Message
from adapters.values.notice import DeviceRequest, Liveness

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
STAMP = 1772438400000
TOPIC = "spBv1.0/plant1/DDATA/edge7/press3"
TEMPERATURE = Mapping(
    "urn:m", TOPIC, "sparkplug", "urn:s", "urn:p", "urn:f", selector="Temperature"
)


def metric(name: str, alias: int | None, value: float, stamp: int = STAMP) -> Metric:
    return Metric(name, alias, stamp, 9 if name else 0, False, False, "float_value", value)


def message(kind: str, sequence: int | None, *metrics: Metric) -> Message:
    levels = "edge7" if kind.startswith("N") else "edge7/press3"
    payload = encode_payload(SparkplugPayload(STAMP, sequence, metrics))
    return Message(f"spBv1.0/plant1/{kind}/{levels}", payload, NOW)


def compiled(memory: Memory, *mappings: Mapping) -> Registry:
    registry, errors = Registry.compile(mappings or [TEMPERATURE], memory)
    assert not errors
    return registry


def born(registry: Registry) -> None:
    registry.decode(message("NBIRTH", 0))
    registry.decode(message("DBIRTH", 1, metric("Temperature", 7, 20.0)))


def values(decoded: Decoded) -> list[str]:
    return [seen.lexical for seen in decoded.observations]


def asks_for_births(decoded: Decoded) -> bool:
    return any(isinstance(notice, DeviceRequest) for notice in decoded.notices)


def test_alias_outlives_a_change_of_the_mappings() -> None:
    memory = Memory()
    born(compiled(memory))
    decoded = compiled(memory).decode(message("DDATA", 2, metric("", 7, 21.5, STAMP + 1)))
    assert values(decoded) == ["21.5"]
    assert not asks_for_births(decoded)


def test_mapping_that_comes_later_gives_no_alias_a_meaning() -> None:
    decoded = compiled(Memory()).decode(message("DDATA", 2, metric("", 7, 21.5)))
    assert asks_for_births(decoded)
    assert [fault.reason.value for fault in decoded.faults] == ["unknown_name"]


def test_alias_is_not_believed_after_messages_may_have_been_missed() -> None:
    memory = Memory()
    registry = compiled(memory)
    born(registry)
    memory.of(SparkplugHost).doubt()
    decoded = registry.decode(message("DDATA", 2, metric("", 7, 21.5, STAMP + 1)))
    assert values(decoded) == []
    assert asks_for_births(decoded)
    born(registry)
    decoded = registry.decode(message("DDATA", 2, metric("", 7, 22.5, STAMP + 2)))
    assert values(decoded) == ["22.5"]


@pytest.mark.parametrize(
    ("born_with", "dies_with", "counts"),
    [(3, 3, True), (3, 2, False), (0, 255, False), (3, 4, True), (255, 0, True), (3, None, True)],
)
def test_death_counts_unless_it_is_of_an_earlier_birth(
    born_with: int, dies_with: int | None, counts: bool
) -> None:
    def bd_seq(number: int) -> Metric:
        return Metric("bdSeq", None, STAMP, 8, False, False, "long_value", number)

    registry = compiled(Memory())
    registry.decode(message("NBIRTH", 0, bd_seq(born_with)))
    registry.decode(message("DBIRTH", 1, metric("Temperature", 7, 20.0)))
    will = () if dies_with is None else (bd_seq(dies_with),)
    decoded = registry.decode(message("NDEATH", None, *will))
    assert [notice for notice in decoded.notices if isinstance(notice, Liveness)] == (
        [Liveness(("urn:s", "urn:p", "urn:f"), is_online=False)] if counts else []
    )


def test_message_counts_once_however_many_mappings_hear_it() -> None:
    others = [
        Mapping(f"urn:m{n}", f"spBv1.0/+/DDATA/+/{'+' if n else 'press3'}", *rest, selector="x")
        for n, rest in enumerate([("sparkplug", "urn:s", "urn:p", "urn:f")] * 2)
    ]
    registry = compiled(Memory(), TEMPERATURE, *others)
    born(registry)
    for sequence in range(2, 6):
        stamp = STAMP + sequence
        decoded = registry.decode(message("DDATA", sequence, metric("", 7, 1.0, stamp)))
        assert values(decoded) == ["1.0"]
        assert not asks_for_births(decoded)


def test_node_that_declares_without_end_begins_anew() -> None:
    registry = compiled(Memory())
    registry.decode(message("NBIRTH", 0))
    many = [metric(f"m{n}", n, 1.0) for n in range(1500)]
    for sequence in range(1, 20):
        payload = message("DBIRTH", sequence, *many).payload
        registry.decode(Message(f"spBv1.0/plant1/DBIRTH/edge7/d{sequence}", payload, NOW))
    assert 19 * len(many) > MAX_METRICS
    decoded = registry.decode(message("DDATA", 20, metric("", 7, 1.0)))
    assert asks_for_births(decoded)


def test_birth_may_be_longer_than_a_reading() -> None:
    registry = compiled(Memory())
    registry.decode(message("NBIRTH", 0))
    many = [metric(f"a metric of this plant, number {n}", n, 1.0) for n in range(2000)]
    birth = message("DBIRTH", 1, *many, metric("Temperature", 9999, 20.5))
    assert len(birth.payload) > 100_000
    assert values(registry.decode(birth)) == ["20.5"]
    huge = replace(birth, topic=TOPIC, payload=bytes(1_100_000))
    assert [fault.reason.value for fault in registry.decode(huge).faults] == ["too_large"]


@pytest.mark.parametrize(
    ("member", "mapping"),
    [
        ("topic_filter", {"topic_filter": "spBv1.0/#"}),
        ("topic_filter", {"topic_filter": "spBv1.0/+/+/#"}),
        ("topic_filter", {"topic_filter": "spAv1.0/g/DDATA/n/d"}),
        ("topic_filter", {"topic_filter": "spBv1.0/g/DDATA/n"}),
        ("topic_filter", {"topic_filter": "spBv1.0/g/NCMD/n"}),
        ("time_selector", {"time_selector": "$.t"}),
        ("sequence_selector", {"sequence_selector": "$.n"}),
    ],
)
def test_mapping_that_can_not_be_is_refused(member: str, mapping: dict[str, str]) -> None:
    registry, (error,) = Registry.compile([replace(TEMPERATURE, **mapping)])  # type: ignore[arg-type]
    assert error.member == member
    assert registry.topic_filters == frozenset()


def test_whole_node_is_subscribed_to_for_a_mapping() -> None:
    assert compiled(Memory()).topic_filters == {TOPIC, "spBv1.0/plant1/+/edge7/#"}


@pytest.mark.parametrize(
    "topic",
    [
        "",
        "spBv1.0",
        "spBv1.0/g/NDATA",
        "spBv1.0/g/NDATA/n/d",
        "spBv1.0/g/DDATA/n",
        "spBv1.0/g/X/n",
        "spBv1.0/STATE/scada",
        "spBv1.0//NDATA/n",
        "spBv1.0/g/DDATA/n/d/e",
    ],
)
def test_topic_of_nobody_is_told(topic: str) -> None:
    assert Address.of(topic) is None


def test_rebirth_command_says_true_to_the_metric_of_the_specification() -> None:
    command = decode_payload(rebirth_command(STAMP))
    assert isinstance(command, SparkplugPayload)
    (asked,) = command.metrics
    assert (asked.name, asked.datatype, asked.value) == ("Node Control/Rebirth", 11, True)
    assert command.timestamp_ms == asked.timestamp_ms == STAMP
    assert command.sequence is None


@pytest.mark.parametrize(("field", "value"), [("int_value", "x"), ("int_value", 2**32)])
def test_payload_that_protobuf_cannot_hold_is_refused(field: str, value: int | str) -> None:
    bad = Metric("a", 1, STAMP, 3, False, False, field, value)
    with pytest.raises(ValueError, match=r"integer|range"):
        encode_payload(SparkplugPayload(STAMP, 0, (bad,)))
