"""`Propagation`: withdraws what rested on what went, derives again what stands, and what follows.

Place: between `Support` and `Closure` (gateway/reasoning/incremental/closure.py), which says why it
is exact.
"""

from collections import Counter

from pyoxigraph import NamedNode

from gateway.rdf.terms import Term
from gateway.reasoning.incremental.bits import positions
from gateway.reasoning.incremental.chains import stands
from gateway.reasoning.incremental.concluding import ranked
from gateway.reasoning.incremental.facts import (
    BY_TRANSITIVITY,
    CONCLUDED,
    Individual,
    Relation,
)
from gateway.reasoning.incremental.growth import come_to_more
from gateway.reasoning.incremental.program import Edges, Path
from gateway.reasoning.incremental.support import Support
from gateway.reasoning.kinds import Axiom, Transitive

_MUCH = 8_192
"""Derived quads of a step after which it is looked how many more will come."""

_MOST_COUNTED = 2_000_000
"""A bound above it is not looked ahead to: counting keeps as many pairs as the bound."""


class BoundPassedError(Exception):
    """More would be derived than may be, most of it by the axiom."""

    def __init__(self, axiom: Axiom | None = None) -> None:
        super().__init__()
        self.axiom = axiom


class Propagation(Support):
    """The three parts of a step."""

    # The three parts of a step.

    def weaken(self) -> None:
        """Withdraw until nothing is left that rests on what went."""
        dirty, going = self.dirty, self.going
        while dirty or going:
            while dirty:
                individual, _ = dirty.popitem()
                self._lose_types(individual)
            if going:
                self.withdraw(*going.pop())

    def _lose_types(self, individual: Individual) -> None:
        had = individual.types
        firm = individual.asserted
        for mask in individual.counts or ():
            firm |= mask
        if individual.recursive:
            self.weakened[individual] = None
        lost = had & ~self.program.types(firm)
        if not lost:
            return
        asserted = individual.asserted
        self.was.setdefault(individual, (had, asserted))
        individual.types = had & ~lost
        self.size -= (lost & self.shown & ~asserted).bit_count()
        if watched := lost & self.program.watched:
            for at in positions(watched):
                self._lose(individual, at)

    def _lose(self, individual: Individual, at: int) -> None:
        """An individual is no member any more: what that gave to neighbours goes."""
        program, relations = self.program, self.relations
        for name, join in program.fillers.get(at, ()):
            if (relation := relations.get(name)) is not None:
                for subject in relation.into.get(individual, ()):
                    (self.take_recursive if join.is_recursive else self.take)(subject, join.slot)
        for name, join in program.restricted.get(at, ()):
            if (relation := relations.get(name)) is not None:
                for object_ in relation.objects(individual):
                    if not object_.is_literal:
                        (self.take_recursive if join.is_recursive else self.take)(
                            object_, join.slot
                        )
        if (value := program.values.get(at)) is not None:
            object_ = self.individual(value.value)
            self.idle[object_] = None
            self.going.append((self.relations[value.property], individual, object_, CONCLUDED))

    def derive_again(self) -> None:
        """Take back what was withdrawn and has a reason left."""
        for relation, subject, object_ in self.left:
            row = relation.out.get(subject)
            support = 0 if row is None else row.get(object_, 0)
            if row is not None and support < 0:
                row[object_] = -support
                self.come(relation, subject, object_)
        self.left.clear()
        for conclusion in self.gone:
            if self._stands(*conclusion):
                self.coming.append(conclusion)
        self.gone.clear()
        if self.weakened:
            self.dirty |= self.weakened
            self.weakened.clear()

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

    def strengthen(self) -> None:
        """Derive until nothing more follows. Raises BoundPassedError."""
        dirty, coming = self.dirty, self.coming
        if not (dirty or coming):
            if self.size > self.limit:
                raise BoundPassedError(self.most_deriving())
            return
        much = _MUCH
        watched = min(self.limit, self.size + much)
        while dirty or coming:
            while dirty:
                individual, _ = dirty.popitem()
                self._gain_types(individual)
            if coming:
                self.conclude(*coming.pop())
            if self.size > watched:
                self._look_ahead()
                much *= 2
                watched = min(self.limit, self.size + much)
        if self.size > self.limit:
            raise BoundPassedError(self.most_deriving())

    def _look_ahead(self) -> None:
        """Raise BoundPassedError where more is derived than may be, or is bound to be."""
        if self.size > self.limit:
            raise BoundPassedError(self.most_deriving())
        if self.limit > _MOST_COUNTED:
            return
        for axiom in self.program.axioms:
            if isinstance(axiom, Transitive):
                edges = self.relations.get(Edges(axiom.property))
                if edges is not None and come_to_more(edges, self.limit + edges.count()):
                    raise BoundPassedError(axiom)

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
        self.was.setdefault(individual, (had, asserted))
        individual.types = had | gained
        self.size += (gained & self.shown & ~asserted).bit_count()
        if watched := gained & self.program.watched:
            for at in positions(watched):
                self._gain(individual, at)

    def _gain(self, individual: Individual, at: int) -> None:
        """An individual is a member now: what that gives to neighbours."""
        program, relations = self.program, self.relations
        for name, join in program.fillers.get(at, ()):
            if (relation := relations.get(name)) is not None:
                for subject in relation.into.get(individual, ()):
                    (self.give_recursive if join.is_recursive else self.give)(subject, join.slot)
        for name, join in program.restricted.get(at, ()):
            if (relation := relations.get(name)) is not None:
                for object_ in relation.objects(individual):
                    if not object_.is_literal:
                        (self.give_recursive if join.is_recursive else self.give)(
                            object_, join.slot
                        )
        if (value := program.values.get(at)) is not None:
            object_ = self.individual(value.value)
            self.idle[object_] = None
            self.coming.append((relations[value.property], individual, object_, CONCLUDED))

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
