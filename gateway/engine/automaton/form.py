"""`Form`: a query in numbers, with which plans are made.

Place: between a query and the automaton. Variables are numbers from 0, a constant is the complement
(`~`) of its term's number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gateway.engine.automaton.conditions import Conditions
from gateway.engine.automaton.query import AutomatonQuery, Slot
from gateway.engine.automaton.terms import UNBOUND, IntRow, Terms
from gateway.sparql.algebra import Expression

IntPattern: TypeAlias = tuple[int, int, int]
IntCondition: TypeAlias = tuple[int, IntRow]
"""The number of an expression, and what each of its variables is."""


@dataclass(frozen=True, slots=True)
class Form:
    """Patterns, conditions and rows of a query; it has so many `variables`."""

    variables: int
    patterns: tuple[IntPattern, ...]
    conditions: tuple[IntCondition, ...]
    rows: tuple[IntRow, ...]
    is_set: bool = False
    is_triples: bool = False

    def renamed(self, names: Sequence[int]) -> "Form":
        """The same with other numbers for the variables, and all in order but a template.

        Columns are in order too: who asks has an order of its own.
        """
        rows = (put(row, names) for row in self.rows)
        return replace(
            self,
            patterns=tuple(sorted({_pattern(each, names) for each in self.patterns})),
            conditions=tuple(sorted((at, put(args, names)) for at, args in self.conditions)),
            rows=tuple(rows if self.is_triples else (tuple(sorted({*row})) for row in rows)),
        )


def form_of(query: AutomatonQuery, terms: Terms, conditions: Conditions) -> Form:
    """The query in numbers; its constants and conditions are held until `release`."""
    names = {name: place for place, name in enumerate(sorted(query.variables))}
    return Form(
        len(names),
        tuple(
            [
                (_ref(s, names, terms), _ref(p, names, terms), _ref(o, names, terms))
                for s, p, o in query.patterns
            ]
        ),
        tuple([_condition(tree, query.base, names, conditions) for tree in query.conditions]),
        tuple([tuple([_ref(slot, names, terms) for slot in row]) for row in query.rows]),
        query.is_set,
        query.is_triples,
    )


def release(form: Form, terms: Terms, conditions: Conditions) -> None:
    """The reverse of `form_of`; of a canonical form too."""
    for refs in (*form.patterns, *form.rows):
        for ref in refs:
            if ref < ~UNBOUND:
                terms.unpin(~ref)
    for number, _ in form.conditions:
        conditions.free(number)


def put(refs: Sequence[int], names: Sequence[int]) -> tuple[int, ...]:
    """References with other numbers for the variables."""
    return tuple([names[ref] if ref >= 0 else ref for ref in refs])


def _pattern(pattern: IntPattern, names: Sequence[int]) -> IntPattern:
    subject, predicate, object_ = put(pattern, names)
    return subject, predicate, object_


def _ref(slot: Slot | None, names: Mapping[str, int], terms: Terms) -> int:
    if slot is None:
        return ~UNBOUND
    return names[slot] if isinstance(slot, str) else ~terms.pin(slot)


def _condition(
    tree: Expression, base: str, names: Mapping[str, int], conditions: Conditions
) -> IntCondition:
    number = conditions.number(tree, base)
    return number, tuple([names.get(name, ~UNBOUND) for name in conditions.names(number)])
