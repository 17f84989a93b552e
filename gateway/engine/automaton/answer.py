"""From matches to answers: which rows a step added to an answer and took from it.

Place: behind the machine, one for each query. Matches that came and matches that went are never
the same; the rows that they give may be.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

from gateway.engine.automaton.form import Form
from gateway.engine.automaton.terms import IntRow

Rows: TypeAlias = Sequence[IntRow]
IsRow: TypeAlias = Callable[[IntRow], bool]


class Answer(Protocol):
    """How matches become rows."""

    def begin(self, rows: Iterable[IntRow]) -> None:
        """Take in the rows of all matches that there are, if anything is kept of them."""

    def whole(self, rows: Iterable[IntRow]) -> Iterable[IntRow]:
        """The whole answer now, `rows` being those of all matches."""

    def change(self, won: Rows, lost: Rows) -> tuple[Rows, Rows]:
        """Rows added and removed, as bags, of the rows of matches that came and went."""


def answer(form: Form, is_row: IsRow) -> tuple[Answer, bool]:
    """The kind that is right for the query, and whether it has to be told of matches that go.

    `is_row` is asked where a row may be no triple.
    """
    if _is_one_to_one(form):
        return ONE_TO_ONE, False
    if form.is_set:
        return Counted(is_row if form.is_triples else None), True
    return NETTED, True


def _is_one_to_one(form: Form) -> bool:
    """Whether no two matches give equal rows, and every match gives a row."""
    shown = {ref for row in form.rows for ref in row if ref >= 0}
    return len(form.rows) == 1 and len(shown) == form.variables and not form.is_triples


class OneToOne:
    """All variables are shown: DISTINCT or not, rows are matches."""

    def begin(self, rows: Iterable[IntRow]) -> None:
        """Nothing is kept."""

    def whole(self, rows: Iterable[IntRow]) -> Iterable[IntRow]:
        """The rows."""
        return rows

    def change(self, won: Rows, lost: Rows) -> tuple[Rows, Rows]:
        """The rows."""
        return won, lost


class Netted:
    """A bag in which a row that goes may come again by another match."""

    def begin(self, rows: Iterable[IntRow]) -> None:
        """Nothing is kept."""

    def whole(self, rows: Iterable[IntRow]) -> Iterable[IntRow]:
        """The rows."""
        return rows

    def change(self, won: Rows, lost: Rows) -> tuple[Rows, Rows]:
        """Their difference, both ways."""
        if not (won and lost) or set(won).isdisjoint(lost):
            return won, lost
        came, went = Counter(won), Counter(lost)
        return list((came - went).elements()), list((went - came).elements())


class Counted:
    """A set: how many matches give each row; the first and the last count."""

    __slots__ = ("_counts", "_is_row")

    def __init__(self, is_row: IsRow | None = None) -> None:
        self._counts: Counter[IntRow] = Counter()
        self._is_row = is_row

    def begin(self, rows: Iterable[IntRow]) -> None:
        """Count them."""
        counts = Counter(rows)
        if self._is_row is not None:
            counts = Counter({row: count for row, count in counts.items() if self._is_row(row)})
        self._counts = counts

    def whole(self, rows: Iterable[IntRow]) -> Iterable[IntRow]:
        """Each row once; `rows` are not looked at."""
        del rows
        return self._counts

    def change(self, won: Rows, lost: Rows) -> tuple[Rows, Rows]:
        """Rows that have their first match now, and that have lost their last one."""
        if self._is_row is not None:
            won, lost = [*filter(self._is_row, won)], [*filter(self._is_row, lost)]
        counts = self._counts
        touched = dict.fromkeys((*won, *lost))
        had = {row for row in touched if row in counts}
        counts.update(won)
        counts.subtract(lost)
        for row in touched:
            if not counts[row]:
                del counts[row]
        return (
            [row for row in touched if row in counts and row not in had],
            [row for row in touched if row in had and row not in counts],
        )


ONE_TO_ONE = OneToOne()
NETTED = Netted()
