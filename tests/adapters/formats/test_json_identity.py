"""Whose a value is where several devices share a topic, and which messages a mapping is about."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.adapter import Decoded, FaultReason
from adapters.documents.json_query import MAX_VALUES
from adapters.registry import Registry
from adapters.values.earlier_streams import EarlierStreams
from adapters.values.mapping import Mapping
from adapters.values.memory import Memory
from adapters.values.message import Message
from adapters.values.units import UNIT

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
SHARED = Mapping(
    "urn:m",
    "rf/events",
    "json",
    "urn:x:{$.model}:{$.id}",
    "urn:p:t",
    "urn:f:{$.room}",
    "$.t",
)


def decode(payload: str, *mappings: Mapping) -> Decoded:
    registry, errors = Registry.compile(mappings)
    assert not errors, errors
    return registry.decode(Message("rf/events", payload.encode(), NOW))


def told(decoded: Decoded) -> list[tuple[str, str, str]]:
    seen = decoded.observations
    return [(each.sensor, each.feature_of_interest, each.lexical) for each in seen]


def test_members_of_the_message_name_sensor_and_feature() -> None:
    decoded = decode('{"model":"A/B","id":42,"room":"bath","t":21.5}', SHARED)
    assert told(decoded) == [("urn:x:A%2FB:42", "urn:f:bath", "21.5")]
    assert not decoded.faults


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ('{"model":"A","room":"bath","t":1}', FaultReason.MISSING),
        ('{"model":"A","id":null,"room":"bath","t":1}', FaultReason.MISSING),
        ('{"model":"A","id":"","room":"bath","t":1}', FaultReason.MISSING),
        ('{"model":"A","id":{},"room":"bath","t":1}', FaultReason.NOT_A_VALUE),
        ('{"model":"A","id":"' + "x" * 300 + '","room":"bath","t":1}', FaultReason.NOT_A_VALUE),
        ('{"model":"A","id":1,"room":"bath"}', FaultReason.MISSING),
    ],
)
def test_value_of_which_nobody_knows_whose_it_is_is_a_fault(
    payload: str, reason: FaultReason
) -> None:
    decoded = decode(payload, SHARED)
    assert decoded.observations == ()
    assert [(each.mapping, each.reason) for each in decoded.faults] == [("urn:m", reason)]


def test_members_beside_each_value_name_its_stream() -> None:
    mapping = replace(
        SHARED,
        sensor="urn:{$.hub}:{$.nodes[*].id}",
        feature_of_interest="urn:f",
        selector="$.nodes[*].t",
        time_selector="$.nodes[*].at",
    )
    decoded = decode(
        '{"hub":"h","nodes":[{"id":"a","t":1,"at":1772434800},{"id":"b","t":2},{"t":3}]}', mapping
    )
    assert told(decoded) == [("urn:h:a", "urn:f", "1"), ("urn:h:b", "urn:f", "2")]
    assert [each.phenomenon_time is None for each in decoded.observations] == [False, True]
    assert [each.reason for each in decoded.faults] == [FaultReason.MISSING]


def test_filter_of_rfc_9535_finds_values_by_what_stands_beside_them() -> None:
    mapping = replace(
        SHARED,
        sensor="urn:{$.list[?@.type == 'temp' && @.id > 1].id}",
        feature_of_interest="urn:f",
        selector="$.list[?@.type == 'temp' && @.id > 1].v",
    )
    decoded = decode(
        '{"list":[{"type":"temp","id":1,"v":1},{"type":"temp","id":2,"v":2.50},{"type":"rh","id":3,"v":3}]}',
        mapping,
    )
    assert told(decoded) == [("urn:2", "urn:f", "2.50")]


@pytest.mark.parametrize(
    ("selector", "values"),
    [
        ("$..v", ["1", "2.50", "3"]),
        ("$.list[0:2].v", ["1", "2.50"]),
        ("$.list[-1:].v", ["3"]),
        ("$.list[0,2].v", ["1", "3"]),
        ("$.list[?search(@.n, '^b')].v", ["2.50"]),
        ("$.list[?!@.n].v", ["3"]),
    ],
)
def test_paths_of_rfc_9535(selector: str, values: list[str]) -> None:
    mapping = replace(SHARED, sensor="urn:{name}", feature_of_interest="urn:f", selector=selector)
    payload = '{"list":[{"n":"a","v":1},{"n":"b","v":2.50},{"v":3}]}'
    assert [each.lexical for each in decode(payload, mapping).observations] == values


def test_document_with_too_many_values_is_not_queried_and_others_are_read() -> None:
    plain = replace(SHARED, iri="urn:n", sensor="urn:s", feature_of_interest="urn:f")
    query = replace(plain, iri="urn:q", selector="$..t", condition="@.t > 1")
    decoded = decode('{"t":2,"x":[' + ",".join(["1"] * MAX_VALUES) + "]}", plain, query)
    assert [each.lexical for each in decoded.observations] == ["2"]
    assert [(each.mapping, each.reason) for each in decoded.faults] == [
        ("urn:q", FaultReason.TOO_LARGE)
    ]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("@.model == 'A'", True),
        ("@.model == 'B'", False),
        ("@.id == 42 && @.t > 21.49", True),
        ("@.id == '42'", False),
        ("@.id >= 43 || @.flag == true", True),
        ("@.none", False),
        ("!@.none", True),
        ("match(@.model, '[A-C]')", True),
        ("@['deep'].list[-1] == 2", True),
    ],
)
def test_condition_says_which_messages_a_mapping_is_about(condition: str, holds: bool) -> None:
    mapping = replace(SHARED, sensor="urn:s", feature_of_interest="urn:f", condition=condition)
    payload = '{"model":"A","id":42,"t":21.50,"flag":true,"deep":{"list":[1,2]}}'
    decoded = decode(payload, mapping)
    assert [each.lexical for each in decoded.observations] == (["21.50"] if holds else [])
    assert decoded.matched
    assert not decoded.faults


@pytest.mark.parametrize(
    ("changed", "member"),
    [
        ({"condition": "$.a == 1"}, "condition"),
        ({"condition": "@.a == 1] , [?@.b"}, "condition"),
        ({"condition": "@..a"}, "condition"),
        ({"condition": "(" * 400 + "@.a"}, "condition"),
        ({"condition": "!" * 300 + "@.a"}, "condition"),
        ({"condition": "match(@.a, '(')"}, "condition"),
        ({"condition": "env(@.a)"}, "condition"),
        ({"sensor": "urn:{$..a..b}"}, "sensor"),
        ({"sensor": "urn:{$.a"}, "sensor"),
        ({"feature_of_interest": "urn:{$[}"}, "feature_of_interest"),
        ({"condition": "@.a", "format": "scalar", "selector": "", "sensor": "urn:s"}, "condition"),
        ({"format": "scalar", "selector": "", "sensor": "urn:{$.a}"}, "sensor"),
        ({"availability_topic": "rf/lwt"}, "availability_topic"),
        ({"scale": "ten"}, "scale"),
        ({"scale": "0"}, "scale"),
        ({"offset": "1e3"}, "offset"),
        ({"decimal_sign": ";"}, "decimal_sign"),
        ({"decimal_sign": ",", "format": "bytes", "selector": "u8@0"}, "decimal_sign"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_member(
    changed: dict[str, Any], member: str
) -> None:
    plain = replace(SHARED, sensor="urn:s:{$.id}", feature_of_interest="urn:f")
    if changed.get("format"):
        plain = replace(plain, sensor="urn:s")
    _, (error,) = Registry.compile([replace(plain, **changed)])
    assert error.member == member, error


@pytest.mark.parametrize(
    ("scale", "offset", "number", "result"),
    [
        ("0.1", "", "215", "21.5"),
        ("0.1", "", "210", "21.0"),
        ("0.01", "-40", "6150", "21.50"),
        ("99", "1", "1", "100"),
        ("10", "", "2.15", "21.50"),
        ("", "-273.15", "294.65", "21.50"),
        ("2", "", "1e1", "20.0"),
    ],
)
def test_number_is_scaled_exactly(scale: str, offset: str, number: str, result: str) -> None:
    mapping = replace(
        SHARED, sensor="urn:s", feature_of_interest="urn:f", scale=scale, offset=offset
    )
    assert [each.lexical for each in decode(f'{{"t":{number}}}', mapping).observations] == [result]


def test_scale_comes_before_the_device_unit() -> None:
    mapping = replace(
        SHARED,
        sensor="urn:s",
        feature_of_interest="urn:f",
        scale="0.1",
        device_unit="°F",
        unit="°C",
    )
    (seen,) = decode('{"t":680}', mapping).observations
    assert (seen.lexical, seen.unit) == ("20.0", UNIT + "DEG_C")


@pytest.mark.parametrize(
    ("text", "sign", "lexical"),
    [
        ("21,5", "", "21.5"),
        ("21.5 °C", "", "21.5"),
        ("21,5°C", "", "21.5"),
        ("69.8 F", "", "21.0"),
        ("21.5 C", "", "21.5"),
        ("1,234", ",", "1.234"),
        ("1.234,5", ",", "1234.5"),
        ("1,234", ".", "1234"),
    ],
)
def test_number_as_people_write_it_in_a_stream_with_a_unit(
    text: str, sign: str, lexical: str
) -> None:
    mapping = replace(
        SHARED, sensor="urn:s", feature_of_interest="urn:f", unit="°C", decimal_sign=sign
    )
    (seen,) = decode(f'{{"t":"{text}"}}', mapping).observations
    assert (seen.lexical, seen.unit) == (lexical, UNIT + "DEG_C")


def test_number_that_may_be_two_is_no_number() -> None:
    mapping = replace(SHARED, sensor="urn:s", feature_of_interest="urn:f", unit="°C")
    (fault,) = decode('{"t":"1,234"}', mapping).faults
    assert fault.detail == "'1,234' may be 1.234 or 1234: the mapping has to say its decimal sign"
    (fault,) = decode('{"t":"5 kWh"}', mapping).faults
    assert fault.reason is FaultReason.UNIT_MISMATCH
    plain = replace(mapping, unit=None)
    assert [each.lexical for each in decode('{"t":"1,234"}', plain).observations] == ["1,234"]


def test_streams_of_an_earlier_life_are_told_by_templates_with_members() -> None:
    memory = Memory()
    earlier = memory.of(EarlierStreams)
    earlier.recall(("urn:greenhouse:7", "urn:p:t", "urn:f"))
    earlier.recall(("urn:shed:7", "urn:p:t", "urn:f"))
    mapping = replace(
        SHARED,
        topic_filter="zigbee2mqtt/+",
        sensor="urn:{1}:{$.id}",
        feature_of_interest="urn:f",
    )
    registry, errors = Registry.compile([mapping], memory)
    assert not errors
    assert registry.topic_filters == {"zigbee2mqtt/+"}


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ('{"p":{"lat":52.40,"lon":"4.9"}}', "POINT(4.9 52.40)"),
        ('{"p":{"lat":-9e1,"lon":180}}', "POINT(180 -90)"),
        ('{"p":{"lat":52.4}}', FaultReason.MISSING),
        ('{"p":{"lat":null,"lon":4}}', FaultReason.NULL),
        ('{"p":{"lat":95,"lon":4}}', FaultReason.OUT_OF_RANGE),
        ('{"p":{"lat":"north","lon":4}}', FaultReason.NOT_A_VALUE),
        ("{}", FaultReason.MISSING),
    ],
)
def test_position_is_one_value_of_two_members(payload: str, told: str | FaultReason) -> None:
    selector = "point(lat=$.p.lat, lon=$.p.lon)"
    mapping = replace(SHARED, sensor="urn:s", feature_of_interest="urn:f", selector=selector)
    decoded = decode(payload, mapping)
    reasons = [fault.reason for fault in decoded.faults]
    assert [each.lexical for each in decoded.observations] + reasons == [told]
    assert all(each.datatype.endswith("#wktLiteral") for each in decoded.observations)


@pytest.mark.parametrize("selector", ["point", "point($.a, $.b)", "point(lat=$.a[*], lon=$.b)"])
def test_position_that_is_none_is_refused(selector: str) -> None:
    mapping = replace(SHARED, sensor="urn:s", feature_of_interest="urn:f", selector=selector)
    _, (error,) = Registry.compile([mapping])
    assert error.member == "selector"
