"""The SenML format: the traps of RFC 8428, in values of our own."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.adapter import Decoded, FaultReason
from adapters.documents.senml import BASE64_BINARY
from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.result import BOOLEAN, DECIMAL, DOUBLE, INTEGER, STRING
from adapters.values.units import UNIT

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
DEVICE = "urn:dev:mac:0024befffe804ff1:"
PACK = f"""[
  {{"bn":"{DEVICE}","bt":1772436300,"bu":"Cel","n":"air","v":19.2,"ut":600}},
  {{"n":"air","t":-300,"v":19.4}},
  {{"n":"rh","u":"%RH","v":51}},
  {{"n":"door","vb":false}}
]"""


def decode(
    pack: str, selector: str = "", unit: str | None = None, sensor: str = "urn:s:{name}"
) -> Decoded:
    mapping = Mapping("urn:m", "m/+/c", "senml", sensor, "urn:p", "urn:f", selector, unit)
    registry, errors = Registry.compile([mapping])
    assert not errors
    return registry.decode(Message("m/d1/c", pack.encode(), NOW))


def literals(pack: str, selector: str = "") -> list[tuple[str, str]]:
    decoded = decode(pack, selector)
    assert not decoded.faults
    return [(seen.lexical, seen.datatype) for seen in decoded.observations]


def defect(pack: str) -> FaultReason:
    decoded = decode(pack)
    assert decoded.observations == ()
    (fault,) = decoded.faults
    assert fault.mapping is None
    return fault.reason


def test_pack_is_resolved_with_names_times_and_units_in_order_of_time() -> None:
    decoded = decode(PACK)
    prefix = "urn:s:urn%3Adev%3Amac%3A0024befffe804ff1%3A"
    at = datetime(2026, 3, 2, 7, 25, tzinfo=UTC)
    assert not decoded.faults
    assert [(s.sensor, s.lexical, s.phenomenon_time, s.unit) for s in decoded.observations] == [
        (prefix + "air", "19.4", at - timedelta(minutes=5), UNIT + "DEG_C"),
        (prefix + "air", "19.2", at, UNIT + "DEG_C"),
        (prefix + "rh", "51", at, UNIT + "PERCENT_RH"),
        (prefix + "door", "false", at, None),
    ]


@pytest.mark.parametrize(
    ("selector", "values"),
    [
        ("", ["19.4", "19.2", "51", "false"]),
        ("*", ["19.4", "19.2", "51", "false"]),
        ("*:air", ["19.4", "19.2"]),
        ("*r", ["19.4", "19.2", "false"]),
        (DEVICE + "rh", ["51"]),
    ],
)
def test_selector_takes_the_whole_name_or_its_end_or_everything(
    selector: str, values: list[str]
) -> None:
    assert [lexical for lexical, _ in literals(PACK, selector)] == values


def test_selector_of_a_part_of_a_name_takes_nothing() -> None:
    (fault,) = decode(PACK, "rh").faults
    assert (fault.mapping, fault.reason) == ("urn:m", FaultReason.MISSING)


def test_topic_level_and_name_both_fill_the_template() -> None:
    decoded = decode('[{"n":"a/b","v":1}]', sensor="http://h/{1}/{name}")
    assert decoded.observations[0].sensor == "http://h/d1/a%2Fb"


@pytest.mark.parametrize(
    ("record", "lexical", "datatype"),
    [
        ('"v":21.50', "21.50", DECIMAL),
        ('"v":3', "3", INTEGER),
        ('"v":1e3', "1e3", DOUBLE),
        ('"vs":"21.5"', "21.5", STRING),
        ('"vs":""', "", STRING),
        ('"vs":"unavailable"', "unavailable", STRING),
        ('"vb":true', "true", BOOLEAN),
        ('"vd":"_-8"', "/+8=", BASE64_BINARY),
        ('"vd":"_-8="', "/+8=", BASE64_BINARY),
        ('"vd":""', "", BASE64_BINARY),
        ('"v":1,"x":2,"bx":[]', "1", INTEGER),
        ('"bv":20,"v":1.25', "21.25", DECIMAL),
        ('"bv":20,"v":1', "21", INTEGER),
        ('"bv":20.5', "20.5", DECIMAL),
        ('"bv":1e3,"v":1', "1001.0", DOUBLE),
        ('"bv":0.1,"v":1000000000000000000000000000000', "1" + "0" * 30 + ".1", DECIMAL),
        ('"bv":20,"vs":"x"', "x", STRING),
        ('"v":1,"bver":10', "1", INTEGER),
        ('"v":1,"bver":1', "1", INTEGER),
        ('"v":1,"bver":26', "1", INTEGER),
        ('"v":1,"bver":1e1', "1", INTEGER),
    ],
)
def test_value_of_a_record(record: str, lexical: str, datatype: str) -> None:
    assert literals(f'[{{"n":"a",{record}}}]') == [(lexical, datatype)]


def test_base_fields_hold_for_later_records_until_given_again() -> None:
    pack = '[{"bn":"a","bu":"V","bv":1,"v":1},{"v":2},{"bn":"b","bu":"A","v":3},{"n":"c","v":4}]'
    decoded = decode(pack)
    assert [(s.sensor[-2:].strip(":"), s.unit, s.lexical) for s in decoded.observations] == [
        ("a", UNIT + "V", "2"),
        ("a", UNIT + "V", "3"),
        ("b", UNIT + "A", "4"),
        ("bc", UNIT + "A", "5"),
    ]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ("", None),
        ('"t":0,', None),
        ('"bt":60,"t":-60,', None),
        ('"t":-5,', NOW - timedelta(seconds=5)),
        ('"t":5.5,', NOW + timedelta(seconds=5.5)),
        ('"t":268435455,', NOW + timedelta(seconds=268_435_455)),
        ('"t":268435456,', datetime(1978, 7, 4, 21, 24, 16, tzinfo=UTC)),
        ('"bt":1772436300,"t":0.25,', datetime(2026, 3, 2, 7, 25, 0, 250_000, tzinfo=UTC)),
        ('"bt":1.7724363e9,', datetime(2026, 3, 2, 7, 25, tzinfo=UTC)),
    ],
)
def test_time_below_two_to_the_28_is_relative_to_reception(
    times: str, expected: datetime | None
) -> None:
    (seen,) = decode(f'[{{"n":"a",{times}"v":1}}]').observations
    assert seen.phenomenon_time == expected


@pytest.mark.parametrize("time", ["1e99", "1e999999", "-1e99", "1e99999999999999999999", "9e11"])
def test_time_beyond_the_calendar_costs_only_the_time(time: str) -> None:
    decoded = decode(f'[{{"n":"a","t":{time},"v":1}}]')
    assert [seen.phenomenon_time for seen in decoded.observations] == [None]
    assert [fault.reason for fault in decoded.faults] == [FaultReason.TIME_UNUSABLE]


def test_sum_is_taken_by_its_selector_with_the_unit_of_the_mapping() -> None:
    pack = '[{"n":"p","u":"W","v":60,"s":1200},{"n":"q","u":"W","s":5}]'
    assert [s.lexical for s in decode(pack).observations] == ["60"]
    decoded = decode(pack, "#sum", unit="J")
    assert [(s.lexical, s.unit) for s in decoded.observations] == [
        ("1200", UNIT + "J"),
        ("5", UNIT + "J"),
    ]
    assert [s.lexical for s in decode(pack, "p#sum").observations] == ["1200"]


def test_base_sum_is_added_and_counts_alone() -> None:
    pack = '[{"bs":100,"n":"p","s":1.5},{"n":"q"}]'
    assert [lexical for lexical, _ in literals(pack, "#sum")] == ["101.5", "100"]


def test_unit_of_the_mapping_stands_in_where_the_record_has_none() -> None:
    (seen,) = decode('[{"n":"a","v":1}]', unit="Cel").observations
    assert seen.unit == UNIT + "DEG_C"
    (seen,) = decode('[{"n":"a","v":1,"u":"K"}]', unit="Cel").observations
    assert (seen.lexical, seen.unit) == ("-272.15", UNIT + "DEG_C")


def test_unit_without_a_crosswalk_is_told() -> None:
    decoded = decode('[{"n":"a","v":1,"u":"furlong"}]', unit="m")
    assert [seen.unit for seen in decoded.observations] == [UNIT + "M"]
    assert [fault.reason for fault in decoded.faults] == [FaultReason.UNIT_UNKNOWN]


def test_text_has_neither_a_unit_nor_an_unknown_one() -> None:
    decoded = decode('[{"bu":"furlong","n":"a","vs":"x"},{"n":"b","bu":"V","vb":true}]', unit="m")
    assert [seen.unit for seen in decoded.observations] == [None, None]
    assert not decoded.faults


@pytest.mark.parametrize(
    "pack",
    [
        "{}",
        "[]",
        "1",
        "[1]",
        '[{"n":"a","v":1},[]]',
        '[{"n":"a"}]',
        '[{"bn":"a","bt":1}]',
        '[{"n":"a","v":1,"vs":"x"}]',
        '[{"n":"a","vb":true,"vd":"AA"}]',
        '[{"n":"a","v":"1"}]',
        '[{"n":"a","v":true}]',
        '[{"n":"a","v":null}]',
        '[{"n":"a","vs":1}]',
        '[{"n":"a","vb":1}]',
        '[{"n":"a","vd":"a"}]',
        '[{"n":"a","vd":"+/8"}]',
        '[{"n":"a","vd":"A=A"}]',
        '[{"n":1,"v":1}]',
        '[{"n":"a","v":1,"u":1}]',
        '[{"n":"a","v":1,"t":"0"}]',
        '[{"n":"a","v":1,"ut":"x"}]',
        '[{"v":1}]',
        '[{"n":"","v":1}]',
        '[{"n":"-a","v":1}]',
        '[{"n":"a b","v":1}]',
        '[{"n":"a#b","v":1}]',
        '[{"n":"é","v":1}]',
        '[{"n":"a\\n","v":1}]',
        '[{"n":"a","v":1,"must_":1}]',
        '[{"n":"a","v":1},{"n":"b","v":1,"_":null}]',
        '[{"n":"a","v":1},{"n":"b","v":1,"bver":5}]',
        '[{"n":"' + "a" * 257 + '","v":1}]',
    ],
)
def test_defect_of_structure_costs_the_pack(pack: str) -> None:
    assert defect(pack) is FaultReason.SENML_STRUCTURE


@pytest.mark.parametrize("version", ["11", "27", "0", "-1", "10.5", "1e99", "1e99999999999999999"])
def test_version_that_is_not_understood_costs_the_pack(version: str) -> None:
    assert defect(f'[{{"n":"a","v":1,"bver":{version}}}]') is FaultReason.SENML_VERSION


def test_label_twice_in_a_record_costs_the_pack() -> None:
    assert defect('[{"n":"a","v":1,"v":2}]') is FaultReason.DUPLICATE_KEY


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ('"v":1e999', FaultReason.NOT_FINITE),
        ('"bv":1e308,"v":1.7e308', FaultReason.NOT_FINITE),
        ('"v":' + "1" * 65, FaultReason.TOO_MANY_DIGITS),
        ('"bv":' + "1" * 65 + ',"v":1', FaultReason.TOO_MANY_DIGITS),
        (r'"vs":"\u0000"', FaultReason.INVALID_TEXT),
    ],
)
def test_value_that_no_literal_can_hold_costs_its_record(value: str, reason: FaultReason) -> None:
    decoded = decode(f'[{{"n":"a","v":5}},{{"n":"b",{value}}}]')
    assert [seen.lexical for seen in decoded.observations] == ["5"]
    assert [fault.reason for fault in decoded.faults] == [reason]


@pytest.mark.parametrize(
    ("member", "text"),
    [
        ("selector", "a*"),
        ("selector", "-a"),
        ("selector", "*a b"),
        ("selector", "a b"),
        ("time_selector", "$.t"),
        ("sequence_selector", "$.n"),
    ],
)
def test_mapping_that_no_record_can_meet_is_an_error(member: str, text: str) -> None:
    changed: dict[str, Any] = {member: text}
    mapping = replace(Mapping("urn:m", "t", "senml", "urn:s", "urn:p", "urn:f"), **changed)
    _, (error,) = Registry.compile([mapping])
    assert error.member == member
