"""Values of typed literals, exactly where the pinned store sees one, in the store's ranges.

A literal whose lexical form is not in here is an error in expressions and aggregates, as it is in
Oxigraph: an xsd:integer is 64 bits wide, an xsd:decimal has 18 digits behind the point and 128 bits
in all, white space is not stripped, digits are ASCII. Source: XSD 1.1 Datatypes, 3.3 (lexical
spaces); tests/gateway/rdf/test_values.py asks the store about generated forms.
"""

import re
from datetime import datetime
from decimal import Decimal

from pyoxigraph import Literal, NamedNode

from gateway.rdf.namespaces import XSD
from gateway.rdf.terms import Term

Number = int | Decimal
Instant = tuple[datetime, str]
"""Whole seconds, and the digits of the fraction without zeros behind."""

_INTEGER = NamedNode(XSD + "integer")
_DECIMAL = NamedNode(XSD + "decimal")
_BOOLEAN = NamedNode(XSD + "boolean")
_DATE_TIME = NamedNode(XSD + "dateTime")

_INTEGER_FORM = re.compile(r"([+-]?)0*([0-9]*)")
_DECIMAL_FORM = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*?)0*)?")
_DIGIT = re.compile(r"[0-9]")
_INSTANT_FORM = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?Z"
)
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}

_INTEGER_DIGITS = 19
_WHOLE_DIGITS = 21
_PLACES = 18
_SCALES: tuple[int, ...] = tuple(10 ** (_PLACES - places) for places in range(_PLACES + 1))
"""How many parts of 10**-18 the last digit is worth, by how many are behind the point."""


def number(term: Term | None) -> Number | None:
    """The value of an xsd:integer or xsd:decimal; None for another term, and for no value.

    >>> number(Literal(21)), number(Literal("bad", datatype=_INTEGER))
    (21, None)
    """
    if isinstance(term, Literal):
        datatype = term.datatype
        if datatype == _INTEGER:
            return _integer(term.value)
        if datatype == _DECIMAL:
            return _decimal(term.value)
    return None


def truth(term: Term | None) -> bool | None:
    """The value of an xsd:boolean; None for another term, and for no value."""
    if isinstance(term, Literal) and term.datatype == _BOOLEAN:
        return _TRUTHS.get(term.value)
    return None


def instant(term: Term | None) -> Instant | None:
    """The value of an xsd:dateTime in UTC; None for another term or zone, and for no value.

    Years beyond four digits and the hour 24 are left to the store.
    """
    if not isinstance(term, Literal) or term.datatype != _DATE_TIME:
        return None
    found = _INSTANT_FORM.fullmatch(term.value)
    if found is None:
        return None
    fraction = (found[2] or "").rstrip("0")
    if len(fraction) > _PLACES:
        return None
    try:
        return datetime.fromisoformat(found[1]), fraction
    except ValueError:
        return None


def is_number_type(literal: Literal) -> bool:
    """Whether it claims to be an xsd:integer or xsd:decimal, with a value or without."""
    return literal.datatype in {_INTEGER, _DECIMAL}


def _integer(form: str) -> int | None:
    if len(form) < _INTEGER_DIGITS and form.isascii() and form.isdigit():
        return int(form)  # as nearly all are
    found = _INTEGER_FORM.fullmatch(form)
    if found is None or not _DIGIT.search(form) or len(found[2]) > _INTEGER_DIGITS:
        return None
    value = int(f"{found[1]}{found[2] or 0}")
    return value if -(2**63) <= value < 2**63 else None


def _decimal(form: str) -> Decimal | None:
    found = _parts_of_decimal(form)
    if found is None:
        return None
    sign, whole, places, _ = found
    return Decimal(f"{sign}{whole or 0}.{places or 0}")


def scaled_decimal(form: str) -> int | None:
    """The value of an xsd:decimal in parts of 10**-18; None for no value.

    >>> scaled_decimal("-1.50"), scaled_decimal("1.5e0")
    (-1500000000000000000, None)
    """
    whole, _, places = form.partition(".")
    digits = whole + places
    if len(digits) < len(_SCALES) and digits.isdigit() and digits.isascii():
        return int(digits) * _SCALES[len(places)]  # as nearly all are
    found = _parts_of_decimal(form)
    return None if found is None else found[3]


def _parts_of_decimal(form: str) -> tuple[str, str, str, int] | None:
    """Sign, digits before and behind the point, and the value in parts of 10**-18."""
    found = _DECIMAL_FORM.fullmatch(form)
    if found is None or not _DIGIT.search(form):
        return None
    sign, whole, places = found[1], found[2], found[3] or ""
    if len(whole) > _WHOLE_DIGITS or len(places) > _PLACES:
        return None
    scaled = int(f"{sign}{whole}{places:0<{_PLACES}}")
    return (sign, whole, places, scaled) if -(2**127) <= scaled < 2**127 else None
