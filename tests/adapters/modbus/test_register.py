"""Selectors of registers: what is taken, what is refused with what to write instead."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.modbus.polls import MOST_REGISTERS, requests_of
from adapters.modbus.register import MAX_CHARS, Device, Register


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b/1 holding 100 int16", ("holding", 100, "int", 1)),
        ("b/1 40101 int16", ("holding", 100, "int", 1)),
        ("b/1 400101 int16", ("holding", 100, "int", 1)),
        ("b/1 30001 float32", ("input", 0, "float", 2)),
        ("b/1 10008", ("discrete", 7, "bit", 1)),
        ("b/1 00001 bit", ("coil", 0, "bit", 1)),
        ("b/1 input 0x10 uint64", ("input", 16, "uint", 4)),
        ("b/1 holding 65535 int16", ("holding", 65535, "int", 1)),
        ("b/1 holding 0 string:8", ("holding", 0, "string", 8)),
        ("b/1 holding 0 bit:15", ("holding", 0, "bit", 1)),
        ("b/1 465536 int16", ("holding", 65535, "int", 1)),
    ],
)
def test_place_and_type(text: str, expected: tuple[str, int, str, int]) -> None:
    register = Register.parse(text)
    assert (register.table, register.address, register.kind, register.count) == expected


def test_words_behind_the_type_come_in_any_order() -> None:
    register = Register.parse("my-bus.2/247 input 3 every 0.5 !0xffff int16 badc !32768")
    assert register.device == Device("my-bus.2", 247)
    assert (register.interval_s, register.order) == (0.5, "badc")
    assert register.absent == {0xFFFF, 0x8000}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "write BUS/UNIT"),
        ("b/1", "write BUS/UNIT"),
        ("b holding 1 int16", "no BUS/UNIT"),
        ("b/256 holding 1 int16", "no BUS/UNIT"),
        ("b/1 holding", "says no address"),
        ("b/1 holding x int16", "not an address"),
        ("b/1 holding 65536 int16", "beyond"),
        ("b/1 holding 65535 int32", "beyond"),
        ("b/1 466000 int16", "beyond"),
        ("b/1 40000 int16", "begin with 1"),
        ("b/1 20001 int16", "no table"),
        ("b/1 registers 1 int16", "no table"),
        ("b/1 holding 1", "says no type"),
        ("b/1 holding 1 int8", "is none of"),
        ("b/1 holding 1 ufloat32", "is none of"),
        ("b/1 holding 1 float16", "is none of"),
        ("b/1 holding 1 bit:16", "is none of"),
        ("b/1 holding 1 string:61", "is none of"),
        ("b/1 holding 1 int16 int32", "two words for its type"),
        ("b/1 holding 1 int16 abcd cdab", "two words for its order"),
        ("b/1 holding 1 int16 every", "followed by a decimal number"),
        ("b/1 holding 1 int16 every 0.01", "0.1 to 86400 seconds"),
        ("b/1 holding 1 int16 every 5 every 6", "twice"),
        ("b/1 holding 1 int16 !0x10000", "16 bits"),
        ("b/1 holding 1 int16 scale 0.1", "members of the mapping"),
        ("b/1 coil 1 int16", "one bit"),
        ("b/1 coil 1 cdab", "no order"),
        ("b/1 holding 1 int16" + " " * MAX_CHARS, "longer than"),
    ],
)
def test_what_is_wrong_is_told(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Register.parse(text)


@given(st.text(alphabet="b/1 holdingcoit620xevry!.-\u0660\u00b2", max_size=60))
def test_any_text_is_a_register_or_refused(text: str) -> None:
    try:
        register = Register.parse(text)
    except ValueError:
        return
    assert register.places.stop <= 65_536


def test_a_register_is_hashable_and_frozen() -> None:
    assert len({Register.parse("b/1 coil 1"), Register.parse("b/1 coil 1")}) == 1
    assert {each.name for each in fields(Register)} >= {"device", "table", "address"}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["input", "holding", "coil"]),
            st.integers(0, 400),
            st.sampled_from(["int16", "int32", "int64", "string:60"]),
        ),
        min_size=1,
        max_size=120,
    ),
    st.integers(60, MOST_REGISTERS),
)
def test_requests_have_every_register_whole_and_nothing_between(
    places: list[tuple[str, int, str]], most: int
) -> None:
    registers = [
        Register.parse(f"b/1 {table} {at}" + ("" if table == "coil" else f" {kind}"))
        for table, at, kind in places
    ]
    wanted = {(each.table, place) for each in registers for place in each.places}
    requests = requests_of(registers, most)
    asked: set[tuple[str, int]] = set()
    for request in requests:
        assert request.count <= (most * 16 if request.table == "coil" else most)
        asked |= {(request.table, request.address + at) for at in range(request.count)}
    assert asked == wanted
    whole = {(each.table, part) for each in requests for part in each.parts}
    assert whole == {(each.table, (each.address, each.count)) for each in registers}


def test_a_request_that_is_refused_is_asked_in_two_halves() -> None:
    registers = [Register.parse(f"b/1 input {at} int16") for at in range(5)]
    [request] = requests_of(registers)
    first, second = request.halves()
    assert (first.address, first.count, second.address, second.count) == (0, 2, 2, 3)
