"""`FormCounter`: counts the form of a text while the layers above read it (`form.FormBounds`).

Place: layer of the parser above the cursor. A group has a `Level`; what is joined into another
group is added to it, what stands in it by itself makes it deeper.
"""

from collections.abc import Iterable

from pyoxigraph import NamedNode, Variable

from gateway.sparql.algebra import TriplePattern
from gateway.sparql.bounds.form import bounds_in_force, too_complex
from gateway.sparql.cursor import Cursor
from gateway.sparql.paths import Inverse, Path, Sequence

_EDGES = (NamedNode, Variable)


class Level:
    """A group while it is read: its joined patterns, its elements, and the depth below these.

    `uses` says how many of the patterns have a variable; `others` are joined, and no patterns.
    """

    __slots__ = ("below", "elements", "others", "patterns", "uses")

    def __init__(self) -> None:
        self.patterns = 0
        self.others = 0
        self.elements = 0
        self.below = 0
        self.uses: dict[Variable, int] = {}


class FormCounter(Cursor):
    """Raises TooComplexError as soon as a count passes its bound."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.bounds = bounds_in_force()
        self._counted = 0
        self._level = Level()
        self._closed = self._level

    def count_anew(self) -> None:
        """Begin with another operation, which is planned by itself."""
        self._counted = 0
        self._level = Level()

    def open_level(self) -> Level:
        """Begin a group; gives the level around it, for `close_level`."""
        outer, self._level = self._level, Level()
        return outer

    def close_level(self, outer: Level) -> None:
        """End a group; `join_level` or `nest_level` says what it is to the one around it."""
        self._closed, self._level = self._level, outer

    def join_level(self) -> None:
        """The group that was closed last is joined, flat, with what is around it."""
        inner, level = self._closed, self._level
        pairs = level.others * inner.patterns + level.patterns * inner.others
        for variable, number in inner.uses.items():
            before = level.uses.get(variable, 0)
            pairs += number * before
            level.uses[variable] = before + number
        level.others += inner.others
        level.below = max(level.below, inner.below)
        self._join(inner.patterns, inner.elements, pairs)

    def nest_level(self) -> None:
        """The group that was closed last is evaluated by itself."""
        inner, level = self._closed, self._level
        level.below = max(level.below, inner.elements + inner.below)
        self._require("depth", level.elements + level.below, self.bounds.depth)

    def count_triples(self, patterns: Iterable[TriplePattern]) -> None:
        """Triple patterns of a WHERE, joined with what else is in its group."""
        level, uses = self._level, self._level.uses
        number = pairs = 0
        for pattern in patterns:
            predicate = pattern.predicate
            steps = 1 if isinstance(predicate, _EDGES) else joined_steps(predicate)
            number += steps
            pairs += steps * (1 + level.others)
            for node in (pattern.subject, predicate, pattern.object):
                if isinstance(node, Variable):
                    before = uses.get(node, 0)
                    pairs += steps * before
                    uses[node] = before + steps
        self._join(number, number, pairs)

    def count_joined(self) -> None:
        """An OPTIONAL, UNION, VALUES, SERVICE or sub-SELECT, which may share any variable."""
        level = self._level
        pairs = 1 + level.patterns
        level.others += 1
        self._join(1, 1, pairs)

    def count_branch(self) -> None:
        """One more branch of a UNION, which is planned with what is joined to it."""
        self.count_operators(self._level.patterns)
        self.count_element()

    def count_element(self) -> None:
        """One more element that is not joined: a FILTER, a BIND, a branch, a column, a key."""
        self.count_operators(1)
        self.count_elements(1)

    def count_elements(self, number: int) -> None:
        """So many elements more in the group that is open."""
        level = self._level
        level.elements += number
        self._require("depth", level.elements + level.below, self.bounds.depth)

    def count_operators(self, number: int) -> None:
        """So many operators more."""
        self._counted += number
        self._require("operators", self._counted, self.bounds.operators)

    def require_steps(self, number: int) -> None:
        """A path with so many steps."""
        self._require("steps", number, self.bounds.steps)

    def _join(self, patterns: int, elements: int, operators: int) -> None:
        level = self._level
        level.patterns += patterns
        self._require("patterns", level.patterns, self.bounds.patterns)
        self.count_operators(operators)
        self.count_elements(elements)

    def _require(self, bound: str, number: int, most: int) -> None:
        if number > most:
            raise too_complex(bound, most)


def joined_steps(path: Path) -> int:
    """How many patterns a path is joined of: what is repeated or has branches is one.

    >>> from pyoxigraph import NamedNode
    >>> from gateway.sparql.paths import Link, ZeroOrMore
    >>> edge = Link(NamedNode("urn:p"))
    >>> joined_steps(Sequence((edge, ZeroOrMore(Sequence((edge, edge))), Inverse(edge))))
    3
    """
    match path:
        case Sequence(steps=steps):
            return sum(map(joined_steps, steps))
        case Inverse(path=inner):
            return joined_steps(inner)
        case _:
            return 1
