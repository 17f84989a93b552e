"""`Assertions`: what an asserted quad is for a closure, and one that is asserted no longer.

Place: between `Propagation` and `Closure`; on the way of every quad that is read.
"""

from pyoxigraph import Quad

from gateway.reasoning.incremental.concluding import TYPE
from gateway.reasoning.incremental.facts import (
    ASSERTED,
    BY_ASSERTED,
    Individual,
    Relation,
)
from gateway.reasoning.incremental.propagation import Propagation


class Assertions(Propagation):
    """Takes quads up and takes them back; what follows is left to the other parts."""

    def take_up(self, quad: Quad) -> None:
        """A quad is asserted now; `strengthen` comes after."""
        subject = self.individual(quad.subject)
        predicate = quad.predicate
        if predicate == TYPE:
            self._assert_type(subject, self.program.classes[quad.object])
            return
        relation = self.relations[predicate]
        reach = relation.node
        if relation.needs_object:
            object_ = self.individual(quad.object)
            if object_.is_literal:
                reach = relation.literal
            if relation.is_kept:
                self._assert_kept(relation, subject, object_)
            elif relation.some:
                relation.into.setdefault(object_, set()).add(subject)
                subject.facts += 1
                object_.facts += 1
                self.give_some(relation, subject, object_)
            self.support(reach.heads, subject, object_, BY_ASSERTED)
            if reach.object:
                self.give(object_, reach.object, is_recursive=False)
            if relation.has_values:
                self.give_by_value(reach, subject, object_, is_recursive=False)
            if not object_.facts:
                self.idle[object_] = None
        if reach.subject:
            self.give(subject, reach.subject, is_recursive=False)
        elif not subject.facts:
            self.idle[subject] = None

    def _assert_type(self, subject: Individual, mask: int) -> None:
        types, asserted = subject.types, subject.asserted
        self.was.setdefault(subject, (types, asserted))
        subject.asserted = asserted | mask
        if mask & types:
            self.size -= (mask & self.shown) != 0
        else:
            self.dirty[subject] = None

    def _assert_kept(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        row = relation.out.setdefault(subject, {})
        support = row.get(object_, 0)
        row[object_] = abs(support) | ASSERTED
        if support > 0:
            self.was_derived.setdefault((relation, subject, object_), True)
            self.size -= 1
            return
        if not support:
            subject.facts += 1
            object_.facts += 1
        self.enter(relation, subject, object_)

    def retract(self, quad: Quad) -> None:
        """A quad is asserted no longer; `weaken` comes after."""
        subject = self.individual(quad.subject)
        predicate = quad.predicate
        if predicate == TYPE:
            self._retract_type(subject, self.program.classes[quad.object])
            return
        relation = self.relations[predicate]
        reach = relation.node
        if relation.needs_object:
            object_ = self.individual(quad.object)
            if object_.is_literal:
                reach = relation.literal
            self.unsupport(reach.heads, subject, object_, BY_ASSERTED)
            if reach.object:
                self.take(object_, reach.object, is_recursive=False)
            if relation.has_values:
                self.take_by_value(reach, subject, object_, is_recursive=False)
            if relation.is_kept:
                self.release(relation, subject, object_, ASSERTED)
            elif relation.some:
                self.drop_into(relation, subject, object_)
                for join in relation.some:
                    if object_.types & join.needs:
                        self.take(subject, join.slot, is_recursive=join.is_recursive)
                self.drop_fact(subject, object_)
        if reach.subject:
            self.take(subject, reach.subject, is_recursive=False)

    def _retract_type(self, subject: Individual, mask: int) -> None:
        types, asserted = subject.types, subject.asserted
        self.was.setdefault(subject, (types, asserted))
        subject.asserted = asserted & ~mask
        self.size += (mask & self.shown & types) != 0
        self.dirty[subject] = None
        self.idle[subject] = None
