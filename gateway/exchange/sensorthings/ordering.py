"""The order of $orderby over values that the store gave.

Place: below `answering`. What has no value is before all else (OData Version 4.0, Part 1, section
11.2.5.2), then come truth values, numbers, times and texts.
"""

from collections.abc import Mapping, Sequence
from math import inf, isnan
from typing import TypeVar

from gateway.exchange.sensorthings.seen import micros_of
from gateway.rdf.namespaces import XSD

Value = tuple[str, str] | None
"""Lexical form and datatype."""

_NUMBERS = frozenset(
    XSD + name
    for name in (
        *("integer", "decimal", "double", "float", "long", "int", "short", "byte"),
        *("nonNegativeInteger", "positiveInteger", "unsignedLong", "unsignedInt"),
    )
)
_TIMES = frozenset(XSD + name for name in ("dateTime", "dateTimeStamp"))

K = TypeVar("K")


def in_order(
    keys: Sequence[K], values: Mapping[K, Sequence[Value]], descending: Sequence[bool]
) -> list[K]:
    """The keys by their values; those that are equal stay as they are.

    >>> double = XSD + "double"
    >>> in_order("ab", {"a": [("2", double)], "b": [("1.5", double)]}, [False])
    ['b', 'a']
    """
    found = list(keys)
    for place in range(len(descending) - 1, -1, -1):
        found.sort(key=lambda key: rank(values[key][place]), reverse=descending[place])
    return found


def rank(value: Value) -> tuple[int, float, str]:
    """What a value is compared by."""
    if value is None:
        return 0, 0.0, ""
    lexical, datatype = value
    if datatype == XSD + "boolean":
        return 1, float(lexical in {"true", "1"}), ""
    if datatype in _NUMBERS:
        number = float(lexical.replace("INF", "inf"))
        return 2, -inf if isnan(number) else number, ""
    if datatype in _TIMES:
        return 3, float(micros_of(lexical)), ""
    return 4, 0.0, lexical
