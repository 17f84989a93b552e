"""`Groups`: the groups of rows that come and go, and what each shows.

Place: between the rows and the members of a unit. Source: SPARQL 1.1 Query Language, sections 11
and 18.5.1. A row moves one group, at a cost that does not depend on how many rows that has.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pyoxigraph import Literal, Variable

from gateway.engine.incremental.expressions import Solution
from gateway.engine.incremental.grouping import Grouping
from gateway.engine.sliding.aggregates import Recipes, State
from gateway.engine.sliding.star import picker
from gateway.rdf.solutions import Row


class Shown(NamedTuple):
    """What a group shows: `seen` has keys and aggregates, `columns` and `row` what it projects."""

    seen: Solution
    columns: Solution
    row: Row


class Group:
    """How many rows there are, and the states of the aggregates."""

    __slots__ = ("adds", "count", "states")

    def __init__(self, states: list[State], places: list[int]) -> None:
        self.count = 0
        self.states = states
        self.adds = [(each.add, place) for each, place in zip(states, places, strict=True)]


class Groups:
    """The groups of rows that have `names`, in their order; they show `variables`."""

    def __init__(
        self,
        grouping: Grouping,
        recipes: Recipes,
        names: Sequence[str],
        variables: Sequence[str],
    ) -> None:
        self._grouping = grouping
        self._variables = variables
        self._key = picker([names.index(name) for name in grouping.keys])
        self._places = [names.index(grouping.arguments[place]) for place, _ in recipes.states]
        self._makers = [make for _, make in recipes.states]
        self._reads = [
            (name, read) for (name, _), read in zip(grouping.aggregates, recipes.reads, strict=True)
        ]
        self._plain = _plain(grouping)
        self._groups: dict[Row, Group] = {}
        self.clear()

    def __len__(self) -> int:
        """How many there are."""
        return len(self._groups)

    @property
    def keys(self) -> list[Row]:
        """The key of each group."""
        return list(self._groups)

    def clear(self) -> None:
        """Be without rows."""
        self._groups.clear()
        if self._grouping.is_implicit:
            self._groups[()] = self._new()

    def _new(self) -> Group:
        return Group([make() for make in self._makers], self._places)

    def move(self, rows: Iterable[Row], times: int, touched: dict[Row, None]) -> None:
        """Let rows come, each so many times, or go; note the keys of their groups.

        Raises UnsureError.
        """
        groups, key_of = self._groups, self._key
        for row in rows:
            key = key_of(row)
            group = groups.get(key)
            if group is None:
                group = groups[key] = self._new()
            touched[key] = None
            group.count += times
            for add, place in group.adds:
                add(row[place], times)

    def show(self, key: Row) -> Shown | None:
        """What a group shows now; None where it is gone. Raises UnsureError."""
        group = self._groups[key]
        grouping = self._grouping
        if not group.count and not grouping.is_implicit:
            del self._groups[key]
            return None
        seen: Solution = dict(zip(grouping.keys, key, strict=True))  # type: ignore[arg-type]
        if None in key:
            seen = {name: term for name, term in seen.items() if term is not None}
        for name, read in self._reads:
            value = Literal(group.count) if read is None else read[1](group.states[read[0]])
            if value is not None:
                seen[name] = value
        columns = self._columns(seen)
        return Shown(seen, columns, tuple([columns.get(name) for name in self._variables]))

    def _columns(self, seen: Solution) -> Solution:
        if self._plain is not None:
            return {name: seen[source] for name, source in self._plain if source in seen}
        solution = dict(seen)
        for column in self._grouping.columns:
            if column.expression is not None:
                (value,) = column.expression.values([solution])
                if value is not None:
                    solution[column.name] = value
        names = [column.name for column in self._grouping.columns]
        return {name: solution[name] for name in names if name in solution}


def _plain(grouping: Grouping) -> list[tuple[str, str]] | None:
    """What each column shows, where each shows a key or an aggregate as it is."""
    found: list[tuple[str, str]] = []
    for column in grouping.columns:
        if column.expression is None:
            found.append((column.name, column.name))
        elif isinstance(column.expression.tree, Variable):
            found.append((column.name, column.expression.tree.value))
        else:
            return None
    return found
