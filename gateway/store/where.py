"""The WHERE of an UPDATE, as rows of the terms that its templates need.

Place: between `update` and the ways to evaluate one: `join_where`, `query_where`.
"""

from collections.abc import Sequence
from typing import Protocol

from pyoxigraph import Literal

from gateway.rdf.canonical import canonical
from gateway.store.templates import Bindings, Row
from gateway.store.working import Working


class Where(Protocol):
    """A compiled WHERE."""

    def rows(self, working: Working, bindings: Bindings) -> Sequence[Row]:
        """A row for each solution, of the columns that it was compiled for.

        `bindings` hold in every solution; they are as the store gives terms back.
        """


class OneSolution:
    """The empty group: one solution without variables of its own."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def rows(self, working: Working, bindings: Bindings) -> Sequence[Row]:
        """Just the forced bindings."""
        del working
        return (tuple(map(bindings.get, self._columns)),)


def canonical_bindings(bindings: Bindings) -> Bindings:
    """The bindings as the store gives terms back."""
    return {
        name: canonical(term) if isinstance(term, Literal) else term
        for name, term in bindings.items()
    }
