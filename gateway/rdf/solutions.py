"""Solutions of a query and their changes: bags (multisets) of rows and their differences.

A row is a tuple of terms in the order of the query's variables, None where unbound: cheap to
hash and to compare. `Solution` is the mapping form that users of the API see.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gateway.rdf.terms import Term

Row = tuple[Term | None, ...]
Solution = Mapping[str, Term]
SolutionBag = Counter[Row]


class ResultsDelta(NamedTuple):
    """Rows that an answer gained and lost, as bags: a row may occur several times.

    Invariant: no row is on both sides. A tuple: a step of some µs may make dozens.
    """

    variables: tuple[str, ...]
    added: tuple[Row, ...] = ()
    removed: tuple[Row, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the answer stayed as it was."""
        return not (self.added or self.removed)

    def negate(self) -> "ResultsDelta":
        """The change that undoes this one."""
        return ResultsDelta(self.variables, self.removed, self.added)


def difference(variables: tuple[str, ...], old: SolutionBag, new: SolutionBag) -> ResultsDelta:
    """The bag difference in both directions: `new - old` added, `old - new` removed."""
    return ResultsDelta(variables, tuple((new - old).elements()), tuple((old - new).elements()))


def consolidate(
    variables: tuple[str, ...], added: Iterable[Row], removed: Iterable[Row]
) -> ResultsDelta:
    """Net additions against removals as bags."""
    added, removed = tuple(added), tuple(removed)
    if not (added and removed) or set(added).isdisjoint(removed):
        return ResultsDelta(variables, added, removed)
    return difference(variables, Counter(removed), Counter(added))


def solution(variables: tuple[str, ...], row: Row) -> Solution:
    """The row as a mapping of its bound variables."""
    return {name: term for name, term in zip(variables, row, strict=True) if term is not None}
