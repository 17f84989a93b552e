"""`Answer`: a bag of rows kept from what it gains and loses."""

from collections import Counter

from pyoxigraph import Literal

from gateway.rdf.answer import Answer
from gateway.rdf.solutions import ResultsDelta

ONE, TWO = Literal("1"), Literal("2")


def test_answer_is_what_was_gained_and_not_lost() -> None:
    answer = Answer()
    answer.change(ResultsDelta(("x", "y"), added=((ONE, None), (ONE, None), (TWO, ONE))))
    answer.change(ResultsDelta(("x", "y"), removed=((ONE, None), (TWO, ONE))))
    assert answer.rows == Counter({(ONE, None): 1})
    assert list(answer.fields()) == [{"x": ONE, "y": None}]


def test_row_that_occurs_twice_is_told_once() -> None:
    answer = Answer()
    answer.change(ResultsDelta(("x",), added=((ONE,), (ONE,))))
    assert list(answer.fields()) == [{"x": ONE}]
