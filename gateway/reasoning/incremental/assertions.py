"""`Assertions`: what an asserted quad is for a closure, and one that is asserted no longer.

Place: between `Propagation` and `Closure`; on the way of every quad that is read. Of each from
which something follows the subject is known as long as it is asserted.
"""

from collections.abc import Iterable

from pyoxigraph import Quad

from gateway.rdf.terms import Term
from gateway.reasoning.incremental.facts import (
    ASSERTED,
    BY_ASSERTED,
    DERIVED,
    OPAQUE,
    Individual,
    Relation,
)
from gateway.reasoning.incremental.program import TYPE
from gateway.reasoning.incremental.propagation import Propagation


class Assertions(Propagation):
    """Takes quads up and takes them back; what follows is left to the other parts."""

    def take_all_up(self, quads: Iterable[Quad]) -> None:
        """Take up those that are read; quads of one subject that stand together cost less."""
        individuals, by_name, program = self.individuals, self.relations.by_name, self.program
        predicates, classes, take_up = program.predicates, program.classes, self._take_up
        last: Term | None = None
        subject = None
        for quad in quads:
            predicate = quad.predicate
            if predicate == TYPE:
                relation, mask = None, classes.get(quad.object, 0)
                if not mask:
                    continue
            else:
                relation = by_name.get(predicate)
                if relation is None:
                    if predicate not in predicates:
                        continue
                    relation = self.relations[predicate]
            term = quad.subject
            if subject is None or term != last:
                last = term
                subject = individuals.get(term)
                if subject is None:
                    subject = individuals[term] = Individual(term)
            if relation is None:
                self._assert_type(subject, mask)
            else:
                take_up(relation, subject, quad)

    def retract_all(self, quads: Iterable[Quad]) -> None:
        """Retract quads, as `take_all_up` takes them up."""
        by_name, classes, retract = self.relations.by_name, self.program.classes, self._retract
        last: Term | None = None
        subject = None
        for quad in quads:
            predicate = quad.predicate
            if predicate == TYPE:
                relation, mask = None, classes.get(quad.object, 0)
                if not mask:
                    continue
            else:
                relation = by_name.get(predicate)
                if relation is None:
                    continue
            term = quad.subject
            if subject is None or term != last:
                last = term
                subject = self.individual(term)
            if relation is None:
                self._retract_type(subject, mask)
            else:
                retract(relation, subject, quad)

    def _take_up(self, relation: Relation, subject: Individual, quad: Quad) -> None:
        """A quad of the subject is asserted now; `strengthen` comes after."""
        mask = relation.node.subject
        if relation.needs_object:
            object_ = quad.object
            if not (relation.is_literal_plain and isinstance(object_, OPAQUE)):
                found = self.individuals.get(object_)
                if found is None:
                    found = self.individuals[object_] = Individual(object_)
                self._take_up_both(relation, subject, found)
                return
            mask = relation.literal.subject
            if not mask:
                self.idle[subject] = None
                return
        counts = subject.counts
        if counts is None:
            subject.counts = {mask: 1}
        else:
            counts[mask] = counts.get(mask, 0) + 1
        if mask & ~subject.types:
            self.dirty[subject] = None

    def _take_up_both(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        reach = relation.literal if object_.is_literal else relation.node
        if relation.is_kept:
            self._assert_kept(relation, subject, object_)
        elif relation.some:
            self._assert_inward(relation, subject, object_)
        for head, turned in reach.heads:
            if turned:
                self.hold(head, object_, subject, BY_ASSERTED)
            else:
                self.hold(head, subject, object_, BY_ASSERTED)
        if reach.subject or relation.is_about_object:
            self.give(subject, reach.subject)
        if reach.object:
            self.give(object_, reach.object)
        if relation.has_values:
            self.give_by_value(reach, subject, object_, is_recursive=False)
        if not subject.facts:
            self.idle[subject] = None
        if not object_.facts:
            self.idle[object_] = None

    def _assert_inward(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        into = relation.into.get(object_)
        if into is None:
            into = relation.into[object_] = set()
        into.add(subject)
        subject.facts += 1
        object_.facts += 1
        self.give_some(relation, subject, object_)

    def _assert_type(self, subject: Individual, mask: int) -> None:
        types, asserted = subject.types, subject.asserted
        self.was.setdefault(subject, (types, asserted))
        subject.asserted = asserted | mask
        if mask & types:
            self.size -= (mask & self.shown) != 0
        else:
            self.dirty[subject] = None

    def _assert_kept(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        row = relation.out.get(subject)
        if row is None:
            relation.out[subject] = {object_: ASSERTED}
            support = 0
        else:
            support = row.get(object_, 0)
            row[object_] = abs(support) | ASSERTED
        if support > 0:
            self.facts_were.setdefault((relation, subject, object_), DERIVED)
            self.size -= 1
            return
        if not support:
            subject.facts += 1
            object_.facts += 1
        into = relation.into.get(object_)
        if into is None:
            relation.into[object_] = {subject}
        else:
            into.add(subject)
        if relation.is_joined:
            self.join(relation, subject, object_)

    def _retract(self, relation: Relation, subject: Individual, quad: Quad) -> None:
        """A quad of the subject is asserted no longer; `weaken` comes after."""
        mask = relation.node.subject
        if relation.needs_object:
            object_ = quad.object
            if not (relation.is_literal_plain and isinstance(object_, OPAQUE)):
                self._retract_both(relation, subject, self.individual(object_))
                return
            mask = relation.literal.subject
        if mask:
            self.take(subject, mask)
        else:
            self.idle[subject] = None

    def _retract_both(self, relation: Relation, subject: Individual, object_: Individual) -> None:
        reach = relation.literal if object_.is_literal else relation.node
        if reach.heads:
            self.unsupport(reach.heads, subject, object_, BY_ASSERTED)
        if reach.subject or relation.is_about_object:
            self.take(subject, reach.subject)
        if reach.object:
            self.take(object_, reach.object)
        if relation.has_values:
            self.take_by_value(reach, subject, object_, is_recursive=False)
        if relation.is_kept:
            self.release(relation, subject, object_, ASSERTED)
        elif relation.some:
            self.drop_into(relation, subject, object_)
            for join in relation.some:
                if object_.types & join.needs:
                    (self.take_recursive if join.is_recursive else self.take)(subject, join.slot)
            self.drop_fact(subject, object_)
        self.idle[subject] = None
        self.idle[object_] = None

    def _retract_type(self, subject: Individual, mask: int) -> None:
        types, asserted = subject.types, subject.asserted
        self.was.setdefault(subject, (types, asserted))
        subject.asserted = asserted & ~mask
        self.size += (mask & self.shown & types) != 0
        self.dirty[subject] = None
        self.idle[subject] = None
