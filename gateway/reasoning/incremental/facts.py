"""What a closure keeps: individuals with their types, and the facts of each property.

A fact's support is a number. The lowest bits say that it is asserted, concluded by a chain or a
value, or by transitivity; above them it counts the asserted facts that it follows from by itself
(`BY_ASSERTED` each), and the concluded ones (`BY_CONCLUDED` each). A negative number is a fact
that was withdrawn in the step that goes on, with the support that is left.
"""

from collections.abc import Iterator, Set

from pyoxigraph import Literal, Triple

from gateway.rdf.terms import Term
from gateway.reasoning.incremental.program import Edges, Name, Program, Reach, Table

ASSERTED = 1
CONCLUDED = 2
BY_TRANSITIVITY = 4
BY_ASSERTED = 8
BY_CONCLUDED = 1 << 32

NOT_THERE, DERIVED, GIVEN = range(3)
"""What a fact was before a step: not there, derived, or asserted."""

FIRM = BY_CONCLUDED - BY_ASSERTED + ASSERTED
"""The support that does not rest on conclusions, and so not on the fact itself."""


OPAQUE = (Literal, Triple)
"""Terms of which nothing can be said."""


class Individual:
    """A term that facts or types are kept of; compared by identity.

    `types` masks what it is a member of, `asserted` what it is said to be. `counts` has how often
    facts give each mask of types to it, `recursive` those that may rest on its own types. `facts`
    counts those that are kept with it at either end.
    """

    __slots__ = ("asserted", "counts", "facts", "is_literal", "recursive", "term", "types")

    def __init__(self, term: Term) -> None:
        self.term = term
        self.is_literal = isinstance(term, OPAQUE)
        self.types = 0
        self.asserted = 0
        self.facts = 0
        self.counts: dict[int, int] | None = None
        self.recursive: dict[int, int] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is known of it any more."""
        return not (self.facts or self.asserted or self.counts or self.recursive)


class BoundReach:
    """A `Reach` whose heads are relations of one closure."""

    __slots__ = ("heads", "object", "object_values", "path_heads", "subject", "subject_values")

    def __init__(self, reach: Reach) -> None:
        self.subject = reach.subject
        self.object = reach.object
        self.subject_values = reach.subject_values
        self.object_values = reach.object_values
        self.heads: tuple[tuple[Relation, bool], ...] = ()
        self.path_heads: tuple[tuple[Relation, bool], ...] = ()


class Relation:
    """The facts of one property in one closure: `out` with support, `into` those that hold.

    `into` alone is kept where nothing concludes facts and nothing goes along them forwards. It
    `is_about_object` where nothing of a fact would be kept with its subject.
    """

    __slots__ = (
        "has_values",
        "into",
        "is_about_object",
        "is_joined",
        "is_kept",
        "is_literal_plain",
        "is_shown",
        "literal",
        "name",
        "needs_object",
        "node",
        "only",
        "out",
        "paths",
        "some",
    )

    def __init__(self, table: Table, *, is_shown: bool) -> None:
        self.name: Name = table.name
        self.is_shown = is_shown
        self.out: dict[Individual, dict[Individual, int]] = {}
        self.into: dict[Individual, set[Individual]] = {}
        self.join_by(table)
        self.use(table)

    def join_by(self, table: Table | None) -> None:
        """Join facts with others by the rules of the table; None is by none."""
        self.some = () if table is None else table.some
        self.only = () if table is None else table.only
        self.paths = () if table is None else table.paths
        self.is_joined = bool(self.some or self.only or self.paths)

    def use(self, table: Table) -> None:
        """Go on with another table, whose heads are bound and whose rules joined apart."""
        self.is_kept = table.is_kept
        self.needs_object = table.needs_object
        self.is_literal_plain = table.is_literal_plain
        self.is_about_object = not (
            table.is_kept or table.some or table.node.heads or table.node.subject
        )
        self.has_values = bool(table.node.subject_values or table.node.object_values)
        self.node = BoundReach(table.node)
        self.literal = BoundReach(table.literal)

    def count(self) -> int:
        """How many facts there are, withdrawn ones that have support left too; linear."""
        return sum(map(len, self.out.values()))

    def objects(self, subject: Individual) -> list[Individual]:
        """What the relation leads to."""
        row = self.out.get(subject)
        return [] if row is None else [each for each, support in row.items() if support > 0]

    def holds(self, subject: Individual, object_: Individual) -> bool:
        """Whether the fact is there now."""
        row = self.out.get(subject)
        return row is not None and row.get(object_, 0) > 0

    def derived(self) -> Iterator[tuple[Individual, Individual]]:
        """The facts that hold and are not asserted."""
        for subject, row in self.out.items():
            for object_, support in row.items():
                if support > 0 and not support & ASSERTED:
                    yield subject, object_


class Relations:
    """The relations of a closure, made when they are first asked for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.by_name: dict[Name, Relation] = {}

    def __getitem__(self, name: Name) -> Relation:
        found = self.by_name.get(name)
        return self._make(name) if found is None else found

    def get(self, name: Name) -> Relation | None:
        """The relation, if there can be facts of it yet."""
        return self.by_name.get(name)

    def use(self, program: Program, changed: Set[Name]) -> None:
        """Go on with another program; relations that it does not read are empty, and go."""
        self.program = program
        known = [self.by_name[name] for name in changed if name in self.by_name]
        tables = [(relation, program.tables.get(relation.name)) for relation in known]
        for relation, table in tables:
            if table is None or not table.is_read:
                del self.by_name[relation.name]
        for relation, table in tables:
            if table is not None:
                relation.use(table)
                for head, _ in table.node.heads:
                    self[head]
                self._bind(relation.node, table.node)
                self._bind(relation.literal, table.literal)

    def _make(self, name: Name) -> Relation:
        made: list[tuple[Relation, Table]] = []
        waiting = [name]
        while waiting:
            name = waiting.pop()
            if name in self.by_name:
                continue
            table = self.program.tables[name]
            relation = Relation(table, is_shown=not isinstance(name, Edges))
            self.by_name[name] = relation
            made.append((relation, table))
            waiting += (head for head, _ in table.node.heads)
        for relation, table in made:
            self._bind(relation.node, table.node)
            self._bind(relation.literal, table.literal)
        return self.by_name[made[0][0].name]

    def _bind(self, bound: BoundReach, reach: Reach) -> None:
        bound.heads = tuple((self.by_name[name], turned) for name, turned in reach.heads)
        bound.path_heads = tuple((self.by_name[name], turned) for name, turned in reach.path_heads)
