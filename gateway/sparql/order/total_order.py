"""ORDER BY by keys of which any two compare: the store's sort needs a total order.

Place: around every text before the store evaluates it. The store compares two numbers, two strings
or two instants by value and whatever else by its text, so `9 < 10`, `10 < "5"` and `"5" < 9` at
once: its sort notices at times, and ends the process. So a key that may be any term becomes several
keys, each of one type: what kind of term it is (unbound, blank node, IRI, number, other literal,
triple term), the value of a number, the datatype, the value of an instant or a duration, text,
language. Terms of one type are in the order that they were in, and any two terms are told apart,
but for those of triple terms that differ within. Source: SPARQL 1.1 Query Language, section 15.1,
which leaves the order of other pairs open.
"""

import re
from collections.abc import Sequence

from gateway.errors import TooLargeError
from gateway.runtime.text_cache import remembered
from gateway.sparql.algebra import Aggregate, Expression, Operation, OrderKey, Query
from gateway.sparql.parser import parse_query
from gateway.sparql.scope import walk
from jsap.lexer import splice

_HINT = re.compile(r"\border\b|\\", re.IGNORECASE)
"""A text with ORDER BY has the word, or an escape."""

_LONGEST = 1 << 18
"""A key is written out some thirty times, whatever it is; a text with longer ones is refused."""

_XSD = "http://www.w3.org/2001/XMLSchema#"
_IS_NUMBER = "isNumeric({0}) && {0} = {0}"  # NaN is none here: it compares with nothing
_KINDS = (
    f"IF({_IS_NUMBER}, 3, IF(isLiteral({{0}}), 4, IF(isIRI({{0}}), 2, IF(isBlank({{0}}), 1, 5))))"
)
_TRIPLE = (
    'CONCAT(COALESCE(STR(SUBJECT({0})), ""), " ", STR(PREDICATE({0})), " ", '
    'COALESCE(STR(OBJECT({0})), ""), " ", COALESCE(STR(DATATYPE(OBJECT({0}))), ""), " ", '
    'COALESCE(LANG(OBJECT({0})), ""))'
)
_KEYS = (
    f"COALESCE({_KINDS}, 0)",
    f"IF({_IS_NUMBER}, <{_XSD}double>({{0}}), 0e0)",
    f"IF({_IS_NUMBER}, <{_XSD}decimal>({{0}}), 0.0)",
    'IF(isNumeric({0}), "", STR(DATATYPE({0})))',
    'IF(TZ({0}) = "", STRDT(CONCAT(STR({0}), "Z"), DATATYPE({0})), {0})',
    *(
        f"IF(DATATYPE({{0}}) = <{_XSD}{name}>, <{_XSD}{name}>({{0}}), 1/0)"
        for name in ("dayTimeDuration", "yearMonthDuration")
    ),
    "STR({0})",
    "STR(DATATYPE({0}))",
    "LANG({0})",
    'IF(isBlank({0}), {0}, "")',
    f"IF(isTRIPLE({{0}}), {_TRIPLE}, 1/0)",
)
"""Errors are unbound keys, which come first. An instant without a time zone is one in UTC."""

_UNIFORM = frozenset(
    {
        *("STR", "LANG", "STRLEN", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "TZ", "MD5", "SHA1"),
        *("SHA256", "SHA384", "SHA512", "ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC"),
        *("BOUND", "DATATYPE", "IRI", "URI", "COUNT"),
    }
)
"""What these give is of one type, and any two compare."""


def with_total_order(text: str) -> str:
    """The query with total keys in each ORDER BY. Raises SparqlSyntaxError, TooLargeError.

    >>> with_total_order("SELECT ?s { ?s ?p ?o } ORDER BY STR(?o)")
    'SELECT ?s { ?s ?p ?o } ORDER BY STR(?o)'
    >>> with_total_order("SELECT ?s { ?s ?p ?o } ORDER BY DESC(?o)")[:55]
    'SELECT ?s { ?s ?p ?o } ORDER BY  DESC(COALESCE(IF(isNum'
    """
    return _ordered(text) if _HINT.search(text) else text


@remembered()
def _ordered(text: str) -> str:
    keys = [
        key
        for node in walk(parse_query(text, is_admitted=True))
        if isinstance(node, Query)
        for key in node.order_by
        if not _is_uniform(key.expression)
    ]
    ordered = _between(0, len(text), text, sorted(keys, key=lambda key: (key.start, -key.end)))
    if len(ordered) > max(_LONGEST, 2 * len(text)):
        raise TooLargeError(
            "the query is ordered by long expressions", "BIND them, and order by the variables"
        )
    return ordered


def _between(start: int, end: int, text: str, keys: Sequence[OrderKey]) -> str:
    """A part of the text, with these keys of it; one may stand in an EXISTS within another."""
    edits: list[tuple[int, int, str]] = []
    for key in keys:
        if not edits or key.start >= edits[-1][1] + start:
            inner = [each for each in keys if key.start < each.start and each.end <= key.end]
            written = _between(key.start, key.end, text, inner)
            edits.append((key.start - start, key.end - start, _total(written, key.descending)))
    return splice(text[start:end], edits)


def _is_uniform(expression: Expression) -> bool:
    return isinstance(expression, Operation | Aggregate) and expression.name in _UNIFORM


def _total(key: str, descending: bool) -> str:
    direction, expression = "DESC" if descending else "ASC", _DIRECTION.sub("", key)
    return "".join(f" {direction}({each.format(f'({expression})')})" for each in _KEYS) + " "


_DIRECTION = re.compile(r"^\s*(ASC|DESC)\b", re.IGNORECASE)
