"""`Result`: a measured value as an RDF literal, read from the text or the JSON of a payload.

Numbers keep the digits of the device: no float is ever made of them, so 21.50 stays 21.50.
Integers become xsd:integer, numbers with a point xsd:decimal, with an exponent xsd:double.
Words for a missing value (`NO_VALUE_WORDS`) and for not-a-number (`NOT_FINITE_WORDS`) are faults
in every format: an observation without a result is none.

Sources: XSD 1.1 Datatypes 3.3 (lexical spaces), RFC 8259 section 6 (JSON numbers), RFC 3339.
"""

import math
import re
from typing import NamedTuple

from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.observation import XSD

MAX_DIGITS = 64

STRING = XSD + "string"
INTEGER = XSD + "integer"
DECIMAL = XSD + "decimal"
DOUBLE = XSD + "double"
BOOLEAN = XSD + "boolean"

NUMERIC = frozenset({INTEGER, DECIMAL, DOUBLE})
"""The datatypes that can have a unit."""

PADDING = " \t\r\n\0"
"""Stripped from bare texts: C firmware sends its terminator, Homie an empty string as one NUL."""


class Result(NamedTuple):
    """A literal: lexical form and datatype IRI."""

    lexical: str
    datatype: str


class JsonNumber(str):
    """A number of a JSON text, as it was written there."""

    __slots__ = ()


TRUE = Result("true", BOOLEAN)
FALSE = Result("false", BOOLEAN)

BOOLEAN_WORDS = {
    "true": TRUE,
    "on": TRUE,
    "open": TRUE,
    "false": FALSE,
    "off": FALSE,
    "closed": FALSE,
}
"""In any case of letters. Every other word, `online` or `detected` for one, is text."""

NO_VALUE_WORDS = frozenset({"null", "none", "unavailable", "unknown"})
NOT_FINITE_WORDS = frozenset(
    {"nan", "inf", "infinity"} | {sign + word for sign in "+-" for word in ("inf", "infinity")}
)

# Possessive quantifiers: a long run of digits before a letter costs linear time.
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_BARE_NUMBER = re.compile(
    r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+",
)
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_NOT_XML_CHARACTER = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def number_result(text: str) -> Result | Fault:
    """The literal of a number in JSON grammar; cost linear in `text`, whatever its size."""
    if len(text) > MAX_DIGITS and sum(map(str.isdigit, text)) > MAX_DIGITS:
        return Fault(None, FaultReason.TOO_MANY_DIGITS, f"more than {MAX_DIGITS} digits")
    if "e" in text or "E" in text:
        return _double_result(text)
    return Result(str(text), DECIMAL if "." in text else INTEGER)


def _double_result(text: str) -> Result | Fault:
    if math.isinf(float(text)):
        return Fault(None, FaultReason.NOT_FINITE, f"{excerpt(text)} is beyond xsd:double")
    return Result(str(text), DOUBLE)


def string_result(text: str) -> Result | Fault:
    """`text` as xsd:string, whose characters are those of XML: no NUL, no lone surrogate."""
    defect = _NOT_XML_CHARACTER.search(text)
    if defect is not None:
        detail = f"U+{ord(defect.group()):04X} is no character of xsd:string"
        return Fault(None, FaultReason.INVALID_TEXT, detail)
    return Result(str(text), STRING)


def bare_result(text: str) -> Result | Fault:
    """The value of a bare text: a number, a boolean word, or a timestamp (as xsd:string).

    More liberal in numbers than JSON is: `+5`, `.5`, `5.` and `007` are numbers.
    """
    text = text.strip(PADDING)
    if _BARE_NUMBER.fullmatch(text):
        return number_result(_tidied(text))
    known = _word_result(text)
    if known is not None:
        return known
    if _TIMESTAMP.fullmatch(text):
        return Result(text, STRING)
    return Fault(None, FaultReason.NOT_A_VALUE, f"{excerpt(text)} is no number and no boolean")


def forced_string_result(text: str) -> Result | Fault:
    """`text` as xsd:string whatever it looks like, unless it says that there is no value."""
    text = text.strip(PADDING)
    known = _word_result(text)
    return known if isinstance(known, Fault) else string_result(text)


def captured_result(text: str) -> Result | Fault:
    """A text that somebody chose to be the value: as `bare_result`, and other text is a string."""
    result = bare_result(text)
    if isinstance(result, Fault) and result.reason is FaultReason.NOT_A_VALUE:
        return string_result(text.strip(PADDING))
    return result


def json_result(value: object) -> Result | Fault:
    """The value at a place of a JSON text (`JsonNumber` for its numbers).

    A number in quotes is a number, for many devices quote theirs; it must be one by JSON's
    grammar, so that a code such as "007" stays a string. Boolean words in quotes are booleans.
    """
    if type(value) is JsonNumber:
        return number_result(value)
    if type(value) is bool:
        return TRUE if value else FALSE
    if type(value) is str:
        return _quoted_result(value)
    if value is None:
        return Fault(None, FaultReason.NULL, "the value is null")
    return Fault(None, FaultReason.NOT_A_VALUE, "the value is an object or an array")


def _quoted_result(text: str) -> Result | Fault:
    bare = text.strip(PADDING)
    if _JSON_NUMBER.fullmatch(bare):
        return number_result(bare)
    return _word_result(bare) or string_result(text)


def _word_result(text: str) -> Result | Fault | None:
    """What a reserved word or an empty text means; None for any other text."""
    if not text:
        return Fault(None, FaultReason.EMPTY, "the text is empty")
    word = text.lower()
    if word in NO_VALUE_WORDS:
        return Fault(None, FaultReason.NULL, f"{excerpt(text)} stands for no value")
    if word in NOT_FINITE_WORDS:
        return Fault(None, FaultReason.NOT_FINITE, f"{excerpt(text)} is not finite")
    return BOOLEAN_WORDS.get(word)


def _tidied(number: str) -> str:
    """A bare number without `+`, with digits on both sides of its point."""
    number = number.removeprefix("+")
    if "." not in number:
        return number
    whole, _, rest = number.partition(".")
    whole = whole if whole.strip("-") else whole + "0"
    return f"{whole}.{rest if rest[:1].isdigit() else '0' + rest}"
