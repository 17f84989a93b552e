"""The expressions of $filter and $orderby, from their text.

Place: one of the parsers of this room. Precedence as in OData Version 4.0, Part 2, section 5.1.1.9:
or, and, comparisons, add and sub, mul div mod, not and minus. Linear, within `UrlBounds`.
"""

from gateway.exchange.sensorthings.url.bounds import BOUNDS, too_much, wrong
from gateway.exchange.sensorthings.url.scanner import Scanner, double_text
from gateway.exchange.sensorthings.url.syntax import (
    Binary,
    Call,
    Constant,
    Expression,
    Kind,
    Path,
    Unary,
)

_PRECEDENCE = {
    **dict.fromkeys(("or",), 1),
    **dict.fromkeys(("and",), 2),
    **dict.fromkeys(("eq", "ne", "gt", "ge", "lt", "le"), 3),
    **dict.fromkeys(("add", "sub"), 4),
    **dict.fromkeys(("mul", "div", "mod"), 5),
}
_BEGIN_LITERALS = frozenset("'0123456789dgIN")
_WORDS = {
    "null": Constant(Kind.NULL, ""),
    "true": Constant(Kind.BOOLEAN, "true"),
    "false": Constant(Kind.BOOLEAN, "false"),
}


def parse_expression(text: str, place: str = "$filter") -> Expression:
    """An expression that is the whole text. Raises BadRequestError, TooComplexError.

    >>> parse_expression("result gt 20")
    Binary(operator='gt', left=Path(steps=('result',)), right=Constant(kind=<Kind.NUMBER: \
'number'>, text='20.0', end=''))
    """
    scanner = Scanner(text, place)
    expression = ExpressionParser(scanner, place).expression()
    if not scanner.is_at_end:
        raise scanner.error("nothing more is expected")
    return expression


class ExpressionParser:
    """Reads expressions from a scanner, and leaves it behind them."""

    def __init__(self, scanner: Scanner, place: str) -> None:
        self._scanner = scanner
        self._place = place
        self._operators = 0
        self._depth = 0

    def expression(self, least: int = 1) -> Expression:
        """The longest that stands here, of operators that bind so much at least.

        Raises BadRequestError, TooComplexError.
        """
        left = self._unary()
        while _PRECEDENCE.get(self._scanner.next_name, 0) >= least:
            operator = self._scanner.name()
            self._count()
            left = Binary(operator, left, self.expression(_PRECEDENCE[operator] + 1))
        return left

    def _count(self) -> None:
        self._operators += 1
        if self._operators > BOUNDS.operators:
            raise too_much(f"{self._place}: operators", BOUNDS.operators)

    def _unary(self) -> Expression:
        self._depth += 1
        if self._depth > BOUNDS.depth:
            raise too_much(f"{self._place}: depth", BOUNDS.depth)
        here = self._scanner.here
        if here == "n" and self._scanner.next_name == "not":
            self._scanner.name()
            self._count()
            found: Expression = Unary("not", self._unary())
        elif here == "-":
            self._scanner.need("-")
            found = self._negative()
        else:
            found = self._primary(here)
        self._depth -= 1
        return found

    def _negative(self) -> Expression:
        self._count()
        operand = self._unary()
        if isinstance(operand, Constant) and operand.kind is Kind.NUMBER:
            return Constant(Kind.NUMBER, double_text(-float(operand.text)))
        return Unary("-", operand)

    def _primary(self, here: str) -> Expression:
        if here == "(":
            self._scanner.need("(")
            inner = self.expression()
            self._scanner.need(")")
            return inner
        literal = self._scanner.literal() if here in _BEGIN_LITERALS else None
        if literal is not None:
            return literal
        name = self._scanner.name()
        if not name:
            raise self._scanner.error("a property, literal or function is missing")
        if self._scanner.take("("):
            return Call(name, self._arguments())
        word = _WORDS.get(name)
        return self._path(name) if word is None else word

    def _arguments(self) -> tuple[Expression, ...]:
        self._count()
        if self._scanner.take(")"):
            return ()
        arguments = [self.expression()]
        while self._scanner.take(","):
            arguments.append(self.expression())
        self._scanner.need(")")
        return tuple(arguments)

    def _path(self, first: str) -> Path:
        steps = [first]
        while self._scanner.take("/"):
            steps.append(self._scanner.name())
            if not steps[-1]:
                raise self._scanner.error("the name of a property is missing")
            if len(steps) > BOUNDS.segments:
                raise too_much(f"{self._place}: steps of a path", BOUNDS.segments)
        return Path(tuple(steps))


def parse_constant(text: str, place: str) -> Constant:
    """A literal that is the whole text. Raises BadRequestError."""
    found = parse_expression(text, place)
    if not isinstance(found, Constant):
        raise wrong(place, f"{text[:80]!r} is no literal")
    return found
