"""One form for all queries that are equal up to names of variables and order of patterns.

Place: between a query and its plans, so that equal queries have the same plans. The method is
that of canonical labelling: variables get colours by what they are used for, until that tells
nothing more; where several are still alike, each of them in turn is called the first, and the
smallest outcome is the form. Source: B. D. McKay, Practical Graph Isomorphism, 1981, section 2.

>>> knows, likes = ~1, ~2
>>> one = Form(2, ((0, knows, 1), (1, likes, 0)), (), ((1,),))
>>> other = Form(2, ((0, likes, 1), (1, knows, 0)), (), ((0,),))
>>> one != other, canonical_form(one) == canonical_form(other)
(True, True)
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from gateway.engine.automaton.form import Form, put
from gateway.engine.automaton.terms import IntRow

MOST_OUTCOMES = 128
"""Outcomes that are compared; beyond, equal queries may have several forms, each of them right."""

_SELF = 1 << 62
"""In what a variable is used for: this variable."""

Colours: TypeAlias = Sequence[int]

Order: TypeAlias = tuple[int, ...] | None
"""Where in a row each column is; None where they are in order."""


def canonical_form(form: Form) -> tuple[Form, Order]:
    """The form of all queries that are equal to this one, and where its columns are in rows of it.

    Exact unless variables are so much alike that more than MOST_OUTCOMES are to be compared.
    """
    by: Colours = range(form.variables)
    found = form.renamed(by)
    for count, colours in enumerate(_labellings(form)):
        outcome = form.renamed(colours)
        if not count or _key(outcome) < _key(found):
            found, by = outcome, colours
        if count >= MOST_OUTCOMES:
            break
    return found, None if form.is_triples else _order(put(form.rows[0], by), found.rows[0])


def _order(columns: IntRow, row: IntRow) -> Order:
    places = tuple([row.index(ref) for ref in columns])
    return None if places == tuple(range(len(row))) else places


def _key(form: Form) -> tuple[object, ...]:
    """Patterns first: queries of equal patterns then have them in equal order."""
    return form.patterns, form.conditions, form.rows


def _labellings(form: Form) -> Iterator[Colours]:
    """Colours in which no two variables are alike, as many as it takes."""
    waiting = [_refined(form, [0] * form.variables)]
    while waiting:
        colours = waiting.pop()
        alike = _first_alike(colours)
        if alike:
            waiting += [
                _refined(form, _first_is(colours, chosen)) for chosen in _apart(form, alike)
            ]
        else:
            yield colours


def _refined(form: Form, colours: Colours) -> Colours:
    """Colours by use, until they are as many as before; a colour is the rank of its first one."""
    count = len(set(colours))
    while count < form.variables:
        uses: list[list[tuple[int, ...]]] = [[(colour,)] for colour in colours]
        for refs in _uses(form):
            for variable in {ref for ref in refs if ref >= 0}:
                uses[variable].append(
                    tuple(
                        [r if r < 0 else _SELF if r == variable else colours[r] for r in refs],
                    )
                )
        keys = [(each[0], *sorted(each[1:])) for each in uses]
        order = sorted(keys)
        rank = {key: place for place, key in reversed([*enumerate(order)])}
        colours = [rank[key] for key in keys]
        if len(rank) == count:
            break
        count = len(rank)
    return colours


def _uses(form: Form) -> Iterator[tuple[int, ...]]:
    """Where variables stand together: patterns, and conditions, which are told apart by length."""
    yield from form.patterns
    for at, args in form.conditions:
        yield (-1, -1, -1, ~at, *args)


def _first_alike(colours: Colours) -> Sequence[int]:
    """The variables of the smallest colour that several have."""
    classes: dict[int, list[int]] = {}
    for variable, colour in enumerate(colours):
        classes.setdefault(colour, []).append(variable)
    return next((classes[each] for each in sorted(classes) if len(classes[each]) > 1), ())


def _first_is(colours: Colours, chosen: int) -> Colours:
    """The others of its colour come behind it; as ranks leave a gap, this colour is free."""
    colour = colours[chosen]
    return [c + 1 if c == colour and v != chosen else c for v, c in enumerate(colours)]


def _apart(form: Form, alike: Sequence[int]) -> Iterator[int]:
    """Variables of which none can be swapped with an earlier one without changing the query."""
    chosen: list[int] = []
    for variable in alike:
        if not any(_is_swappable(form, variable, other) for other in chosen):
            chosen.append(variable)
            yield variable


def _is_swappable(form: Form, one: int, other: int) -> bool:
    names = list(range(form.variables))
    names[one], names[other] = other, one
    return form.renamed(names) == form.renamed(range(form.variables))
