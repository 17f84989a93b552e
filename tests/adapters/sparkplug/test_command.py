"""Commands to Sparkplug nodes: what is set is what the node reads."""

import json
import struct
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.families import FORMATS
from adapters.sparkplug.payload import SparkplugPayload, decode_payload
from adapters.sparkplug.value import DATATYPES, value_of
from adapters.values.result import Result

pytestmark = pytest.mark.property

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
ENCODE = FORMATS["sparkplug"].encode_command


def integers(bits: int, signed: bool) -> st.SearchStrategy[Any]:
    low = -(1 << (bits - 1)) if signed else 0
    return st.integers(low, low + (1 << bits) - 1)


SETTABLE = st.one_of(
    *(st.tuples(st.just(f"Int{bits}"), integers(bits, True)) for bits in (8, 16, 32, 64)),
    *(st.tuples(st.just(f"UInt{bits}"), integers(bits, False)) for bits in (8, 16, 32, 64)),
    st.tuples(st.just("Float"), st.floats(width=32, allow_nan=False, allow_infinity=False)),
    st.tuples(st.just("Double"), st.floats(allow_nan=False, allow_infinity=False)),
    st.tuples(st.just("Boolean"), st.booleans()),
    st.tuples(st.just("String"), st.text("abcé", max_size=10)),
)


@given(SETTABLE)
def test_node_reads_the_value_that_was_set(command: tuple[str, Any]) -> None:
    datatype, value = command
    text = json.dumps({"metric": "m", "datatype": datatype, "value": value})
    payload = decode_payload(ENCODE(text, NOW))
    assert isinstance(payload, SparkplugPayload)
    (metric,) = payload.metrics
    assert (metric.name, DATATYPES[metric.datatype]) == ("m", datatype)
    result = value_of(metric, metric.datatype)
    assert isinstance(result, Result)
    if datatype == "Float":
        assert struct.pack(">f", float(result.lexical)) == struct.pack(">f", value)
    elif isinstance(value, bool):
        assert result.lexical == json.dumps(value)
    else:
        assert type(value)(result.lexical) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"metric":"m","datatype":"Float"}',
        '{"metric":"","datatype":"Float","value":1}',
        '{"metric":"m","datatype":"Real","value":1}',
        '{"metric":"m","datatype":["Float"],"value":1}',
        '{"metric":"m","datatype":"Int8","value":128}',
        '{"metric":"m","datatype":"UInt8","value":-1}',
        '{"metric":"m","datatype":"UInt8","value":1.5}',
        '{"metric":"m","datatype":"UInt8","value":true}',
        '{"metric":"m","datatype":"Float","value":true}',
        '{"metric":"m","datatype":"Float","value":"1"}',
        '{"metric":"m","datatype":"Float","value":1e300}',
        '{"metric":"m","datatype":"Double","value":NaN}',
        '{"metric":"m","datatype":"Double","value":1e999}',
        '{"metric":"m","datatype":"Double","value":1' + "0" * 400 + "}",
        '{"metric":"m","datatype":"Boolean","value":1}',
        '{"metric":"m","datatype":"Template","value":{}}',
        '{"metric":"m","datatype":"Int16Array","value":[1]}',
    ],
)
def test_command_that_says_nothing_settable_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ENCODE(text, NOW)


def test_command_of_another_family_is_its_text() -> None:
    assert FORMATS["json"].encode_command('{"state":"ON"}', NOW) == b'{"state":"ON"}'
