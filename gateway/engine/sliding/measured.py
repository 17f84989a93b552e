"""The values of literals as aggregates take them: numbers exactly, in integers.

Place: under `aggregates`. Source: SPARQL 1.1 Query Language, section 17.1 (operand data types), and
gateway/rdf/values.py for what the pinned store takes for a number. A double is a whole number of
2**-1074, so sums of doubles are integers, which neither round nor drift; they are rounded once,
when they are told.
"""

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode

from gateway.rdf.namespaces import RDF, XSD
from gateway.rdf.terms import Term
from gateway.rdf.values import is_number_type, number, scaled_decimal

PLACES = 10**18
"""Integers and decimals are counted in so many parts of one: all digits that the store keeps."""

ULP_BITS = 1074
"""Doubles are counted in parts of two to this."""

_MOST_REMEMBERED = 16_384

_DOUBLE = NamedNode(XSD + "double")
_DECIMAL = NamedNode(XSD + "decimal")
_NOT_NUMBERS = frozenset(
    NamedNode(iri) for iri in (XSD + "string", XSD + "boolean", RDF + "langString")
)
_DOUBLE_FORM = re.compile(r"-?[0-9]+(?:\.[0-9]+)?|-?INF|NaN")


class Kind(IntEnum):
    """What a term is to SUM: no number, nobody but the store knows, or a number."""

    ERROR = 0
    UNKNOWN = 1
    INTEGER = 2
    DECIMAL = 3
    DOUBLE = 4


class Measured(NamedTuple):
    """A term: its kind, an integer or a decimal in `PLACES`, a double as it is; and the term."""

    kind: Kind
    places: int
    real: float
    term: Term | None


_known: dict[Term | None, Measured] = {}


def measured(term: Term | None) -> Measured:
    """The value of a term, None being an error; those seen lately are remembered.

    >>> measured(Literal(2)).places == 2 * PLACES, measured(Literal(0.5)).real
    (True, 0.5)
    """
    found = _known.get(term)
    if found is None:
        if len(_known) >= _MOST_REMEMBERED:
            _known.clear()
        found = _known[term] = _measured(term)
    return found


def _measured(term: Term | None) -> Measured:
    if not isinstance(term, Literal):
        return _other(Kind.ERROR, term)
    datatype = term.datatype
    if datatype == _DECIMAL:
        scaled = scaled_decimal(term.value)
        if scaled is None:
            return _other(Kind.ERROR, term)
        return Measured(Kind.DECIMAL, scaled, 0.0, term)
    value = number(term)
    if isinstance(value, int):
        return Measured(Kind.INTEGER, value * PLACES, 0.0, term)
    if datatype == _DOUBLE:
        if _DOUBLE_FORM.fullmatch(term.value):
            return Measured(Kind.DOUBLE, 0, float(term.value), term)
        return _other(Kind.UNKNOWN, term)
    is_error = datatype in _NOT_NUMBERS or is_number_type(term)
    return _other(Kind.ERROR if is_error else Kind.UNKNOWN, term)


def _other(kind: Kind, term: Term | None) -> Measured:
    return Measured(kind, 0, 0.0, term)


def parts(real: float) -> int:
    """A finite double in parts of 2**-1074."""
    above, below = real.as_integer_ratio()
    return above << (ULP_BITS + 1 - below.bit_length())


@lru_cache(maxsize=4096)
def integer_literal(value: int) -> Literal:
    """An xsd:integer; counts of groups are few and come again.

    >>> integer_literal(60).value
    '60'
    """
    return Literal(value)


def decimal_literal(places: int) -> Literal:
    """An xsd:decimal as the store writes it.

    >>> decimal_literal(-3 * PLACES // 2).value, decimal_literal(2 * PLACES).value
    ('-1.5', '2')
    """
    sign = ""
    if places < 0:
        sign, places = "-", -places
    digits = str(places).zfill(19)  # 18 behind the point
    fraction = digits[-18:].rstrip("0")
    point = "." if fraction else ""
    return Literal(f"{sign}{digits[:-18]}{point}{fraction}", datatype=_DECIMAL)
