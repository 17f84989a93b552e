"""`exchange`: a closure goes over to another program, at the price of what differs.

Place: under `Closure.adopt`. What the tables of a property conclude is withdrawn and concluded anew
where the tables differ; of classes, those individuals are looked at that have what leads to others
now. Positions of classes stay, so the masks of all others stay true.
"""

from collections.abc import Sequence

from pyoxigraph import Quad

from gateway.reasoning.incremental.assertions import Assertions
from gateway.reasoning.incremental.facts import BY_TRANSITIVITY, CONCLUDED, Relation
from gateway.reasoning.incremental.program import Name, Program


def changed_tables(old: Program, new: Program) -> set[Name]:
    """The properties of which something else follows, or nothing any more."""
    names = old.tables.keys() | new.tables.keys()
    return {name for name in names if old.tables.get(name) != new.tables.get(name)}


def exchange(
    closure: Assertions, program: Program, old: Sequence[Quad], new: Sequence[Quad]
) -> None:
    """Withdraw and derive until the closure is that of the other program.

    Raises BoundPassedError while it strengthens.
    """
    before = closure.program
    changed = changed_tables(before, program)
    known = [each for name in changed if (each := closure.relations.get(name)) is not None]
    closure.retract_all(old)
    for relation in known:
        _withdraw_conclusions(closure, relation)
    _withdraw_values(closure, before, program)
    closure.weaken()
    for relation in known:
        _unjoin(closure, relation)
    closure.use(program, changed)
    for relation in known:
        _rejoin(closure, relation)
    closure.gone += closure.coming
    closure.coming.clear()
    closure.weakened |= closure.dirty
    _look_at(closure, before.affected(program))
    closure.weaken()
    closure.derive_again()
    closure.take_all_up(new)
    closure.strengthen()


def _withdraw_conclusions(closure: Assertions, relation: Relation) -> None:
    """What chains and values conclude of a property that changes is concluded anew."""
    for subject, row in relation.out.items():
        for object_, support in row.items():
            for kind in (CONCLUDED, BY_TRANSITIVITY):
                if abs(support) & kind:
                    closure.going.append((relation, subject, object_, kind))


def _withdraw_values(closure: Assertions, old: Program, new: Program) -> None:
    for at, value in old.values.items():
        if at in new.values:
            continue
        relation = closure.relations.get(value.property)
        object_ = closure.individuals.get(value.value)
        if relation is not None and object_ is not None:
            for subject in relation.into.get(object_, ()):
                closure.going.append((relation, subject, object_, CONCLUDED))


def _unjoin(closure: Assertions, relation: Relation) -> None:
    """Take back what facts give to their ends by what the other end is."""
    if not relation.is_joined:
        return
    for object_, subjects in relation.into.items():
        for subject in subjects:
            closure.unjoin(relation, subject, object_)
    relation.join_by(None)


def _rejoin(closure: Assertions, relation: Relation) -> None:
    table = closure.program.tables.get(relation.name)
    if table is None:
        return
    relation.join_by(table)
    if not relation.is_joined:
        return
    for object_, subjects in relation.into.items():
        for subject in subjects:
            closure.join(relation, subject, object_)


def _look_at(closure: Assertions, masks: Sequence[int]) -> None:
    """Have the types computed anew of individuals that have one of the masks whole."""
    any_of = 0
    for mask in masks:
        any_of |= mask
    if not any_of:
        return
    for individual in closure.individuals.values():
        types = individual.types
        if types & any_of and any(not mask & ~types for mask in masks):
            closure.dirty[individual] = None
            closure.weakened[individual] = None
