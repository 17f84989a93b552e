"""Aggregates that slide: exact sums, sorted values, and when only the store can say."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store, Variable

from gateway.engine.incremental.aggregates import UnsureError
from gateway.engine.sliding.aggregates import Extremes, Total, recipes_of
from gateway.engine.sliding.measured import PLACES, decimal_literal, measured
from gateway.engine.sliding.ordered import Ordered
from gateway.rdf.canonical import canonical
from gateway.rdf.namespaces import XSD
from gateway.rdf.terms import Term
from gateway.sparql import algebra

quick = settings(max_examples=300, derandomize=True, deadline=None)

_DECIMAL = NamedNode(XSD + "decimal")
doubles = st.floats(allow_nan=False, allow_infinity=False)
integers = st.integers(-(2**40), 2**40)
places = st.integers(-(10**30), 10**30)


def asked(name: str, values: list[Term]) -> Term | None:
    """What the store answers for these values."""
    rows = " ".join(map(str, values))
    results = Store().query(f"SELECT ({name}(?x) AS ?y) {{ VALUES ?x {{ {rows} }} }}")
    assert isinstance(results, QuerySolutions)
    found: Term | None = next(iter(results))[0]
    return found


def total(values: list[Term]) -> Total:
    """A sum of these."""
    made = Total()
    for value in values:
        made.add(1, measured(value))
    return made


@quick
@given(st.lists(st.one_of(integers.map(Literal), places.map(decimal_literal)), max_size=6))
def test_sums_and_means_of_integers_and_decimals_are_the_stores(values: list[Term]) -> None:
    made = total(values)
    assert made.sum() == asked("SUM", values)
    assert made.mean() == asked("AVG", values)


@quick
@given(st.lists(doubles, min_size=1, max_size=30), st.lists(doubles, max_size=30))
def test_sums_of_doubles_are_those_of_real_numbers_rounded_once(
    kept: list[float], passing: list[float]
) -> None:
    made = Total()
    for value in [*passing, *kept]:
        made.add(1, measured(Literal(value)))
    for value in passing:
        made.add(-1, measured(Literal(value)))
    exact = sum(map(Fraction, kept))
    try:
        expected = float(exact)
    except OverflowError:
        expected = float("inf") if exact > 0 else float("-inf")
    assert made.sum() == Literal(expected + 0.0)
    assert made.mean() == Literal((expected + 0.0) / len(kept))


def test_a_mean_of_doubles_does_not_drift_in_many_steps() -> None:
    random = Random(7)
    made, window = Total(), []
    for _ in range(20_000):
        value = random.gauss(0, 1) * 10 ** random.randint(-12, 12)
        window.append(value)
        made.add(1, measured(Literal(value)))
        if len(window) > 50:
            gone = Literal(window.pop(0))
            made.add(-1, measured(gone))
    assert made.sum() == Literal(float(sum(map(Fraction, window))))


@pytest.mark.parametrize("form", ["NaN", "INF", "-INF"])
def test_infinities_come_and_go(form: str) -> None:
    special = Literal(form, datatype=NamedNode(XSD + "double"))
    made = total([Literal(1.5), special])
    assert made.sum() == asked("SUM", [Literal(1.5), special])
    made.add(-1, measured(special))
    assert made.sum() == Literal(1.5)


@pytest.mark.parametrize(
    "value",
    [Literal("x"), NamedNode("urn:x"), Literal(True), None],
    ids=["string", "iri", "b", "-"],
)
def test_what_is_no_number_leaves_sum_and_mean_unbound_while_it_is_there(
    value: Term | None,
) -> None:
    made = total([Literal(2)])
    made.add(1, measured(value))
    assert made.sum() is None
    assert made.mean() is None
    made.add(-1, measured(value))
    assert made.sum() == Literal(2)


def test_sums_that_may_overflow_in_the_store_are_the_stores() -> None:
    made = total([Literal(2**62)])
    with pytest.raises(UnsureError):
        made.sum()


@quick
@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans()), max_size=200))
def test_the_ends_of_what_comes_and_goes(steps: list[tuple[int, bool]]) -> None:
    made, there = Extremes(), []
    for value, comes in steps:
        if comes or value not in there:
            there.append(value)
            made.add(1, measured(Literal(value)))
        else:
            there.remove(value)
            made.add(-1, measured(Literal(value)))
        assert made.least() == (Literal(min(there)) if there else None)
        assert made.greatest() == (Literal(max(there)) if there else None)


def test_of_equal_numbers_of_two_types_the_store_chooses() -> None:
    made = Extremes()
    made.add(1, measured(Literal(1)))
    made.add(1, measured(canonical(Literal("1.0", datatype=_DECIMAL))))
    made.add(1, measured(Literal(2)))
    with pytest.raises(UnsureError):
        made.least()
    assert made.greatest() == Literal(2)
    made.add(-1, measured(Literal(1)))
    assert made.least() == canonical(Literal("1.0", datatype=_DECIMAL))


def test_zeros_of_doubles_are_equal_and_two_terms() -> None:
    made = Extremes()
    for value in (0.0, 1.5):
        made.add(1, measured(Literal(value)))
    assert made.least() == Literal(0.0)
    made.add(1, measured(Literal(-0.0)))
    with pytest.raises(UnsureError):
        made.least()
    assert made.greatest() == Literal(1.5)


def test_unlike_values_have_an_order_in_the_store_alone() -> None:
    made = Extremes()
    made.add(1, measured(Literal(1)))
    with pytest.raises(UnsureError):
        made.add(1, measured(Literal("a")))


@quick
@given(st.lists(st.integers(0, 3000), unique=True, min_size=1, max_size=2500), st.randoms())
def test_ordered_keys_keep_their_ends(keys: list[int], random: Random) -> None:
    ordered = Ordered()
    for key in keys:
        ordered.add(key)
    random.shuffle(keys)
    while keys:
        assert (ordered.least, ordered.greatest) == (min(keys), max(keys))
        for key in keys[:97]:
            ordered.discard(key)
        del keys[:97]


def test_aggregates_of_one_argument_share_a_state() -> None:
    argument = Variable("v")
    names = ("SUM", "AVG", "MIN", "MAX", "COUNT")
    found = recipes_of([algebra.Aggregate(name, argument) for name in names])
    assert found is not None
    assert len(found.states) == 3
    assert recipes_of([algebra.Aggregate("SAMPLE", argument)]) is None


def test_decimals_are_written_as_the_store_writes_them() -> None:
    for value in (0, 1, -PLACES, PLACES // 2, 12_345 * PLACES + 1):
        assert decimal_literal(value) == canonical(decimal_literal(value))
