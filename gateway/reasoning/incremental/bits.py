"""`Bits`: each class and class expression has a position, the types of an individual are a mask.

Positions stay while axioms change, so masks that individuals have stay true. An expression has one
position as condition and another as conclusion: a member of ∃p.C by its own facts is not one by
what is said of it (gateway/reasoning/kinds.py).
"""

from collections.abc import Iterator

from pyoxigraph import NamedNode

from gateway.reasoning.kinds import NOTHING, Conclusion, Expression


def positions(mask: int) -> Iterator[int]:
    """The positions of the bits that are set, from the lowest.

    >>> list(positions(0b1010))
    [1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Bits:
    """Positions given out so far; `visible` masks the classes that have a name."""

    def __init__(self) -> None:
        self.visible = 0
        self.names: dict[int, NamedNode] = {}
        self._conditions: dict[Expression, int] = {}
        self._conclusions: dict[Conclusion, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return self._next

    def condition(self, expression: Expression) -> int:
        """The position of a class, or of an expression as condition."""
        found = self._conditions.get(expression)
        if found is None:
            found = self._conditions[expression] = self._next
            self._next += 1
            if isinstance(expression, NamedNode):
                self.names[found] = expression
                if expression != NOTHING:
                    self.visible |= 1 << found
        return found

    def conclusion(self, expression: Conclusion) -> int:
        """The position of a class, or of an expression as conclusion."""
        if isinstance(expression, NamedNode):
            return self.condition(expression)
        found = self._conclusions.get(expression)
        if found is None:
            found = self._conclusions[expression] = self._next
            self._next += 1
        return found
