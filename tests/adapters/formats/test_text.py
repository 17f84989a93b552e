"""The text format: RE2 expressions, their groups, and what they refuse."""

from datetime import UTC, datetime

import pytest

from adapters.adapter import Decoded, FaultReason
from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.result import BOOLEAN, DECIMAL, INTEGER, STRING

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def mapping(selector: str, time: str = "", sequence: str = "") -> Mapping:
    return Mapping(
        "urn:m" + str(len(selector)),
        "t",
        "text",
        "urn:s",
        "urn:p",
        "urn:f",
        selector,
        time_selector=time,
        sequence_selector=sequence,
    )


def decode(payload: bytes, *mappings: Mapping) -> Decoded:
    registry, errors = Registry.compile(mappings)
    assert not errors
    return registry.decode(Message("t", payload, NOW))


@pytest.mark.parametrize(
    ("payload", "selector", "lexical", "datatype"),
    [
        (b"T=21.50;H=44", r"T=([0-9.]+)", "21.50", DECIMAL),
        (b"T=21.50;H=44", r"H=(?P<value>[0-9]+)", "44", INTEGER),
        (b"door: OPEN\n", r"door: (\w+)", "true", BOOLEAN),
        (b"mode heat", r"mode (\w+)", "heat", STRING),
        ("Größe 7 µm".encode(), r"Größe (\d+) µm", "7", INTEGER),
        (b"line one\nT 5\n", r"(?m)^T (\d)$", "5", INTEGER),
    ],
)
def test_group_is_the_value(payload: bytes, selector: str, lexical: str, datatype: str) -> None:
    decoded = decode(payload, mapping(selector))
    assert not decoded.faults
    (seen,) = decoded.observations
    assert (seen.lexical, seen.datatype) == (lexical, datatype)


def test_groups_time_and_seq_are_read_without_a_selector() -> None:
    expression = r"(?P<seq>\d+),(?P<time>[^,]+),(?P<value>[^,]+)"
    decoded = decode(b"17,2026-03-02T07:14:55Z,21.5", mapping(expression))
    (seen,) = decoded.observations
    assert seen.phenomenon_time == datetime(2026, 3, 2, 7, 14, 55, tzinfo=UTC)
    assert (seen.lexical, seen.device_sequence) == ("21.5", "17")


def test_selectors_name_other_groups_for_time_and_sequence() -> None:
    expression = r"(?P<n>\d+),(?P<at>[^,]+),(?P<value>[^,]+)"
    decoded = decode(b"17,1772435695,21.5", mapping(expression, "at", "n"))
    (seen,) = decoded.observations
    assert seen.phenomenon_time == datetime(2026, 3, 2, 7, 14, 55, tzinfo=UTC)
    assert seen.device_sequence == "17"


def test_group_that_took_no_part_is_absent() -> None:
    expression = r"(?P<value>\d+)(?:@(?P<time>\d+))?(?:#(?P<seq>\d+))?"
    decoded = decode(b"5", mapping(expression))
    assert not decoded.faults
    (seen,) = decoded.observations
    assert (seen.phenomenon_time, seen.device_sequence) == (None, None)
    (fault,) = decode(b"xy", mapping(r"x(\d)?y")).faults
    assert fault.reason is FaultReason.MISSING


def test_bad_time_and_sequence_cost_only_themselves() -> None:
    expression = r"(?P<value>\d+)@(?P<time>\w*)#(?P<seq>\w*)"
    decoded = decode(b"5@noon#", mapping(expression))
    assert len(decoded.observations) == 1
    assert [fault.reason for fault in decoded.faults] == [
        FaultReason.TIME_UNUSABLE,
        FaultReason.SEQUENCE_UNUSABLE,
    ]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"T=unavailable", FaultReason.NULL),
        (b"T=nan", FaultReason.NOT_FINITE),
        (b"T=", FaultReason.EMPTY),
        (b"H=5", FaultReason.MISSING),
        (b"", FaultReason.MISSING),
        (b"T=\xff", FaultReason.INVALID_UTF8),
        (b"T=a\x01b", FaultReason.INVALID_TEXT),
    ],
)
def test_text_without_a_value_is_a_fault(payload: bytes, reason: FaultReason) -> None:
    decoded = decode(payload, mapping(r"(?s)T=(.*)"))
    assert decoded.observations == ()
    assert [fault.reason for fault in decoded.faults] == [reason]


def test_expression_that_cuts_a_character_is_a_fault_and_no_exception() -> None:
    groups = {r"(?P<value>\C)": FaultReason.INVALID_UTF8}
    groups[r"(?P<time>\C)\C(?P<value>\d)"] = FaultReason.TIME_UNUSABLE
    groups[r"(?P<seq>\C)\C(?P<value>\d)"] = FaultReason.SEQUENCE_UNUSABLE
    for expression, reason in groups.items():
        (fault,) = decode("é5".encode(), mapping(expression)).faults
        assert fault.reason is reason


def test_mapping_that_matches_nothing_is_silent_beside_one_that_does() -> None:
    decoded = decode(b"T=5", mapping(r"T=(\d)"), mapping(r"Hum=(\d)"))
    assert len(decoded.observations) == 1
    assert not decoded.faults


@pytest.mark.parametrize(
    "selector",
    ["", "(", "a", "(a)(b)", "(?P<x>a)", r"(a)\1", "(?=a)(b)", "(" + "a" * 1024 + ")", "(\ud800)"],
)
def test_expression_that_re2_or_the_groups_refuse_is_a_mapping_error(selector: str) -> None:
    _, (error,) = Registry.compile([mapping(selector)])
    assert error.member == "selector"


def test_selector_that_names_no_group_is_a_mapping_error() -> None:
    _, errors = Registry.compile([mapping("(?P<value>a)", "at"), mapping("(?P<value>a)", "", "n")])
    assert [error.member for error in errors] == ["time_selector", "sequence_selector"]


def test_expression_that_would_stall_a_backtracking_engine_is_linear() -> None:
    (fault,) = decode(b"a" * 60_000 + b"b", mapping(r"^((?:a+)+)$")).faults
    assert fault.reason is FaultReason.MISSING
