"""A plan in the making: what may be drawn into the core, and what has to stay a step.

Place: under `translate`. Source: SPARQL 1.1 Query Language, section 18.2.2, and the equivalences
of Pérez, Arenas, Gutierrez, Semantics and Complexity of SPARQL (2009), section 4: a join moves in
front of an OPTIONAL, MINUS, FILTER or BIND where what both share is certainly bound before it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gateway.engine.incremental.plan import (
    NO_NAMES,
    Body,
    CorePattern,
    Extend,
    Filter,
    GroupedJoin,
    Join,
    LeftJoin,
    Names,
    Plan,
    Step,
    Table,
    certain_variables,
)
from gateway.rdf.terms import Term


class NotIncrementalError(Exception):
    """This tier is not surely exact for the query, or would cost more than evaluating it again."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Core, steps in the order of the text, and variables that one IRI is known for."""

    patterns: tuple[CorePattern, ...] = ()
    tables: tuple[Table, ...] = ()
    constants: tuple[tuple[str, Term], ...] = ()
    filters: tuple[Filter, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def certain(self) -> Names:
        """The variables that each solution binds."""
        return certain_variables(self.patterns, self.tables)

    @property
    def variables(self) -> Names:
        """All variables of core and steps."""
        parts = (*self.patterns, *self.tables, *self.filters, *self.steps)
        return NO_NAMES.union(*(part.variables for part in parts))

    @property
    def outward(self) -> Names:
        """What its expressions read and may find unbound."""
        return NO_NAMES.union(*(_outward(step, self.certain) for step in self.steps))

    def plan(self) -> Plan:
        """The draft, finished. Raises NotIncrementalError where changes could not be told."""
        certain = self.certain
        for place, step in enumerate(self.steps):
            for body in step.bodies:
                if not all(nested.certain & certain for nested in body.plans):
                    raise NotIncrementalError("a group shares no certainly bound variable")
            if isinstance(step, LeftJoin | Join | GroupedJoin):
                others = replace(self, steps=self.steps[:place] + self.steps[place + 1 :])
                _require_own(_outward_within(step), others.variables)
        return Plan(self.patterns, self.tables, self.constants, self.filters, self.steps)

    def step(self, step: Step) -> "Draft":
        """The draft with one step more."""
        return replace(self, steps=(*self.steps, step))

    def filter(self, step: Filter) -> "Draft":
        """With a FILTER on everything so far: early where it reads certain variables only."""
        if step.bodies or not step.variables <= self.certain:
            return self.step(step)
        return replace(self, filters=(*self.filters, step))

    def constant(self, name: str, term: Term) -> "Draft":
        """With `FILTER(?name = <iri>)`, the variable being a certain one."""
        return replace(self, constants=(*self.constants, (name, term)))

    def joined(self, other: "Draft") -> "Draft":
        """The join with what comes later in the text, in one core if that means the same."""
        _require_own(self.outward, other.variables)
        _require_own(other.outward, self.variables)
        if _passes(other.variables, self) and _passes(self.variables, other):
            return Draft(
                self.patterns + other.patterns,
                self.tables + other.tables,
                self.constants + other.constants,
                self.filters + other.filters,
                self.steps + other.steps,
            )
        return self.step(Join(Body((other.plan(),))))


def _outward(step: Step, certain: Names) -> Names:
    """What the expressions of a step, or of a group in it, read and these do not surely bind."""
    if isinstance(step, Filter | Extend):
        return step.condition.variables - certain  # with those of an EXISTS, which sees this group
    if not isinstance(step, LeftJoin):
        return _outward_within(step)
    read = NO_NAMES.union(*(condition.variables for condition in step.conditions))
    bound = frozenset.intersection(*(plan.certain for plan in step.body.plans))
    return (read - certain - bound) | _outward_within(step)


def _outward_within(step: Step) -> Names:
    plans = (plan for body in step.bodies for plan in body.plans)
    return NO_NAMES.union(*(_outward(each, plan.certain) for plan in plans for each in plan.steps))


def _require_own(outward: Names, beside: Names) -> None:
    """An expression sees its own group (18.2.1); the store shows it more, by its order of joins."""
    if outward & beside:
        raise NotIncrementalError("an expression reads a variable of a group beside its own")


def _passes(variables: Names, draft: Draft) -> bool:
    """Whether patterns with these variables may be drawn in front of the draft's steps.

    In front of joins they always may.
    """
    certain = draft.certain
    return all(
        isinstance(step, Join | GroupedJoin) or step.variables & variables <= certain
        for step in draft.steps
    )


def product(drafts: Iterable[Draft], others: Iterable[Draft], most: int) -> list[Draft]:
    """The joins of each with each. Raises NotIncrementalError where they are too many."""
    others = tuple(others)
    found = [draft.joined(other) for draft in drafts for other in others]
    if len(found) > most:
        raise NotIncrementalError("there are too many combinations of UNION branches")
    return found
