"""`ValueTemplate`: the safe part of Home Assistant's value templates, compiled; never Jinja.

Place on the way: selectors of the family, and discovery, which asks a person about every template
that this grammar does not have.

    template = "{{" sum "}}"
    sum      = product { ("+" | "-") product }
    product  = filtered { ("*" | "/") filtered }
    filtered = operand { "|" filter }
    operand  = number | "(" sum ")" | "value" | "value_json" { "." name | "['name']" | "[index]" }
    filter   = "float" | "int" | "round" | "is_defined"

with `(arguments)` after a filter: the digits of `round` count, defaults are ignored, since a value
that is missing is no zero. Arithmetic is decimal; a filter binds closer than an operator, as in
Jinja.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal

from adapters.documents.json_path import ABSENT, JsonPath
from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.payload import Payload
from adapters.values.result import (
    NUMERIC,
    JsonNumber,
    Result,
    bare_result,
    captured_result,
    json_result,
    number_result,
)

MAX_TEMPLATE_CHARS = 512
MAX_TOKENS = 64
MAX_NESTING = 8
MAX_PLACES = 12
_EXACT = Context(prec=64)
_ROUNDED = Context(prec=16)

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,15}(?:\.\d{1,15})?)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<path>(?:\.[A-Za-z_]\w*|\[(?:\d{1,6}|'[^'\\]*'|\"[^\"\\]*\")\])+)"
    r"|(?P<sign>[-+*/|(),]))"
)
_OUTER = re.compile(r"\s*\{\{-?(.*?)-?\}\}\s*", re.DOTALL)

Evaluate = Callable[[Payload], Result | Fault]


class TemplateError(ValueError):
    """A template that is beyond the safe part; the text says why."""


@dataclass(frozen=True, slots=True)
class ValueTemplate:
    """A compiled template.

    >>> from datetime import UTC, datetime
    >>> from adapters.values.message import Message
    >>> template = ValueTemplate.compile("{{ value_json.t | float / 10 | round(1) }}")
    >>> template.evaluate(Payload(Message("x", b'{"t": 215}', datetime.now(UTC)))).lexical
    '21.5'
    """

    evaluate: Evaluate

    @classmethod
    def compile(cls, text: str) -> "ValueTemplate":
        """Parse a template; raises TemplateError."""
        outer = _OUTER.fullmatch(text) if len(text) <= MAX_TEMPLATE_CHARS else None
        if outer is None:
            raise TemplateError("a template is one {{ expression }}")
        return cls(_Parser(outer.group(1)).parse())


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        if len(self._tokens) > MAX_TOKENS:
            raise TemplateError(f"more than {MAX_TOKENS} words and signs")
        self._position = 0
        self._nesting = 0

    def parse(self) -> Evaluate:
        evaluate = self._sum()
        if self._position < len(self._tokens):
            raise TemplateError(
                f"{excerpt(self._tokens[self._position][1])} is not understood here"
            )
        return evaluate

    def _sum(self) -> Evaluate:
        left = self._product()
        while (sign := self._sign("+", "-")) is not None:
            left = _calculated(sign, left, self._product())
        return left

    def _product(self) -> Evaluate:
        left = self._filtered()
        while (sign := self._sign("*", "/")) is not None:
            left = _calculated(sign, left, self._filtered())
        return left

    def _filtered(self) -> Evaluate:
        operand = self._operand()
        while self._sign("|") is not None:
            operand = self._filter(operand)
        return operand

    def _filter(self, operand: Evaluate) -> Evaluate:
        name, arguments = self._take("word"), self._arguments()
        if name == "float":
            return _number(operand)
        if name == "int":
            return _rounded(_number(operand), 0, ROUND_DOWN)
        if name == "round" and len(arguments) <= 1:
            places = arguments[0] if arguments else "0"
            if "." in places or int(places) > MAX_PLACES:
                raise TemplateError(f"round to {excerpt(places)} digits")
            return _rounded(_number(operand), int(places), ROUND_HALF_EVEN)
        if name == "is_defined":
            return operand
        raise TemplateError(f"the filter {excerpt(name)} is not among float, int, round")

    def _arguments(self) -> list[str]:
        found: list[str] = []
        if self._sign("(") is None:
            return found
        while self._sign(")") is None:
            if found and self._sign(",") is None:
                raise TemplateError("a comma between arguments")
            found.append(self._take("number"))
        return found

    def _operand(self) -> Evaluate:
        if self._sign("(") is not None:
            return self._group()
        if self._sign("-") is not None:
            return _calculated("-", _constant("0"), self._operand())
        if self._kind() == "number":
            return _constant(self._take("number"))
        word = self._take("word")
        if word == "value":
            return _bare
        if word == "value_json":
            return _member(self._take("path") if self._kind() == "path" else "")
        raise TemplateError(f"{excerpt(word)} is neither value nor value_json")

    def _group(self) -> Evaluate:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise TemplateError(f"nested more than {MAX_NESTING} deep")
        evaluate = self._sum()
        if self._sign(")") is None:
            raise TemplateError("a ( without its )")
        self._nesting -= 1
        return evaluate

    def _kind(self) -> str:
        return self._tokens[self._position][0] if self._position < len(self._tokens) else ""

    def _sign(self, *signs: str) -> str | None:
        if self._kind() == "sign" and self._tokens[self._position][1] in signs:
            self._position += 1
            return self._tokens[self._position - 1][1]
        return None

    def _take(self, kind: str) -> str:
        if self._kind() != kind:
            raise TemplateError(f"a {kind} is missing")
        self._position += 1
        return self._tokens[self._position - 1][1]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position, text = 0, text.rstrip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or token.lastgroup is None:
            raise TemplateError(f"{excerpt(text[position:])} is not understood")
        yield token.lastgroup, token.group(token.lastgroup)
        position = token.end()


def _member(path: str) -> Evaluate:
    compiled = JsonPath.compile("$" + path)

    def evaluate(payload: Payload) -> Result | Fault:
        document = payload.document()
        if isinstance(document, Fault):
            return document
        value = compiled.find(document)
        if value is ABSENT:
            return Fault(None, FaultReason.MISSING, "the payload has no such member")
        return json_result(value)

    return evaluate


def _bare(payload: Payload) -> Result | Fault:
    text = payload.text()
    return text if isinstance(text, Fault) else captured_result(text)


def _constant(text: str) -> Evaluate:
    result = number_result(JsonNumber(text))
    return lambda payload: result  # noqa: ARG005


def _number(operand: Evaluate) -> Evaluate:
    def evaluate(payload: Payload) -> Result | Fault:
        result = operand(payload)
        if isinstance(result, Result) and result.datatype not in NUMERIC:
            result = bare_result(result.lexical)
            if isinstance(result, Result) and result.datatype not in NUMERIC:
                return Fault(
                    None, FaultReason.NOT_A_VALUE, f"{excerpt(result.lexical)} is no number"
                )
        return result

    return evaluate


def _rounded(operand: Evaluate, places: int, rounding: str) -> Evaluate:
    def evaluate(payload: Payload) -> Result | Fault:
        result = operand(payload)
        if isinstance(result, Fault):
            return result
        number = Decimal(result.lexical)
        if abs(number.adjusted()) > 40:
            return Fault(None, FaultReason.TOO_MANY_DIGITS, "the number is too large to round")
        value = number.quantize(Decimal(1).scaleb(-places), rounding, context=_EXACT)
        return number_result(format(value, "f"))

    return evaluate


def _calculated(sign: str, left: Evaluate, right: Evaluate) -> Evaluate:
    left, right = _number(left), _number(right)

    def evaluate(payload: Payload) -> Result | Fault:
        one, other = left(payload), right(payload)
        if isinstance(one, Fault):
            return one
        if isinstance(other, Fault):
            return other
        return _arithmetic(sign, Decimal(one.lexical), Decimal(other.lexical))

    return evaluate


def _arithmetic(sign: str, one: Decimal, other: Decimal) -> Result | Fault:
    if max(abs(one.adjusted()), abs(other.adjusted())) > 40:
        return Fault(
            None, FaultReason.TOO_MANY_DIGITS, "the numbers are too large to calculate with"
        )
    if sign == "+":
        return number_result(format(_EXACT.add(one, other), "f"))
    if sign == "-":
        return number_result(format(_EXACT.subtract(one, other), "f"))
    if sign == "*":
        return number_result(format(_EXACT.multiply(one, other), "f"))
    if not other:
        return Fault(None, FaultReason.NOT_FINITE, "a division by zero")
    quotient = format(_ROUNDED.divide(one, other), "f")
    # As in Jinja 3000 / 1000 is 3.0: a stream has one datatype, whatever the numbers are.
    return number_result(quotient if "." in quotient else f"{quotient}.0")
