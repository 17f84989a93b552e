"""The JSON format: paths, what JSON values mean, partial updates, times and sequences."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.adapter import Decoded, FaultReason
from adapters.documents.json_path import ABSENT, JsonPath
from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.observation import Observation
from adapters.values.payload import Json
from adapters.values.result import BOOLEAN, DECIMAL, DOUBLE, INTEGER, STRING

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def decode(payload: bytes | str, *selectors: str, time: str = "", sequence: str = "") -> Decoded:
    mappings = [
        Mapping(
            f"urn:m{selector}",
            "t",
            "json",
            "urn:s",
            f"urn:p:{number}",
            "urn:f",
            selector,
            time_selector=time,
            sequence_selector=sequence,
        )
        for number, selector in enumerate(selectors)
    ]
    registry, errors = Registry.compile(mappings)
    assert not errors
    raw = payload if isinstance(payload, bytes) else payload.encode()
    return registry.decode(Message("t", raw, NOW))


def only(decoded: Decoded) -> Observation:
    assert not decoded.faults
    (seen,) = decoded.observations
    return seen


def reasons(decoded: Decoded) -> list[FaultReason]:
    return [fault.reason for fault in decoded.faults]


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$", ()),
        ("$.a", ("a",)),
        ("$.a.b[0]['c d']", ("a", "b", 0, "c d")),
        ('$["x"]', ("x",)),
        ("$[-1]", (-1,)),
        ("$.switch:0.aenergy.total", ("switch:0", "aenergy", "total")),
        ("$.DS18B20-1.Temperature", ("DS18B20-1", "Temperature")),
        ("$.größe", ("größe",)),
        ("$['it\\'s']", ("it's",)),
        ("$['a.b']['']", ("a.b", "")),
    ],
)
def test_path_compiles_to_its_steps(path: str, steps: tuple[str | int, ...]) -> None:
    assert JsonPath.compile(path).steps == steps


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a",
        "$.",
        "$a",
        "$..a..b",
        "$[?@..a]",
        "$[0,0]",
        "$[*,0]",
        "$[?match(@.a, @.b)]",
        "$[?count(@.*) > 1]",
        "$['a','a']",
        "$[01]",
        "$[-0]",
        "$['a",
        "$[a]",
        "$.a b",
        "$[99999999999]",
    ],
)
def test_path_that_is_none_or_may_take_long_is_refused(path: str) -> None:
    mapping = Mapping("urn:m", "t", "json", "urn:s", "urn:p", "urn:f", path)
    registry, (error,) = Registry.compile([mapping])
    assert (error.mapping, error.member) == ("urn:m", "selector")
    assert registry.topic_filters == frozenset()


def test_path_into_the_wrong_kind_of_value_leads_nowhere() -> None:
    document: Json = {"a": ["x"], "b": None, "c": "text"}
    for path in ("$.a.x", "$.a[1]", "$.a[-2]", "$.b.c", "$.c[0]", "$[0]", "$.d"):
        assert JsonPath.compile(path).find(document) is ABSENT


@pytest.mark.parametrize(
    ("value", "lexical", "datatype"),
    [
        ("21.50", "21.50", DECIMAL),
        ("-7", "-7", INTEGER),
        ("1e3", "1e3", DOUBLE),
        ("0.1234567890123456789012345", "0.1234567890123456789012345", DECIMAL),
        ("true", "true", BOOLEAN),
        ("false", "false", BOOLEAN),
        ('"21.50"', "21.50", DECIMAL),
        ('" -3 "', "-3", INTEGER),
        ('"ON"', "true", BOOLEAN),
        ('"closed"', "false", BOOLEAN),
        ('"heat"', "heat", STRING),
        ('"007"', "007", STRING),
        ('"+49"', "+49", STRING),
        ('" padded "', " padded ", STRING),
        ('"2026-03-02T07:14:55Z"', "2026-03-02T07:14:55Z", STRING),
        (r'"\ud83d\ude00"', "😀", STRING),
    ],
)
def test_value_becomes_a_literal(value: str, lexical: str, datatype: str) -> None:
    seen = only(decode(f'{{"v":{value}}}', "$.v"))
    assert (seen.lexical, seen.datatype) == (lexical, datatype)
    assert type(seen.lexical) is str


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("null", FaultReason.NULL),
        ('"unavailable"', FaultReason.NULL),
        ('""', FaultReason.EMPTY),
        ('"NaN"', FaultReason.NOT_FINITE),
        ("1e999", FaultReason.NOT_FINITE),
        ("{}", FaultReason.NOT_A_VALUE),
        ("[1]", FaultReason.NOT_A_VALUE),
        ("1" * 65, FaultReason.TOO_MANY_DIGITS),
        (r'"\ud800"', FaultReason.INVALID_TEXT),
        (r'"a\u0000b"', FaultReason.INVALID_TEXT),
    ],
)
def test_value_that_no_literal_can_hold_costs_itself_only(value: str, reason: FaultReason) -> None:
    decoded = decode(f'{{"v":{value},"w":1}}', "$.v", "$.w")
    assert reasons(decoded) == [reason]
    assert decoded.faults[0].mapping == "urn:m$.v"
    assert [seen.observed_property for seen in decoded.observations] == ["urn:p:1"]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", FaultReason.EMPTY),
        (b"\n", FaultReason.EMPTY),
        (b"{", FaultReason.MALFORMED),
        (b"online", FaultReason.MALFORMED),
        (b'{"v":1}x', FaultReason.MALFORMED),
        (b'{"v":01}', FaultReason.MALFORMED),
        (b"\xef\xbb\xbf{}", FaultReason.MALFORMED),
        (b'{"v":"\x01"}', FaultReason.MALFORMED),
        ('{"v":1}'.encode("utf-16"), FaultReason.INVALID_UTF8),
        (b'{"v":NaN}', FaultReason.NOT_FINITE),
        (b'{"v":-Infinity}', FaultReason.NOT_FINITE),
        (b'{"v":1,"v":2}', FaultReason.DUPLICATE_KEY),
        (b'{"v":1,"x":{"y":1,"y":1}}', FaultReason.DUPLICATE_KEY),
        (b"[" * 33 + b"]" * 33, FaultReason.TOO_DEEP),
        (b"[" * 65_000, FaultReason.TOO_DEEP),
        (b'{"a":' * 10_000, FaultReason.TOO_DEEP),
        (b'{"v":' + b"9" * 70_000 + b"}", FaultReason.TOO_LARGE),
    ],
)
def test_payload_that_is_not_strict_json_is_one_fault_of_no_mapping(
    payload: bytes, reason: FaultReason
) -> None:
    decoded = decode(payload, "$.v", "$.w")
    assert decoded.matched
    assert decoded.observations == ()
    assert [(fault.mapping, fault.reason) for fault in decoded.faults] == [(None, reason)]


def test_nesting_of_the_greatest_depth_is_read() -> None:
    document = "[" * 31 + '{"v":[],"w":1}' + "]" * 31
    assert reasons(decode(document, "$")) == [FaultReason.TOO_DEEP]
    document = "[" * 31 + '{"w":1}' + "]" * 31
    assert only(decode(document, "$" + "[0]" * 31 + ".w")).lexical == "1"


def test_brackets_in_strings_are_not_depth() -> None:
    payload = r'{"s":"[[[[[[[[[[[[[[[[[\"[[[[[[[[[[[[[[[[[[[\\","v":1}'
    assert only(decode(payload, "$.v")).lexical == "1"


@pytest.mark.timeout(3)
def test_strings_without_an_end_cost_linear_time() -> None:
    payload = b"[" * 33 + rb"\"" * 32_000
    assert reasons(decode(payload, "$")) == [FaultReason.TOO_DEEP]
    assert reasons(decode(b'{"' + b"[" * 40 + rb"\"" * 30_000, "$")) == [FaultReason.MALFORMED]


def test_document_itself_can_be_the_value() -> None:
    assert only(decode("21.5", "$")).lexical == "21.5"


def test_absent_key_in_a_partial_update_is_silent() -> None:
    decoded = decode('{"w":1}', "$.v", "$.w")
    assert not decoded.faults
    assert [seen.observed_property for seen in decoded.observations] == ["urn:p:1"]


def test_message_in_which_no_mapping_finds_its_key_is_one_fault() -> None:
    decoded = decode('{"x":1}', "$.v", "$.w")
    assert [(fault.mapping, fault.reason) for fault in decoded.faults] == [
        (None, FaultReason.MISSING)
    ]
    assert decode("{}", "$.v").faults[0].mapping == "urn:m$.v"


def test_null_of_one_mapping_is_not_also_missing() -> None:
    assert reasons(decode('{"v":null}', "$.v", "$.w")) == [FaultReason.NULL]


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ('"2026-03-02T07:14:55.102Z"', datetime(2026, 3, 2, 7, 14, 55, 102_000, tzinfo=UTC)),
        ('"2026-03-02T08:14:55+01:00"', datetime(2026, 3, 2, 7, 14, 55, tzinfo=UTC)),
        ("1772435695", datetime(2026, 3, 2, 7, 14, 55, tzinfo=UTC)),
        ("1772435695.102", datetime(2026, 3, 2, 7, 14, 55, 102_000, tzinfo=UTC)),
        ("1772435695102", datetime(2026, 3, 2, 7, 14, 55, 102_000, tzinfo=UTC)),
        ('"1772435695"', datetime(2026, 3, 2, 7, 14, 55, tzinfo=UTC)),
    ],
)
def test_time_of_the_device_is_read(time: str, expected: datetime) -> None:
    seen = only(decode(f'{{"v":1,"t":{time}}}', "$.v", time="$.t"))
    assert seen.phenomenon_time == expected


@pytest.mark.parametrize("time", ['"2026-03-02T08:15:00"', "null", "true", "[]", "812", '"soon"'])
def test_bad_time_costs_only_the_time(time: str) -> None:
    decoded = decode(f'{{"v":1,"t":{time}}}', "$.v", time="$.t")
    (seen,) = decoded.observations
    assert (seen.lexical, seen.phenomenon_time) == ("1", None)
    assert [(f.mapping, f.reason) for f in decoded.faults] == [
        ("urn:m$.v", FaultReason.TIME_UNUSABLE)
    ]


def test_absent_time_and_sequence_are_silent() -> None:
    seen = only(decode('{"v":1}', "$.v", time="$.t", sequence="$.n"))
    assert (seen.phenomenon_time, seen.device_sequence) == (None, None)


@pytest.mark.parametrize(("sequence", "text"), [("41", "41"), ('"0d1f-9be3"', "0d1f-9be3")])
def test_sequence_is_the_text_of_the_device(sequence: str, text: str) -> None:
    seen = only(decode(f'{{"v":1,"n":{sequence}}}', "$.v", sequence="$.n"))
    assert seen.device_sequence == text
    assert type(seen.device_sequence) is str


@pytest.mark.parametrize("sequence", ["null", "{}", '""', '"' + "x" * 129 + '"', r'"\ud800"'])
def test_bad_sequence_costs_only_the_sequence(sequence: str) -> None:
    decoded = decode(f'{{"v":1,"n":{sequence}}}', "$.v", sequence="$.n")
    (seen,) = decoded.observations
    assert seen.device_sequence is None
    assert reasons(decoded) == [FaultReason.SEQUENCE_UNUSABLE]


@pytest.mark.parametrize("member", ["time_selector", "sequence_selector"])
def test_bad_path_of_a_time_or_sequence_names_its_member(member: str) -> None:
    mapping = Mapping("urn:m", "t", "json", "urn:s", "urn:p", "urn:f", "$.v")
    changed: dict[str, Any] = {member: "$..t..u"}
    mapping = replace(mapping, **changed)
    _, (error,) = Registry.compile([mapping])
    assert error.member == member


def test_zigbee_state_with_null_gives_the_other_attributes() -> None:
    payload = '{"battery":87,"humidity":null,"temperature":21.37,"last_seen":1772435695102}'
    decoded = decode(payload, "$.battery", "$.humidity", "$.temperature", time="$.last_seen")
    assert [seen.lexical for seen in decoded.observations] == ["87", "21.37"]
    assert reasons(decoded) == [FaultReason.NULL]


def test_shelly_notification_with_a_colon_in_its_keys() -> None:
    payload = '{"method":"NotifyStatus","params":{"ts":1772435712.44,"switch:0":{"apower":63.2}}}'
    seen = only(decode(payload, "$.params.switch:0.apower", time="$.params.ts"))
    assert seen.lexical == "63.2"
    assert seen.phenomenon_time == datetime(2026, 3, 2, 7, 15, 12, 440_000, tzinfo=UTC)


def test_tasmota_local_time_is_not_guessed_at() -> None:
    payload = '{"Time":"2026-03-02T08:15:00","ENERGY":{"Power":[41,0]},"DS18B20-1":{"T":20.9}}'
    decoded = decode(payload, "$.ENERGY.Power[1]", "$.DS18B20-1.T", time="$.Time")
    assert [seen.lexical for seen in decoded.observations] == ["0", "20.9"]
    assert set(reasons(decoded)) == {FaultReason.TIME_UNUSABLE}
