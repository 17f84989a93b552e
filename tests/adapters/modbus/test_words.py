"""Registers as values and back, in every order of bytes; commands; payloads that are none."""

import struct
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.modbus.command import command_defect, encode_command, read_command
from adapters.modbus.register import ORDERS, Register
from adapters.modbus.words import decoded, encoded
from adapters.registry import Registry
from adapters.values.fault import Fault, FaultReason
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.result import Result

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def register(text: str) -> Register:
    return Register.parse(f"b/1 {text}", scaled=True)


@pytest.mark.parametrize(
    ("text", "words", "value"),
    [
        ("holding 0 int16", [0xFFFF], "-1"),
        ("holding 0 uint16", [0xFFFF], "65535"),
        ("holding 0 uint16 badc", [0x0100], "1"),
        ("holding 0 int32", [0xFFFF, 0xFFFE], "-2"),
        ("holding 0 int32 cdab", [0xFFFE, 0xFFFF], "-2"),
        ("holding 0 uint32 badc", [0x0100, 0x0200], "65538"),
        ("holding 0 uint32 dcba", [0x0200, 0x0100], "65538"),
        ("holding 0 int64", [0, 0, 1, 0], "65536"),
        ("holding 0 uint64 cdab", [0, 1, 0, 0], "65536"),
        ("holding 0 float32", [0x41AC, 0], "21.5"),
        ("holding 0 float32 cdab", [0xCCCD, 0x3DCC], "0.1"),
        ("holding 0 float64", [0x3FB9, 0x9999, 0x9999, 0x999A], "0.1"),
        ("holding 0 string:3", [0x4142, 0x4300, 0x5858], "ABC"),
        ("holding 0 string:2 badc", [0x4241, 0x2043], "ABC"),
        ("holding 0 bit:0", [1], "true"),
        ("holding 0 bit:15", [0x7FFF], "false"),
        ("coil 0", [1], "true"),
    ],
)
def test_words_are_a_value(text: str, words: list[int], value: str) -> None:
    result = decoded(register(text), words)
    assert isinstance(result, Result)
    assert result.lexical == value


@pytest.mark.parametrize(
    ("text", "words", "reason"),
    [
        ("holding 0 int16 !0x8000", [0x8000], FaultReason.SENTINEL),
        ("holding 0 uint32 cdab !0xffff0000", [0, 0xFFFF], FaultReason.SENTINEL),
        ("holding 0 float32", [0x7FC0, 0], FaultReason.NOT_FINITE),
        ("holding 0 float64", [0x7FF0, 0, 0, 0], FaultReason.NOT_FINITE),
        ("holding 0 string:1", [0xFFFE], FaultReason.INVALID_UTF8),
        ("holding 0 string:1", [0], FaultReason.EMPTY),
        ("holding 0 string:1", [0x0141], FaultReason.INVALID_TEXT),
    ],
)
def test_words_that_are_no_value_are_a_fault(
    text: str, words: list[int], reason: FaultReason
) -> None:
    fault = decoded(register(text), words)
    assert isinstance(fault, Fault)
    assert fault.reason is reason


@given(
    st.sampled_from(["int16", "uint16", "int32", "uint32", "int64", "uint64"]),
    st.sampled_from(ORDERS),
    st.data(),
)
def test_integers_come_back(kind: str, order: str, data: st.DataObject) -> None:
    made = register(f"holding 0 {kind} {order}")
    bits = 16 * made.count
    least = -(2 ** (bits - 1)) if made.kind == "int" else 0
    number = data.draw(st.integers(least, least + 2**bits - 1))
    result = decoded(made, encoded(made, str(number)))
    assert isinstance(result, Result)
    assert result.lexical == str(number)
    with pytest.raises(ValueError, match="is beyond"):
        encoded(made, str(least - 1))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.sampled_from(ORDERS))
def test_floats_come_back(number: float, order: str) -> None:
    made = register(f"holding 0 float32 {order}")
    result = decoded(made, encoded(made, repr(number)))
    assert isinstance(result, Result)
    assert struct.pack(">f", float(result.lexical)) == struct.pack(">f", number)


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        ("holding 0 int16", "1.5", "no whole multiple of 1"),
        ("holding 0 int16 scale 0.1 offset -40", "21.55", "no whole multiple of 0.1"),
        ("holding 0 int16 scale 3", "10", "no whole multiple of 3"),
        ("holding 0 int16", "40000", "beyond int16"),
        ("holding 0 float32", "1e39", "beyond float32"),
        ("holding 0 float64", "1e999", "no number that a register has"),
        ("holding 0 int16", "warm", "is no number"),
        ("holding 0 int16", "NaN", "no number that a register has"),
        ("holding 0 int16", "1e999999999", "no number that a register has"),
        ("holding 0 string:1", "abc", "more than its 2"),
        ("coil 0", "open", "neither true nor false"),
        ("holding 0 bit:3", "true", "its others"),
    ],
)
def test_what_cannot_be_written_is_told(text: str, value: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        encoded(register(text), value)


def test_scale_and_offset_of_a_command_are_exact() -> None:
    assert encoded(register("holding 0 int16 scale 0.1 offset -40"), "21.5") == [615]
    assert encoded(register("holding 0 uint16 scale 100"), "1200") == [12]


@pytest.mark.parametrize("text", ["coil 3 = true", 'coil 3 = "on"', "coil 3=1"])
def test_a_command_has_the_form_of_a_reading(text: str) -> None:
    payload = encode_command(f"b/1 {text}", NOW)
    assert payload == b'{"bus":"b","unit":1,"coil":{"3":[1]}}'
    assert read_command(Message("modbus/x/set", payload, NOW)).words == {("coil", 3): 1}


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{}",
        b'{"bus":"b","unit":1}',
        b'{"bus":"b","unit":1,"input":{"0":[1]}}',
        b'{"bus":"b","unit":1,"holding":{"0":[1]},"coil":{"0":[1]}}',
        b'{"bus":"b","unit":1,"holding":{"0":[1],"5":[1]}}',
        b'{"bus":"b","unit":256,"holding":{"0":[1]}}',
        b'{"bus":"b","unit":1,"holding":{"0":[65536]}}',
        b'{"bus":"b","unit":1,"holding":{"65535":[1,2]}}',
        b'{"bus":"b","unit":1,"holding":{"0":[1.0]}}',
        b'{"bus":"b","unit":1,"holding":{"-1":[1]}}',
        b'{"bus":"b","unit":true,"coil":{"0":[1]}}',
        b'{"bus":"b","unit":1,"coil":{"0":[2]}}',
    ],
)
def test_what_is_no_command_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_command(Message("modbus/x/set", payload, NOW))


def test_an_actuator_of_a_coil_needs_no_range() -> None:
    topic = "modbus/pump/set"
    assert not command_defect(topic, "b/1 coil 3 = {value}", is_bounded=False)
    assert "missing" in command_defect(topic, "b/1 holding 3 int16 = {value}", is_bounded=False)
    assert "is not modbus/DEVICE/set" in command_defect("modbus/+/set", "", is_bounded=True)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("topic_filter", "modbus/+"),
        ("topic_filter", "plc/1"),
        ("selector", "b/1 holding"),
        ("time_selector", "x"),
        ("sequence_selector", "x"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused_with_its_member(member: str, value: str) -> None:
    given: dict[str, Any] = {"topic_filter": "modbus/a", "selector": "b/1 coil 1", member: value}
    mapping = Mapping(
        "urn:m",
        format="modbus",
        sensor="urn:s",
        observed_property="urn:p",
        feature_of_interest="urn:f",
        **given,
    )
    _, [error] = Registry.compile([mapping])
    assert error.member == member
