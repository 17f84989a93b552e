"""Comparisons of two expressions as SPARQL that is true or false, and never fails.

Place: below `translation`, which says what holds.
"""

from gateway.exchange.sensorthings.terms import Term
from gateway.exchange.sensorthings.url.bounds import BOUNDS, too_much, wrong
from gateway.exchange.sensorthings.url.syntax import Kind

_SIGNS = {"eq": "=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_PLAIN = frozenset({Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.DATE, Kind.CLOCK})

NONE = "?none"
"""A variable that nothing binds: what it stands in has no value."""

_AS = {
    Kind.NUMBER: "IF(ISNUMERIC({0}), xsd:double({0}), ?none)",
    Kind.STRING: "IF(DATATYPE({0}) = xsd:string, STR({0}), ?none)",
    Kind.BOOLEAN: "IF(DATATYPE({0}) = xsd:boolean, {0}, ?none)",
    Kind.GEOMETRY: "IF(DATATYPE({0}) = geo:wktLiteral, {0}, ?none)",
}
"""A result as what it is compared with; without a value where it is something else."""


def within_bounds(text: str) -> str:
    """A text that has not grown too long. Raises TooComplexError."""
    if len(text) > 8 * BOUNDS.characters:
        raise too_much("$filter: characters of its SPARQL", 8 * BOUNDS.characters)
    return text


def truth(term: Term) -> str:
    """A condition. Raises BadRequestError for what is none."""
    match term.kind:
        case Kind.BOOLEAN:
            return term.text
        case Kind.ANY:
            return f"COALESCE({_AS[Kind.BOOLEAN].format(term.text)}, false)"
        case Kind.NULL:
            return "false"
        case _:
            raise wrong("$filter", f"a {term.kind} is no condition", "compare it with something")


def compared(operator: str, mine: Term, theirs: Term) -> str:
    """A comparison. Raises BadRequestError for kinds that have nothing in common."""
    if operator == "ne":
        return f"(!{compared('eq', mine, theirs)})"
    if Kind.NULL in {mine.kind, theirs.kind}:
        return _with_nothing(operator, mine, theirs)
    if mine.kind is Kind.TIME and theirs.kind is Kind.TIME:
        return _never_failing(times(operator, mine, theirs))
    if mine.kind is Kind.ANY and theirs.kind is Kind.ANY:
        return _never_failing(_results(_SIGNS[operator], mine.text, theirs.text))
    if Kind.BOOLEAN in {mine.kind, theirs.kind} and operator != "eq":
        raise wrong("$filter", f"true and false have no order: {operator}", "use eq or ne")
    kind = theirs.kind if mine.kind is Kind.ANY else mine.kind
    left, right = as_kind(mine, kind), as_kind(theirs, kind)
    if left is None or right is None or not (kind in _PLAIN or _is_same_place(kind, operator)):
        raise wrong("$filter", f"a {mine.kind} and a {theirs.kind} cannot be compared: {operator}")
    if kind is Kind.GEOMETRY:
        return _never_failing(f"geof:sfEquals({left}, {right})")
    return _never_failing(_ordered(_SIGNS[operator], left, right, kind))


def as_kind(term: Term, kind: Kind) -> str | None:
    """An expression of a kind; of a result what is of it. None where it never is."""
    if term.kind is kind:
        return term.text
    form = _AS.get(kind)
    return form.format(term.text) if term.kind is Kind.ANY and form is not None else None


def times(operator: str, mine: Term, theirs: Term) -> str:
    """Two instants or intervals."""
    match operator:
        case "lt":
            return f"{mine.end} < {theirs.text}"
        case "gt":
            return f"{mine.text} > {theirs.end}"
        case "eq":
            begin = f"{mine.text} = {theirs.text}"
            is_instant = mine.text == mine.end and theirs.text == theirs.end
            return begin if is_instant else f"({begin} && {mine.end} = {theirs.end})"
        case _:
            strict = times("lt" if operator == "le" else "gt", mine, theirs)
            return f"({strict} || {times('eq', mine, theirs)})"


def _ordered(sign: str, mine: str, theirs: str, kind: Kind) -> str:
    """A comparison; of numbers by what the store has right of NaN, which is beside all others."""
    if kind is Kind.NUMBER and sign in {"<=", ">="}:
        return f"({mine} {sign[0]} {theirs} || {mine} = {theirs})"
    return f"{mine} {sign} {theirs}"


def _never_failing(text: str) -> str:
    return within_bounds(f"COALESCE({text}, false)")


def _is_same_place(kind: Kind, operator: str) -> bool:
    return kind is Kind.GEOMETRY and operator == "eq"


def _with_nothing(operator: str, mine: Term, theirs: Term) -> str:
    """A comparison with null: only whether there is a value can be asked."""
    if operator != "eq":
        return "false"
    told = theirs if mine.kind is Kind.NULL else mine
    if told.kind is Kind.NULL:
        return "true"
    if told.kind is Kind.BOOLEAN:
        return "false"
    return within_bounds(f"(!COALESCE(STR({told.text}) = STR({told.text}), false))")


def _results(sign: str, mine: str, theirs: str) -> str:
    """Two results: as numbers where both are, else where both are of one kind that has an order."""
    kinds = "xsd:string, xsd:boolean" if sign == "=" else "xsd:string"
    numbers = _ordered(sign, f"xsd:double({mine})", f"xsd:double({theirs})", Kind.NUMBER)
    return (
        f"IF(ISNUMERIC({mine}) && ISNUMERIC({theirs}), {numbers}, "
        f"IF(DATATYPE({mine}) = DATATYPE({theirs}) && "
        f"DATATYPE({mine}) IN ({kinds}), {mine} {sign} {theirs}, false))"
    )
