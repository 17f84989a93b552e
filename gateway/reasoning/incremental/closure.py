"""`Closure`: what follows from the asserted quads of one domain, kept exact while they change.

A step first withdraws what rested on what went: facts that have no firm support left, types that
counts of facts do not give any more. Then it derives again what still stands, and last it derives
from what came. Types of an individual are a mask, computed anew from its counts; facts are counted
by what supports them. Where a rule can support its own premises, its support is not firm: it is
withdrawn at the first loss and derived again. Source: Hu, Motik and Horrocks, "Optimised
Maintenance of Datalog Materialisations" (AAAI 2018); gateway/reasoning/incremental/program.py has the rules.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from pyoxigraph import NamedNode, Quad

from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.incremental.bits import positions
from gateway.reasoning.incremental.chains import concluded, stands
from gateway.reasoning.incremental.concluding import TYPE, ranked
from gateway.reasoning.incremental.facts import (
    ASSERTED,
    BY_ASSERTED,
    BY_CONCLUDED,
    BY_TRANSITIVITY,
    CONCLUDED,
    FIRM,
    BoundReach,
    Individual,
    Relation,
    Relations,
)
from gateway.reasoning.incremental.program import Path, Program
from gateway.reasoning.kinds import Axiom

_CHUNK_MASK = 1023
"""Quads that are loaded before the bound is looked at, less one."""

_MOST_WAITING = 100_000
"""Conclusions that wait while quads are loaded."""

Fact = tuple[Relation, Individual, Individual]
Conclusion = tuple[Relation, Individual, Individual, int]
Heads = tuple[tuple[Relation, bool], ...]


class BoundPassedError(Exception):
    """More would be derived than may be, most of it by the axiom."""

    def __init__(self, axiom: Axiom | None = None) -> None:
        super().__init__()
        self.axiom = axiom


class Changes:
    """What a step changes among derived quads and among individuals' types."""

    __slots__ = ("added", "removed", "retyped")

    def __init__(self) -> None:
        self.added: list[Quad] = []
        self.removed: list[Quad] = []
        self.retyped: list[tuple[Individual, int]] = []


class Closure:
    """The derived quads of a domain, which go into the graph `into`.

    `size` is their number. The quads that it is given are of `program.tables`, or say a class of
    `program.classes`.
    """

    def __init__(self, program: Program, into: GraphName) -> None:
        self.program = program
        self.into = into
        self.size = 0
        self.individuals: dict[Term, Individual] = {}
        self.relations = Relations(program)
        self._limit: float = 0
        self._shown = program.bits.visible
        self._dirty: dict[Individual, None] = {}
        self._weakened: dict[Individual, None] = {}
        self._left: list[Fact] = []
        self._going: list[Conclusion] = []
        self._gone: list[Conclusion] = []
        self._coming: list[Conclusion] = []
        self._types: dict[Individual, tuple[int, int]] = {}
        self._facts: dict[Fact, bool] = {}
        self._idle: dict[Individual, None] = {}
        self._members: dict[int, dict[Individual, None]] = {}

    def step(self, removed: Sequence[Quad], added: Sequence[Quad], limit: float) -> Changes:
        """Take up a net change of asserted quads; what changes among derived ones.

        Raises BoundPassedError where more than `limit` would be derived; nothing has changed then.
        """
        self._limit = limit
        try:
            self._change(removed, added)
        except BoundPassedError:
            self._take_back(removed, added)
            raise
        return self._changes()

    def load(self, quads: Iterable[Quad], limit: float) -> None:
        """Take up quads with no word of what follows; `settle` comes before anything else.

        Raises BoundPassedError; the closure is of no use then.
        """
        self._limit = limit
        for count, quad in enumerate(quads, 1):
            self._assert(quad)
            if not count & _CHUNK_MASK or len(self._coming) > _MOST_WAITING:
                self._settle_some()
        self._settle_some()

    def _settle_some(self) -> None:
        if self.size > self._limit or len(self._coming) > _MOST_WAITING:
            self._strengthen()
        self._types.clear()
        self._facts.clear()

    def settle(self, limit: float) -> None:
        """Derive what follows from what was loaded. Raises BoundPassedError as `load` does."""
        self._limit = limit
        self._strengthen()
        self._types.clear()
        self._facts.clear()
        self._forget_idle()

    def _change(self, removed: Sequence[Quad], added: Sequence[Quad]) -> None:
        if removed:
            for quad in removed:
                self._retract(quad)
            self._weaken()
            self._derive_again()
        for quad in added:
            self._assert(quad)
        self._strengthen()

    def _take_back(self, removed: Sequence[Quad], added: Sequence[Quad]) -> None:
        """Undo a change that passed the bound while it strengthened."""
        self._limit = float("inf")
        self._gone += self._coming
        self._coming.clear()
        self._weakened |= self._dirty
        self._dirty.clear()
        for quad in added:
            self._retract(quad)
        self._weaken()
        self._derive_again()
        self._change((), removed)
        self._changes()

    def most_deriving(self) -> Axiom | None:
        """The axiom that most of the derived quads come from, by what they say; linear."""
        sizes: Counter[tuple[bool, Term]] = Counter()
        for name, relation in self.relations.by_name.items():
            if isinstance(name, NamedNode):
                sizes[False, name] = sum(1 for _ in relation.derived())
        every = self.individuals.values()
        for mask, count in Counter(each.types & ~each.asserted for each in every).items():
            for cls in self.program.names(mask):
                sizes[True, cls] += count
        return ranked(self.program.axioms, sizes)

    def members(self, mask: int) -> Iterable[Individual]:
        """The individuals of a class, given as a mask; linear in all of them at the first call."""
        found = self._members.get(mask)
        if found is None:
            every = self.individuals.values()
            found = self._members[mask] = {each: None for each in every if each.types & mask}
        return found

    # What is asserted.

    def _individual(self, term: Term) -> Individual:
        found = self.individuals.get(term)
        if found is None:
            found = self.individuals[term] = Individual(term)
        return found

    def _assert(self, quad: Quad) -> None:
        subject = self._individual(quad.subject)
        predicate = quad.predicate
        if predicate == TYPE:
            self._assert_type(subject, self.program.classes[quad.object])
            return
        relation = self.relations[predicate]
        reach = relation.node
        if relation.needs_object:
            object_ = self._individual(quad.object)
            if object_.is_literal:
                reach = relation.literal
            if relation.is_kept:
                self._assert_kept(relation, subject, object_)
            elif relation.some:
                relation.into.setdefault(object_, set()).add(subject)
                subject.facts += 1
                object_.facts += 1
                self._give_some(relation, subject, object_)
            self._support(reach.heads, subject, object_, BY_ASSERTED)
            if reach.object:
                self._give(object_, reach.object, is_recursive=False)
            if relation.has_values:
                self._give_by_value(reach, subject, object_, is_recursive=False)
            if not object_.facts:
                self._idle[object_] = None
        if reach.subject:
            self._give(subject, reach.subject, is_recursive=False)
        elif not subject.facts:
            self._idle[subject] = None

    def _assert_type(self, subject: Individual, mask: int) -> None:
        types, asserted = subject.types, subject.asserted
        self._types.setdefault(subject, (types, asserted))
        subject.asserted = asserted | mask
        if mask & types:
            self.size -= (mask & self._shown) != 0
        else:
            self._dirty[subject] = None

    def _assert_kept(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        row = relation.out.setdefault(subject, {})
        support = row.get(object_, 0)
        row[object_] = abs(support) | ASSERTED
        if support > 0:
            self._facts.setdefault((relation, subject, object_), True)
            self.size -= 1
            return
        if not support:
            subject.facts += 1
            object_.facts += 1
        self._enter(relation, subject, object_)

    def _retract(self, quad: Quad) -> None:
        subject = self._individual(quad.subject)
        predicate = quad.predicate
        if predicate == TYPE:
            self._retract_type(subject, self.program.classes[quad.object])
            return
        relation = self.relations[predicate]
        reach = relation.node
        if relation.needs_object:
            object_ = self._individual(quad.object)
            if object_.is_literal:
                reach = relation.literal
            self._unsupport(reach.heads, subject, object_, BY_ASSERTED)
            if reach.object:
                self._take(object_, reach.object, is_recursive=False)
            if relation.has_values:
                self._take_by_value(reach, subject, object_, is_recursive=False)
            if relation.is_kept:
                self._release(relation, subject, object_, ASSERTED)
            elif relation.some:
                self._drop_into(relation, subject, object_)
                for join in relation.some:
                    if object_.types & join.needs:
                        self._take(subject, join.slot, is_recursive=join.is_recursive)
                self._drop_fact(subject, object_)
        if reach.subject:
            self._take(subject, reach.subject, is_recursive=False)

    def _retract_type(self, subject: Individual, mask: int) -> None:
        types, asserted = subject.types, subject.asserted
        self._types.setdefault(subject, (types, asserted))
        subject.asserted = asserted & ~mask
        self.size += (mask & self._shown & types) != 0
        self._dirty[subject] = None
        self._idle[subject] = None

    # What follows from one fact by itself, for and against.

    def _support(self, heads: Heads, subject: Individual, object_: Individual, unit: int) -> None:
        for head, turned in heads:
            if turned:
                self._hold(head, object_, subject, unit)
            else:
                self._hold(head, subject, object_, unit)

    def _unsupport(self, heads: Heads, subject: Individual, object_: Individual, unit: int) -> None:
        for head, turned in heads:
            if turned:
                self._release(head, object_, subject, unit)
            else:
                self._release(head, subject, object_, unit)

    def _give_by_value(
        self, reach: BoundReach, subject: Individual, object_: Individual, *, is_recursive: bool
    ) -> None:
        """Types of an end where the other is a certain term."""
        if mask := reach.subject_values.get(object_.term):
            self._give(subject, mask, is_recursive=is_recursive)
        if mask := reach.object_values.get(subject.term):
            self._give(object_, mask, is_recursive=is_recursive)

    def _take_by_value(
        self, reach: BoundReach, subject: Individual, object_: Individual, *, is_recursive: bool
    ) -> None:
        if mask := reach.subject_values.get(object_.term):
            self._take(subject, mask, is_recursive=is_recursive)
        if mask := reach.object_values.get(subject.term):
            self._take(object_, mask, is_recursive=is_recursive)

    def _give(self, individual: Individual, mask: int, *, is_recursive: bool) -> None:
        if is_recursive:
            counts = individual.recursive
            if counts is None:
                counts = individual.recursive = {}
        else:
            counts = individual.counts
            if counts is None:
                counts = individual.counts = {}
        counts[mask] = counts.get(mask, 0) + 1
        if mask & ~individual.types:
            self._dirty[individual] = None

    def _take(self, individual: Individual, mask: int, *, is_recursive: bool) -> None:
        counts = individual.recursive if is_recursive else individual.counts
        assert counts is not None  # noqa: S101  (given before)
        left = counts[mask] - 1
        if left:
            counts[mask] = left
        else:
            del counts[mask]
            if not counts:
                self._idle[individual] = None
                if is_recursive:
                    individual.recursive = None
                else:
                    individual.counts = None
        if is_recursive or not left:
            self._dirty[individual] = None
            if is_recursive:
                self._weakened[individual] = None

    def _give_some(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        for join in relation.some:
            if object_.types & join.needs:
                self._give(subject, join.slot, is_recursive=join.is_recursive)

    # Facts that are kept.

    def _hold(
        self, relation: Relation, subject: Individual, object_: Individual, unit: int
    ) -> None:
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
        self._come(relation, subject, object_)

    def _come(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        """A fact holds that is not asserted."""
        if relation.is_shown:
            self.size += 1
            self._facts.setdefault((relation, subject, object_), False)
        self._enter(relation, subject, object_)

    def _enter(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        into = relation.into.get(object_)
        if into is None:
            relation.into[object_] = {subject}
        else:
            into.add(subject)
        if relation.some:
            self._give_some(relation, subject, object_)
        if relation.only and not object_.is_literal:
            for join in relation.only:
                if subject.types & join.needs:
                    self._give(object_, join.slot, is_recursive=join.is_recursive)
        for path, at in relation.paths:
            sup, kind = self._concluded_by(path)
            for start, end in concluded(self.relations, path, at, subject, object_):
                if not self._has(sup, start, end, kind):
                    self._coming.append((sup, start, end, kind))

    def _concluded_by(self, path: Path) -> tuple[Relation, int]:
        kind = BY_TRANSITIVITY if path.is_transitive else CONCLUDED
        return self.relations[path.sup], kind

    def _has(self, relation: Relation, subject: Individual, object_: Individual, kind: int) -> bool:
        """Whether the conclusion is drawn, be the fact withdrawn for something else."""
        row = relation.out.get(subject)
        return row is not None and abs(row.get(object_, 0)) & kind != 0

    def _release(
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
                    self._facts.setdefault((relation, subject, object_), False)
                    self.size += 1
                return
            self._leave(relation, subject, object_, is_derived=not support & ASSERTED)
        if left:
            row[object_] = -left
            self._left.append((relation, subject, object_))
            return
        del row[object_]
        if not row:
            del relation.out[subject]
        self._drop_fact(subject, object_)

    def _drop_fact(self, subject: Individual, object_: Individual) -> None:
        for each in (subject, object_):
            each.facts -= 1
            if not each.facts:
                self._idle[each] = None

    def _drop_into(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        into = relation.into[object_]
        into.remove(subject)
        if not into:
            del relation.into[object_]

    def _leave(
        self, relation: Relation, subject: Individual, object_: Individual, *, is_derived: bool
    ) -> None:
        """A fact holds no longer: what it concludes with others goes, while it is still there."""
        for path, at in relation.paths:
            sup, kind = self._concluded_by(path)
            for start, end in concluded(self.relations, path, at, subject, object_):
                self._going.append((sup, start, end, kind))
        for join in relation.some:
            if object_.types & join.needs:
                self._take(subject, join.slot, is_recursive=join.is_recursive)
        if not object_.is_literal:
            for join in relation.only:
                if subject.types & join.needs:
                    self._take(object_, join.slot, is_recursive=join.is_recursive)
        self._drop_into(relation, subject, object_)
        if relation.is_shown:
            self._facts.setdefault((relation, subject, object_), is_derived)
            self.size -= is_derived

    def _conclude(
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
            self._come(relation, subject, object_)
        reach = relation.literal if object_.is_literal else relation.node
        is_path = kind == BY_TRANSITIVITY
        self._support(reach.path_heads if is_path else reach.heads, subject, object_, BY_CONCLUDED)
        if relation.has_values:
            self._give_by_value(reach, subject, object_, is_recursive=True)
        if is_path:  # its edges give what is left
            return
        if reach.object:
            self._give(object_, reach.object, is_recursive=True)
        if reach.subject:
            self._give(subject, reach.subject, is_recursive=True)

    def _withdraw(
        self, relation: Relation, subject: Individual, object_: Individual, kind: int
    ) -> None:
        """A conclusion has lost one of its reasons: it goes, and is looked at again."""
        if not self._has(relation, subject, object_, kind):
            return
        self._gone.append((relation, subject, object_, kind))
        reach = relation.literal if object_.is_literal else relation.node
        is_path = kind == BY_TRANSITIVITY
        heads = reach.path_heads if is_path else reach.heads
        self._unsupport(heads, subject, object_, BY_CONCLUDED)
        if relation.has_values:
            self._take_by_value(reach, subject, object_, is_recursive=True)
        if not is_path:
            if reach.object:
                self._take(object_, reach.object, is_recursive=True)
            if reach.subject:
                self._take(subject, reach.subject, is_recursive=True)
        self._release(relation, subject, object_, kind)

    # The three parts of a step.

    def _weaken(self) -> None:
        """Withdraw until nothing is left that rests on what went."""
        dirty, going = self._dirty, self._going
        while dirty or going:
            while dirty:
                individual, _ = dirty.popitem()
                self._lose_types(individual)
            if going:
                self._withdraw(*going.pop())

    def _lose_types(self, individual: Individual) -> None:
        had = individual.types
        firm = individual.asserted
        for mask in individual.counts or ():
            firm |= mask
        if individual.recursive:
            self._weakened[individual] = None
        lost = had & ~self.program.types(firm)
        if not lost:
            return
        asserted = individual.asserted
        self._types.setdefault(individual, (had, asserted))
        individual.types = had & ~lost
        self.size -= (lost & self._shown & ~asserted).bit_count()
        for at in positions(lost & self.program.watched):
            self._lose(individual, at)

    def _lose(self, individual: Individual, at: int) -> None:
        """An individual is no member any more: what that gave to neighbours goes."""
        program, relations = self.program, self.relations
        for name, join in program.fillers.get(at, ()):
            if (relation := relations.get(name)) is not None:
                for subject in relation.into.get(individual, ()):
                    self._take(subject, join.slot, is_recursive=join.is_recursive)
        for name, join in program.restricted.get(at, ()):
            if (relation := relations.get(name)) is not None:
                for object_ in relation.objects(individual):
                    if not object_.is_literal:
                        self._take(object_, join.slot, is_recursive=join.is_recursive)
        if (value := program.values.get(at)) is not None:
            object_ = self._individual(value.value)
            self._going.append((self.relations[value.property], individual, object_, CONCLUDED))

    def _derive_again(self) -> None:
        """Take back what was withdrawn and has a reason left."""
        for relation, subject, object_ in self._left:
            row = relation.out.get(subject)
            support = 0 if row is None else row.get(object_, 0)
            if row is not None and support < 0:
                row[object_] = -support
                self._come(relation, subject, object_)
        self._left.clear()
        for conclusion in self._gone:
            if self._stands(*conclusion):
                self._coming.append(conclusion)
        self._gone.clear()
        self._dirty |= self._weakened
        self._weakened.clear()

    def _stands(
        self, relation: Relation, subject: Individual, object_: Individual, kind: int
    ) -> bool:
        assert isinstance(relation.name, NamedNode)  # noqa: S101  (edges are not concluded)
        for reason in self.program.concluding.get(relation.name, ()):
            if not isinstance(reason, Path):
                mask, value = reason
                if kind == CONCLUDED and subject.types & mask and value == object_.term:
                    return True
            elif reason.is_transitive == (kind == BY_TRANSITIVITY) and stands(
                self.relations, reason, subject, object_
            ):
                return True
        return False

    def _strengthen(self) -> None:
        """Derive until nothing more follows. Raises BoundPassedError."""
        dirty, coming = self._dirty, self._coming
        while dirty or coming:
            while dirty:
                individual, _ = dirty.popitem()
                self._gain_types(individual)
            if coming:
                self._conclude(*coming.pop())
            if self.size > self._limit:
                raise BoundPassedError(self.most_deriving())
        if self.size > self._limit:
            raise BoundPassedError(self.most_deriving())

    def _gain_types(self, individual: Individual) -> None:
        had, asserted = individual.types, individual.asserted
        given = asserted
        for mask in individual.counts or ():
            given |= mask
        for mask in individual.recursive or ():
            given |= mask
        if individual.is_literal:
            return
        gained = self.program.types(given) & ~had
        if not gained:
            return
        self._types.setdefault(individual, (had, asserted))
        individual.types = had | gained
        self.size += (gained & self._shown & ~asserted).bit_count()
        for at in positions(gained & self.program.watched):
            self._gain(individual, at)

    def _gain(self, individual: Individual, at: int) -> None:
        """An individual is a member now: what that gives to neighbours."""
        program, relations = self.program, self.relations
        for name, join in program.fillers.get(at, ()):
            if (relation := relations.get(name)) is not None:
                for subject in relation.into.get(individual, ()):
                    self._give(subject, join.slot, is_recursive=join.is_recursive)
        for name, join in program.restricted.get(at, ()):
            if (relation := relations.get(name)) is not None:
                for object_ in relation.objects(individual):
                    if not object_.is_literal:
                        self._give(object_, join.slot, is_recursive=join.is_recursive)
        if (value := program.values.get(at)) is not None:
            object_ = self._individual(value.value)
            self._coming.append((relations[value.property], individual, object_, CONCLUDED))

    # What has changed.

    def _changes(self) -> Changes:
        changes = Changes()
        into, shown = self.into, self._shown
        for individual, (types, asserted) in self._types.items():
            was = types & ~asserted & shown
            now = individual.types & ~individual.asserted & shown
            term = individual.term
            if was != now:
                for name in self.program.names(now & ~was):
                    changes.added.append(Quad(term, TYPE, name, into))  # type: ignore[arg-type]
                for name in self.program.names(was & ~now):
                    changes.removed.append(Quad(term, TYPE, name, into))  # type: ignore[arg-type]
            if types != individual.types:
                changes.retyped.append((individual, types))
                for mask, members in self._members.items():
                    if (types ^ individual.types) & mask:
                        if types & mask:
                            members.pop(individual)
                        else:
                            members[individual] = None
        for (relation, subject, object_), was_derived in self._facts.items():
            row = relation.out.get(subject)
            support = 0 if row is None else row.get(object_, 0)
            is_derived = support > 0 and not support & ASSERTED
            if is_derived != was_derived:
                quad = Quad(subject.term, relation.name, object_.term, into)  # type: ignore[arg-type]
                (changes.added if is_derived else changes.removed).append(quad)
        self._types.clear()
        self._facts.clear()
        self._forget_idle()
        return changes

    def _forget_idle(self) -> None:
        for individual in self._idle:
            if individual.is_idle:
                self.individuals.pop(individual.term, None)
        self._idle.clear()
