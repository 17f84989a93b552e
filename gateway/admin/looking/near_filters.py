"""Why a FILTER or MINUS takes every row: the value nearest to it, or what its NOT EXISTS finds."""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from pyoxigraph import Literal, NamedNode, Variable

from gateway.admin.looking.near import Asking, Found, Near, linked
from gateway.admin.looking.parts import Part
from gateway.rdf.namespaces import XSD
from gateway.rdf.terms import Term
from gateway.sparql import algebra
from gateway.sparql.algebra import Expression, Group, is_hidden, visible_variables
from gateway.sparql.scope import walk

_SAMPLE = 2_000
"""Rows that are looked at for the nearest."""

_FEW = 3
_COLUMNS = 6

_GREATER = frozenset({">", ">="})
_ORDER = frozenset({">", ">=", "<", "<="})
_NUMBERS = frozenset(XSD + each for each in ("integer", "decimal", "double", "float", "int"))


def near_filter(part: Part, asking: Asking) -> Iterator[Near]:
    """What is near where a FILTER or MINUS leaves nothing; at most two questions."""
    match part.element:
        case algebra.Filter(expression=algebra.Exists(group=group, negated=True)):
            yield from _held_back(part, group, "FILTER NOT EXISTS", asking)
        case algebra.Minus(group=group):
            yield from _held_back(part, group, "MINUS", asking)
        case algebra.Filter(expression=algebra.Exists(group=group)):
            yield _nothing_exists(group, asking)
        case algebra.Filter(expression=algebra.Operation(name=name, args=(left, right))) if (
            name in _ORDER or name == "="
        ):
            yield from _compared(part, name, (left, right), asking)
        case algebra.Filter(expression=expression):
            yield from _refused(part, expression, asking)


def _held_back(part: Part, group: Group, word: str, asking: Asking) -> Iterator[Near]:
    """The rows, and what is there of which they want that it is not."""
    elements = (*part.before, group)
    outer = [each for each in visible_variables(part.before) if not is_hidden(each)]
    inner = [each for each in visible_variables(group.elements) if not is_hidden(each)]
    shared = [each for each in outer if each in inner] or outer
    more = [each for each in inner if each not in shared]
    columns = list(map(asking.name, [*shared, *more][:_COLUMNS]))
    if not columns:
        return
    found = asking.rows(" ".join(f"?{each}" for each in columns), elements, _FEW)
    head = len(shared)
    for row in found:
        own = [each for each in columns[head:] if each in row]
        of = ", ".join(f"?{each} = {asking.told.term(row[each])}" for each in own)
        link = linked(row[own[0]], "observation") if own else None
        yield Near(
            asking.values(row[each] for each in columns[:head] if each in row),
            f"{word} finds {of or 'it'} for it: {_shown(group, asking)}",
            "it is a row once that is gone",
            link=link,
        )


def _nothing_exists(group: Group, asking: Asking) -> Near:
    there = asking.has(group.elements)
    return Near(
        f"FILTER EXISTS {_shown(group, asking)}",
        "it is there, but of nothing that the rows are about"
        if there
        else "nothing like this is in the store",
        "link both to the same thing" if there else "have it written, or take the FILTER away",
    )


def _compared(
    part: Part, name: str, sides: tuple[Expression, Expression], asking: Asking
) -> Iterator[Near]:
    """How near the nearest row comes, where both sides are numbers."""
    left, right = (asking.text.expression(each) for each in sides)
    rows = list(asking.rows(f"DISTINCT ({left} AS ?l) ({right} AS ?r)", part.before, _SAMPLE))
    shown = asking.told.element(part.element)
    if not rows:
        return
    numbers = [(pair, row) for row in rows if (pair := _pair(row)) is not None]
    if not numbers:
        yield _no_numbers(shown, rows, asking)
        return
    (one, other), row = min(numbers, key=lambda each: abs(each[0][0] - each[0][1]))
    is_left = not isinstance(sides[0], Literal)
    value, bound = (row["l"], row["r"]) if is_left else (row["r"], row["l"])
    sign = name if is_left else name.translate(str.maketrans("<>", "><"))
    if sign == "=":
        reason = f"{asking.told.term(value)} is the nearest, the filter wants "
    else:
        end = "largest" if sign in _GREATER else "smallest"
        is_same = len({each["r" if is_left else "l"] for _, each in numbers}) == 1
        reason = f"{asking.told.term(value)} is the {end if is_same else 'nearest'}, "
        reason += "the filter wants "
    yield Near(
        shown,
        f"{reason}{sign} {asking.told.term(bound)}",
        f"wait until it differs by {abs(one - other).normalize():f}, or change the filter",
    )


def _no_numbers(shown: str, rows: list[Found], asking: Asking) -> Near:
    """A side has no value, or one that cannot be compared."""
    row = next((each for each in rows if "l" in each and "r" in each), rows[0])
    if "l" not in row or "r" not in row:
        reason = "a side of it has no value in any row: an error, which takes the row away"
    else:
        left, right = asking.told.term(row["l"]), asking.told.term(row["r"])
        reason = f"{left} is there, the filter wants it to be compared with {right}"
        kinds = [_kind(row["l"]), _kind(row["r"])]
        if kinds[0] != kinds[1]:
            reason += f": {kinds[0]} and {kinds[1]} are never so"
    return Near(shown, reason, "change the filter, or the mapping that gives these values")


def _kind(term: Term) -> str:
    if not isinstance(term, Literal):
        return "an IRI"
    if term.datatype.value in _NUMBERS:
        return "a number"
    return f"a value of type {term.datatype.value.removeprefix(XSD)}"


def _refused(part: Part, expression: Expression, asking: Asking) -> Iterator[Near]:
    """Some rows that it takes away, in what it looks at."""
    shown = asking.told.element(part.element)
    wanted = [each for each in _looked_at(expression) if not is_hidden(each)]
    columns = list(map(asking.name, wanted[:_COLUMNS]))
    if not columns:
        yield Near(shown, "it looks at no value of the rows, and is not true", "change the filter")
        return
    heads = " ".join(f"?{each}" for each in columns)
    for row in asking.rows(f"DISTINCT {heads}", part.before, _FEW):
        told = ", ".join(
            f"?{each} = {asking.told.term(row[each])}" for each in columns if each in row
        )
        subject: Term | None = next((row[each] for each in columns if each in row), None)
        yield Near(
            shown,
            f"it is not true for {told or 'a row without these values'}",
            "change the filter, or what writes these values",
            link=linked(subject) if isinstance(subject, NamedNode) else None,
        )


def _looked_at(expression: Expression) -> list[Variable]:
    found = (node for node in walk(expression) if isinstance(node, Variable))
    return list(dict.fromkeys(found))


def _shown(group: Group, asking: Asking) -> str:
    text = asking.told.group(group.elements)
    return text if len(text) <= 400 else f"{text[:400]}…"


def _pair(row: Found) -> tuple[Decimal, Decimal] | None:
    one, other = _number(row.get("l")), _number(row.get("r"))
    return None if one is None or other is None else (one, other)


def _number(term: Term | None) -> Decimal | None:
    if not isinstance(term, Literal) or term.datatype.value not in _NUMBERS:
        return None
    try:
        number = Decimal(term.value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
