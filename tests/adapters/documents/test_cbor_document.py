"""CBOR documents against the encoder of a library: what goes in comes out, whatever it is."""

import base64
import struct
from decimal import Decimal
from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.cbor import parse_cbor
from adapters.values.fault import Fault, FaultReason
from adapters.values.result import JsonNumber

pytestmark = pytest.mark.property

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**200), 2**200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False, places=3)
    | st.text(max_size=10)
    | st.binary(max_size=10)
)
DOCUMENTS: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=10,
)


def same(read: Any, sent: Any) -> bool:
    """Whether `read` says what `sent` says: numbers as texts, bytes as base64url."""
    if isinstance(sent, dict):
        return read.keys() == sent.keys() and all(same(read[k], sent[k]) for k in sent)
    if isinstance(sent, list):
        return len(read) == len(sent) and all(map(same, read, sent))
    if isinstance(sent, bool | str) or sent is None:
        return bool(read == sent)
    if isinstance(sent, bytes):
        return base64.urlsafe_b64decode(read + "=" * (-len(read) % 4)) == sent
    assert isinstance(read, JsonNumber)
    if isinstance(sent, float):
        return bool(float(read) == sent or _single(float(read)) == sent)
    return bool(Decimal(read) == sent)


def _single(number: float) -> float:
    (rounded,) = struct.unpack(">f", struct.pack(">f", number))
    return float(rounded)


@given(DOCUMENTS, st.booleans())
def test_document_says_what_was_encoded(document: Any, canonical: bool) -> None:
    assert same(parse_cbor(cbor2.dumps(document, canonical=canonical)), document)


@given(st.binary(max_size=100))
def test_any_bytes_are_a_document_or_a_fault(raw: bytes) -> None:
    read = parse_cbor(raw)
    if isinstance(read, Fault):
        assert read.detail.isascii()
        assert len(read.detail) < 300


def test_references_are_refused_before_they_grow() -> None:
    nested = b"\x01"
    for _ in range(10):
        nested = b"\xd8\x1c\x82" + nested + b"\xd8\x1d\x00"
    read = parse_cbor(nested)
    assert isinstance(read, Fault)
    assert read.reason is FaultReason.NOT_A_VALUE


def test_integers_stand_for_labels_where_there_are_some() -> None:
    raw = cbor2.dumps([{-2: "a", 2: 1, 99: 2}])
    assert parse_cbor(raw, {-2: "bn", 2: "v"}) == [{"bn": "a", "v": "1", "99": "2"}]


def test_number_of_too_many_digits_is_refused() -> None:
    read = parse_cbor(cbor2.dumps(10**400))
    assert isinstance(read, Fault)
    assert read.reason is FaultReason.TOO_MANY_DIGITS
