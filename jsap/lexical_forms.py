"""The lexical forms of the XSD datatypes that readings have.

Place: under forced bindings, for values that come as text. Source: W3C XML Schema 1.1 part 2,
3.3.2 (boolean), 3.3.3 (decimal), 3.3.5 (double), 3.3.6 (duration), 3.3.7 (dateTime), 3.3.8 (time),
3.3.9 (date), 3.4.13 to 3.4.25 (integer and what is derived of it).
"""

import re
from decimal import Decimal
from math import isfinite

from jsap.namespaces import XSD

_ZONE = r"(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))"
_DAY = r"-?(?:[1-9]\d{3,}|0\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_YEAR_MONTH_DAY = re.compile(r"(\d+)-(\d\d)-(\d\d)")
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
        "date": f"{_DAY}{_ZONE}?",
        "time": f"{_TIME}{_ZONE}?",
        "duration": r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?"
        r"(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?",
        "hexBinary": r"(?:[0-9a-fA-F]{2})*",
    }.items()
}
_RANGES: dict[str, tuple[int | None, int | None]] = {
    XSD + name: limits
    for name, limits in {
        "nonNegativeInteger": (0, None),
        "positiveInteger": (1, None),
        "nonPositiveInteger": (None, 0),
        "negativeInteger": (None, -1),
        **{
            name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            for name, bits in {"long": 64, "int": 32, "short": 16, "byte": 8}.items()
        },
        **{
            name: (0, 2**bits - 1)
            for name, bits in {
                "unsignedLong": 64,
                "unsignedInt": 32,
                "unsignedShort": 16,
                "unsignedByte": 8,
            }.items()
        },
    }.items()
}
_DATED = frozenset(XSD + name for name in ("dateTime", "dateTimeStamp", "date"))
_MAX_DIGITS = 1000
_DAYS_OF_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_lexical_form(text: str, datatype: str) -> bool:
    """Whether `text` is of the datatype; anything is of a datatype that is not known here."""
    if datatype in _RANGES:
        return _is_integer_within(text, *_RANGES[datatype])
    form = _FORMS.get(datatype)
    if form is None:
        return True
    return form.fullmatch(text) is not None and (datatype not in _DATED or _is_day(text))


def _is_integer_within(text: str, least: int | None, most: int | None) -> bool:
    if _FORMS[XSD + "integer"].fullmatch(text) is None or len(text) > _MAX_DIGITS:
        return False
    return (least is None or int(text) >= least) and (most is None or int(text) <= most)


def _is_day(text: str) -> bool:
    year, month, day = (int(part) for part in _YEAR_MONTH_DAY.findall(text)[0])
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
