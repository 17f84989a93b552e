"""Expressions of Home Assistant's templates, compiled to functions: the part that is safe.

Place on the way: `template` finds the expressions between the braces. As in Jinja, from the loosest
to the tightest:

    expression = or [ "if" or [ "else" expression ] ]     or = and { "or" and }
    and        = not { "and" not }                         not = "not" not | comparison
    comparison = sum { ("==" | "!=" | "<" | "<=" | ">" | ">=" | [ "not" ] "in") sum }
    sum        = joined { ("+" | "-") joined }             joined = product { "~" product }
    product    = unary { ("*" | "/" | "//" | "%") unary }
    unary      = "-" unary | primary { "." name | "[" key "]" | "|" filter | "is" [ "not" ] test }
    primary    = number | text | name | "(" expression ")" | list | dictionary | call

Nothing else exists: no states, no clock, no loops, no attributes of Python's objects. A default
(`float(0)`, `default('')`) of a member of the payload counts inside of conditions only, for a value
that is missing is no zero.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from adapters.documents.json_path import ABSENT, Absent
from adapters.formats.homeassistant.operations import (
    COMPARISONS,
    FILTERS,
    METHODS,
    ROUNDINGS,
    TESTS,
    Keyed,
    NoValueError,
    Value,
    bounded,
    calculated,
    is_number,
    joined,
    member,
    number,
    part,
    replaced,
    rounded,
    text,
    truth,
)
from adapters.formats.homeassistant.tokens import TemplateError, Token
from adapters.values.fault import excerpt
from adapters.values.payload import Json
from adapters.values.result import JsonNumber

MAX_NESTING = 12
MAX_PLACES = 12

Scope = Mapping[str, Callable[[], Value]]
"""What the names of a template stand for; they are looked up when they are needed."""

Evaluate = Callable[[Scope], Value]


class _Operand(NamedTuple):
    """A compiled expression; `is_member` where it is a place in the payload and nothing else.

    `constant` is its value where it has always the same, `path` the keys below the document.
    """

    evaluate: Evaluate
    is_member: bool = False
    constant: Value = ABSENT
    path: tuple[Value, ...] | None = None


class Parser:
    """One expression; `names` are those that it may use."""

    def __init__(
        self, found: Sequence[Token], names: frozenset[str], *, is_condition: bool = False
    ) -> None:
        self._tokens = found
        self._names = names
        self._position = 0
        self._nesting = 0
        self._conditions = int(is_condition)

    def parse(self) -> Evaluate:
        """The whole of the tokens as one expression; raises TemplateError."""
        operand = self._expression()
        if self._position < len(self._tokens):
            raise TemplateError(f"{excerpt(self._tokens[self._position].text)} is not expected")
        return operand.evaluate

    def _expression(self) -> _Operand:
        with self._nested():
            operand = self._or()
            if not self._is("if"):
                return operand
            self._conditions += 1
            condition = self._or().evaluate
            self._conditions -= 1
            otherwise = self._expression().evaluate if self._is("else") else _nothing
            return _Operand(_chosen(condition, operand.evaluate, otherwise))

    def _or(self) -> _Operand:
        operand = self._and()
        while self._is("or"):
            operand = _Operand(_either(operand.evaluate, self._and().evaluate))
        return operand

    def _and(self) -> _Operand:
        operand = self._not()
        while self._is("and"):
            operand = _Operand(_both(operand.evaluate, self._not().evaluate))
        return operand

    def _not(self) -> _Operand:
        if self._is("not"):
            with self._nested():
                evaluate = self._not().evaluate
            return _Operand(lambda scope: not truth(evaluate(scope)))
        return self._comparison()

    def _comparison(self) -> _Operand:
        operand = self._sum()
        while (sign := self._comparing()) is not None:
            operand = _Operand(_applied(COMPARISONS[sign], operand.evaluate, self._sum().evaluate))
        return operand

    def _comparing(self) -> str | None:
        if self._peek("name", "not") and self._peek("name", "in", 1):
            self._position += 2
            return "not in"
        if self._is("in"):
            return "in"
        return self._sign("==", "!=", "<", "<=", ">", ">=")

    def _sum(self) -> _Operand:
        operand = self._joined()
        while (sign := self._sign("+", "-")) is not None:
            operand = _Operand(_arithmetic(sign, operand.evaluate, self._joined().evaluate))
        return operand

    def _joined(self) -> _Operand:
        operand = self._product()
        while self._sign("~") is not None:
            operand = _Operand(_applied(_concatenated, operand.evaluate, self._product().evaluate))
        return operand

    def _product(self) -> _Operand:
        operand = self._unary()
        while (sign := self._sign("*", "//", "/", "%")) is not None:
            operand = _Operand(_arithmetic(sign, operand.evaluate, self._unary().evaluate))
        return operand

    def _unary(self) -> _Operand:
        if self._sign("-") is not None:
            with self._nested():
                evaluate = self._unary().evaluate
            return _Operand(_arithmetic("-", _constant(JsonNumber("0")), evaluate))
        return self._followed(self._primary())

    def _followed(self, operand: _Operand) -> _Operand:
        while True:
            if self._sign(".") is not None:
                operand = self._attribute(operand)
            elif self._sign("[") is not None:
                operand = self._item(operand)
            elif self._sign("|") is not None:
                operand = self._filter(operand)
            elif self._is("is"):
                operand = self._test(operand)
            else:
                return operand

    def _attribute(self, operand: _Operand) -> _Operand:
        name = self._take("name")
        if self._sign("(") is not None:
            return self._method(operand, name)
        if name.startswith("__"):
            raise TemplateError(f"{excerpt(name)} is no member")
        return _member(operand, name)

    def _item(self, operand: _Operand) -> _Operand:
        start = None if self._peek("sign", ":") else self._expression()
        if self._sign(":") is None:
            self._need("]")
            if start is None:
                raise TemplateError("a key is missing")
            constant = start.constant
            return _member(operand, start.evaluate if constant is ABSENT else constant)
        stop = None if self._peek("sign", "]") else self._expression()
        self._need("]")
        ends = [None if each is None else _index(each) for each in (start, stop)]
        evaluate = operand.evaluate
        return _Operand(lambda scope: part(evaluate(scope), ends[0], ends[1]))

    def _method(self, operand: _Operand, name: str) -> _Operand:
        least, most, call = METHODS.get(name, (0, -1, _nothing))
        arguments = self._arguments()
        if not least <= len(arguments) <= most:
            raise TemplateError(f"{excerpt(name)} cannot be called")
        return _called(call, operand, *arguments)

    def _test(self, operand: _Operand) -> _Operand:
        is_negated = self._is("not")
        name = self._take("name")
        test = TESTS.get(name)
        if test is None:
            raise TemplateError(f"the test {excerpt(name)} is not known")
        evaluate = operand.evaluate
        return _Operand(lambda scope: test(evaluate(scope)) is not is_negated)

    def _filter(self, operand: _Operand) -> _Operand:
        name = self._take("name")
        arguments = self._arguments() if self._sign("(") is not None else []
        if name in FILTERS and not arguments:
            return _called(FILTERS[name], operand)
        return self._filtered(name, operand, arguments)

    def _filtered(self, name: str, operand: _Operand, arguments: list[_Operand]) -> _Operand:
        match name, len(arguments):
            case (("float" | "int"), (0 | 1)):
                return _Operand(self._numeric(name, operand, arguments))
            case "round", (0 | 1 | 2):
                return _rounding(operand, arguments)
            case (("default" | "d"), (1 | 2)):
                return _Operand(self._default(operand, arguments), operand.is_member)
            case "is_defined", 0:
                return operand
            case "iif", (1 | 2 | 3):
                return _iif(operand, *arguments)
            case (("multiply" | "add"), 1):
                sign = "*" if name == "multiply" else "+"
                return _Operand(_arithmetic(sign, operand.evaluate, arguments[0].evaluate))
            case "replace", 2:
                return _called(replaced, operand, *arguments)
            case "join", 1:
                return _called(joined, operand, *arguments)
        raise TemplateError(f"the filter {excerpt(name)} is not known, or not with these arguments")

    def _numeric(self, name: str, operand: _Operand, arguments: list[_Operand]) -> Evaluate:
        counts = arguments and (self._conditions or not operand.is_member)
        otherwise = arguments[0].evaluate if counts else None

        inner, is_whole = operand.evaluate, name == "int"

        def evaluate(scope: Scope) -> Value:
            found = number(inner(scope))
            return rounded(found, 0, "down") if is_whole else found

        return evaluate if otherwise is None else _or_else(evaluate, otherwise)

    def _default(self, operand: _Operand, arguments: list[_Operand]) -> Evaluate:
        if operand.is_member and not self._conditions:
            return operand.evaluate
        otherwise = arguments[0].evaluate

        def evaluate(scope: Scope) -> Value:
            found = operand.evaluate(scope)
            return otherwise(scope) if found is ABSENT else found

        return evaluate

    def _arguments(self) -> list[_Operand]:
        found: list[_Operand] = []
        while self._sign(")") is None:
            if found and self._sign(",") is None:
                raise TemplateError("a comma between arguments")
            if self._peek("name", "default") and self._peek("sign", "=", 1):
                self._position += 2
            found.append(self._expression())
        return found

    def _primary(self) -> _Operand:
        token = self._next()
        if token.kind == "number":
            return _Operand(_constant(JsonNumber(token.text)), constant=JsonNumber(token.text))
        if token.kind == "text":
            return _Operand(_constant(token.text), constant=token.text)
        if token.kind == "name":
            return self._name(token.text)
        match token.text:
            case "(":
                operand = self._expression()
                self._need(")")
                return operand
            case "[":
                return self._list()
            case "{":
                return self._dictionary()
        raise TemplateError(f"{excerpt(token.text)} is not expected")

    def _name(self, name: str) -> _Operand:
        if name.lower() in _CONSTANTS:
            return _Operand(_constant(_CONSTANTS[name.lower()]))
        if self._peek("sign", "("):
            return self._call(name)
        if name not in self._names:
            raise TemplateError(f"{excerpt(name)} is not known")
        if name == "value_json":
            return _Operand(_at(()), True, path=())
        return _Operand(lambda scope: scope.get(name, _undefined)(), name in _OF_PAYLOAD)

    def _call(self, name: str) -> _Operand:
        self._need("(")
        self._conditions += name == "iif"
        arguments = self._arguments()
        self._conditions -= name == "iif"
        match name, len(arguments):
            case (("float" | "int"), (1 | 2)):
                return _Operand(self._numeric(name, arguments[0], arguments[1:]))
            case "iif", (2 | 3 | 4):
                return _iif(*arguments)
            case "is_number", 1:
                return _called(is_number, *arguments)
        raise TemplateError(f"{excerpt(name)} cannot be called")

    def _list(self) -> _Operand:
        elements: list[Evaluate] = []
        while self._sign("]") is None:
            if elements:
                self._need(",")
            elements.append(self._expression().evaluate)
        return _Operand(lambda scope: [_there(each(scope)) for each in elements])

    def _dictionary(self) -> _Operand:
        pairs: list[tuple[Evaluate, Evaluate]] = []
        while self._sign("}") is None:
            if pairs:
                self._need(",")
                if self._sign("}") is not None:
                    break
            key = self._expression().evaluate
            self._need(":")
            pairs.append((key, self._expression().evaluate))
        return _Operand(_table(pairs))

    @contextmanager
    def _nested(self) -> Iterator[None]:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise TemplateError(f"nested more than {MAX_NESTING} deep")
        yield
        self._nesting -= 1

    def _peek(self, kind: str, said: str, ahead: int = 0) -> bool:
        position = self._position + ahead
        return position < len(self._tokens) and self._tokens[position] == (kind, said)

    def _is(self, word: str) -> bool:
        found = self._peek("name", word)
        self._position += found
        return found

    def _sign(self, *signs: str) -> str | None:
        for sign in signs:
            if self._peek("sign", sign):
                self._position += 1
                return sign
        return None

    def _need(self, sign: str) -> None:
        if self._sign(sign) is None:
            raise TemplateError(f"a {sign} is missing")

    def _next(self) -> Token:
        if self._position == len(self._tokens):
            raise TemplateError("a value is missing")
        self._position += 1
        return self._tokens[self._position - 1]

    def _take(self, kind: str) -> str:
        token = self._next()
        if token.kind != kind:
            raise TemplateError(f"a {kind} is missing")
        return token.text


_OF_PAYLOAD = frozenset({"value", "value_json"})
_CONSTANTS: Mapping[str, Value] = {"true": True, "false": False, "none": None}


def _undefined() -> Value:
    return ABSENT


def _nothing(scope: Scope) -> Value:  # noqa: ARG001
    return ABSENT


def _there(value: Value) -> Json:
    return None if isinstance(value, Absent) else value


def _constant(value: Value) -> Evaluate:
    return lambda scope: value  # noqa: ARG005


def _or_else(one: Evaluate, other: Evaluate) -> Evaluate:
    """Another value where the first one fails."""

    def evaluate(scope: Scope) -> Value:
        try:
            return one(scope)
        except NoValueError:
            return other(scope)

    return evaluate


def _chosen(condition: Evaluate, one: Evaluate, other: Evaluate) -> Evaluate:
    return lambda scope: one(scope) if truth(condition(scope)) else other(scope)


def _either(one: Evaluate, other: Evaluate) -> Evaluate:
    return lambda scope: found if truth(found := one(scope)) else other(scope)


def _both(one: Evaluate, other: Evaluate) -> Evaluate:
    return lambda scope: other(scope) if truth(found := one(scope)) else found


def _applied(call: Callable[..., Value], *operands: Evaluate) -> Evaluate:
    if len(operands) == 1:
        (only,) = operands
        return lambda scope: call(only(scope))
    if len(operands) == 2:
        one, other = operands
        return lambda scope: call(one(scope), other(scope))
    return lambda scope: call(*[each(scope) for each in operands])


def _called(call: Callable[..., Value], *operands: _Operand) -> _Operand:
    return _Operand(_applied(call, *(each.evaluate for each in operands)))


def _arithmetic(sign: str, one: Evaluate, other: Evaluate) -> Evaluate:
    return lambda scope: calculated(sign, one(scope), other(scope))


def _concatenated(one: Value, other: Value) -> Value:
    return bounded(text(one) + text(other))


def _member(operand: _Operand, key: Value | Evaluate) -> _Operand:
    evaluate = operand.evaluate
    if callable(key):
        return _Operand(lambda scope: member(evaluate(scope), key(scope)), operand.is_member)
    if operand.path is not None:
        path = (*operand.path, key)
        return _Operand(_at(path), operand.is_member, path=path)
    return _Operand(lambda scope: member(evaluate(scope), key), operand.is_member)


def _at(path: tuple[Value, ...]) -> Evaluate:
    """A place in the document of the payload."""

    def evaluate(scope: Scope) -> Value:
        node = scope["value_json"]()
        for key in path:
            node = member(node, key)
        return node

    return evaluate


def _iif(condition: _Operand, *choice: _Operand) -> _Operand:
    """By `iif`: for true, for false, for none."""
    chosen = [each.evaluate for each in choice]
    test = condition.evaluate
    otherwise = chosen[1] if len(chosen) > 1 else _constant(False)

    def evaluate(scope: Scope) -> Value:
        found = test(scope)
        if found is None and len(chosen) > 2:
            return chosen[2](scope)
        return chosen[0](scope) if truth(found) else otherwise(scope)

    return _Operand(evaluate)


def _rounding(operand: _Operand, arguments: Sequence[_Operand]) -> _Operand:
    told = [each.constant for each in arguments]
    places = told[0] if told else JsonNumber("0")
    how = told[1] if len(told) > 1 else "common"
    is_whole = type(places) is JsonNumber and places.isdigit() and int(places) <= MAX_PLACES
    if not is_whole or not isinstance(how, str) or how not in ROUNDINGS:
        raise TemplateError(f"round to {excerpt(str(places))} digits")
    count, evaluate = int(str(places)), operand.evaluate
    return _Operand(lambda scope: rounded(evaluate(scope), count, how))


def _index(operand: _Operand) -> int:
    if type(operand.constant) is JsonNumber and operand.constant.isdigit():
        return int(operand.constant[:6])
    raise TemplateError("a slice has whole numbers")


def _table(pairs: Sequence[tuple[Evaluate, Evaluate]]) -> Evaluate:
    def evaluate(scope: Scope) -> Value:
        return Keyed([(key(scope), _there(value(scope))) for key, value in pairs])

    return evaluate
