"""`Groups`: the groups of rows that come and go, and what each shows.

Place: between the rows and the members of a unit. Source: SPARQL 1.1 Query Language, sections 11
and 18.5.1. A row moves one group, at a cost that does not depend on how many rows that has.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pyoxigraph import Variable

from gateway.engine.incremental.expressions import Solution
from gateway.engine.incremental.grouping import Grouping
from gateway.engine.sliding.aggregates import Recipes, State
from gateway.engine.sliding.element_rows import Said
from gateway.engine.sliding.group_key import Grouped, GroupKey, Unread, group_key
from gateway.engine.sliding.measured import Measured, integer_literal
from gateway.engine.sliding.star import picker
from gateway.rdf.solutions import Row

Add = Callable[[int, Measured], None]


class Shown:
    """What a group shows: the `values` of keys and aggregates, and `row`, what it projects."""

    __slots__ = ("_groups", "_seen", "row", "values")

    def __init__(self, values: Row, row: Row, groups: "Groups") -> None:
        self.values = values
        self.row = row
        self._groups = groups
        self._seen: Solution | None = None

    @property
    def seen(self) -> Solution:
        """The values by name; made when somebody asks, and not to be written to."""
        found = self._seen
        if found is None:
            found = self._seen = solution_of(self._groups.seen, self.values)
        return found

    @property
    def columns(self) -> Solution:
        """What it projects, by name."""
        return solution_of(self._groups.names, self.row)


def solution_of(names: Sequence[str], row: Row) -> Solution:
    """The bound ones of these, by name."""
    return {name: term for name, term in zip(names, row, strict=True) if term is not None}


class Group:
    """How many rows there are, the states of the aggregates, and what was told of it last.

    `adds` are those of the states.
    """

    __slots__ = ("adds", "count", "is_touched", "key", "shown", "states")

    def __init__(self, key: GroupKey, states: list[State]) -> None:
        self.key = key
        self.shown: Shown | None = None
        self.is_touched = False
        self.begin(states)

    def begin(self, states: list[State]) -> None:
        """Have no rows; what was told stays."""
        self.count = 0
        self.states = states
        self.adds: tuple[Add, ...] = tuple([state.add for state in states])


class Groups:
    """The groups of rows; iterated over, those that there are. They project `names`.

    `seen` are the names of the values that they show.

    A group's key begins with the values of the `parameters`: groups of other ones are of other
    subscriptions. Where they `are_told_apart`, no two groups of one subscription project the same.
    """

    def __init__(
        self,
        grouping: Grouping,
        recipes: Recipes,
        parameters: Sequence[str],
        rows: Sequence[str],
    ) -> None:
        self._grouping = grouping
        self._parameters = len(parameters)
        places = [rows.index(grouping.arguments[place]) for place, _ in recipes.states]
        self.grouped = Grouped(
            tuple([rows.index(name) for name in (*parameters, *grouping.keys)]),
            tuple(dict.fromkeys(places)),
        )
        self._key, self._numbers = picker(self.grouped.key), self.grouped.numbers
        self._at = [self.grouped.arguments.index(place) for place in places]
        self._makers = [make for _, make in recipes.states]
        self._reads = recipes.reads
        self.seen = (*grouping.keys, *(name for name, _ in grouping.aggregates))
        self.names = tuple(dict.fromkeys(column.name for column in grouping.columns))
        shown = _plain(grouping)
        self.are_told_apart = shown is not None and set(grouping.keys) <= set(shown)
        self._plain: Callable[[Row], Row] | None = None
        if shown is not None:
            as_seen = tuple(shown) == self.seen
            self._plain = tuple if as_seen else picker([self.seen.index(n) for n in shown])
        self._groups: dict[GroupKey, Group] = {}
        self._opened: set[Row] = set()

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups.values())

    def open(self, constants: Row, touched: list[Group]) -> None:
        """Somebody is told the groups of these values, one of which may be there without rows."""
        self._opened.add(constants)
        if self._grouping.is_implicit:
            group = self._group(group_key(constants))
            group.is_touched = True
            touched.append(group)

    def begin(self, touched: list[Group]) -> None:
        """Be without rows; note all groups, which show what they did."""
        for group in self:
            group.begin([make() for make in self._makers])
            if not group.is_touched:
                group.is_touched = True
                touched.append(group)

    def close(self, constants: Row) -> list[Group]:
        """Forget the groups of these values, and say which."""
        self._opened.discard(constants)
        closed = [each for each in self if self.constants_of(each) == constants]
        for group in closed:
            del self._groups[group.key]
        return closed

    def constants_of(self, group: Group) -> Row:
        """The values of the parameters that a group is of."""
        return group.key.values[: self._parameters]

    def _group(self, key: GroupKey) -> Group:
        group = Group(key, [make() for make in self._makers])
        self._groups[key] = group
        return group

    def move(self, rows: Iterable[Row], times: int, touched: list[Group]) -> None:
        """Let rows come, each so many times, or go; note their groups. Raises UnsureError."""
        for row in rows:
            self.move_one(group_key(self._key(row)), self._numbers(row), times, touched)

    def follow(
        self, said: Said, times: int, touched: list[Group], constants: Row | None = None
    ) -> None:
        """The same of what an element says of groups, or of those of some values of the parameters.

        Raises UnsureError.
        """
        for key, numbers in ((said.key, said.what),) if said.key is not None else said.what:
            if constants is None or key.values[: self._parameters] == constants:
                self.move_one(key, numbers, times, touched)

    def is_opened(self, key: GroupKey) -> bool:
        """Whether somebody is told the group."""
        return key in self._groups or key.values[: self._parameters] in self._opened

    def move_one(self, key: GroupKey, numbers: Any, times: int, touched: list[Group]) -> None:
        """The same of one row, of which the key and `Grouped.numbers` are known.

        Groups that nobody has opened there are none.
        """
        group = self._groups.get(key)
        if group is None:
            if key.values[: self._parameters] not in self._opened:
                return
            group = self._group(key)
        if not group.is_touched:
            group.is_touched = True
            touched.append(group)
        group.count += times
        if type(numbers) is Unread:  # entered when nobody had opened its group
            numbers = numbers.numbers
        if type(numbers) is Measured:
            for add in group.adds:
                add(times, numbers)
        else:
            for at, add in zip(self._at, group.adds, strict=True):
                add(times, numbers[at])

    def forget(self, group: Group) -> None:
        """Be without a group that shows nothing."""
        del self._groups[group.key]

    def now(self, group: Group) -> Shown | None:
        """What a group is to show now; None where it is gone. Raises UnsureError."""
        grouping = self._grouping
        if not group.count and not grouping.is_implicit:
            return None
        states = group.states
        values = group.key.values[self._parameters :] + tuple(
            [
                integer_literal(group.count) if read is None else read[1](states[read[0]])
                for read in self._reads
            ]
        )
        if self._plain is not None:
            return Shown(values, self._plain(values), self)
        return Shown(values, self._row(values), self)

    def _row(self, values: Row) -> Row:
        solution = solution_of(self.seen, values)
        for column in self._grouping.columns:
            if column.expression is not None:
                (value,) = column.expression.values([solution])
                if value is not None:
                    solution[column.name] = value
        return tuple([solution.get(name) for name in self.names])


def _plain(grouping: Grouping) -> list[str] | None:
    """What each column shows, where each shows a key or an aggregate as it is."""
    found: dict[str, str] = {}
    for column in grouping.columns:
        if column.expression is None:
            found[column.name] = column.name
        elif isinstance(column.expression.tree, Variable):
            found[column.name] = column.expression.tree.value
        else:
            return None
    return list(found.values())
