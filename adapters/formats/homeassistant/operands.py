"""Operands of templates: what the parser of `expression` makes its functions of.

Place on the way: between `expression`, which knows the grammar, and `operations`, which knows the
values. An operand is a function of a scope, and what is known of it before any message comes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from adapters.documents.json_path import ABSENT, Absent
from adapters.formats.homeassistant.operations import (
    ROUNDINGS,
    Keyed,
    NoValueError,
    Value,
    bounded,
    calculated,
    member,
    rounded,
    text,
    truth,
)
from adapters.formats.homeassistant.tokens import TemplateError
from adapters.values.fault import excerpt
from adapters.values.payload import Json
from adapters.values.result import JsonNumber

MAX_PLACES = 12

Scope = Mapping[str, Callable[[], Value]]
"""What the names of a template stand for; they are looked up when they are needed."""

Evaluate = Callable[[Scope], Value]


class Operand(NamedTuple):
    """A compiled expression; `is_member` where it is a place in the payload and nothing else.

    `constant` is its value where it has always the same, `path` the keys below the document.
    """

    evaluate: Evaluate
    is_member: bool = False
    constant: Value = ABSENT
    path: tuple[Value, ...] | None = None


def undefined() -> Value:
    """What a name stands for that nothing was bound to."""
    return ABSENT


def nothing(scope: Scope) -> Value:  # noqa: ARG001
    """An expression without a value."""
    return ABSENT


def there(value: Value) -> Json:
    """A value that JSON has."""
    return None if isinstance(value, Absent) else value


def constant(value: Value) -> Evaluate:
    """An expression that has always the same value."""
    return lambda scope: value  # noqa: ARG005


def or_else(one: Evaluate, other: Evaluate) -> Evaluate:
    """Another value where the first one fails."""

    def evaluate(scope: Scope) -> Value:
        try:
            return one(scope)
        except NoValueError:
            return other(scope)

    return evaluate


def chosen(condition: Evaluate, one: Evaluate, other: Evaluate) -> Evaluate:
    """One of two by a condition."""
    return lambda scope: one(scope) if truth(condition(scope)) else other(scope)


def either(one: Evaluate, other: Evaluate) -> Evaluate:
    """The first where it is true, else the other."""
    return lambda scope: found if truth(found := one(scope)) else other(scope)


def both(one: Evaluate, other: Evaluate) -> Evaluate:
    """The first where it is false, else the other."""
    return lambda scope: other(scope) if truth(found := one(scope)) else found


def applied(call: Callable[..., Value], *operands: Evaluate) -> Evaluate:
    """A call with what the operands are."""
    if len(operands) == 1:
        (only,) = operands
        return lambda scope: call(only(scope))
    if len(operands) == 2:
        one, other = operands
        return lambda scope: call(one(scope), other(scope))
    return lambda scope: call(*[each(scope) for each in operands])


def called_on(call: Callable[..., Value], *operands: Operand) -> Operand:
    """A call as an operand."""
    return Operand(applied(call, *(each.evaluate for each in operands)))


def arithmetic(sign: str, one: Evaluate, other: Evaluate) -> Evaluate:
    """A calculation."""
    return lambda scope: calculated(sign, one(scope), other(scope))


def concatenated(one: Value, other: Value) -> Value:
    """Two values as one text."""
    return bounded(text(one) + text(other))


def member_of(operand: Operand, key: Value | Evaluate) -> Operand:
    """What stands under a key of an operand."""
    evaluate = operand.evaluate
    if callable(key):
        return Operand(lambda scope: member(evaluate(scope), key(scope)), operand.is_member)
    if operand.path is not None:
        path = (*operand.path, key)
        return Operand(place(path), operand.is_member, path=path)
    return Operand(lambda scope: member(evaluate(scope), key), operand.is_member)


def place(path: tuple[Value, ...]) -> Evaluate:
    """A place in the document of the payload."""

    def evaluate(scope: Scope) -> Value:
        node = scope["value_json"]()
        for key in path:
            node = member(node, key)
        return node

    return evaluate


def chosen_by_iif(condition: Operand, *choice: Operand) -> Operand:
    """By `iif`: for true, for false, for none."""
    chosen = [each.evaluate for each in choice]
    test = condition.evaluate
    otherwise = chosen[1] if len(chosen) > 1 else constant(False)

    def evaluate(scope: Scope) -> Value:
        found = test(scope)
        if found is None and len(chosen) > 2:
            return chosen[2](scope)
        return chosen[0](scope) if truth(found) else otherwise(scope)

    return Operand(evaluate)


def rounding(operand: Operand, arguments: Sequence[Operand]) -> Operand:
    """By `round`; TemplateError for places and ways that it does not have."""
    told = [each.constant for each in arguments]
    places = told[0] if told else JsonNumber("0")
    how = told[1] if len(told) > 1 else "common"
    is_whole = type(places) is JsonNumber and places.isdigit() and int(places) <= MAX_PLACES
    if not is_whole or not isinstance(how, str) or how not in ROUNDINGS:
        raise TemplateError(f"round to {excerpt(str(places))} digits")
    count, evaluate = int(str(places)), operand.evaluate
    return Operand(lambda scope: rounded(evaluate(scope), count, how))


def index_of(operand: Operand) -> int:
    """The whole number of a slice; raises TemplateError."""
    if type(operand.constant) is JsonNumber and operand.constant.isdigit():
        return int(operand.constant[:6])
    raise TemplateError("a slice has whole numbers")


def dictionary(pairs: Sequence[tuple[Evaluate, Evaluate]]) -> Evaluate:
    """A dictionary, whose keys may be numbers."""

    def evaluate(scope: Scope) -> Value:
        return Keyed([(key(scope), there(value(scope))) for key, value in pairs])

    return evaluate


_FORMAT = re.compile(r"%0?(?:\d{1,2})?(?:\.(?P<places>\d{1,2}))?(?P<kind>[dfs])")


def formatted(template: Operand, value: Operand) -> Operand:
    """By `format`, as far as it writes one number or one text; raises TemplateError."""
    told = template.constant
    found = _FORMAT.fullmatch(told) if isinstance(told, str) else None
    if found is None or int(found["places"] or 0) > MAX_PLACES:
        raise TemplateError("format writes one number with its places")
    evaluate, kind = value.evaluate, found["kind"]
    if kind == "s":
        return Operand(lambda scope: str(text(evaluate(scope))))
    if kind == "d":
        return Operand(lambda scope: rounded(evaluate(scope), 0, "down"))
    places = int(found["places"] or 6)
    return Operand(lambda scope: rounded(evaluate(scope), places, "common"))
