"""`Support`: the facts and types of a domain with what supports them, one change at a time.

Place: the lowest part of a `Closure`. Each method keeps counts true and notes what has to be looked
at next; nothing here goes on by itself.
"""

from collections.abc import Callable, Set

from pyoxigraph import DefaultGraph, Quad

from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.incremental.chains import concluded
from gateway.reasoning.incremental.facts import (
    ASSERTED,
    BY_CONCLUDED,
    BY_TRANSITIVITY,
    CONCLUDED,
    DERIVED,
    FIRM,
    GIVEN,
    NOT_THERE,
    BoundReach,
    Individual,
    Relation,
    Relations,
)
from gateway.reasoning.incremental.program import Name, Path, Program

Fact = tuple[Relation, Individual, Individual]
Conclusion = tuple[Relation, Individual, Individual, int]
Heads = tuple[tuple[Relation, bool], ...]


Make = Callable[[Term, Name, Term], Quad]


def quads_of(graph: GraphName) -> Make:
    """What makes a quad of a graph; that of the default graph is cheaper by half unnamed."""
    if isinstance(graph, DefaultGraph):
        return Quad  # type: ignore[return-value]
    return lambda subject, predicate, object_: Quad(subject, predicate, object_, graph)  # type: ignore[arg-type]


class Support:
    """Individuals and relations, and what waits to be looked at.

    `size` is the number of derived quads. `dirty` are individuals whose types may be others,
    `weakened` those that are looked at again once everything is withdrawn; `left` facts that hold
    no longer and have support, `going` conclusions to withdraw, `gone` withdrawn ones, `coming`
    those to draw. `was` has the types and asserted types, and what the facts were, that changed.
    """

    def __init__(self, program: Program, into: GraphName) -> None:
        self.program = program
        self.into = into
        self.quad = quads_of(into)
        self.size = 0
        self.individuals: dict[Term, Individual] = {}
        self.relations = Relations(program)
        self.limit: float = 0
        self.shown = program.bits.visible
        self.dirty: dict[Individual, None] = {}
        self.weakened: dict[Individual, None] = {}
        self.left: list[Fact] = []
        self.going: list[Conclusion] = []
        self.gone: list[Conclusion] = []
        self.coming: list[Conclusion] = []
        self.was: dict[Individual, tuple[int, int]] = {}
        self.facts_were: dict[Fact, int] = {}
        self.idle: dict[Individual, None] = {}
        self._members: dict[int, dict[Individual, None]] = {}

    def individual(self, term: Term) -> Individual:
        """The individual of a term, made where there is none."""
        found = self.individuals.get(term)
        if found is None:
            found = self.individuals[term] = Individual(term)
        return found

    # What follows from one fact by itself, for and against.

    def support(self, heads: Heads, subject: Individual, object_: Individual, unit: int) -> None:
        """Support what follows from a fact by itself."""
        for head, turned in heads:
            if turned:
                self.hold(head, object_, subject, unit)
            else:
                self.hold(head, subject, object_, unit)

    def unsupport(self, heads: Heads, subject: Individual, object_: Individual, unit: int) -> None:
        """Take that support back."""
        for head, turned in heads:
            if turned:
                self.release(head, object_, subject, unit)
            else:
                self.release(head, subject, object_, unit)

    def give_by_value(
        self, reach: BoundReach, subject: Individual, object_: Individual, *, is_recursive: bool
    ) -> None:
        """Types of an end where the other is a certain term."""
        if mask := reach.subject_values.get(object_.term):
            (self.give_recursive if is_recursive else self.give)(subject, mask)
        if mask := reach.object_values.get(subject.term):
            (self.give_recursive if is_recursive else self.give)(object_, mask)

    def take_by_value(
        self, reach: BoundReach, subject: Individual, object_: Individual, *, is_recursive: bool
    ) -> None:
        """Take back what `give_by_value` gave."""
        if mask := reach.subject_values.get(object_.term):
            (self.take_recursive if is_recursive else self.take)(subject, mask)
        if mask := reach.object_values.get(subject.term):
            (self.take_recursive if is_recursive else self.take)(object_, mask)

    def give(self, individual: Individual, mask: int) -> None:
        """A fact that is asserted, or that does not rest on these types, gives them."""
        counts = individual.counts
        if counts is None:
            individual.counts = {mask: 1}
        else:
            counts[mask] = counts.get(mask, 0) + 1
        if mask & ~individual.types:
            self.dirty[individual] = None

    def give_recursive(self, individual: Individual, mask: int) -> None:
        """A fact that may rest on these types gives them."""
        counts = individual.recursive
        if counts is None:
            individual.recursive = {mask: 1}
        else:
            counts[mask] = counts.get(mask, 0) + 1
        if mask & ~individual.types:
            self.dirty[individual] = None

    def take(self, individual: Individual, mask: int) -> None:
        """Take back what `give` gave."""
        counts = individual.counts
        assert counts is not None  # noqa: S101  (given before)
        left = counts[mask] - 1
        if left:
            counts[mask] = left
            return
        del counts[mask]
        if not counts:
            individual.counts = None
            self.idle[individual] = None
        self.dirty[individual] = None

    def take_recursive(self, individual: Individual, mask: int) -> None:
        """Take back what `give_recursive` gave: what is left may rest on itself."""
        counts = individual.recursive
        assert counts is not None  # noqa: S101  (given before)
        left = counts[mask] - 1
        if left:
            counts[mask] = left
        else:
            del counts[mask]
            if not counts:
                individual.recursive = None
                self.idle[individual] = None
        self.dirty[individual] = None
        self.weakened[individual] = None

    def give_some(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        """Give the subject what it is by the object's types."""
        for join in relation.some:
            if object_.types & join.needs:
                (self.give_recursive if join.is_recursive else self.give)(subject, join.slot)

    # Facts that are kept.

    def hold(self, relation: Relation, subject: Individual, object_: Individual, unit: int) -> None:
        """Support a fact, which holds from now on if it did not."""
        row = relation.out.get(subject)
        if row is None:
            row = relation.out[subject] = {}
        support = row.get(object_, 0)
        if support > 0:
            row[object_] = support + unit
            return
        row[object_] = unit - support
        if not support:
            subject.facts += 1
            object_.facts += 1
        self.come(relation, subject, object_)

    def come(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        """A fact holds that is not asserted."""
        if relation.is_shown:
            self.size += 1
            self.facts_were.setdefault((relation, subject, object_), NOT_THERE)
        into = relation.into.get(object_)
        if into is None:
            relation.into[object_] = {subject}
        else:
            into.add(subject)
        if relation.is_joined:
            self.join(relation, subject, object_)

    def join(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        """What a fact that holds gives together with others."""
        for join in relation.some:
            if object_.types & join.needs:
                (self.give_recursive if join.is_recursive else self.give)(subject, join.slot)
        if relation.only and not object_.is_literal:
            for join in relation.only:
                if subject.types & join.needs:
                    (self.give_recursive if join.is_recursive else self.give)(object_, join.slot)
        for path, at in relation.paths:
            pairs = concluded(self.relations, path, at, subject, object_)
            if pairs:
                sup, kind = self.concluded_by(path)
            for start, end in pairs:
                if not self.has(sup, start, end, kind):
                    self.coming.append((sup, start, end, kind))

    def unjoin(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        """Take back what a fact gave together with others, while it is still there."""
        for path, at in relation.paths:
            pairs = concluded(self.relations, path, at, subject, object_)
            if pairs:
                sup, kind = self.concluded_by(path)
            for start, end in pairs:
                self.going.append((sup, start, end, kind))
        for join in relation.some:
            if object_.types & join.needs:
                (self.take_recursive if join.is_recursive else self.take)(subject, join.slot)
        if relation.only and not object_.is_literal:
            for join in relation.only:
                if subject.types & join.needs:
                    (self.take_recursive if join.is_recursive else self.take)(object_, join.slot)

    def concluded_by(self, path: Path) -> tuple[Relation, int]:
        """The relation that a chain concludes facts of, and the mark of such a conclusion."""
        kind = BY_TRANSITIVITY if path.is_transitive else CONCLUDED
        return self.relations[path.sup], kind

    def has(self, relation: Relation, subject: Individual, object_: Individual, kind: int) -> bool:
        """Whether the conclusion is drawn, be the fact withdrawn for something else."""
        row = relation.out.get(subject)
        return row is not None and abs(row.get(object_, 0)) & kind != 0

    def release(
        self, relation: Relation, subject: Individual, object_: Individual, unit: int
    ) -> None:
        """Take support from a fact; it is withdrawn where none is left that is firm."""
        row = relation.out[subject]
        support = row[object_]
        left = abs(support) - unit
        if support > 0:
            if left & FIRM:
                row[object_] = left
                if unit == ASSERTED and relation.is_shown:
                    self.facts_were.setdefault((relation, subject, object_), GIVEN)
                    self.size += 1
                return
            self.leave(relation, subject, object_, is_derived=not support & ASSERTED)
        if left:
            row[object_] = -left
            self.left.append((relation, subject, object_))
            return
        if len(row) == 1:
            del relation.out[subject]
        else:
            del row[object_]
        self.drop_fact(subject, object_)

    def drop_fact(self, subject: Individual, object_: Individual) -> None:
        """A fact of two individuals is kept no longer."""
        subject.facts -= 1
        if not subject.facts:
            self.idle[subject] = None
        object_.facts -= 1
        if not object_.facts:
            self.idle[object_] = None

    def drop_into(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        """A fact is not found from its object any more."""
        into = relation.into[object_]
        into.remove(subject)
        if not into:
            del relation.into[object_]

    def leave(
        self, relation: Relation, subject: Individual, object_: Individual, *, is_derived: bool
    ) -> None:
        """A fact holds no longer."""
        if relation.is_joined:
            self.unjoin(relation, subject, object_)
        into = relation.into[object_]
        if len(into) == 1:
            del relation.into[object_]
        else:
            into.remove(subject)
        if relation.is_shown:
            was = DERIVED if is_derived else GIVEN
            self.facts_were.setdefault((relation, subject, object_), was)
            self.size -= is_derived

    def conclude(
        self, relation: Relation, subject: Individual, object_: Individual, kind: int
    ) -> None:
        """A chain, or a class with a value, concludes a fact."""
        row = relation.out.setdefault(subject, {})
        support = row.get(object_, 0)
        if abs(support) & kind:
            return
        if support > 0:
            row[object_] = support | kind
        else:
            row[object_] = -support | kind
            if not support:
                subject.facts += 1
                object_.facts += 1
            self.come(relation, subject, object_)
        reach = relation.literal if object_.is_literal else relation.node
        is_path = kind == BY_TRANSITIVITY
        self.support(reach.path_heads if is_path else reach.heads, subject, object_, BY_CONCLUDED)
        if relation.has_values:
            self.give_by_value(reach, subject, object_, is_recursive=True)
        if is_path:  # its edges give what is left
            return
        if reach.object:
            self.give_recursive(object_, reach.object)
        if reach.subject:
            self.give_recursive(subject, reach.subject)

    def withdraw(
        self, relation: Relation, subject: Individual, object_: Individual, kind: int
    ) -> None:
        """A conclusion has lost one of its reasons: it goes, and is looked at again."""
        if not self.has(relation, subject, object_, kind):
            return
        self.gone.append((relation, subject, object_, kind))
        reach = relation.literal if object_.is_literal else relation.node
        is_path = kind == BY_TRANSITIVITY
        heads = reach.path_heads if is_path else reach.heads
        self.unsupport(heads, subject, object_, BY_CONCLUDED)
        if relation.has_values:
            self.take_by_value(reach, subject, object_, is_recursive=True)
        if not is_path:
            if reach.object:
                self.take_recursive(object_, reach.object)
            if reach.subject:
                self.take_recursive(subject, reach.subject)
        self.release(relation, subject, object_, kind)

    def use(self, program: Program, changed: Set[Name]) -> None:
        """Go on with the tables of another program; `changed` are the properties that differ."""
        self.program = program
        self.shown = program.bits.visible
        self.relations.use(program, changed)
