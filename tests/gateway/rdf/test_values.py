"""Values of literals: exactly those that the store computes with, whatever the lexical form."""

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store

from gateway.rdf.namespaces import XSD
from gateway.rdf.values import instant, number, truth

pytestmark = pytest.mark.property

EMPTY = Store()
DIGITS = st.text("0123456789", max_size=24)
ODD = st.text("0123456789+-.eE_ \t\nINFaNtruefalsTU٣१½\u00a0", max_size=12)
NUMBERS = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["", "+", "-", "--", " ", "+ "]), DIGITS),
    st.builds("{}{}.{}".format, st.sampled_from(["", "+", "-"]), DIGITS, DIGITS),
    st.builds("{}{}{}".format, st.just("000000000000000000000000000000"), DIGITS, DIGITS),
    st.integers(-(2**128), 2**128).map(str),
    st.sampled_from([2**63, -(2**63), 2**64, 2**127 // 10**18, 10**21]).flatmap(
        lambda edge: st.integers(-2, 2).map(lambda near: str(edge + near))
    ),
    st.decimals(allow_nan=True, allow_infinity=True, places=None).map(str),
    ODD,
)
TIMES = st.one_of(
    st.datetimes().map(lambda time: f"{time.isoformat()}Z"),
    st.builds(
        "{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}{}{}".format,
        st.integers(0, 9999),
        st.integers(0, 13),
        st.integers(0, 32),
        st.sampled_from(["T", " ", "t"]),
        st.integers(0, 24),
        st.integers(0, 60),
        st.integers(0, 60),
        st.one_of(st.just(""), st.builds(".{}".format, DIGITS)),
        st.sampled_from(["Z", "", "+00:00", "z"]),
    ),
)


def literal(form: str, datatype: str) -> Literal:
    return Literal(form, datatype=NamedNode(XSD + datatype))


def asked(expression: str, x: Literal) -> Literal | None:
    """What the store makes of an expression of ?x; None for an error."""
    results = EMPTY.query(f"SELECT (({expression}) AS ?v) {{ VALUES ?x {{ {x} }} }}")
    assert isinstance(results, QuerySolutions)
    (row,) = results
    value = row[0]
    assert value is None or isinstance(value, Literal)
    return value


@given(NUMBERS)
@example("9223372036854775807")
@example("9223372036854775808")
@example("-9223372036854775809")
@example("1_0")
@example(" 10 ")
@example("٣")
@example("")
@example("+")
def test_an_integer_has_the_value_that_the_store_gives_it(form: str) -> None:
    told = asked("?x + 0", literal(form, "integer"))
    assert number(literal(form, "integer")) == (None if told is None else int(told.value))


@given(NUMBERS)
@example("1e2")
@example("INF")
@example(".")
@example("5.")
@example("-.5")
@example("0.0000000000000000001")
@example("1.10000000000000000000")
@example("170141183460469231731.687303715884105727")
@example("170141183460469231731.687303715884105728")
@example("-170141183460469231731.687303715884105728")
def test_a_decimal_has_the_value_that_the_store_gives_it(form: str) -> None:
    told = asked("?x + 0", literal(form, "decimal"))
    assert number(literal(form, "decimal")) == (None if told is None else Decimal(told.value))


@given(st.one_of(ODD, st.sampled_from(["true", "false", "1", "0", "TRUE", " true", "01", "yes"])))
def test_a_boolean_has_the_value_that_the_store_gives_it(form: str) -> None:
    told = asked("IF(?x, 1, 0)", literal(form, "boolean"))
    expected = None if told is None else told.value == "1"
    assert truth(literal(form, "boolean")) == expected


@given(TIMES)
@example("2020-01-01T00:00:00.1234567890123456789Z")
@example("2020-01-01T00:00:00.50Z")
@example("2020-02-30T00:00:00Z")
@example("20200101T000000Z")
def test_an_instant_is_one_to_the_store_too(form: str) -> None:
    """Not all that it takes: year 0 and the hour 24 are left to it."""
    value = instant(literal(form, "dateTime"))
    if value is not None:
        told = asked("SECONDS(?x)", literal(form, "dateTime"))
        assert told is not None
        seconds = value[0].second + Decimal(f"0.{value[1] or 0}")
        assert Decimal(told.value) == seconds


@given(TIMES, TIMES)
def test_instants_are_ordered_as_the_store_orders_them(one: str, other: str) -> None:
    first, second = (instant(literal(form, "dateTime")) for form in (one, other))
    if first is not None and second is not None:
        told = asked(f"?x < {literal(other, 'dateTime')}", literal(one, "dateTime"))
        assert told == Literal(first < second)
