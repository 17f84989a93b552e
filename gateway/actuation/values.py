"""Values of commands: literals from texts, and whether two of them mean the same.

Place on the way of the data: before a command, where its value is read from a request, and behind
it, where a reading is compared with what was commanded. Source: adapters.values.result for what
devices' words mean.
"""

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pyoxigraph import Literal, NamedNode

from adapters.values.conversion import convert
from adapters.values.fault import Fault
from adapters.values.result import BOOLEAN_WORDS, DECIMAL, INTEGER, MAX_DIGITS, Result
from gateway.rdf.namespaces import XSD

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+")
_BOOLEAN = NamedNode(XSD + "boolean")
_NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float"))
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def value_of(text: str) -> Literal:
    """A text as the literal that it looks like: a number, true or false, or else a string.

    >>> value_of("21.5").datatype.value.rpartition("#")[2], value_of("ON").datatype.value[-6:]
    ('decimal', 'string')
    """
    if text in {"true", "false"}:
        return Literal(text, datatype=_BOOLEAN)
    if len(text) <= MAX_DIGITS and _NUMBER.fullmatch(text):
        return Literal(text, datatype=NamedNode(DECIMAL if "." in text else INTEGER))
    return Literal(text)


def is_boolean(value: Literal) -> bool:
    """Whether it is one of the two truth values, by its datatype."""
    return value.datatype == _BOOLEAN


def number_of(value: Literal) -> Decimal | None:
    """The number that a literal is, whatever its datatype; None for none, and for infinity."""
    if len(value.value) > MAX_DIGITS:
        return None
    try:
        number = Decimal(value.value.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= MAX_DIGITS else None


def number_literal(number: Decimal) -> Literal:
    """An integer where it is one."""
    if number == number.to_integral_value():
        return Literal(format(number.to_integral_value(), "f"), datatype=NamedNode(INTEGER))
    return Literal(format(number.normalize(), "f"), datatype=NamedNode(DECIMAL))


def spelled_range(least: object, most: object, unit: str) -> str:
    """For people: the numbers between two ends, of which None is open; empty for all.

    >>> spelled_range(5, 30, "http://qudt.org/vocab/unit/DEG_C"), spelled_range(0, None, "")
    ('5 to 30 DEG_C', 'at least 0')
    """
    name = unit.rpartition("/")[2]
    if least is not None and most is not None:
        ends = f"{least} to {most}"
    elif least is not None:
        ends = f"at least {least}"
    elif most is not None:
        ends = f"at most {most}"
    else:
        return f"in {name}" if name else ""
    return f"{ends} {name}".rstrip()


def converted(number: Decimal, unit: str | None, wanted: str | None) -> Decimal | None:
    """The number in another unit (QUDT IRIs); None where the units have nothing in common."""
    if unit is None or wanted is None or unit == wanted:
        return number
    result = convert(Result(format(number, "f"), DECIMAL), unit, wanted)
    return None if isinstance(result, Fault) else Decimal(result.lexical)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a device for true and false, where they are not the usual ones."""

    true: str = ""
    false: str = ""

    def meaning(self, value: Literal) -> bool | None:
        """The truth value that a literal stands for, None for none."""
        text = value.value
        if is_boolean(value):
            return _TRUTHS.get(text)
        if text and text in {self.true, self.false}:
            return text == self.true
        known = BOOLEAN_WORDS.get(text.lower())
        return None if known is None else known.lexical == "true"

    def word(self, meaning: bool) -> str:
        """The word for a truth value, empty where none was told."""
        return self.true if meaning else self.false


@dataclass(frozen=True, slots=True)
class Reading:
    """What an observation says that may confirm a command; `unit` is a QUDT IRI or None."""

    value: Literal
    unit: str | None = None


def says_the_same(
    wanted: Literal, unit: str | None, seen: Reading, words: Words, tolerance: Decimal
) -> bool:
    """Whether a reading has the wanted value: as truth values, as numbers, or as texts.

    Numbers may differ by `tolerance`, in `unit`, to which the reading is converted.
    """
    if is_boolean(wanted) or is_boolean(seen.value):
        meant, told = words.meaning(wanted), words.meaning(seen.value)
        if told is None:
            told = _TRUTHS.get(seen.value.value)
        return meant is not None and meant == told
    number, other = number_of(wanted), number_of(seen.value)
    if number is not None and other is not None:
        other = converted(other, seen.unit, unit)
        return other is not None and abs(number - other) <= tolerance
    if wanted.value.casefold() == seen.value.value.casefold():
        return True
    is_own = wanted.value in {words.true, words.false} - {""}
    return is_own and words.meaning(wanted) == words.meaning(seen.value)


def is_number(value: Literal) -> bool:
    """Whether the datatype is one of numbers."""
    return value.datatype.value in _NUMBERS
