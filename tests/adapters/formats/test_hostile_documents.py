"""Binary documents, CSV and hex from somebody who means harm: a fault each, in bounded time."""

from datetime import UTC, datetime

import pytest

from adapters.registry import Registry
from adapters.values.mapping import Mapping, MappingError
from adapters.values.message import Message

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def mapping(form: str, selector: str, sensor: str = "urn:s", **members: str) -> Mapping:
    return Mapping("urn:m", "t", form, sensor, "urn:p", "urn:f", selector, **members)  # type: ignore[arg-type]


def reasons(form: str, selector: str, payload: bytes) -> list[str]:
    registry, errors = Registry.compile([mapping(form, selector)])
    assert not errors
    decoded = registry.decode(Message("t", payload, NOW))
    assert not decoded.observations
    return [fault.reason.value for fault in decoded.faults]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\x91" * 65_000, "too_deep"),
        (b"\x81\xa1a" * 1_000 + b"\x01", "too_deep"),
        (b"\x91" * 200 + b"\x01", "too_deep"),
        (b"\xdd\xff\xff\xff\xff", "malformed"),
        (b"\xdf\xff\xff\xff\xff", "malformed"),
        (b"\xc6\xff\xff\xff\xff", "malformed"),
        (b"\xc1", "malformed"),
        (b"\x01\x02", "malformed"),
        (b"\x81\xc0\x01", "malformed"),
        (b"\x81\xa1t\xd6\xff\xff\xff\xff\xff", "missing"),
    ],
)
def test_hostile_messagepack_is_one_fault(payload: bytes, reason: str) -> None:
    assert reasons("msgpack", "$.x", payload) == [reason]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\x81" * 65_000, "too_deep"),
        (b"\x9f" * 65_000, "too_deep"),
        (b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "malformed"),
        (b"\x5b\x7f\xff\xff\xff\xff\xff\xff\xff", "malformed"),
        (b"\xa1at" + b"\xc2\x58\xff" + b"\xff" * 255, "too_many_digits"),
        (b"\x01\x02", "malformed"),
    ],
)
def test_hostile_cbor_is_one_fault(payload: bytes, reason: str) -> None:
    assert reasons("cbor", "$.x", payload) == [reason]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"1\n" * 30_000, "too_large"),
        (b'"' + b"a" * 60_000, "malformed"),
        (b"1,\0,2", "invalid_text"),
        (b"\xff\xfe", "invalid_utf8"),
        (b"\n\n\r\n", "empty"),
    ],
)
def test_hostile_csv_is_one_fault(payload: bytes, reason: str) -> None:
    assert reasons("csv", "#3", payload) == [reason]


def error(bad: Mapping) -> MappingError:
    _, (found,) = Registry.compile([bad])
    return found


@pytest.mark.parametrize(
    ("bad", "member"),
    [
        (mapping("csv", ""), "selector"),
        (mapping("csv", "#0"), "selector"),
        (mapping("csv", "#a"), "selector"),
        (mapping("csv", "t", "urn:s:{name}"), "selector"),
        (mapping("json", "$.t", "urn:s:{name}"), "selector"),
        (mapping("cbor", "t"), "selector"),
        (mapping("bytes", "u16@1"), "selector"),
        (mapping("hex", ""), "selector"),
        (mapping("bytes", "u8@0", time_selector="never"), "time_selector"),
        (mapping("zigbee2mqtt", "a..b"), "selector"),
        (mapping("zigbee2mqtt", "t", time_selector="$.x"), "time_selector"),
        (mapping("tasmota", "A[*]", time_selector="$.x"), "time_selector"),
        (mapping("tasmota", "A.B", "urn:{name}"), "selector"),
        (mapping("shelly", "a b"), "selector"),
        (mapping("shelly", "a.*"), "selector"),
        (mapping("shelly_gen1", "a.b"), "selector"),
        (mapping("esphome", "a b"), "selector"),
        (mapping("homie", "$.x"), "selector"),
        (mapping("homeassistant", "{% if 1 %}"), "selector"),
        (mapping("json", "$.t", true_value="ON", false_value="on"), "false_value"),
        (mapping("json", "$.t", true_value="null"), "true_value"),
        (mapping("json", "$.t", availability_topic="a/+"), "availability_topic"),
        (mapping("json", "$.t", availability_topic="a/#/b"), "availability_topic"),
    ],
)
def test_mapping_that_cannot_be_names_its_member(bad: Mapping, member: str) -> None:
    assert error(bad).member == member
