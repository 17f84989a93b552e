"""Plans: a group graph pattern as a core of joined patterns and steps that depend on it.

Place: made by `translate`, read by `solve` and `affected`. Source: SPARQL 1.1 Query Language,
section 18.2 (translation to the algebra) and 18.5 (its meaning).

A group is a bag union of plans, its UNIONs being drawn to the outside. The core of a plan is its
triple patterns and VALUES, which join in any order; the steps (BIND, FILTER, OPTIONAL, MINUS, a
join with another group) follow in the order of the text. A pattern that the text has behind a step
is drawn into the core only where that means the same: its variables that the step has, too, are
certainly bound before.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gateway.engine.incremental.expressions import Expression
from gateway.engine.incremental.grouping import Grouping
from gateway.engine.join.join_pattern import Slot
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term

Names = frozenset[str]
NO_NAMES: Names = frozenset()


@dataclass(frozen=True, slots=True)
class GraphScope:
    """Where patterns match: the graph `name`, or that variable over `graphs` (None: all named).

    A default graph merged from several is a hidden variable over them.
    """

    name: GraphName | str = DEFAULT_GRAPH
    graphs: tuple[GraphName, ...] | None = None


@dataclass(frozen=True, slots=True)
class CorePattern:
    """A triple pattern without path and where it matches; names are variables.

    `excluded` are predicates that it does not match: `!(p|q)`.
    """

    subject: Slot
    predicate: Slot
    object: Slot
    scope: GraphScope
    excluded: frozenset[Term] = frozenset()

    @property
    def slots(self) -> tuple[GraphName | Slot, ...]:
        """Subject, predicate, object, graph."""
        return (self.subject, self.predicate, self.object, self.scope.name)

    @property
    def variables(self) -> Names:
        """The names of the variables in it."""
        return frozenset(slot for slot in self.slots if isinstance(slot, str))


@dataclass(frozen=True, slots=True)
class Table:
    """VALUES: rows of terms as the store has them, None for UNDEF."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]

    @property
    def variables(self) -> Names:
        """The columns of the table."""
        return frozenset(self.columns)

    @property
    def certain(self) -> Names:
        """The columns with a value in each row."""
        return frozenset(
            name for place, name in enumerate(self.columns) if all(row[place] for row in self.rows)
        )


@dataclass(frozen=True, slots=True)
class Existence:
    """An EXISTS within an expression: `name` stands for its truth there."""

    name: str
    body: "Body"
    negated: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression and the existences that it reads."""

    expression: Expression
    existences: tuple[Existence, ...] = ()

    @property
    def variables(self) -> Names:
        """All that it reads of a solution."""
        inner = (existence.body.variables for existence in self.existences)
        hidden = {existence.name for existence in self.existences}
        return frozenset(self.expression.names).union(*inner) - hidden


@dataclass(frozen=True, slots=True)
class Filter:
    """A FILTER."""

    condition: Condition

    @property
    def variables(self) -> Names:
        """All variables that the condition reads."""
        return self.condition.variables

    @property
    def bodies(self) -> tuple["Body", ...]:
        """The groups that it depends on."""
        return tuple(existence.body for existence in self.condition.existences)


@dataclass(frozen=True, slots=True)
class Extend:
    """BIND, or a column with an expression."""

    condition: Condition
    name: str

    @property
    def variables(self) -> Names:
        """All that it reads, and the name that it binds."""
        return self.condition.variables | {self.name}

    @property
    def bodies(self) -> tuple["Body", ...]:
        """The groups that it depends on."""
        return tuple(existence.body for existence in self.condition.existences)


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL; the conditions are the FILTERs of its group, which see both sides."""

    body: "Body"
    conditions: tuple[Condition, ...] = ()

    @property
    def variables(self) -> Names:
        """All variables of both."""
        return self.body.variables.union(*(each.variables for each in self.conditions))

    @property
    def bodies(self) -> tuple["Body", ...]:
        """The group."""
        return (self.body,)


@dataclass(frozen=True, slots=True)
class Minus:
    """A MINUS."""

    body: "Body"

    @property
    def variables(self) -> Names:
        """All variables of the group."""
        return self.body.variables

    @property
    def bodies(self) -> tuple["Body", ...]:
        """The group."""
        return (self.body,)


@dataclass(frozen=True, slots=True)
class Join:
    """A group that cannot be drawn into the core."""

    body: "Body"

    @property
    def variables(self) -> Names:
        """All variables of the group."""
        return self.body.variables

    @property
    def bodies(self) -> tuple["Body", ...]:
        """The group."""
        return (self.body,)


@dataclass(frozen=True, slots=True)
class GroupedJoin:
    """A sub-query with groups: a row for each group of the solutions of the body."""

    body: "Body"
    grouping: Grouping

    @property
    def variables(self) -> Names:
        """The columns that it joins: everything else in it has a name of its own."""
        return frozenset(column.name for column in self.grouping.columns)

    @property
    def bodies(self) -> tuple["Body", ...]:
        """The group."""
        return (self.body,)


Step = Filter | Extend | LeftJoin | Minus | Join | GroupedJoin


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A core and its steps; `constants` are variables that a FILTER makes one IRI.

    `filters` read certain variables only, so they may be asked as soon as these are bound.
    """

    patterns: tuple[CorePattern, ...]
    tables: tuple[Table, ...] = ()
    constants: tuple[tuple[str, Term], ...] = ()
    filters: tuple[Filter, ...] = ()
    steps: tuple[Step, ...] = ()
    certain: Names = field(init=False)
    variables: Names = field(init=False)
    sources: list[Any] = field(init=False, default_factory=list, repr=False)
    orders: dict[tuple[Names, tuple[int, ...]], tuple[Any, ...]] = field(
        init=False, default_factory=dict, repr=False
    )
    parts: dict[tuple[tuple[str, ...], tuple[int, ...]], Any] = field(
        init=False, default_factory=dict, repr=False
    )

    def __post_init__(self) -> None:
        """Find out which variables there are, and which are bound in each solution."""
        parts = (*self.patterns, *self.tables, *self.filters, *self.steps)
        certain = certain_variables(self.patterns, self.tables)
        object.__setattr__(self, "certain", certain)
        object.__setattr__(self, "variables", certain.union(*(each.variables for each in parts)))


def certain_variables(patterns: Iterable[CorePattern], tables: Iterable[Table]) -> Names:
    """The variables that each solution of a core binds."""
    return NO_NAMES.union(*(each.variables for each in patterns), *(t.certain for t in tables))


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A group: the bag union of its plans."""

    plans: tuple[Plan, ...]
    variables: Names = field(init=False)

    def __post_init__(self) -> None:
        """Find out which variables there are."""
        names = NO_NAMES.union(*(plan.variables for plan in self.plans))
        object.__setattr__(self, "variables", names)
