"""`quantity`: a number that a device wrote for people, `21,5` or `21.5 °C`.

Place on the way: texts in the streams of numbers. What can be read in two ways, `1,234`, is a Fault
that says how to decide; nothing is guessed.
"""

import re
from typing import NamedTuple

from adapters.values.conversion import dimension
from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.result import PADDING, Result, captured_result, number_result
from adapters.values.units import MAX_CHARS, UNIT, unit_iri

_LONGEST_NUMBER = 80
_WRITTEN = re.compile(
    r"(?P<sign>[+\u2212-]?)(?P<digits>[0-9][0-9.,]*+|[.,][0-9]++)(?P<power>[eE][+-]?[0-9]{1,3})?+"
    r"[ \u00a0\u202f]*+(?P<unit>[^0-9\s.,][^\s]*+(?: [^\s]++)?+)?+"
)
_GROUPS = {
    ",": re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+"),
    ".": re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+"),
}
SIGNS = (",", ".")


class Quantity(NamedTuple):
    """A number, and the QUDT unit that stood behind it, None where none did."""

    result: Result
    unit: str | None


def quantity(
    text: str, decimal_sign: str = "", wanted: str | None = None
) -> Quantity | Fault | None:
    """What `text` says; None where it is no number, with or without a known unit behind it.

    `wanted` is the unit that its stream declares: behind a temperature `C` is no coulomb.

    >>> quantity("21,5 °C").result.lexical, quantity("1.234,5").result.lexical
    ('21.5', '1234.5')
    >>> quantity("1,234").detail
    "'1,234' may be 1.234 or 1234: the mapping has to say its decimal sign"
    >>> quantity("1,234", ",").result.lexical, quantity("4 apples")
    ('1.234', None)
    """
    bare = text.strip(PADDING)
    if len(bare) > _LONGEST_NUMBER + MAX_CHARS:
        return None
    found = _WRITTEN.fullmatch(bare)
    if found is None:
        return None
    unit = _unit(found["unit"], wanted) if found["unit"] else None
    if isinstance(unit, Fault) or (found["unit"] and unit is None):
        return unit
    digits = _plain(found["digits"], decimal_sign)
    if digits is None or isinstance(digits, Fault):
        return digits
    sign = "-" if found["sign"] in {"-", "\u2212"} else ""
    result = number_result(sign + digits + (found["power"] or ""))
    return result if isinstance(result, Fault) else Quantity(result, unit)


def _unit(symbol: str, wanted: str | None) -> str | Fault | None:
    """The QUDT unit; a Fault where `C` and `F` may be degrees and nothing says so."""
    degrees = _DEGREES.get(symbol)
    if degrees is None:
        return unit_iri(symbol)
    if wanted is None:
        detail = f"{symbol} may be a degree or an electric unit: the mapping has to say its unit"
        return Fault(None, FaultReason.NOT_A_VALUE, detail)
    return degrees if dimension(wanted) == "temperature" else unit_iri(symbol)


_DEGREES = {"C": UNIT + "DEG_C", "F": UNIT + "DEG_F"}


def read_captured(text: str, decimal_sign: str) -> Result | Fault:
    """A text that somebody chose to be the value, whose decimal sign the mapping may have told.

    Without one it is `captured_result`'s; a stream of numbers reads what is left a text.
    """
    written = quantity(text, decimal_sign) if decimal_sign else None
    if written is None:
        return captured_result(text)
    return written if isinstance(written, Fault) else written.result


def _plain(digits: str, sign: str) -> str | Fault | None:
    """Digits as JSON has them; None where commas and points stand as in no number."""
    marks = [each for each in digits if each in SIGNS]
    if not marks:
        return digits.lstrip("0") or "0"
    last, count = marks[-1], len(marks)
    if sign:
        return _with(digits, sign)
    if len(set(marks)) == 2 or count > 1:
        return _with(digits, last if marks.count(last) == 1 else _other(last))
    if last == "," and _GROUPS[","].fullmatch(digits):
        told = f"{digits.replace(',', '.')} or {digits.replace(',', '')}"
        detail = f"{excerpt(digits)} may be {told}: the mapping has to say its decimal sign"
        return Fault(None, FaultReason.NOT_A_VALUE, detail)
    return _with(digits, last)


def _with(digits: str, sign: str) -> str | None:
    """Digits whose decimal sign is `sign`; the other one may stand between groups of three."""
    whole, _, rest = digits.partition(sign)
    group = _other(sign)
    if sign in rest or group in rest:
        return None
    if group in whole:
        if not _GROUPS[group].fullmatch(whole):
            return None
        whole = whole.replace(group, "")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{rest or '0'}" if sign in digits else whole


def _other(sign: str) -> str:
    return "." if sign == "," else ","
