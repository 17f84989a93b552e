"""Plans: from one triple of a match to all of it, by look-ups; and the plan of a whole answer.

Place: made of a canonical form, run as tries (`ccr`) or step by step (`solutions`). For each
pattern there is a plan that begins with the triple that came, or leaves, as a match of that
pattern, its *seed*; patterns before the seed look at other triples only, so a match that uses the
triple several times is found once. Source: the constraints of Qin et al. 2015, table 1, for
variables anywhere.

A slot is a number: 0, 1, 2 are subject, predicate and object of the seed, the others what steps
find. A reference is a slot, or the complement (`~`) of a constant. Steps are tuples of numbers, so
that equal beginnings of plans are found by comparing; what may be chosen is chosen by the steps
alone, not by the query.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gateway.engine.automaton.form import Form, IntPattern
from gateway.engine.automaton.terms import IntRow

Step: TypeAlias = tuple[int, ...]
"""A kind and its references; what a look-up finds is bound to the next free slots, in order."""

IS = 0
"""Slot, reference to a constant: they are equal."""
SAME = 1
"""Slot, slot: they are equal."""
DIFFERS = 2
"""Slot, reference, slot, reference …: some pair is not equal."""
TEST = 3
"""Number of a condition, references: it holds."""
HAS = 4
"""Subject, predicate, object: the window has it."""
OBJECTS = 5
"""Predicate, subject: binds an object."""
SUBJECTS = 6
"""Predicate, object: binds a subject."""
AROUND = 7
"""Subject: binds predicate and object."""
INTO = 8
"""Object: binds subject and predicate."""
PAIRS = 9
"""Predicate: binds subject and object."""
ALL = 10
"""Binds subject, predicate and object."""

BINDS = {OBJECTS: 1, SUBJECTS: 1, AROUND: 2, INTO: 2, PAIRS: 2, ALL: 3}
"""How many slots a look-up binds."""

_SEED = (0, 1, 2)

_NEW = 1 << 30
"""A reference to what is not bound yet."""

_KEYS = {
    HAS: (0, 1, 2),
    OBJECTS: (1, 0),
    SUBJECTS: (1, 2),
    AROUND: (0,),
    INTO: (2,),
    PAIRS: (1,),
    ALL: (),
}
"""Places of a pattern that a look-up goes by."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`predicate` is that of the seed, None where any will do; `rows` are references."""

    predicate: int | None
    steps: tuple[Step, ...]
    rows: tuple[IntRow, ...]


def plans(form: Form) -> Iterator[Plan]:
    """One plan for each pattern."""
    for seed in range(len(form.patterns)):
        yield seeded_plan(form, seed)


def seeded_plan(form: Form, seed: int) -> Plan:
    """The plan that begins with a triple of this pattern."""
    draft = _Draft(form)
    pattern = form.patterns[seed]
    draft.bind(pattern, _SEED, (1,) if pattern[1] < 0 else ())
    draft.free = 3
    draft.complete(seed)
    predicate = ~pattern[1] if pattern[1] < 0 else None
    return Plan(predicate, tuple(draft.steps), draft.rows())


def whole_plan(form: Form) -> Plan:
    """The plan of all matches; it begins with nothing, and slots are from 0 on."""
    draft = _Draft(form)
    draft.complete(None)
    return Plan(None, tuple(draft.steps), draft.rows())


@dataclass(slots=True)
class _Draft:
    """A plan in the making."""

    form: Form
    slots: dict[int, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    free: int = 0
    _tested: set[int] = field(default_factory=set)
    _equal: dict[int, int] = field(default_factory=dict)
    """Slots by the constant that they are tested for."""

    def bind(self, pattern: IntPattern, found: Sequence[int], known: Sequence[int]) -> None:
        """A triple of the pattern in the slots `found`; positions `known` need no test."""
        for place, ref in enumerate(pattern):
            if place in known:
                continue
            slot = found[place]
            if ref < 0:
                self.steps.append((IS, slot, ref))
                self._equal.setdefault(ref, slot)
            elif ref in self.slots:
                self.steps.append((SAME, self.slots[ref], slot))
            else:
                self.slots[ref] = slot
        self._test()

    def complete(self, seed: int | None) -> None:
        """All other patterns, the cheapest first; those before the seed take another triple."""
        patterns = self.form.patterns
        left = [place for place in range(len(patterns)) if place != seed]
        while left:
            _, place = min((_rank(self._refs(patterns[place])), place) for place in left)
            left.remove(place)
            found = self._look_up(patterns[place])
            if seed is not None and place < seed:
                self._differs(patterns[place], found, patterns[seed])

    def rows(self) -> tuple[IntRow, ...]:
        """What the rows refer to; by a slot rather than by a constant, as that differs less."""
        equal = self._equal
        return tuple(
            [tuple([equal.get(ref, ref) for ref in self._refs(row)]) for row in self.form.rows]
        )

    def _refs(self, refs: Sequence[int]) -> tuple[int, ...]:
        """Slots and constants; what has no slot yet is `_NEW`."""
        slots = self.slots
        return tuple([ref if ref < 0 else slots.get(ref, _NEW) for ref in refs])

    def _look_up(self, pattern: IntPattern) -> Sequence[int]:
        """Slots of a triple of the pattern, constants where it has them and none is bound."""
        refs = subject, predicate, object_ = self._refs(pattern)
        kind = _access(refs)
        keys = _KEYS[kind]
        self.steps.append((kind, *[refs[key] for key in keys]))
        found = [subject, predicate, object_]
        for place in range(3):
            if place not in keys:
                found[place] = self.free
                self.free += 1
        self.bind(pattern, found, keys)
        return found

    def _differs(self, pattern: IntPattern, found: Sequence[int], seed: IntPattern) -> None:
        pairs: list[int] = []
        for place, (ref, of_seed) in enumerate(zip(pattern, seed, strict=True)):
            if ref == of_seed:
                continue
            if ref < 0 and of_seed < 0:
                return
            # The seed's predicate has no slot where it is a constant.
            other = of_seed if of_seed < 0 else place
            one = found[place]
            pairs += (other, one) if one < 0 else (one, other)
        self.steps.append((DIFFERS, *pairs))

    def _test(self) -> None:
        """The conditions that can be told now."""
        for place, (condition, args) in enumerate(self.form.conditions):
            refs = self._refs(args)
            if place not in self._tested and _NEW not in refs:
                self._tested.add(place)
                self.steps.append((TEST, condition, *refs))


def _access(refs: Sequence[int]) -> int:
    """The look-up for a pattern of which this is known.

    With a slot and a constant as ends it goes by the slot, and tests: so patterns that differ in
    the constant have the look-up in common.
    """
    subject, predicate, object_ = (ref != _NEW for ref in refs)
    if predicate and subject and object_:
        if (refs[0] < 0) == (refs[2] < 0):
            return HAS
        return OBJECTS if refs[0] >= 0 else SUBJECTS
    if predicate:
        return OBJECTS if subject else SUBJECTS if object_ else PAIRS
    if subject and (refs[0] >= 0 or not object_ or refs[2] < 0):
        return AROUND
    return INTO if object_ else ALL


def _rank(refs: Sequence[int]) -> tuple[int, ...]:
    """Less is cheaper, and then what is alike for all queries."""
    kind = _access(refs)
    ends = [ref for ref in (refs[0], refs[2]) if ref != _NEW]
    is_joined = any(ref >= 0 for ref in ends)
    unknown = refs.count(_NEW)
    return (not is_joined and kind != HAS, kind != HAS, unknown, kind, *refs)
