"""Coordinates, intervals and zones of a space of four dimensions in lexicographic order.

    quad -> (graph, subject, predicate, object) as texts -> the zone that has that point

Place: below the overlay. A term's coordinate is its text behind the last `/` or `#`: the common
beginning of IRIs would else leave all of them in one zone. Texts are halved as numbers of ten
letters from a to z; what is outside of these belongs to the outermost zones. Source: the paper,
section 3.1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

DIMENSIONS = 4
_LETTERS = 10
_END = 26**_LETTERS

Point = tuple[str, str, str, str]
Box = tuple[str | None, str | None, str | None, str | None]
"""A coordinate in each dimension, or None where any will do."""


def coordinate(term: NamedNode | BlankNode | Literal | Triple) -> str:
    """Where a term is in its dimension.

    >>> coordinate(NamedNode("https://a.example/b/cde"))
    'cde'
    """
    value = str(term) if isinstance(term, Triple) else term.value
    return value[max(value.rfind("/"), value.rfind("#")) + 1 :]


def point(quad: Quad) -> Point:
    """Where a quad is; one of the default graph has none. Raises AttributeError."""
    graph: NamedNode | BlankNode = quad.graph_name  # type: ignore[assignment]
    ends = (graph, quad.subject, quad.predicate, quad.object)
    found = [coordinate(each) for each in ends]
    return found[0], found[1], found[2], found[3]


def letters(number: int) -> str:
    """A number as ten letters."""
    found = []
    for _ in range(_LETTERS):
        number, digit = divmod(number, 26)
        found.append(chr(ord("a") + digit))
    return "".join(reversed(found))


class Interval(NamedTuple):
    """Texts from one on, below another; None is no end."""

    low: str = ""
    high: str | None = None

    def has(self, text: str) -> bool:
        """Whether a text is in it."""
        return self.low <= text and (self.high is None or text < self.high)

    def meets(self, other: "Interval") -> bool:
        """Whether both have a text."""
        return (other.high is None or self.low < other.high) and (
            self.high is None or other.low < self.high
        )

    def abuts(self, other: "Interval") -> bool:
        """Whether one begins where the other ends."""
        return self.high == other.low or other.high == self.low

    @property
    def size(self) -> int:
        """How many texts of ten letters it has."""
        low, high = self._ends
        return high - low

    def halves(self) -> tuple["Interval", "Interval"]:
        """Two of it. Raises ValueError for one that cannot be halved."""
        low, high = self._ends
        if high - low < 2:
            raise ValueError("it has no middle")
        middle = letters((low + high) // 2)
        return Interval(self.low, middle), Interval(middle, self.high)

    def draw(self, random: Random) -> str:
        """Ten letters in it."""
        low, high = self._ends
        return letters(random.randrange(low, high))

    @property
    def _ends(self) -> tuple[int, int]:
        return _number(self.low), _END if self.high is None else _number(self.high)


def _number(text: str) -> int:
    found = 0
    for letter in text.ljust(_LETTERS, "a"):
        found = found * 26 + ord(letter) - ord("a")
    return found


@dataclass(frozen=True, slots=True)
class Zone:
    """An interval in each dimension."""

    sides: Sequence[Interval] = (Interval(),) * DIMENSIONS

    def has(self, place: Point) -> bool:
        """Whether a point is in it."""
        return all(side.has(text) for side, text in zip(self.sides, place, strict=True))

    def meets(self, box: Box) -> bool:
        """Whether a box has a point in it."""
        return all(
            text is None or side.has(text) for side, text in zip(self.sides, box, strict=True)
        )

    def is_beside(self, other: "Zone") -> bool:
        """Whether they abut in one dimension and overlap in all others."""
        pairs = list(zip(self.sides, other.sides, strict=True))
        apart = [(one, two) for one, two in pairs if not one.meets(two)]
        return len(apart) == 1 and apart[0][0].abuts(apart[0][1])

    def halves(self, dimension: int) -> Iterator["Zone"]:
        """Two of it, halved in a dimension. Raises ValueError."""
        for half in self.sides[dimension].halves():
            sides = list(self.sides)
            sides[dimension] = half
            yield replace(self, sides=tuple(sides))

    @property
    def size(self) -> int:
        """How many points of ten letters each it has."""
        found = 1
        for side in self.sides:
            found *= side.size
        return found
