"""The lexical forms of the XSD datatypes that readings have.

Place: under forced bindings, for values that come as text. Source: W3C XML Schema 1.1 part 2,
3.3.2 (boolean), 3.3.3 (decimal), 3.3.5 (double), 3.3.7 (dateTime), 3.4.13 (integer).
"""

import re
from decimal import Decimal
from math import isfinite

from jsap.namespaces import XSD

_ZONE = r"(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))"
_DAY = r"-?(?:[1-9]\d{3,}|0\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_DECIMAL = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
_DOUBLE = rf"(?:{_DECIMAL}(?:[eE][+-]?\d+)?|[+-]?INF|NaN)"

_FORMS = {
    XSD + name: re.compile(pattern, re.ASCII)
    for name, pattern in {
        "boolean": "true|false|1|0",
        "integer": r"[+-]?\d+",
        "decimal": _DECIMAL,
        "double": _DOUBLE,
        "float": _DOUBLE,
        "dateTime": f"{_DAY}T{_TIME}{_ZONE}?",
        "dateTimeStamp": f"{_DAY}T{_TIME}{_ZONE}",
    }.items()
}
_MAX_DIGITS = 1000
_DAYS_OF_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_lexical_form(text: str, datatype: str) -> bool:
    """Whether `text` is of the datatype; anything is of a datatype that is not known here."""
    form = _FORMS.get(datatype)
    if form is None:
        return True
    return form.fullmatch(text) is not None and _is_day(text, datatype)


def _is_day(text: str, datatype: str) -> bool:
    if not datatype.startswith(XSD + "dateTime"):
        return True
    year, month, day = (int(part) for part in text.lstrip("-").partition("T")[0].split("-"))
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return day <= _DAYS_OF_MONTH[month - 1] and ((month, day) != (2, 29) or leap)


def number_form(value: float | Decimal, datatype: str) -> str:
    """How `datatype` writes a number; not checked to be of it.

    Raises ValueError for a number whose digits would fill the memory.

    >>> number_form(1e-7, XSD + "decimal"), number_form(float("-inf"), XSD + "double")
    ('0.0000001', '-INF')
    """
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal) and not value.is_finite():
        value = float(value)
    if isinstance(value, float) and (not isfinite(value)):
        return str(value).replace("nan", "NaN").replace("inf", "INF")
    if datatype in {XSD + "double", XSD + "float"}:
        return str(value)
    exact = Decimal(repr(value)) if isinstance(value, float) else value
    if abs(exact.adjusted()) > _MAX_DIGITS:
        raise ValueError(f"{value} has more than {_MAX_DIGITS} digits")
    form = format(exact, "f")
    return form.removesuffix(".0") if datatype == XSD + "integer" else form
