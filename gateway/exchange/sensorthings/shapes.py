"""The shape of an expression: itself with places for its constants, so that it is translated once.

Place: around `translation`. Places are control characters, which no text of ours has.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode

from gateway.exchange.sensorthings.patterns import GEO
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
from gateway.rdf.namespaces import XSD

OBSERVATIONS = "\x02"
"""Stands where what the IRIs of our observations begin with comes."""

_PLACE = re.compile("\x01([0-9]+)\x01")
_FIXED = frozenset({Kind.NULL, Kind.BOOLEAN})
_DATATYPES = {
    Kind.NUMBER: NamedNode(XSD + "double"),
    Kind.TIME: NamedNode(XSD + "dateTime"),
    Kind.DURATION: NamedNode(XSD + "dayTimeDuration"),
    Kind.GEOMETRY: NamedNode(GEO + "wktLiteral"),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """A filter and the keys of an order, with places for constants."""

    filter: Expression | None
    order_by: tuple[Order, ...]


def shape_of(
    expression: Expression | None, order_by: Sequence[Order]
) -> tuple[Shape, tuple[str, ...]]:
    """The shape, and the constants as SPARQL writes them, in the order of their places."""
    constants: list[str] = []
    shaped = None if expression is None else _shaped(expression, constants)
    orders = tuple(
        replace(each, expression=_shaped(each.expression, constants)) for each in order_by
    )
    return Shape(shaped, orders), tuple(constants)


def filled(text: str, constants: Sequence[str], observations: str) -> str:
    """The text of a shape with its constants."""
    full = _PLACE.sub(lambda match: constants[int(match[1])], text)
    return full.replace(OBSERVATIONS, str(Literal(observations)))


def _shaped(expression: Expression, constants: list[str]) -> Expression:
    match expression:
        case Path():
            return expression
        case Constant():
            return _placed(expression, constants)
        case Call(name=name, arguments=arguments):
            return Call(name, tuple(_shaped(each, constants) for each in arguments))
        case Unary(operator=operator, operand=operand):
            return Unary(operator, _shaped(operand, constants))
        case Binary(operator="add", left=left, right=Constant(kind=Kind.DURATION) as right):
            # The store adds a duration to a time only as the names of variables have it.
            return _shaped(
                Binary("sub", left, replace(right, text=_negated(right.text))), constants
            )
        case Binary(operator=operator, left=left, right=right):
            return Binary(operator, _shaped(left, constants), _shaped(right, constants))


def _negated(duration: str) -> str:
    return duration[1:] if duration.startswith("-") else f"-{duration}"


def _placed(constant: Constant, constants: list[str]) -> Constant:
    if constant.kind in _FIXED:
        return constant
    begin = _place(constant.kind, constant.text, constants)
    end = _place(constant.kind, constant.end, constants) if constant.end else ""
    return Constant(constant.kind, begin, end)


def _place(kind: Kind, text: str, constants: list[str]) -> str:
    datatype = _DATATYPES.get(kind)
    constants.append(str(Literal(text) if datatype is None else Literal(text, datatype=datatype)))
    return f"\x01{len(constants) - 1}\x01"
