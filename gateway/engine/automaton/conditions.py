"""`Conditions`: the FILTERs of all queries, asked with numbers instead of terms.

Place: a step of plans. The truth is that of `expressions`, errors included; what was asked is
remembered until numbers are given anew.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from gateway.engine.incremental.expressions import Expression as Compiled
from gateway.engine.incremental.expressions import expression
from gateway.rdf.terms import Term
from gateway.sparql.algebra import Expression

Test: TypeAlias = Callable[..., bool]
"""Whether the condition holds of these numbers, in the order of the expression's `names`."""

_Text: TypeAlias = tuple[Expression, str]
"""A tree, and the base of its IRIs."""

MOST_REMEMBERED = 1 << 14
"""Answers of one condition."""


class Conditions:
    """Conditions by number; equal ones are one, as long as a query has them."""

    def __init__(self, terms: Sequence[Term | None]) -> None:
        """`terms` by number."""
        self._terms = terms
        self._numbers: dict[_Text, int] = {}
        self._tests: dict[int, _Test] = {}
        self._next = 0

    def number(self, tree: Expression, base: str) -> int:
        """The number of a condition, known or new; to be freed as often."""
        number = self._numbers.get((tree, base))
        if number is None:
            number = self._numbers[tree, base] = self._next
            self._next += 1
            self._tests[number] = _Test(expression(tree, base), (tree, base), self._terms)
        self._tests[number].users += 1
        return number

    def free(self, number: int) -> None:
        """The reverse of `number`."""
        test = self._tests[number]
        test.users -= 1
        if not test.users:
            del self._tests[number], self._numbers[test.text]

    def names(self, number: int) -> Sequence[str]:
        """The variables that a condition is asked with."""
        return self._tests[number].expression.names

    def test(self, number: int) -> Test:
        """The condition."""
        return self._tests[number]

    def forget(self) -> None:
        """Numbers are given anew."""
        for test in self._tests.values():
            test.known.clear()


class _Test:
    __slots__ = ("_terms", "expression", "known", "text", "users")

    def __init__(self, compiled: Compiled, text: _Text, terms: Sequence[Term | None]) -> None:
        self.expression = compiled
        self.text = text
        self.users = 0
        self.known: dict[tuple[int, ...], bool] = {}
        self._terms = terms

    def __call__(self, *numbers: int) -> bool:
        truth = self.known.get(numbers)
        if truth is None:
            if len(self.known) >= MOST_REMEMBERED:
                self.known.clear()
            truth = self.known[numbers] = self._ask(numbers)
        return truth

    def _ask(self, numbers: tuple[int, ...]) -> bool:
        terms = map(self._terms.__getitem__, numbers)
        named = zip(self.expression.names, terms, strict=True)
        solution = {name: term for name, term in named if term is not None}
        return self.expression.truths([solution])[0]
