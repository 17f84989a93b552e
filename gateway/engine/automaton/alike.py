"""What queries that an automaton answers alike have in common, whoever asks.

Place: asked once for each subscription, before there is an SPU, so that subscribers of queries that
are equal up to names and order of patterns share one. Constants are numbered by their text and not
by an automaton, so this is the same for all windows.
"""

from collections.abc import Hashable

from gateway.engine.automaton.canonical_form import canonical_form
from gateway.engine.automaton.conditions import Conditions
from gateway.engine.automaton.form import form_of
from gateway.engine.automaton.query import AutomatonQuery
from gateway.engine.automaton.terms import Terms
from gateway.rdf.terms import Term


def likeness(query: AutomatonQuery) -> tuple[Hashable, ...]:
    """Equal for two queries only if they have equal rows, column by column, over every window.

    Conditions count as equal where their texts and variables are. As exact as `canonical_form`.
    """
    constants = _constants(query)
    conditions = tuple(sorted(query.conditions, key=repr))
    terms = Terms()
    for term in constants:
        terms.pin(term)
    numbers = Conditions(terms.terms)
    for tree in conditions:
        numbers.number(tree, query.base)
    form, order = canonical_form(form_of(query, terms, numbers))
    return form, order, constants, conditions, query.base


def _constants(query: AutomatonQuery) -> tuple[Term, ...]:
    slots = {slot for row in (*query.patterns, *query.rows) for slot in row}
    found = [slot for slot in slots if slot is not None and not isinstance(slot, str)]
    return tuple(sorted(found, key=str))
