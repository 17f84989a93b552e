"""RDF terms as words for a terminal.

Place on the way of the data: the very end. What a device sent must not steer the terminal: of all
that comes from outside only what can be printed gets there, and not more of it than fits.
"""

from pyoxigraph import Literal, NamedNode

from gateway.rdf.terms import Term

MOST_SIGNS = 200
"""Of one value; more than a line has."""

_UNITS = {"DEG_C": "°C", "PERCENT": "%", "PERCENT_RH": "%", "KiloW-HR": "kWh", "UNITLESS": ""}
_XSD = "http://www.w3.org/2001/XMLSchema#"


def printable(text: str) -> str:
    """The text without what steers a terminal; marks that change widths are left out.

    >>> printable("2\\x1b[31m") == "2\\N{REPLACEMENT CHARACTER}[31m"
    True
    """
    shown = (sign for sign in text[:MOST_SIGNS] if not "\ufe00" <= sign <= "\ufe0f")
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in shown)


def word(term: Term | None) -> str:
    """A literal's lexical form, an IRI's last segment.

    >>> word(NamedNode("https://sosa-gateway.example/demo/room/office"))
    'office'
    """
    if term is None:
        return ""
    if isinstance(term, NamedNode):
        return printable(term.value.rstrip("/#").rpartition("/")[2].rpartition("#")[2])
    return printable(term.value if isinstance(term, Literal) else str(term))


def unit_symbol(unit: Term | None) -> str:
    """As people write it, the name that QUDT has where it is the same.

    >>> unit_symbol(NamedNode("http://qudt.org/vocab/unit/DEG_C"))
    '°C'
    """
    name = word(unit)
    return _UNITS.get(name, name)


def is_number(term: Term) -> bool:
    """Whether the literal has a numeric datatype."""
    numeric = ("integer", "decimal", "double", "float")
    return isinstance(term, Literal) and term.datatype.value.removeprefix(_XSD) in numeric


def is_true(term: Term | None) -> bool:
    """Whether it is the truth value `true`."""
    return isinstance(term, Literal) and term == Literal(True)
