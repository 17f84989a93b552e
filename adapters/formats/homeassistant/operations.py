"""What the words and signs of a template do to values, without Jinja: exact, bounded, typed.

Place on the way: `expression` compiles calls of these. Values are those of JSON, numbers as
`JsonNumber`, so that no digit is lost; a bare payload is `BareText`. What has no value fails.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import NoReturn, TypeAlias

from adapters.documents.json_path import ABSENT, Absent
from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.payload import Json, parse_json
from adapters.values.result import NUMERIC, JsonNumber, Result, bare_result

Value: TypeAlias = Json | Absent

MAX_TEXT_CHARS = 64 * 1024
"""The longest text that a template may make."""

_EXACT = Context(prec=64)
_ROUNDED = Context(prec=16)
_MAX_EXPONENT = 40


class BareText(str):
    """A text without quotes around it: the payload itself, or what stands between statements."""

    __slots__ = ()


class NoValueError(Exception):
    """A template that finds no value in a message; never leaves the package."""

    def __init__(self, reason: FaultReason, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(None, reason, detail)


_MISSING = NoValueError(FaultReason.MISSING, "the payload has no such member")


def absent() -> NoReturn:
    """Fail for something that the message does not have, as most templates of a shared topic do."""
    raise _MISSING.with_traceback(None)


def failed(fault: Fault) -> NoReturn:
    """Fail as a reading of the payload did."""
    raise NoValueError(fault.reason, fault.detail)


def number(value: Value) -> JsonNumber:
    """The number that a value is, or that a text says."""
    if type(value) is JsonNumber:
        return value
    if isinstance(value, Absent):
        absent()
    if not isinstance(value, str):
        reason = FaultReason.NULL if value is None else FaultReason.NOT_A_VALUE
        raise NoValueError(reason, f"{excerpt(json.dumps(value))} is no number")
    result = bare_result(value)
    if isinstance(result, Fault):
        failed(result)
    if result.datatype not in NUMERIC:
        raise NoValueError(FaultReason.NOT_A_VALUE, f"{excerpt(value)} is no number")
    return JsonNumber(result.lexical)


def is_number(value: Value) -> bool:
    """Whether `number` would give one."""
    if not isinstance(value, str):
        return False
    result = bare_result(value)
    return isinstance(result, Result) and result.datatype in NUMERIC


def decimal(value: Value) -> Decimal:
    """A number to calculate with."""
    found = Decimal(number(value))
    if abs(found.adjusted()) > _MAX_EXPONENT:
        raise NoValueError(
            FaultReason.TOO_MANY_DIGITS, "the numbers are too large to calculate with"
        )
    return found


def truth(value: Value) -> bool:
    """As Jinja has it: nothing, zero and empty are false."""
    if isinstance(value, Absent):
        return False
    return bool(Decimal(value)) if type(value) is JsonNumber else bool(value)


def text(value: Value) -> str:
    """As Jinja prints it."""
    if isinstance(value, Absent):
        absent()
    if value is None or isinstance(value, bool):
        return str(value)
    return str(value) if isinstance(value, str) else json.dumps(plain(value))


def plain(value: Json) -> object:
    """The value with numbers of Python's, as JSON is written of."""
    if type(value) is JsonNumber:
        return int(value) if value.lstrip("-").isdigit() else float(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value


def bounded(made: str) -> str:
    """`made`, if it is not too long."""
    if len(made) > MAX_TEXT_CHARS:
        raise NoValueError(FaultReason.TOO_LARGE, "the template makes too long a text")
    return made


def equal(one: Value, other: Value) -> bool:
    """Numbers by their value; a number is no text."""
    left, right = _comparable(one), _comparable(other)
    if left is None and right is None:
        return one is other or one == other
    return left is not None and right is not None and left == right


class Keyed(dict[str, Json]):
    """A dictionary that a template writes: 1 and '1' are different keys, true and 1 the same."""

    def __init__(self, pairs: Sequence[tuple[Value, Json]]) -> None:
        super().__init__({str(key): value for key, value in pairs})
        self._pairs = pairs

    def find(self, key: Value) -> Value:
        """The value of the last equal key, ABSENT without one."""
        found = (value for each, value in reversed(self._pairs) if equal(each, key))
        return next(found, ABSENT)


def _comparable(value: Value) -> Decimal | None:
    if isinstance(value, bool):
        return Decimal(int(value))
    return Decimal(value) if type(value) is JsonNumber else None


def less(one: Value, other: Value) -> bool:
    """Numbers by their value, texts by their characters."""
    if type(one) is not JsonNumber and type(other) is not JsonNumber:
        if isinstance(one, str) and isinstance(other, str):
            return one < other
        if isinstance(one, Absent) or isinstance(other, Absent):
            absent()
    return Decimal(number(one)) < Decimal(number(other))


def contains(part: Value, whole: Value) -> bool:
    """Whether an element, a key or a part of a text is there."""
    if isinstance(whole, Absent):
        absent()
    if isinstance(whole, list):
        return any(equal(part, each) for each in whole)
    if isinstance(whole, dict):
        return not isinstance(member(whole, part), Absent)
    return isinstance(whole, str) and isinstance(part, str) and part in whole


COMPARISONS: Mapping[str, Callable[[Value, Value], bool]] = {
    "==": equal,
    "!=": lambda one, other: not equal(one, other),
    "<": less,
    ">": lambda one, other: less(other, one),
    "<=": lambda one, other: not less(other, one),
    ">=": lambda one, other: not less(one, other),
    "in": contains,
    "not in": lambda part, whole: not contains(part, whole),
}


def calculated(sign: str, one: Value, other: Value) -> JsonNumber:
    """In decimal; a quotient is never an integer."""
    left, right = decimal(one), decimal(other)
    simple = _SIMPLE.get(sign)
    if simple is not None:
        return _shown(simple(left, right))
    if not right:
        raise NoValueError(FaultReason.NOT_FINITE, "a division by zero")
    quotient = _ROUNDED.divide(left, right)
    if sign == "/":
        # As in Jinja 3000 / 1000 is 3.0: a stream has one datatype, whatever the numbers are.
        told = format(quotient, "f")
        return JsonNumber(told if "." in told else f"{told}.0")
    whole = quotient.to_integral_value(ROUND_FLOOR)
    found = whole if sign == "//" else _EXACT.subtract(left, _EXACT.multiply(whole, right))
    return _shown(found)


def _shown(found: Decimal) -> JsonNumber:
    """Without a sign before zero."""
    return JsonNumber(format(found if found else abs(found), "f"))


_SIMPLE = {"+": _EXACT.add, "-": _EXACT.subtract, "*": _EXACT.multiply}


def bits(one: Value, other: Value) -> JsonNumber:
    """The bits that two whole numbers share."""
    left, right = (int(rounded(each, 0, "down")) for each in (one, other))
    return JsonNumber(str(left & right))


ROUNDINGS = {
    "common": ROUND_HALF_EVEN,
    "ceil": ROUND_CEILING,
    "floor": ROUND_FLOOR,
    "down": ROUND_DOWN,
}


def rounded(value: Value, places: int, how: str) -> JsonNumber:
    """To so many places behind the point, `how` of ROUNDINGS."""
    found = Decimal(number(value))
    if abs(found.adjusted()) > _MAX_EXPONENT:
        raise NoValueError(FaultReason.TOO_MANY_DIGITS, "the number is too large to round")
    shown = found.quantize(Decimal(1).scaleb(-places), ROUNDINGS[how], context=_EXACT)
    return _shown(shown)


def member(value: Value, key: Value) -> Value:
    """What stands under a key or an index; ABSENT where nothing does."""
    if type(value) is dict and isinstance(key, str):
        return value.get(key, ABSENT)
    if isinstance(value, Absent):
        absent()
    if isinstance(value, Keyed):
        return value.find(key)
    if isinstance(value, dict):
        return ABSENT
    if isinstance(value, list | str) and type(key) is JsonNumber and key.lstrip("-").isdigit():
        index = int(key[:9])
        return value[index] if -len(value) <= index < len(value) else ABSENT
    return ABSENT


def part(value: Value, start: int | None, stop: int | None) -> Value:
    """A slice of a text or list."""
    if isinstance(value, str) and type(value) is not JsonNumber:
        return str(value)[start:stop]
    return value[start:stop] if isinstance(value, list) else absent()


def of_json(value: Value) -> Value:
    """What a text says in JSON."""
    if isinstance(value, str) and type(value) is not JsonNumber:
        document = parse_json(value)
        return failed(document) if isinstance(document, Fault) else document
    return value


def to_json(value: Value) -> str:
    """A value in JSON."""
    if isinstance(value, Absent):
        absent()
    shown = number(value) if type(value) is JsonNumber else json.dumps(plain(value))
    return bounded(str(shown))


def _length(value: Value) -> JsonNumber:
    if isinstance(value, str | list | dict):
        return JsonNumber(str(len(value)))
    return absent()


def _end(index: int) -> Callable[[Value], Value]:
    def end(value: Value) -> Value:
        return value[index] if isinstance(value, list | str) and value else ABSENT

    return end


def _magnitude(value: Value) -> JsonNumber:
    return JsonNumber(number(value).lstrip("-"))


def _worded(change: Callable[[str], str]) -> Callable[[Value], Value]:
    return lambda value: BareText(bounded(change(text(value))))


FILTERS: Mapping[str, Callable[[Value], Value]] = {
    "lower": _worded(str.lower),
    "upper": _worded(str.upper),
    "capitalize": _worded(str.capitalize),
    "title": _worded(str.title),
    "trim": _worded(str.strip),
    "string": lambda value: str(text(value)),
    "tojson": to_json,
    "to_json": to_json,
    "from_json": of_json,
    "length": _length,
    "count": _length,
    "abs": _magnitude,
    "first": _end(0),
    "last": _end(-1),
    "bool": truth,
    "is_number": is_number,
}
"""Filters without arguments."""

TESTS: Mapping[str, Callable[[Value], bool]] = {
    "defined": lambda value: not isinstance(value, Absent),
    "undefined": lambda value: isinstance(value, Absent),
    "none": lambda value: value is None,
    "number": lambda value: type(value) is JsonNumber,
    "string": lambda value: isinstance(value, str) and type(value) is not JsonNumber,
    "boolean": lambda value: isinstance(value, bool),
    "mapping": lambda value: isinstance(value, dict),
    "sequence": lambda value: isinstance(value, list),
    "true": lambda value: value is True,
    "false": lambda value: value is False,
}


def replaced(value: Value, old: Value, new: Value) -> Value:
    """A text with every `old` replaced."""
    return BareText(bounded(_replaced(text(value), text(old), text(new))))


def _replaced(whole: str, old: str, new: str) -> str:
    if len(whole) + whole.count(old) * len(new) > MAX_TEXT_CHARS:
        raise NoValueError(FaultReason.TOO_LARGE, "the template makes too long a text")
    return whole.replace(old, new)


def joined(value: Value, separator: Value) -> Value:
    """The elements of a list as one text."""
    if not isinstance(value, list):
        absent()
    return BareText(bounded(text(separator).join(map(text, value))))


FILTERS_WITH: Mapping[tuple[str, int], Callable[..., Value]] = {
    ("replace", 2): replaced,
    ("join", 1): joined,
    ("bitwise_and", 1): bits,
}
"""Filters with so many arguments."""


def _split(value: Value, *separator: Value) -> Value:
    return [BareText(each) for each in text(value).split(*map(text, separator) or (None,))]


def _got(value: Value, key: Value, otherwise: Value = None) -> Value:
    found = member(value, key)
    return otherwise if isinstance(found, Absent) else found


METHODS: Mapping[str, tuple[int, int, Callable[..., Value]]] = {
    "lower": (0, 0, FILTERS["lower"]),
    "upper": (0, 0, FILTERS["upper"]),
    "strip": (0, 0, FILTERS["trim"]),
    "title": (0, 0, FILTERS["title"]),
    "capitalize": (0, 0, FILTERS["capitalize"]),
    "replace": (2, 2, replaced),
    "split": (0, 1, _split),
    "get": (1, 2, _got),
    "startswith": (1, 1, lambda value, start: text(value).startswith(text(start))),
    "endswith": (1, 1, lambda value, end: text(value).endswith(text(end))),
}
"""Methods with the least and the most arguments that they take."""
