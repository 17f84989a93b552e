"""Whatever the bytes and the topic: no exception, literals that are legal, bounded memory."""

import random
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from adapters.adapter import Decoded
from adapters.families import FORMATS
from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message

pytestmark = pytest.mark.property

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

MAPPINGS = [
    Mapping("urn:m1", "#", "scalar", "http://h/{1}", "urn:p1", "urn:f", unit="Cel"),
    Mapping("urn:m2", "+/+/#", "scalar", "http://h/{1}/{2}/{3}", "urn:p2", "urn:f", "string"),
    Mapping("urn:m3", "#", "json", "urn:s", "urn:p3", "urn:f:{1}", "$.a", None, "$.t", "$.n"),
    Mapping("urn:m4", "#", "json", "urn:s", "urn:p4", "urn:f", "$.a.b[0]['c d']"),
    Mapping("urn:m5", "+/#", "json", "urn:s", "urn:p5", "urn:f", "$"),
    Mapping("urn:m6", "#", "senml", "urn:s:{name}:{1}", "urn:p6", "urn:f:{name}"),
    Mapping("urn:m7", "#", "senml", "urn:s", "urn:p7", "urn:f", "*a#sum", "J"),
    Mapping("urn:m8", "#", "text", "urn:s", "urn:p8", "urn:f", r"(?P<value>\S+)[ ,](?P<time>\S*)"),
    Mapping("urn:m9", "$SYS/#", "text", "urn:s:{1}", "urn:p9", "urn:f", r"(?s)(\C*)"),
]

RECORDED = [
    b"21.50",
    b"-1.5e-7",
    b"ON",
    b"2026-03-02T07:14:55.102Z",
    b"21.5 1772435695",
    b'{"a":{"b":[{"c d":21.5}]},"t":"2026-03-02T07:14:55+01:00","n":4182}',
    b'{"a":"21.5","t":1772435712.44,"n":"0d1f","x":[null,true,{"y":"\\u00e9\\ud83d\\ude00"}]}',
    b'[{"bn":"urn:dev:a","bt":1772436300,"bu":"Cel","bv":1,"n":"b","v":19.2,"ut":600},'
    b'{"n":"a","t":-300,"v":19.4,"s":3},{"n":"c","vd":"_-8"},{"n":"d","vb":false,"bver":10}]',
]


def registry() -> Registry:
    compiled, errors = Registry.compile(MAPPINGS)
    assert not errors
    assert {mapping.format for mapping in MAPPINGS} <= set(FORMATS)
    return compiled


REGISTRY = registry()


def assert_sound(decoded: Decoded) -> None:
    """Every part of what was decoded can be stored, told and logged."""
    for seen in decoded.observations:
        for iri in (seen.sensor, seen.feature_of_interest, seen.datatype):
            NamedNode(iri)
        Literal(seen.lexical, datatype=NamedNode(seen.datatype))
        assert seen.phenomenon_time is None or seen.phenomenon_time.utcoffset() is not None
    for fault in decoded.faults:
        assert fault.detail.isascii()
        assert len(fault.detail) < 500
    if decoded.matched:
        assert decoded.observations or decoded.faults


JSON = st.recursive(
    st.sampled_from(["null", "true", "false"])
    | st.integers(-(10**70), 10**70).map(str)
    | st.floats().map(repr)
    | st.text(max_size=8).map(lambda text: f'"{text}"'),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{','.join(map(str, items))}]")
        | st.lists(
            st.tuples(st.sampled_from(["a", "b", "c d", "t", "n", "bn", "v", "bver"]), inner),
            max_size=4,
        ).map(lambda pairs: "{" + ",".join(f'"{key}":{value}' for key, value in pairs) + "}")
    ),
    max_leaves=12,
).map(lambda value: str(value).encode("utf-8", "surrogatepass"))

PAYLOADS = (
    st.binary(max_size=200)
    | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | JSON
)
TOPICS = st.text(max_size=40) | st.lists(
    st.sampled_from(["", "a", "$SYS", "+", "#", "..", "{name}", "\ud800", "é", " "]), max_size=5
).map("/".join)


@settings(max_examples=400, deadline=None)
@given(st.lists(PAYLOADS, min_size=10, max_size=10), TOPICS)
def test_any_bytes_on_any_topic_are_decoded_without_an_exception(
    payloads: list[bytes], topic: str
) -> None:
    for payload in payloads:
        assert_sound(REGISTRY.decode(Message(topic, payload, NOW)))


Mutation = Callable[[random.Random, bytes], bytes]


def _cut(dice: random.Random, payload: bytes) -> bytes:
    return payload[: dice.randrange(len(payload) + 1)]


def _flip(dice: random.Random, payload: bytes) -> bytes:
    mutated = bytearray(payload or b"\0")
    mutated[dice.randrange(len(mutated))] ^= 1 << dice.randrange(8)
    return bytes(mutated)


def _splice(dice: random.Random, payload: bytes) -> bytes:
    other, at = dice.choice(RECORDED), dice.randrange(len(payload) + 1)
    return payload[:at] + other[dice.randrange(len(other)) :] + payload[at:]


def _swap_token(dice: random.Random, payload: bytes) -> bytes:
    old = dice.choice([b":", b",", b'"', b"1", b"{", b"[", b"n", b"v", b"."])
    new = dice.choice([b"", b"null", b"NaN", b"1e999", b"{}", b"[", b'"', b"\xff", b"_", b"9" * 70])
    return payload.replace(old, new, dice.randrange(1, 4))


def mutants(count: int, seed: int) -> Iterator[bytes]:
    """Recorded payloads, each damaged one to four times."""
    dice = random.Random(seed)
    kinds: list[Mutation] = [_cut, _flip, _splice, _swap_token]
    for _ in range(count):
        payload = dice.choice(RECORDED)
        for _ in range(dice.randrange(1, 5)):
            payload = dice.choice(kinds)(dice, payload)
        yield payload


def test_ten_thousand_damaged_payloads_are_decoded_without_an_exception() -> None:
    faulty = 0
    for payload in mutants(10_000, seed=8428):
        decoded = REGISTRY.decode(Message("a/b/c", payload, NOW))
        assert_sound(decoded)
        faulty += bool(decoded.faults)
    assert faulty > 5_000


@pytest.mark.parametrize("recorded", RECORDED)
def test_recorded_payloads_that_the_mutants_stem_from_are_good(recorded: bytes) -> None:
    assert REGISTRY.decode(Message("a/b/c", recorded, NOW)).observations


def pack_of(first: bytes, count: int, later: bytes = b"", later_count: int = 0) -> bytes:
    return b"[" + b",".join([first] * count + [later] * later_count) + b"]"


WORST = {
    "brackets": b"[" * 65_536,
    "braces": b'{"a":' * 13_000,
    "digits": b"9" * 65_536,
    "exponent": b"1e" + b"9" * 65_000,
    "quotes": rb"\"" * 32_768,
    "escapes": b'"' + rb"\u0061" * 10_000 + b'"',
    "empty arrays": b"[" + b"[]," * 21_000 + b"[]]",
    "members": b"{" + b",".join(b'"%d":1' % n for n in range(7_000)) + b"}",
    "records": pack_of(b'{"n":"a","v":1}', 4_000),
    "long base name": pack_of(b'{"bn":"' + b"a" * 250 + b'","v":1}', 1, b'{"v":1}', 8_000),
    "too long a base name": pack_of(b'{"bn":"' + b"a" * 9_000 + b'","v":1}', 1, b'{"v":1}', 7_000),
    "unknown units": pack_of(b'{"bu":"x","n":"a","v":1}', 1, b'{"n":"a","v":1}', 4_000),
    "time of many digits": b'[{"n":"a","v":1,"t":' + b"9" * 60_000 + b"}]",
}


@pytest.mark.alone
@pytest.mark.timeout(20)
@pytest.mark.parametrize("payload", WORST.values(), ids=WORST.keys())
def test_worst_payloads_of_the_greatest_size_take_bounded_memory(payload: bytes) -> None:
    assert len(payload) <= 65_536
    tracemalloc.start()
    try:
        decoded = REGISTRY.decode(Message("a/b/c", payload, NOW))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert decoded.matched
    assert peak < 32_000_000
