"""`Scanner`: the text of an option, word by word.

Place: below the parsers of this room. Linear; it never goes back by more than a word. Source: OData
Version 4.0 ABNF Construction Rules, the literals of section 7.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite

from gateway.errors import BadRequestError
from gateway.exchange.sensorthings.url.bounds import BOUNDS, too_much, wrong
from gateway.exchange.sensorthings.url.syntax import Constant, Kind

_DATE = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,12})?)?"
_ZONE = r"(?:[Zz]|[+-](?:0\d|1[0-4]):?[0-5]\d)"
_STAMP = rf"{_DATE}T{_CLOCK}{_ZONE}"

_LITERALS = (
    ("interval", rf"{_STAMP}/{_STAMP}"),
    ("stamp", _STAMP),
    ("date", _DATE),
    ("clock", _CLOCK),
    (
        "duration",
        r"duration'-?P(?:\d{1,6}D)?(?:T(?:\d{1,6}H)?(?:\d{1,6}M)?(?:\d{1,9}(?:\.\d{1,6})?S)?)?'",
    ),
    ("geometry", r"geo(?:graphy|metry)'(?:[^']|'')*'"),
    ("string", r"'(?:[^']|'')*'"),
    ("number", r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?|INF|NaN"),
)
_BLANKS = r"[ \t\r\n]*"
_ANY_LITERAL = "|".join(f"(?P<{name}>{text})(?![\\w.:])" for name, text in _LITERALS)
_LITERAL = re.compile(f"(?:{_ANY_LITERAL}){_BLANKS}")
_SPACE = re.compile(_BLANKS)
_NAME = re.compile(rf"(@?[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*(?:@[A-Za-z_][\w.]*)?){_BLANKS}")
_WORD = re.compile(r"[^\s,;()']{1,40}|.", re.DOTALL)


class Scanner:
    """Reads a text from its beginning to its end; `place` is its name in errors."""

    def __init__(self, text: str, place: str) -> None:
        """Raises TooComplexError for a text that is too long."""
        if len(text) > BOUNDS.characters:
            raise too_much(f"{place}: characters", BOUNDS.characters)
        self._text = text
        self._place = place
        self._at = _after_space(text, 0)
        self._named_at = -1
        self._name = ""
        self._behind = 0

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at == len(self._text)

    @property
    def here(self) -> str:
        """The next character, "" at the end."""
        return self._text[self._at : self._at + 1]

    def take(self, mark: str) -> bool:
        """Whether the mark stands here; it is passed then, with space around it."""
        if not self._text.startswith(mark, self._at):
            return False
        self._at = _after_space(self._text, self._at + len(mark))
        return True

    def need(self, mark: str) -> None:
        """Pass a mark. Raises BadRequestError where it does not stand here."""
        if not self.take(mark):
            raise self.error(f"{mark!r} is missing")

    @property
    def next_name(self) -> str:
        """The name that stands here, "" where none does; a function's has dots, an annotation an @.

        Read once however often it is asked for, as for each precedence of an operator.
        """
        if self._named_at != self._at:
            match = _NAME.match(self._text, self._at)
            self._named_at = self._at
            self._name, self._behind = ("", self._at) if match is None else (match[1], match.end())
        return self._name

    def name(self) -> str:
        """The same, and it is passed."""
        found = self.next_name
        self._at = self._behind
        return found

    def literal(self) -> Constant | None:
        """A literal, None where none stands here. Raises BadRequestError for one out of range."""
        match = _LITERAL.match(self._text, self._at)
        if match is None:
            return None
        kind = str(match.lastgroup)
        try:
            constant = _MADE[kind](match[kind])
        except (ValueError, OverflowError) as error:
            raise self.error(f"{match[kind][:80]} is out of range") from error
        self._at = match.end()
        return constant

    def error(self, what: str) -> BadRequestError:
        """The error for what stands here."""
        found = _WORD.match(self._text, self._at)
        here = f"{found[0]!r}" if found else "the end"
        return wrong(self._place, f"{what} at character {self._at + 1}, before {here}")


def _after_space(text: str, at: int) -> int:
    if text[at : at + 1] not in " \t\r\n":
        return at
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _number(text: str) -> Constant:
    value = float(text)
    if not isfinite(value) and text not in {"INF", "NaN"}:
        raise ValueError(text)
    return Constant(Kind.NUMBER, double_text(value))


def double_text(value: float) -> str:
    """A number as xsd:double writes it.

    >>> double_text(-float("inf")), double_text(1.5)
    ('-INF', '1.5')
    """
    return repr(value).upper().replace("NAN", "NaN") if not isfinite(value) else repr(value)


@lru_cache(maxsize=256)
def stamp(text: str) -> str:
    """A time in UTC, as the graph writes it. Raises ValueError, OverflowError.

    >>> stamp("2026-03-02T08:00:00.50+01:00")
    '2026-03-02T07:00:00.5Z'
    """
    time = datetime.fromisoformat(text.upper()).astimezone(UTC)
    written = time.isoformat().removesuffix("+00:00")
    return (written.rstrip("0") if "." in written else written) + "Z"


def _interval(text: str) -> Constant:
    begin, _, end = text.partition("/")
    begin, end = stamp(begin), stamp(end)
    if datetime.fromisoformat(end) < datetime.fromisoformat(begin):
        raise ValueError(text)
    return Constant(Kind.TIME, begin, end)


def _clock(text: str) -> Constant:
    full = text if text.count(":") == 2 else f"{text}:00"
    return Constant(Kind.CLOCK, full.rstrip("0").rstrip(".") if "." in full else full)


def _date(text: str) -> Constant:
    datetime.fromisoformat(text)
    return Constant(Kind.DATE, text)


def _duration(text: str) -> Constant:
    lexical = text[len("duration'") : -1]
    if lexical.endswith(("P", "T")):
        raise ValueError(text)
    return Constant(Kind.DURATION, lexical)


def _geometry(text: str) -> Constant:
    quoted = text[text.index("'") + 1 : -1].replace("''", "'")
    srid, _, bare = quoted.rpartition(";")
    if srid and srid.upper() != "SRID=4326":
        raise ValueError(text)
    return Constant(Kind.GEOMETRY, bare.strip())


def _string(text: str) -> Constant:
    return Constant(Kind.STRING, text[1:-1].replace("''", "'"))


_MADE: dict[str, Callable[[str], Constant]] = {
    "interval": _interval,
    "stamp": lambda text: Constant(Kind.TIME, stamp(text)),
    "date": _date,
    "clock": _clock,
    "duration": _duration,
    "geometry": _geometry,
    "string": _string,
    "number": _number,
}
