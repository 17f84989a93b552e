"""Truth values that are the same in Python as in the store, without asking it.

Place: under `expressions`. Source: SPARQL 1.1 Query Language, section 17.2 (three-valued logic) and
17.3. Whatever is not surely the same is unknown: dates, doubles, languages, unlike datatypes.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from gateway.rdf.namespaces import XSD
from gateway.rdf.terms import Term
from gateway.rdf.values import number, truth
from gateway.sparql import algebra

Arguments = Sequence[Term | None]
Truth = bool | str
"""True, False, or one of the two below."""

ERROR = "error"
UNKNOWN = "unknown"

Shortcut = Callable[[Arguments], Truth]

Comparison = Callable[[Any, Any], bool]

_STRING = NamedNode(XSD + "string")
_COMPARISONS: Mapping[str, Comparison] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_BEGINNINGS = re.compile(r"\^(?:([A-Za-z0-9_ ]+)|\(([A-Za-z0-9_ ]+(?:\|[A-Za-z0-9_ ]+)*)\))")
"""`^this`, `^(this|that)`."""

_KINDS = {"ISIRI": NamedNode, "ISURI": NamedNode, "ISBLANK": BlankNode, "ISLITERAL": Literal}


def shortcut(tree: algebra.Expression, names: Sequence[str]) -> Shortcut | None:
    """The expression as a function of its arguments; None where nothing of it is known."""
    match tree:
        case Variable(value=name):
            place = names.index(name)
            return lambda arguments: _effective(arguments[place])
        case algebra.Operation(name="BOUND", args=(Variable(value=name),)):
            place = names.index(name)
            return lambda arguments: arguments[place] is not None
        case algebra.Operation(name="!", args=(argument,)):
            return _negation(shortcut(argument, names))
        case algebra.Operation(name="&&" | "||" as name, args=args):
            return _connective(name == "||", [shortcut(each, names) for each in args])
        case algebra.Operation(name=name, args=(left, right)) if name in _COMPARISONS:
            return _comparison(_COMPARISONS[name], _operand(left, names), _operand(right, names))
        case algebra.Operation(name="REGEX", args=(Variable(value=variable), Literal() as pattern)):
            return _beginning(pattern, names.index(variable))
        case algebra.Operation(name=name, args=(Variable(value=variable),)) if name in _KINDS:
            return _kind(_KINDS[name], names.index(variable))
        case _:
            return None


def _effective(term: Term | None) -> Truth:
    """The effective boolean value (section 17.2.2) of a boolean; nothing of other literals."""
    if term is None:
        return ERROR
    value = truth(term)
    return UNKNOWN if value is None else value


def _negation(inner: Shortcut | None) -> Shortcut | None:
    if inner is None:
        return None
    known = inner

    def negated(arguments: Arguments) -> Truth:
        inner = known(arguments)
        return inner if isinstance(inner, str) else not inner

    return negated


def _connective(decisive: bool, parts: Sequence[Shortcut | None]) -> Shortcut | None:
    """`||` is decided by one True, `&&` by one False, whatever errors there are."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    all_known = len(known) == len(parts)

    def connected(arguments: Arguments) -> Truth:
        truths = [part(arguments) for part in known]
        if decisive in truths:
            return decisive
        if UNKNOWN in truths or not all_known:
            return UNKNOWN
        return ERROR if ERROR in truths else not decisive

    return connected


_Operand = Callable[[Arguments], Term | None]


def _operand(tree: algebra.Expression, names: Sequence[str]) -> _Operand | None:
    match tree:
        case Variable(value=name):
            place = names.index(name)
            return lambda arguments: arguments[place]
        case NamedNode() | Literal():
            constant = tree
            return lambda _: constant
        case _:
            return None


def _comparison(
    compare: Comparison, left: _Operand | None, right: _Operand | None
) -> Shortcut | None:
    if left is None or right is None:
        return None
    first, second = left, right

    def compared(arguments: Arguments) -> Truth:
        return _compare(compare, first(arguments), second(arguments))

    return compared


def _compare(compare: Comparison, left: Term | None, right: Term | None) -> Truth:
    if left is None or right is None:
        return ERROR
    if compare is operator.eq or compare is operator.ne:
        if isinstance(left, NamedNode) and isinstance(right, NamedNode):
            return compare(left, right)
        if _is_string(left) and _is_string(right):
            return compare(left, right)
    first = number(left)
    second = None if first is None else number(right)
    return UNKNOWN if second is None else compare(first, second)


def _is_string(term: Term) -> bool:
    return isinstance(term, Literal) and term.datatype == _STRING


def _kind(kind: type[Term], place: int) -> Shortcut:
    def is_of_kind(arguments: Arguments) -> Truth:
        term = arguments[place]
        return ERROR if term is None else isinstance(term, kind)

    return is_of_kind


def _beginning(pattern: Literal, place: int) -> Shortcut | None:
    """A regular expression that asks how a string begins."""
    found = _BEGINNINGS.fullmatch(pattern.value) if _is_string(pattern) else None
    if found is None:
        return None
    beginnings = tuple((found[1] or found[2]).split("|"))

    def begins(arguments: Arguments) -> Truth:
        term = arguments[place]
        if term is None:
            return ERROR
        if not isinstance(term, Literal) or term.datatype != _STRING:
            return UNKNOWN
        return term.value.startswith(beginnings)

    return begins
