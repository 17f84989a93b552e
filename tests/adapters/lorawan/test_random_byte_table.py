"""Byte tables: integers and floats come back exactly, and no bytes are too strange."""

import math
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.binary_float import Order, float_text
from adapters.lorawan.byte_field import ByteField
from adapters.lorawan.codecs import TABLES
from adapters.values.fault import Fault
from adapters.values.result import Result

pytestmark = pytest.mark.property

SIZES = st.sampled_from(range(1, 9))
ORDERS: st.SearchStrategy[Order] = st.sampled_from(("big", "little"))


@given(SIZES, ORDERS, st.booleans(), st.data(), st.decimals(-1000, 1000, places=3))
def test_integer_is_scaled_without_loss(
    size: int, order: Order, signed: bool, data: st.DataObject, scale: Decimal
) -> None:
    low = -(1 << (size * 8 - 1)) if signed else 0
    raw = data.draw(st.integers(low, low + (1 << size * 8) - 1))
    kind = f"{'i' if signed else 'u'}{size * 8}{'be' if order == 'big' else 'le'}"
    result = ByteField.compile(f"{kind}@1 *{scale}").read(
        b"\xff" + raw.to_bytes(size, order, signed=signed)
    )
    assert isinstance(result, Result)
    assert Decimal(result.lexical) == raw * scale


@given(st.integers(0, 2**32 - 1), st.integers(0, 31), st.integers(1, 32))
def test_bits_are_those_of_the_integer(raw: int, low: int, count: int) -> None:
    count = min(count, 32 - low)
    result = ByteField.compile(f"u32be@0:{low}+{count}").read(raw.to_bytes(4, "big"))
    assert isinstance(result, Result)
    assert int(result.lexical) == (raw >> low) % (1 << count)


@given(st.floats(width=32), ORDERS)
def test_single_precision_is_the_shortest_text_that_comes_back(number: float, order: Order) -> None:
    code = ">f" if order == "big" else "<f"
    text = float_text(struct.pack(code, number), order)
    if math.isfinite(number):
        assert text is not None
        assert struct.pack(code, float(text)) == struct.pack(code, number)
    else:
        assert text is None


@given(st.sampled_from(sorted(TABLES)), st.none() | st.integers(0, 255), st.binary(max_size=600))
def test_any_uplink_is_read_without_an_exception(
    name: str, port: int | None, payload: bytes
) -> None:
    reading = TABLES[name].read(port, payload)
    for found in reading.found.values():
        assert isinstance(found.result, Result | Fault)
    assert all(fault.detail.isascii() for fault in reading.faults)
