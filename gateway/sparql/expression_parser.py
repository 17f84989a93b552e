"""Expressions: operators by precedence, built-in functions by their number of arguments.

Place: layer of the parser above triples. Source: SPARQL 1.1 Query Language, section 17 and
grammar rules [107] to [128].
"""

from abc import abstractmethod
from collections.abc import Callable

from pyoxigraph import NamedNode, Variable

from gateway.sparql.algebra import (
    Aggregate,
    Call,
    Exists,
    Expression,
    Group,
    In,
    Operation,
)
from gateway.sparql.parameters import Parameters
from gateway.sparql.term_parser import LITERAL_STARTS
from gateway.sparql.triples_parser import TriplesParser

_OR, _AND, _RELATIONAL, _ADDITIVE, _MULTIPLICATIVE = 1, 2, 3, 4, 5
_LEVELS = {
    "||": _OR,
    "&&": _AND,
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">=", "IN", "NOT"), _RELATIONAL),
    **dict.fromkeys("+-", _ADDITIVE),
    **dict.fromkeys("*/", _MULTIPLICATIVE),
}

_ANY = 1_000_000
_ARITY: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("RAND", "NOW", "UUID", "STRUUID"), (0, 0)),
    "BNODE": (0, 1),
    **dict.fromkeys(
        (
            *("STR", "LANG", "DATATYPE", "IRI", "URI", "ABS", "CEIL", "FLOOR", "ROUND", "STRLEN"),
            *("UCASE", "LCASE", "ENCODE_FOR_URI", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES"),
            *("SECONDS", "TIMEZONE", "TZ", "MD5", "SHA1", "SHA256", "SHA384", "SHA512"),
            *("ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC"),
        ),
        (1, 1),
    ),
    **dict.fromkeys(
        (
            *("LANGMATCHES", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER"),
            *("STRLANG", "STRDT", "SAMETERM"),
        ),
        (2, 2),
    ),
    "REGEX": (2, 3),
    "SUBSTR": (2, 3),
    "IF": (3, 3),
    "REPLACE": (3, 4),
    "COALESCE": (0, _ANY),
    "CONCAT": (0, _ANY),
}
_AGGREGATES = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"})

BUILT_IN_STARTS = frozenset({*_ARITY, *_AGGREGATES, "BOUND", "EXISTS", "NOT"})
CONSTRAINT_STARTS = BUILT_IN_STARTS | {"(", "iriref", "pname"}


class ExpressionParser(TriplesParser):
    """Reads expressions; aggregates only where a caller has allowed them."""

    def __init__(self, text: str, base: str = "", parameters: Parameters | None = None) -> None:
        super().__init__(text, base, parameters)
        self._aggregates_allowed = False
        self._aggregate_count = 0

    @abstractmethod
    def group(self) -> Group:
        """The group of an EXISTS: a layer above this one knows how."""

    def expression(self) -> Expression:
        """A whole expression, its nesting counted on its own."""
        depth = self._depth
        expression = self._operators(_OR)
        self._depth = depth
        return expression

    def aggregating(self, read: Callable[[], Expression]) -> Expression:
        """What `read` reads, in a place where aggregates are allowed."""
        self._aggregates_allowed = True
        expression = read()
        self._aggregates_allowed = False
        return expression

    def constraint(self) -> Expression:
        """What FILTER, HAVING and ORDER BY take: brackets, a built-in or a call by IRI."""
        if self.key not in CONSTRAINT_STARTS:
            self.fail("an expression in brackets or a function call")
        depth = self._depth
        named = self.key in {"iriref", "pname"}
        expression = self._primary()
        if named and not isinstance(expression, Call):
            self.fail("the arguments of a function call")
        self._depth = depth
        return expression

    def bracketed(self) -> Expression:
        """`( expression )`."""
        self.expect("(")
        expression = self._operators(_OR)
        self.expect(")")
        return expression

    def _operators(self, lowest: int) -> Expression:
        """Operators that bind at least as strongly as `lowest`."""
        self.descend()
        left = self._unary()
        highest = _MULTIPLICATIVE
        while lowest <= (level := _LEVELS.get(self.key, 0)) <= highest:
            left = self._operator(left, level)
            # `a = b = c` is no SPARQL: a comparison is not compared again.
            highest = _AND if level <= _RELATIONAL else highest
        self._depth -= 1
        return left

    def _operator(self, left: Expression, level: int) -> Expression:
        if level <= _AND:
            return self._chain(left, level)
        if self.key in {"IN", "NOT"}:
            return self._membership(left)
        # Not taken back before the whole expression ends: `a - b - c ...` nests to the left.
        self.descend()
        self.count_operators(1)
        name = self.advance().text
        return Operation(name, (left, self._operators(level + 1)))

    def _chain(self, left: Expression, level: int) -> Expression:
        name = self.key
        operands = [left]
        base = deepest = self._depth
        while self.accept(name):
            self.count_element()
            self._depth = base  # operands stand side by side
            operands.append(self._operators(level + 1))
            deepest = max(deepest, self._depth)
        self._depth = deepest
        return Operation(name, tuple(operands))

    def _membership(self, value: Expression) -> Expression:
        negated = self.accept("NOT")
        self.expect("IN")
        self.count_operators(1)
        return In(value, self._arguments(), negated)

    def _unary(self) -> Expression:
        if self.key == "!" or (self.key in {"+", "-"} and not self.touches_number()):
            self.descend()
            self.count_operators(1)
            name = self.advance().text
            operation = Operation(name, (self._unary(),))
            self._depth -= 1
            return operation
        return self._primary()

    def _primary(self) -> Expression:
        key = self.key
        if key == "var":
            return self.variable()
        if key == "(":
            return self.bracketed()
        if key in {"iriref", "pname"}:
            return self._iri_or_call()
        if key in LITERAL_STARTS:
            return self.constant_literal()
        if key in BUILT_IN_STARTS:
            return self._built_in()
        return self.fail("an expression")

    def _iri_or_call(self) -> NamedNode | Variable | Call:
        if self.next_key() != "(":
            return self.constant_iri()
        iri = self.iri()
        self.advance()
        self.count_operators(1)
        if self.accept(")"):
            return Call(iri, ())
        distinct = self.accept("DISTINCT")
        return Call(iri, self._list(), distinct)

    def _arguments(self) -> tuple[Expression, ...]:
        """Expressions in brackets divided by commas, or none."""
        self.expect("(")
        return () if self.accept(")") else self._list()

    def _list(self) -> tuple[Expression, ...]:
        """One expression or more, up to the closing bracket."""
        base = self._depth
        items = [self._operators(_OR)]
        deepest = self._depth
        while self.accept(","):
            self._depth = base
            items.append(self._operators(_OR))
            deepest = max(deepest, self._depth)
        self._depth = deepest
        self.expect(")")
        return tuple(items)

    def _built_in(self) -> Expression:
        self.count_operators(1)
        if self.key in {"EXISTS", "NOT"}:
            return self._exists()
        if self.key in _AGGREGATES:
            return self._aggregate()
        if self.accept("BOUND"):
            return self._bound()
        token = self.advance()
        name = token.text.upper()
        arguments = self._arguments()
        fewest, most = _ARITY[name]
        if not fewest <= len(arguments) <= most:
            raise self.error(f"{name} does not take {len(arguments)} arguments", token.start)
        return Operation(name, arguments)

    def _bound(self) -> Operation:
        self.expect("(")
        variable = self.variable()
        self.expect(")")
        return Operation("BOUND", (variable,))

    def _exists(self) -> Exists:
        negated = self.accept("NOT")
        self.expect("EXISTS")
        allowed, self._aggregates_allowed = self._aggregates_allowed, False
        exists = Exists(self.group(), negated)
        self.nest_level()
        self._aggregates_allowed = allowed
        return exists

    def _aggregate(self) -> Aggregate:
        token = self.advance()
        if not self._aggregates_allowed:
            raise self.error(f"the aggregate {token.text} is not allowed here", token.start)
        self._aggregates_allowed = False
        self._aggregate_count += 1
        self.expect("(")
        aggregate = self._aggregate_body(token.text.upper())
        self.expect(")")
        self._aggregates_allowed = True
        return aggregate

    def _aggregate_body(self, name: str) -> Aggregate:
        distinct = self.accept("DISTINCT")
        if name == "COUNT" and self.accept("*"):
            return Aggregate(name, None, distinct)
        argument = self._operators(_OR)
        separator = self._separator() if name == "GROUP_CONCAT" and self.accept(";") else None
        return Aggregate(name, argument, distinct, separator)

    def _separator(self) -> str:
        self.expect("SEPARATOR")
        self.expect("=")
        return self.string()
