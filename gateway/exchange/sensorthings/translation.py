"""$filter and $orderby as SPARQL over the graph.

Place: between the parsers of this room and the store. A text is made once for each shape, which is
an expression without its constants, and bound to constants each time.

What holds, and the reference of the tests too: numbers are doubles, as JSON has them. What has no
value, or is of another kind, makes a comparison and a function that tells a truth false; `ne` is
`not eq`. A comparison over a collection asks whether it holds for one of it. Times are instants or
intervals: `lt` is before, `gt` after, and `eq` the same. Sources: OGC SensorThings API Part 1:
Sensing, version 1.1, section 9.3.3.5; SPARQL 1.1 Query Language, section 17.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from gateway.exchange.sensorthings.comparisons import compared, truth
from gateway.exchange.sensorthings.functions import FUNCTIONS, Function, value_of
from gateway.exchange.sensorthings.groups import Scope
from gateway.exchange.sensorthings.model import ID, TYPES, Set, related
from gateway.exchange.sensorthings.patterns import KEYS, MANY, PROLOGUE, ROOTS
from gateway.exchange.sensorthings.shapes import Shape, filled, shape_of
from gateway.exchange.sensorthings.terms import TERMS, Term
from gateway.exchange.sensorthings.url.bounds import too_much, wrong
from gateway.exchange.sensorthings.url.syntax import (
    Binary,
    Call,
    Constant,
    Expression,
    Kind,
    Order,
    Path,
    Unary,
)

_MOST_SCOPES = 200
_COMPARISONS = frozenset({"eq", "ne", "gt", "ge", "lt", "le"})
_LOGIC = {"and": "&&", "or": "||"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a set; `observations` is what the IRIs of our observations begin with."""

    set: Set
    filter: Expression | None
    order_by: tuple[Order, ...]
    observations: str


@dataclass(frozen=True, slots=True)
class Question:
    """SELECTs whose rows together are the answer: columns of the key, then those of $orderby."""

    texts: tuple[str, ...]
    keys: int


def question(asked: Asked) -> Question:
    """The SELECTs for what is asked. Raises BadRequestError, TooComplexError.

    >>> from gateway.exchange.sensorthings.url.expression_parser import parse_expression
    >>> asked = Asked(Set.OBSERVATIONS, parse_expression("result gt 20"), (), "urn:o/")
    >>> question(asked).texts[0][-60:]
    '"20.0"^^<http://www.w3.org/2001/XMLSchema#double>, false)) }'
    """
    shape, constants = shape_of(asked.filter, asked.order_by)
    texts = _compiled(asked.set, shape)
    bound = tuple(PROLOGUE + filled(text, constants, asked.observations) for text in texts)
    return Question(bound, len(KEYS[asked.set]))


def one_text(asked: Asked) -> str:
    """The same as one SELECT, to subscribe to: its rows are the keys. Raises as `question` does."""
    shape, constants = shape_of(asked.filter, ())
    texts = [filled(text, constants, asked.observations) for text in _compiled(asked.set, shape)]
    if len(texts) == 1:
        return PROLOGUE + texts[0]
    keys = " ".join(f"?{name}" for name in KEYS[asked.set])
    return f"{PROLOGUE}SELECT DISTINCT {keys} {{ {{ {' } UNION { '.join(texts)} }} }}"


@lru_cache(maxsize=64)
def _compiled(of: Set, shape: Shape) -> tuple[str, ...]:
    """The texts of a shape, with places for its constants."""
    return tuple(_Translation(of, place).text(shape) for place in range(len(ROOTS[of])))


def _operands(chain: Binary) -> Iterator[Expression]:
    """What stands between the same words, side by side: `a or b or c` nests to the left."""
    operands = [chain.right]
    left = chain.left
    while isinstance(left, Binary) and left.operator == chain.operator:
        operands.append(left.right)
        left = left.left
    yield left
    yield from reversed(operands)


class _Translation:
    """Makes the text for one way in which entities of a set stand in the graph."""

    def __init__(self, of: Set, place: int) -> None:
        self._numbers = count()
        self._root = Scope(of, ROOTS[of][place], next(self._numbers), {})
        self._keys = [self._key(name) for name in KEYS[of]]

    def _key(self, name: str) -> str:
        variable = self._root.variable(name)
        return variable if variable == f"?{name}" else f"({variable} AS ?{name})"

    def text(self, shape: Shape) -> str:
        """A SELECT. Raises BadRequestError, TooComplexError."""
        for name in KEYS[self._root.set]:
            self._root.need(name)
        condition = "" if shape.filter is None else self._truth(shape.filter)
        orders = [self._ordered(each.expression) for each in shape.order_by]
        columns = [f"({text} AS ?order{place})" for place, text in enumerate(orders)]
        where = f"{self._root.text} FILTER({condition})" if condition else self._root.text
        return f"SELECT {' '.join([*self._keys, *columns])} {{ {where} }}"

    def _ordered(self, expression: Expression) -> str:
        found = self._value(expression, {})
        if found.kind in {Kind.NULL, Kind.GEOMETRY}:
            raise wrong("$orderby", "this has no order", "order by a number, text or time")
        return found.text

    def _truth(self, expression: Expression) -> str:
        """An expression that is true or false, and never fails."""
        match expression:
            case Binary(operator="and" | "or" as word):
                return f"({f' {_LOGIC[word]} '.join(map(self._truth, _operands(expression)))})"
            case Unary(operator="not", operand=operand):
                return f"(!{self._truth(operand)})"
        return self._leaf(expression, {})

    def _leaf(self, expression: Expression, known: Mapping[tuple[str, ...], Scope]) -> str:
        """A comparison, or a function that tells a truth; of collections, whether for one."""
        many = next(self._collections(expression, known), None)
        if many is None:
            return truth(self._value(expression, known))
        around, standing = self._standing(many[:-1], known)
        shared, alternatives = MANY[standing, many[-1]]
        of = related(standing, many[-1]).set
        for name in shared.values():
            around.need(name)
        called = {inner: around.variable(outer) for inner, outer in shared.items()}
        groups = []
        for each in alternatives:
            number = next(self._numbers)
            if number > _MOST_SCOPES:
                raise too_much("$filter: collections looked at", _MOST_SCOPES)
            scope = Scope(of, each, number, called)
            condition = self._leaf(expression, {**known, many: scope})
            groups.append(f"{{ {scope.text} FILTER({condition}) }}")
        return f"EXISTS {{ {' UNION '.join(groups)} }}"

    def _collections(
        self, expression: Expression, known: Mapping[tuple[str, ...], Scope]
    ) -> Iterator[tuple[str, ...]]:
        """The beginnings of paths that lead to collections which no group is there for."""
        for path in paths_of(expression):
            of = self._root.set
            for place, step in enumerate(path.steps[:-1]):
                found = TYPES[of].related.get(step)
                if found is None:
                    break
                if found.is_many and path.steps[: place + 1] not in known:
                    yield path.steps[: place + 1]
                    break
                of = found.set

    def _standing(
        self, steps: Sequence[str], known: Mapping[tuple[str, ...], Scope]
    ) -> tuple[Scope, Set]:
        """The group in which the entity stands that these steps lead to, and the entity's set.

        Navigations to single entities stay in the group.
        """
        scope, rest = self._root, steps
        for place in range(len(steps), 0, -1):
            found = known.get(tuple(steps[:place]))
            if found is not None:
                scope, rest = found, steps[place:]
                break
        of = scope.set
        for step in rest:
            of = related(of, step).set
            if of is Set.THINGS:
                scope.need("thing")
        return scope, of

    def _value(self, expression: Expression, known: Mapping[tuple[str, ...], Scope]) -> Term:
        """An expression as SPARQL, with variables. Raises BadRequestError."""
        match expression:
            case Constant():
                return _constant(expression)
            case Path(steps=steps):
                return self._property(steps, known)
            case Call(name=name, arguments=arguments):
                function: Function | None = FUNCTIONS.get(name)
                if function is None:
                    raise wrong("$filter", f"there is no function {name[:80]!r}", _FUNCTION_NAMES)
                return value_of(name, function, [self._value(each, known) for each in arguments])
            case Unary(operator="-", operand=operand):
                number = FUNCTIONS["-"]
                return value_of("-", number, [self._value(operand, known)])
            case Binary(operator=operator, left=left, right=right):
                return self._binary(operator, left, right, known)
            case Unary(operand=operand):
                return Term(Kind.BOOLEAN, f"(!{truth(self._value(operand, known))})")

    def _binary(
        self,
        operator: str,
        left: Expression,
        right: Expression,
        known: Mapping[tuple[str, ...], Scope],
    ) -> Term:
        mine, theirs = self._value(left, known), self._value(right, known)
        if operator in _LOGIC:
            return Term(Kind.BOOLEAN, f"({truth(mine)} {_LOGIC[operator]} {truth(theirs)})")
        if operator in _COMPARISONS:
            if _is_id(left) or _is_id(right):
                mine, theirs = _as_id(mine), _as_id(theirs)
            return Term(Kind.BOOLEAN, compared(operator, mine, theirs))
        return value_of(operator, FUNCTIONS[operator], [mine, theirs])

    def _property(self, steps: tuple[str, ...], known: Mapping[tuple[str, ...], Scope]) -> Term:
        """A property of the entity, or of one that its first steps lead to."""
        of, place = self._root.set, 0
        while place < len(steps) and (found := TYPES[of].related.get(steps[place])) is not None:
            of, place = found.set, place + 1
        rest = steps[place:]
        if not rest:
            raise wrong("$filter", f"{'/'.join(steps)[:80]!r} is no property", "add one behind it")
        scope, _ = self._standing(steps[:place], known)
        name = "id" if rest == (ID,) else "/".join(rest)
        term = TERMS[of].get(name)
        if term is None:
            names = ", ".join(TERMS[of])
            raise wrong("$filter", f"{of.value} cannot be asked for {name[:80]!r}", f"but {names}")
        for each in term.needs:
            scope.need(each)
        return Term(term.kind, scope.written(term.text), (), scope.written(term.end))


def paths_of(expression: Expression) -> Iterator[Path]:
    """The properties that an expression names."""
    match expression:
        case Path():
            yield expression
        case Call(arguments=arguments):
            for each in arguments:
                yield from paths_of(each)
        case Unary(operand=operand):
            yield from paths_of(operand)
        case Binary(left=left, right=right):
            yield from paths_of(left)
            yield from paths_of(right)


def _is_id(expression: Expression) -> bool:
    return isinstance(expression, Path) and expression.steps[-1] in {"id", ID}


def _as_id(term: Term) -> Term:
    """A number that is compared with an id: no id is one."""
    return Term(Kind.STRING, f"STR({term.text})") if term.kind is Kind.NUMBER else term


def _constant(constant: Constant) -> Term:
    """A constant, or the place of one, as SPARQL."""
    match constant.kind:
        case Kind.NULL:
            return Term(Kind.NULL, "")
        case Kind.TIME:
            return Term(Kind.TIME, constant.text, (), constant.end or constant.text)
        case _:
            return Term(constant.kind, constant.text)


_FUNCTION_NAMES = f"those are {', '.join(name for name in FUNCTIONS if name[0].isalpha())}"
