"""GROUP BY, aggregates and HAVING over the solutions that come and go.

Place: the `Answer` of a grouped query. Source: SPARQL 1.1 Query Language, sections 11 and 18.5.1.
Kept are, for each group, how many solutions it has, its aggregates and its row; not the solutions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gateway.engine.incremental.aggregates import Accumulator, UnsureError, accumulator
from gateway.engine.incremental.expressions import Expression, Solution
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, consolidate, difference
from gateway.sparql import algebra

Key = Row


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the answer; without expression a key."""

    name: str
    expression: Expression | None


@dataclass(frozen=True, slots=True)
class Grouping:
    """How rows of keys and arguments become groups, and groups rows of the answer.

    A row has the values of `keys`, then those of `arguments`, one for each aggregate.
    """

    keys: tuple[str, ...]
    arguments: tuple[str, ...]
    aggregates: tuple[tuple[str, algebra.Aggregate], ...]
    having: tuple[Expression, ...]
    columns: tuple[Column, ...]
    is_implicit: bool

    def new_group(self) -> "Group":
        """A group without solutions."""
        made = [accumulator(aggregate) for _, aggregate in self.aggregates]
        return Group(tuple(each for each in made if each is not None))

    def row(self, key: Key, group: "Group") -> tuple[Row, ...]:
        """The one row of a group, or none where HAVING says so. Raises UnsureError."""
        solution: Solution = {
            name: term for name, term in zip(self.keys, key, strict=True) if term is not None
        }
        for (name, _), each in zip(self.aggregates, group.accumulators, strict=True):
            value = each.value()
            if value is not None:
                solution[name] = value
        if not all(condition.truths([solution])[0] for condition in self.having):
            return ()
        for column in self.columns:
            if column.expression is not None:
                (value,) = column.expression.values([solution])
                if value is not None:
                    solution[column.name] = value
        return (tuple(solution.get(column.name) for column in self.columns),)

    def of(self, solutions: Iterable[Solution]) -> list[Solution]:
        """The groups of these solutions, as solutions of the columns. Raises UnsureError."""
        groups: dict[Key, Group] = {}
        for solution in solutions:
            key = tuple([solution.get(name) for name in self.keys])
            group = groups.get(key)
            if group is None:
                group = groups[key] = self.new_group()
            group.add(tuple([solution.get(name) for name in self.arguments]), +1)
        names = [column.name for column in self.columns]
        return [
            {name: term for name, term in zip(names, row, strict=True) if term is not None}
            for key, group in groups.items()
            for row in self.row(key, group)
        ]


@dataclass(slots=True)
class Group:
    """How many solutions, their aggregates and what the answer shows of them.

    `shown` is None where only the store knows.
    """

    accumulators: tuple[Accumulator, ...]
    count: int = 0
    shown: tuple[Row, ...] | None = ()

    def add(self, arguments: Row, times: int) -> None:
        """Solutions come or go."""
        self.count += times
        for each, argument in zip(self.accumulators, arguments, strict=True):
            each.add(argument, times)

    def add_all(self, rows: Sequence[Row], width: int, times: int) -> None:
        """Rows of one key, which is so wide: each aggregate is told equal arguments together."""
        if len(rows) == 1:
            self.add(rows[0][width:], times)
            return
        self.count += times * len(rows)
        for place, each in enumerate(self.accumulators, width):
            for argument, count in Counter([row[place] for row in rows]).items():
                each.add(argument, times * count)


class GroupedAnswer:
    """The answer of a grouped query.

    While a group is one of which only the store knows the row, the query is evaluated again.
    """

    def __init__(
        self,
        variables: tuple[str, ...],
        grouping: Grouping,
        rows: Iterable[Row],
        evaluate: Callable[[], SolutionBag],
    ) -> None:
        self._variables = variables
        self._grouping = grouping
        self._evaluate = evaluate
        self._groups: dict[Key, Group] = {}
        self._unsure: set[Key] = set()
        self._answer: SolutionBag = Counter()
        self._move(rows, +1)
        if grouping.is_implicit:
            self._groups.setdefault((), grouping.new_group())
        self._apply(self._shown(self._groups))

    def now(self) -> SolutionBag:
        """A row for each group."""
        return self._answer

    def told(self) -> SolutionBag | None:
        """The rows as they were told."""
        return self._answer

    def change(self, removed: Sequence[Row], added: Sequence[Row]) -> ResultsDelta:
        """The rows of the groups that solutions left or joined."""
        was_unsure = bool(self._unsure)
        touched = dict.fromkeys((*self._move(added, +1), *self._move(removed, -1)))
        results = self._shown(touched)
        if not (was_unsure or self._unsure):
            self._apply(results)
            return results
        answer = self._evaluate()
        results = difference(self._variables, self._answer, answer)
        self._answer = answer
        return results

    def _apply(self, results: ResultsDelta) -> None:
        if self._unsure:
            self._answer = self._evaluate()
            return
        self._answer.update(results.added)
        for row in results.removed:
            self._answer[row] -= 1
            if not self._answer[row]:
                del self._answer[row]

    def _move(self, rows: Iterable[Row], times: int) -> list[Key]:
        """Let solutions come or go; the keys of their groups."""
        width = len(self._grouping.keys)
        by_key: dict[Key, list[Row]] = {}
        for row in rows:
            by_key.setdefault(row[:width], []).append(row)
        for key, alike in by_key.items():
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = self._grouping.new_group()
            group.add_all(alike, width, times)
        return list(by_key)

    def _shown(self, keys: Iterable[Key]) -> ResultsDelta:
        """What these groups show now against what they showed."""
        added: list[Row] = []
        removed: list[Row] = []
        for key in list(keys):
            group = self._groups[key]
            removed += group.shown or ()
            self._show(key, group)
            added += group.shown or ()
        return consolidate(self._variables, added, removed)

    def _show(self, key: Key, group: Group) -> None:
        self._unsure.discard(key)
        if not group.count and not self._grouping.is_implicit:
            del self._groups[key]
            group.shown = ()
            return
        try:
            group.shown = self._grouping.row(key, group)
        except UnsureError:
            group.shown = None
            self._unsure.add(key)
