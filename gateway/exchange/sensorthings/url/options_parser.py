"""The query options of a SensorThings URL, from its query string.

Place: one of the parsers of this room. Options of an expansion stand in its parentheses, between
semicolons, and are read by the same code. Source: OGC SensorThings API Part 1: Sensing, version
1.1, sections 9.3 (options) and 12 (dataArray); OData Version 4.0 ABNF, expandItem.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from urllib.parse import parse_qsl

from gateway.exchange.sensorthings.url.bounds import BOUNDS, too_much, wrong
from gateway.exchange.sensorthings.url.expression_parser import ExpressionParser
from gateway.exchange.sensorthings.url.scanner import Scanner
from gateway.exchange.sensorthings.url.syntax import NO_OPTIONS, Expansion, Kind, Options, Order
from gateway.runtime.text_cache import remembered

_MOST_SKIPPED = 10**9
_REMEMBERED = 1 << 17
"""Characters of the query strings whose options are kept: a panel asks the same again and again."""
_DIRECTIONS = frozenset({"asc", "desc", "ASC", "DESC"})
FORMATS = ("dataArray", "GeoJSON")


@remembered(_REMEMBERED)
def parse_options(query: str) -> Options:
    """The options of a query string, percent-encoded. Raises BadRequestError, TooComplexError.

    >>> parse_options("$top=5&$select=name").top
    5
    """
    if len(query) > 4 * BOUNDS.characters:
        raise too_much("the query string: characters", 4 * BOUNDS.characters)
    try:
        given = parse_qsl(query, keep_blank_values=True, encoding="utf-8", errors="strict")
    except (UnicodeDecodeError, ValueError) as error:
        raise wrong("the query string", "is not percent-encoded UTF-8") from error
    options, seen = NO_OPTIONS, set[str]()
    for name, value in given:
        _require_new(name, seen)
        scanner = Scanner(value, name)
        options = _Reader(scanner).option(options, name)
        if not scanner.is_at_end:
            raise scanner.error("nothing more is expected")
    counted = sum(1 for _ in _expansions(options, 1))
    if counted > BOUNDS.expansions:
        raise too_much("$expand: expansions", BOUNDS.expansions)
    return options


def _require_new(name: str, seen: set[str]) -> None:
    if name in seen:
        raise wrong(name[:80], "stands twice")
    seen.add(name)


def _expansions(options: Options, depth: int) -> "list[Expansion]":
    """All of them, at every depth. Raises TooComplexError."""
    found: list[Expansion] = []
    for each in options.expand:
        if depth > BOUNDS.expansion_depth:
            raise too_much("$expand: depth", BOUNDS.expansion_depth)
        found += [each, *_expansions(each.options, depth + 1)]
    return found


@dataclass(slots=True)
class _Reader:
    """Reads options one after another; `depth` is how many expansions it stands in."""

    scanner: Scanner
    depth: int = 0

    def option(self, options: Options, name: str) -> Options:
        """The options with one more, whose value stands here."""
        read = _OPTIONS.get(name)
        if read is None:
            near = get_close_matches(name if name[:1] == "$" else f"${name}", _OPTIONS, 1, 0.7)
            hint = f"did you mean {near[0]}?" if near else f"those are {', '.join(_OPTIONS)}"
            raise wrong(f"{name[:80]!r}", "is no query option", hint)
        return read(self, options)

    def filter(self, options: Options) -> Options:
        """An expression."""
        return replace(options, filter=ExpressionParser(self.scanner, "$filter").expression())

    def order_by(self, options: Options) -> Options:
        """Expressions, each with a direction."""
        orders = [self._order()]
        while self.scanner.take(","):
            orders.append(self._order())
        if len(orders) > BOUNDS.segments:
            raise too_much("$orderby: keys", BOUNDS.segments)
        return replace(options, order_by=tuple(orders))

    def _order(self) -> Order:
        expression = ExpressionParser(self.scanner, "$orderby").expression()
        direction = self.scanner.name() if self.scanner.next_name in _DIRECTIONS else ""
        return Order(expression, direction.lower() == "desc")

    def select(self, options: Options) -> Options:
        """Names of properties."""
        names = [self._selected()]
        while self.scanner.take(","):
            names.append(self._selected())
        return replace(options, select=tuple(dict.fromkeys(names)))

    def _selected(self) -> str:
        name = self.scanner.name()
        if not name:
            raise self.scanner.error("the name of a property is missing")
        while self.scanner.take("/"):  # a part of a property comes with all of it
            if not self.scanner.name():
                raise self.scanner.error("the name of a property is missing")
        return name

    def expand(self, options: Options) -> Options:
        """Related entities, each with options of its own."""
        found = list(options.expand)
        _merge(found, self._expansion())
        while self.scanner.take(","):
            _merge(found, self._expansion())
        return replace(options, expand=tuple(found))

    def _expansion(self) -> Expansion:
        if self.depth >= BOUNDS.expansion_depth:
            raise too_much("$expand: depth", BOUNDS.expansion_depth)
        name = self.scanner.name()
        if not name:
            raise self.scanner.error("the name of a related entity is missing")
        inner = _Reader(self.scanner, self.depth + 1)
        if self.scanner.take("/"):
            return Expansion(name, Options(expand=(inner._expansion(),)))
        options = inner.in_parentheses() if self.scanner.take("(") else NO_OPTIONS
        return Expansion(name, options)

    def in_parentheses(self) -> Options:
        """Options between semicolons, up to the closing parenthesis."""
        options, seen = NO_OPTIONS, set[str]()
        while True:
            if not self.scanner.take("$"):
                raise self.scanner.error("an option such as $top is missing")
            name = f"${self.scanner.name()}"
            _require_new(name, seen)
            self.scanner.need("=")
            if name in _OF_THE_WHOLE:
                raise self.scanner.error(f"{name} is for the whole answer")
            options = self.option(options, name)
            if self.scanner.take(")"):
                return options
            self.scanner.need(";")

    def top(self, options: Options) -> Options:
        """How many; more than a page has are as many as it has."""
        return replace(options, top=min(self._whole("$top"), BOUNDS.page))

    def skip(self, options: Options) -> Options:
        """How many are left out."""
        return replace(options, skip=self._whole("$skip"))

    def count(self, options: Options) -> Options:
        """Whether they are counted."""
        found = self.scanner.name()
        if found not in {"true", "false"}:
            raise wrong("$count", f"{found[:80]!r} is neither true nor false")
        return replace(options, count=found == "true")

    def result_format(self, options: Options) -> Options:
        """Another form of the answer."""
        found = self.scanner.name()
        if found not in FORMATS:
            raise wrong("$resultFormat", f"{found[:80]!r} is not known", f"use one of {FORMATS}")
        return replace(options, result_format=found)

    def _whole(self, place: str) -> int:
        literal = self.scanner.literal()
        value = float(literal.text) if literal and literal.kind is Kind.NUMBER else -1.0
        if not (0 <= value <= _MOST_SKIPPED and value.is_integer()):
            raise wrong(place, f"give a whole number up to {_MOST_SKIPPED}")
        return int(value)


def _merge(found: list[Expansion], new: Expansion) -> None:
    """Add an expansion, or what it expands to one of the same name that is there."""
    for place, there in enumerate(found):
        if there.name == new.name:
            mine, theirs = there.options, new.options
            if replace(theirs, expand=()) != NO_OPTIONS and replace(mine, expand=()) != NO_OPTIONS:
                raise wrong("$expand", f"{new.name} stands twice")
            options = mine if replace(theirs, expand=()) == NO_OPTIONS else theirs
            inner = list(mine.expand)
            for each in theirs.expand:
                _merge(inner, each)
            found[place] = Expansion(new.name, replace(options, expand=tuple(inner)))
            return
    found.append(new)


_OPTIONS: dict[str, Callable[[_Reader, Options], Options]] = {
    "$filter": _Reader.filter,
    "$orderby": _Reader.order_by,
    "$select": _Reader.select,
    "$expand": _Reader.expand,
    "$top": _Reader.top,
    "$skip": _Reader.skip,
    "$count": _Reader.count,
    "$resultFormat": _Reader.result_format,
}
_OF_THE_WHOLE = ("$resultFormat",)
