"""The functions and arithmetic of $filter as SPARQL, with the kinds that they take.

Place: below `translation`. Sources: OGC SensorThings API Part 1: Sensing, version 1.1, tables 22 to
25; SPARQL 1.1 Query Language, section 17.4; OGC GeoSPARQL 1.1, section 9. What SPARQL has no
function for is said with those that it has; distances and lengths are functions of the store.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gateway.exchange.sensorthings.comparisons import as_kind, times, within_bounds
from gateway.exchange.sensorthings.terms import Term
from gateway.exchange.sensorthings.url.bounds import wrong
from gateway.exchange.sensorthings.url.syntax import Kind

_N, _S, _B, _T, _G = Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.TIME, Kind.GEOMETRY

Make = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Function:
    """What it takes, gives, and how it is written; `make` is given texts, of times whole terms.

    The last argument may be left out where `needs` says so.
    """

    takes: tuple[Kind, ...]
    gives: Kind
    make: Make
    needs: int = -1


def value_of(name: str, function: Function, arguments: Sequence[Term]) -> Term:
    """The function's value. Raises BadRequestError for arguments that it does not take."""
    if name in {"add", "sub"} and [each.kind for each in arguments] == [_T, Kind.DURATION]:
        return _shifted(*arguments)
    needed = len(function.takes) if function.needs < 0 else function.needs
    if not needed <= len(arguments) <= len(function.takes):
        raise wrong("$filter", f"{name} takes {len(function.takes)} arguments")
    if any(each.kind is Kind.NULL for each in arguments):
        return Term(_B, "false") if function.gives is _B else Term(Kind.NULL, "")
    given: list[str | Term] = []
    for term, kind in zip(arguments, function.takes, strict=False):
        text = as_kind(term, kind)
        if text is None:
            raise wrong("$filter", f"{name} takes a {kind} where a {term.kind} stands")
        given.append(term if kind is _T else text)
    text = within_bounds(function.make(*given))
    if function.gives is _B:
        return Term(_B, f"COALESCE({text}, false)")
    return Term(function.gives, text, (), text if function.gives is _T else "")


def _shifted(time: Term, duration: Term) -> Term:
    begin = within_bounds(f"({time.text} - {duration.text})")
    return Term(_T, begin, (), within_bounds(f"({time.end} - {duration.text})"))


def _infix(sign: str) -> Make:
    return lambda left, right: f"({left} {sign} {right})"


def _called(name: str) -> Make:
    return lambda *given: f"{name}({', '.join(given)})"


def _part(name: str) -> Make:
    return lambda time: f"xsd:double({name}({time.text}))"


def _modulo(left: str, right: str) -> str:
    """As IEEE 754 doubles: what is left of the quotient that is cut off towards zero."""
    quotient = f"({left} / {right})"
    return f"({left} - ({right} * IF({quotient} < 0, CEIL({quotient}), FLOOR({quotient}))))"


def _rounded(number: str) -> str:
    """Halves away from zero, where SPARQL's ROUND takes them up."""
    return f"IF({number} < 0, CEIL({number} - 0.5e0), FLOOR({number} + 0.5e0))"


def _substring(text: str, begin: str, length: str = "") -> str:
    """From a place on that is counted from 0; none where that, or the length, is negative."""
    places = [begin, *([length] if length else [])]
    is_there = " && ".join(f"{each} >= 0" for each in places)
    more = f", xsd:integer({length})" if length else ""
    return f"IF({is_there}, SUBSTR({text}, xsd:integer({begin}) + 1{more}), ?none)"


def _index(text: str, part: str) -> str:
    found = f"xsd:double(STRLEN(STRBEFORE({text}, {part})))"
    return f"IF(CONTAINS({text}, {part}), {found}, -1.0e0)"


def _during(mine: Term, theirs: Term) -> str:
    return f"{mine.text} >= {theirs.text} && {mine.end} <= {theirs.end}"


def _clock(time: Term) -> str:
    return f"SUBSTR(STR({time.text}), 12, STRLEN(STR({time.text})) - 12)"


def _fixed(time: str) -> Make:
    return lambda: f'"{time}"^^xsd:dateTime'


_NUMBERS = Function((_N, _N), _N, _infix("+"))
_TIMES = (_T, _T)
_PLACES = (_G, _G)


def _relation(name: str) -> Function:
    return Function(_PLACES, _B, _called(f"geof:sf{name}"))


FUNCTIONS: Mapping[str, Function] = {
    "add": _NUMBERS,
    "sub": Function((_N, _N), _N, _infix("-")),
    "mul": Function((_N, _N), _N, _infix("*")),
    "div": Function((_N, _N), _N, _infix("/")),
    "mod": Function((_N, _N), _N, _modulo),
    "-": Function((_N,), _N, lambda number: f"(0.0e0 - {number})"),
    "substringof": Function((_S, _S), _B, lambda part, text: f"CONTAINS({text}, {part})"),
    "contains": Function((_S, _S), _B, _called("CONTAINS")),
    "startswith": Function((_S, _S), _B, _called("STRSTARTS")),
    "endswith": Function((_S, _S), _B, _called("STRENDS")),
    "length": Function((_S,), _N, lambda text: f"xsd:double(STRLEN({text}))"),
    "indexof": Function((_S, _S), _N, _index),
    "substring": Function((_S, _N, _N), _S, _substring, needs=2),
    "tolower": Function((_S,), _S, _called("LCASE")),
    "toupper": Function((_S,), _S, _called("UCASE")),
    "trim": Function(
        (_S,), _S, lambda text: f'REPLACE({text}, "^[ \\\\t\\\\r\\\\n]+|[ \\\\t\\\\r\\\\n]+$", "")'
    ),
    "concat": Function((_S, _S), _S, _called("CONCAT")),
    "year": Function((_T,), _N, _part("YEAR")),
    "month": Function((_T,), _N, _part("MONTH")),
    "day": Function((_T,), _N, _part("DAY")),
    "hour": Function((_T,), _N, _part("HOURS")),
    "minute": Function((_T,), _N, _part("MINUTES")),
    "second": Function((_T,), _N, lambda time: f"xsd:double(FLOOR(SECONDS({time.text})))"),
    "fractionalseconds": Function(
        (_T,),
        _N,
        lambda time: f"xsd:double(SECONDS({time.text}) - FLOOR(SECONDS({time.text})))",
    ),
    "date": Function((_T,), Kind.DATE, lambda time: f"SUBSTR(STR({time.text}), 1, 10)"),
    "time": Function((_T,), Kind.CLOCK, _clock),
    "totaloffsetminutes": Function(
        (_T,), _N, lambda time: f"(xsd:double(YEAR({time.text})) * 0.0e0)"
    ),
    "now": Function((), _T, lambda: "NOW()"),
    "mindatetime": Function((), _T, _fixed("0001-01-01T00:00:00Z")),
    "maxdatetime": Function((), _T, _fixed("9999-12-31T23:59:59Z")),
    "round": Function((_N,), _N, _rounded),
    "floor": Function((_N,), _N, _called("FLOOR")),
    "ceiling": Function((_N,), _N, _called("CEIL")),
    "before": Function(_TIMES, _B, lambda mine, theirs: times("lt", mine, theirs)),
    "after": Function(_TIMES, _B, lambda mine, theirs: times("gt", mine, theirs)),
    "meets": Function(_TIMES, _B, lambda mine, theirs: f"{mine.end} = {theirs.text}"),
    "during": Function(_TIMES, _B, _during),
    "overlaps": Function(
        _TIMES, _B, lambda mine, theirs: f"{mine.text} < {theirs.end} && {theirs.text} < {mine.end}"
    ),
    "starts": Function(
        _TIMES,
        _B,
        lambda mine, theirs: f"{mine.text} = {theirs.text} && {mine.end} <= {theirs.end}",
    ),
    "finishes": Function(
        _TIMES,
        _B,
        lambda mine, theirs: f"{mine.end} = {theirs.end} && {mine.text} >= {theirs.text}",
    ),
    "geo.distance": Function(_PLACES, _N, _called("gw:distance")),
    "geo.length": Function((_G,), _N, _called("gw:length")),
    "geo.intersects": _relation("Intersects"),
    "st_equals": _relation("Equals"),
    "st_disjoint": _relation("Disjoint"),
    "st_touches": _relation("Touches"),
    "st_within": _relation("Within"),
    "st_overlaps": _relation("Overlaps"),
    "st_crosses": _relation("Crosses"),
    "st_intersects": _relation("Intersects"),
    "st_contains": _relation("Contains"),
}
"""By the names of the standard; `contains` is OData's for substringof."""
