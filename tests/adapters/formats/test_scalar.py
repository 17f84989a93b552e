"""The scalar format: what a bare payload means, digit for digit."""

from datetime import UTC, datetime

import pytest

from adapters.adapter import Decoded, FaultReason
from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.result import BOOLEAN, DECIMAL, DOUBLE, INTEGER, STRING

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def decode(payload: bytes, selector: str = "") -> Decoded:
    mapping = Mapping("urn:m", "t", "scalar", "urn:s", "urn:p", "urn:f", selector)
    registry, errors = Registry.compile([mapping])
    assert not errors
    return registry.decode(Message("t", payload, NOW))


def literal(payload: bytes, selector: str = "") -> tuple[str, str]:
    decoded = decode(payload, selector)
    assert not decoded.faults
    (seen,) = decoded.observations
    return seen.lexical, seen.datatype


@pytest.mark.parametrize(
    ("payload", "lexical", "datatype"),
    [
        (b"21.5", "21.5", DECIMAL),
        (b"21.50", "21.50", DECIMAL),
        (b"-3", "-3", INTEGER),
        (b"0", "0", INTEGER),
        (b"+5", "5", INTEGER),
        (b"+5.5", "5.5", DECIMAL),
        (b".5", "0.5", DECIMAL),
        (b"-.5", "-0.5", DECIMAL),
        (b"5.", "5.0", DECIMAL),
        (b"007", "007", INTEGER),
        (b"1e3", "1e3", DOUBLE),
        (b"5.e3", "5.0e3", DOUBLE),
        (b"-1.5E-7", "-1.5E-7", DOUBLE),
        (b" 21.5\r\n", "21.5", DECIMAL),
        (b"21.5\x00", "21.5", DECIMAL),
        (b"0.1234567890123456789012345678901234567890", "0." + "1234567890" * 4, DECIMAL),
        (b"9" * 64, "9" * 64, INTEGER),
    ],
)
def test_number_keeps_its_digits(payload: bytes, lexical: str, datatype: str) -> None:
    assert literal(payload) == (lexical, datatype)


@pytest.mark.parametrize("word", ["on", "ON", "true", "True", "open", "Open"])
def test_word_for_true_in_any_case(word: str) -> None:
    assert literal(word.encode()) == ("true", BOOLEAN)


@pytest.mark.parametrize("word", ["off", "Off", "false", "FALSE", "closed", "CLOSED"])
def test_word_for_false_in_any_case(word: str) -> None:
    assert literal(word.encode()) == ("false", BOOLEAN)


@pytest.mark.parametrize(
    "text",
    ["2026-03-02T07:14:55.102Z", "2026-03-02 07:14:55", "2026-03-02T07:14:55+01:00", "2026-03-02"],
)
def test_timestamp_stays_a_string(text: str) -> None:
    assert literal(text.encode()) == (text, STRING)


@pytest.mark.parametrize("text", ["heat", "off", "21.5", "online", "Grüße"])
def test_selector_string_keeps_one_datatype_whatever_the_text(text: str) -> None:
    assert literal(text.encode(), "string") == (text, STRING)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", FaultReason.EMPTY),
        (b"  \n", FaultReason.EMPTY),
        (b"\x00", FaultReason.EMPTY),
        (b"null", FaultReason.NULL),
        (b"None", FaultReason.NULL),
        (b"unavailable", FaultReason.NULL),
        (b"Unknown", FaultReason.NULL),
        (b"NaN", FaultReason.NOT_FINITE),
        (b"inf", FaultReason.NOT_FINITE),
        (b"-Infinity", FaultReason.NOT_FINITE),
        (b"\xff\xfe", FaultReason.INVALID_UTF8),
    ],
)
@pytest.mark.parametrize("selector", ["", "string"])
def test_payload_without_a_value_is_a_fault(
    payload: bytes, reason: FaultReason, selector: str
) -> None:
    decoded = decode(payload, selector)
    assert decoded.matched
    assert decoded.observations == ()
    assert [fault.reason for fault in decoded.faults] == [reason]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"1e999", FaultReason.NOT_FINITE),
        (b"9" * 65, FaultReason.TOO_MANY_DIGITS),
        (b"9" * 60_000, FaultReason.TOO_MANY_DIGITS),
        (b"1e" + b"0" * 80 + b"1", FaultReason.TOO_MANY_DIGITS),
        ("٣".encode(), FaultReason.NOT_A_VALUE),
        (b"0x10", FaultReason.NOT_A_VALUE),
        (b"1,500", FaultReason.NOT_A_VALUE),
        (b"1_000", FaultReason.NOT_A_VALUE),
        (b".", FaultReason.NOT_A_VALUE),
        (b"-", FaultReason.NOT_A_VALUE),
        (b"21.5 C", FaultReason.NOT_A_VALUE),
        (b"online", FaultReason.NOT_A_VALUE),
    ],
)
def test_text_that_is_no_number_and_no_boolean_is_a_fault(
    payload: bytes, reason: FaultReason
) -> None:
    decoded = decode(payload)
    assert decoded.observations == ()
    assert [fault.reason for fault in decoded.faults] == [reason]


def test_string_with_a_control_character_is_a_fault() -> None:
    (fault,) = decode(b"a\x01b", "string").faults
    assert fault.reason is FaultReason.INVALID_TEXT
    assert "U+0001" in fault.detail


def test_payload_of_the_greatest_size_is_read_and_one_byte_more_is_not() -> None:
    assert literal(b"x" * 65_536, "string")[0] == "x" * 65_536
    (fault,) = decode(b"x" * 65_537, "string").faults
    assert fault.reason is FaultReason.TOO_LARGE
    assert fault.mapping is None


def test_fault_names_its_mapping_and_has_a_short_ascii_detail() -> None:
    (fault,) = decode("é".encode() * 1000).faults
    assert fault.mapping == "urn:m"
    assert fault.detail.isascii()
    assert len(fault.detail) < 300


def test_fault_of_a_time_keeps_the_observation_and_a_fault_of_the_value_does_not() -> None:
    kept = {reason for reason in FaultReason if not reason.costs_observation}
    assert kept == {
        FaultReason.TIME_UNUSABLE,
        FaultReason.SEQUENCE_UNUSABLE,
        FaultReason.UNIT_UNKNOWN,
    }


@pytest.mark.timeout(3)
def test_digits_before_a_letter_cost_linear_time() -> None:
    for start in (b"", b".", b"1e"):
        (fault,) = decode(start + b"9" * 60_000 + b"x").faults
        assert fault.reason is FaultReason.NOT_A_VALUE
