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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from adapters.documents.json_path import ABSENT
from adapters.formats.homeassistant.operands import (
    Evaluate,
    Operand,
    Scope,
    applied,
    arithmetic,
    both,
    called_on,
    chosen,
    chosen_by_iif,
    concatenated,
    constant,
    dictionary,
    either,
    formatted,
    index_of,
    member_of,
    nothing,
    or_else,
    place,
    rounding,
    there,
    undefined,
)
from adapters.formats.homeassistant.operations import (
    COMPARISONS,
    FILTERS,
    FILTERS_WITH,
    METHODS,
    TESTS,
    Value,
    is_number,
    number,
    part,
    rounded,
    truth,
)
from adapters.formats.homeassistant.tokens import TemplateError, Token
from adapters.values.fault import excerpt
from adapters.values.result import JsonNumber

MAX_NESTING = 12


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

    def _expression(self) -> Operand:
        with self._nested():
            operand = self._or()
            if not self._is("if"):
                return operand
            self._conditions += 1
            condition = self._or().evaluate
            self._conditions -= 1
            otherwise = self._expression().evaluate if self._is("else") else nothing
            return Operand(chosen(condition, operand.evaluate, otherwise))

    def _or(self) -> Operand:
        operand = self._and()
        while self._is("or"):
            operand = Operand(either(operand.evaluate, self._and().evaluate))
        return operand

    def _and(self) -> Operand:
        operand = self._not()
        while self._is("and"):
            operand = Operand(both(operand.evaluate, self._not().evaluate))
        return operand

    def _not(self) -> Operand:
        if self._is("not"):
            with self._nested():
                evaluate = self._not().evaluate
            return Operand(lambda scope: not truth(evaluate(scope)))
        return self._comparison()

    def _comparison(self) -> Operand:
        operand = self._sum()
        while (sign := self._comparing()) is not None:
            operand = Operand(applied(COMPARISONS[sign], operand.evaluate, self._sum().evaluate))
        return operand

    def _comparing(self) -> str | None:
        if self._peek("name", "not") and self._peek("name", "in", 1):
            self._position += 2
            return "not in"
        if self._is("in"):
            return "in"
        return self._sign("==", "!=", "<", "<=", ">", ">=")

    def _sum(self) -> Operand:
        operand = self._joined()
        while (sign := self._sign("+", "-")) is not None:
            operand = Operand(arithmetic(sign, operand.evaluate, self._joined().evaluate))
        return operand

    def _joined(self) -> Operand:
        operand = self._product()
        while self._sign("~") is not None:
            operand = Operand(applied(concatenated, operand.evaluate, self._product().evaluate))
        return operand

    def _product(self) -> Operand:
        operand = self._unary()
        while (sign := self._sign("*", "//", "/", "%")) is not None:
            operand = Operand(arithmetic(sign, operand.evaluate, self._unary().evaluate))
        return operand

    def _unary(self) -> Operand:
        if self._sign("-") is not None:
            with self._nested():
                evaluate = self._unary().evaluate
            return Operand(arithmetic("-", constant(JsonNumber("0")), evaluate))
        return self._followed(self._primary())

    def _followed(self, operand: Operand) -> Operand:
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

    def _attribute(self, operand: Operand) -> Operand:
        name = self._take("name")
        if self._sign("(") is not None:
            return self._method(operand, name)
        if name.startswith("__"):
            raise TemplateError(f"{excerpt(name)} is no member")
        return member_of(operand, name)

    def _item(self, operand: Operand) -> Operand:
        start = None if self._peek("sign", ":") else self._expression()
        if self._sign(":") is None:
            self._need("]")
            if start is None:
                raise TemplateError("a key is missing")
            constant = start.constant
            return member_of(operand, start.evaluate if constant is ABSENT else constant)
        stop = None if self._peek("sign", "]") else self._expression()
        self._need("]")
        ends = [None if each is None else index_of(each) for each in (start, stop)]
        evaluate = operand.evaluate
        return Operand(lambda scope: part(evaluate(scope), ends[0], ends[1]))

    def _method(self, operand: Operand, name: str) -> Operand:
        least, most, call = METHODS.get(name, (0, -1, nothing))
        arguments = self._arguments()
        if not least <= len(arguments) <= most:
            raise TemplateError(f"{excerpt(name)} cannot be called")
        return called_on(call, operand, *arguments)

    def _test(self, operand: Operand) -> Operand:
        is_negated = self._is("not")
        name = self._take("name")
        test = TESTS.get(name)
        if test is None:
            raise TemplateError(f"the test {excerpt(name)} is not known")
        evaluate = operand.evaluate
        return Operand(lambda scope: test(evaluate(scope)) is not is_negated)

    def _filter(self, operand: Operand) -> Operand:
        name = self._take("name")
        arguments = self._arguments() if self._sign("(") is not None else []
        call = FILTERS_WITH.get((name, len(arguments))) if arguments else FILTERS.get(name)
        if call is not None:
            return called_on(call, operand, *arguments)
        return self._filtered(name, operand, arguments)

    def _filtered(self, name: str, operand: Operand, arguments: list[Operand]) -> Operand:
        match name, len(arguments):
            case (("float" | "int"), (0 | 1)):
                return Operand(self._numeric(name, operand, arguments))
            case "round", (0 | 1 | 2):
                return rounding(operand, arguments)
            case (("default" | "d"), (1 | 2)):
                return Operand(self._default(operand, arguments), operand.is_member)
            case "is_defined", 0:
                return operand
            case "iif", (1 | 2 | 3):
                return chosen_by_iif(operand, *arguments)
            case (("multiply" | "add"), 1):
                sign = "*" if name == "multiply" else "+"
                return Operand(arithmetic(sign, operand.evaluate, arguments[0].evaluate))
            case "format", 1:
                return formatted(operand, arguments[0])
        raise TemplateError(f"the filter {excerpt(name)} is not known, or not with these arguments")

    def _numeric(self, name: str, operand: Operand, arguments: list[Operand]) -> Evaluate:
        counts = arguments and (self._conditions or not operand.is_member)
        otherwise = arguments[0].evaluate if counts else None

        inner, is_whole = operand.evaluate, name == "int"

        def evaluate(scope: Scope) -> Value:
            found = number(inner(scope))
            return rounded(found, 0, "down") if is_whole else found

        return evaluate if otherwise is None else or_else(evaluate, otherwise)

    def _default(self, operand: Operand, arguments: list[Operand]) -> Evaluate:
        if operand.is_member and not self._conditions and not arguments[0].is_member:
            return operand.evaluate
        otherwise = arguments[0].evaluate

        def evaluate(scope: Scope) -> Value:
            found = operand.evaluate(scope)
            return otherwise(scope) if found is ABSENT else found

        return evaluate

    def _arguments(self) -> list[Operand]:
        found: list[Operand] = []
        while self._sign(")") is None:
            if found and self._sign(",") is None:
                raise TemplateError("a comma between arguments")
            if self._peek("name", "default") and self._peek("sign", "=", 1):
                self._position += 2
            found.append(self._expression())
        return found

    def _primary(self) -> Operand:
        token = self._next()
        if token.kind == "number":
            return Operand(constant(JsonNumber(token.text)), constant=JsonNumber(token.text))
        if token.kind == "text":
            return Operand(constant(token.text), constant=token.text)
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

    def _name(self, name: str) -> Operand:
        if name.lower() in _CONSTANTS:
            return Operand(constant(_CONSTANTS[name.lower()]))
        if self._peek("sign", "("):
            return self._call(name)
        if name not in self._names:
            raise TemplateError(f"{excerpt(name)} is not known")
        if name == "value_json":
            return Operand(place(()), True, path=())
        return Operand(lambda scope: scope.get(name, undefined)(), name in _OF_PAYLOAD)

    def _call(self, name: str) -> Operand:
        self._need("(")
        self._conditions += name == "iif"
        arguments = self._arguments()
        self._conditions -= name == "iif"
        match name, len(arguments):
            case (("float" | "int"), (1 | 2)):
                return Operand(self._numeric(name, arguments[0], arguments[1:]))
            case "iif", (2 | 3 | 4):
                return chosen_by_iif(*arguments)
            case "is_number", 1:
                return called_on(is_number, *arguments)
        raise TemplateError(f"{excerpt(name)} cannot be called")

    def _list(self) -> Operand:
        elements: list[Evaluate] = []
        while self._sign("]") is None:
            if elements:
                self._need(",")
            elements.append(self._expression().evaluate)
        return Operand(lambda scope: [there(each(scope)) for each in elements])

    def _dictionary(self) -> Operand:
        pairs: list[tuple[Evaluate, Evaluate]] = []
        while self._sign("}") is None:
            if pairs:
                self._need(",")
                if self._sign("}") is not None:
                    break
            key = self._expression().evaluate
            self._need(":")
            pairs.append((key, self._expression().evaluate))
        return Operand(dictionary(pairs))

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
