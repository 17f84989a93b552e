"""`Query` and `Condition`: RFC 9535, where the friendlier paths of `json_path` do not do.

Place on the way: selectors and conditions of the document formats. A query is data, and so is what
it looks at: nothing of it may take long. Refused are a second `..`, a selector that can find the
same value twice, and queries within filters that are not singular; regular expressions are literals
and are RE2's; documents of more than MAX_VALUES values are a fault. So the cost is at most the
length of the query times MAX_VALUES.

Source: RFC 9535, sections 2.3 (selectors), 2.4 (functions), 2.5 (segments).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import re2
from jsonpath import JSONPath, JSONPathEnvironment, JSONPathError, JSONPathMatch
from jsonpath.filter import (
    BaseExpression,
    BooleanLiteral,
    FilterContextPath,
    FilterExpression,
    FilterQuery,
    FloatLiteral,
    FunctionExtension,
    InfixExpression,
    IntegerLiteral,
    Nil,
    PrefixExpression,
    RootFilterQuery,
    StringLiteral,
)
from jsonpath.function_extensions import ExpressionType, FilterFunction
from jsonpath.segments import JSONPathRecursiveDescentSegment, JSONPathSegment
from jsonpath.selectors import (
    Filter,
    IndexSelector,
    JSONPathSelector,
    NameSelector,
    SliceSelector,
    WildcardSelector,
)

from adapters.documents.json_path import MAX_FOUND, MAX_PATH_CHARS
from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.payload import Json
from adapters.values.result import JsonNumber

MAX_VALUES = 4000
"""A document with more values, keys and elements together, is not queried."""

MAX_DEPTH_OF_FILTER = 64
_LONGEST_INTEGER = 18

Plain = bool | int | float | str | list["Plain"] | dict[str, "Plain"] | None
"""A document whose numbers are numbers, to compare with."""


def plain(document: Json) -> Plain | Fault:
    """`document` as queries compare it; a Fault where it has too many values to be queried."""
    left = [MAX_VALUES]
    try:
        return _plain(document, left)
    except OverflowError:
        detail = f"more than {MAX_VALUES} values: paths with filters, slices or .. read no more"
        return Fault(None, FaultReason.TOO_LARGE, detail)


def _plain(node: Json, left: list[int]) -> Plain:
    left[0] -= 1
    if left[0] < 0:
        raise OverflowError
    if type(node) is JsonNumber:
        return int(node) if node.isdigit() and len(node) <= _LONGEST_INTEGER else float(node)
    if isinstance(node, dict):
        return {key: _plain(value, left) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value, left) for value in node]
    return node


@dataclass(frozen=True, slots=True)
class Query:
    """A compiled query; `prefix` and `suffix` say which parts of a location name what it found.

    They are places of what is no name and no index, from the front and from the end; what `..`
    stands for lies between them.

    >>> Query.compile("$.a[?@.id == 'x'].v").found({"a": [{"id": "x", "v": True}]})
    [('0', True)]
    """

    compiled: JSONPath
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    middle: tuple[int, int] | None
    is_singular: bool

    @classmethod
    def compile(cls, text: str) -> "Query":
        """Raises ValueError, with the reason."""
        compiled = _compiled(text)
        segments = compiled.segments
        every = [at for at, each in enumerate(segments) if not _is_step(each)]
        deep = [at for at, each in enumerate(segments) if _is_deep(each)]
        if len(deep) > 1:
            raise ValueError("a path has .. at most once")
        count = len(segments)
        if not deep:
            return cls(compiled, tuple(every), (), None, not every)
        prefix = tuple(at for at in every if at < deep[0])
        suffix = tuple(at - count for at in every if at > deep[0])
        return cls(compiled, prefix, suffix, (deep[0], deep[0] + 1 - count), False)

    def found(self, document: Plain) -> list[tuple[str, Json]]:
        """Name and value of all that it finds, numbers as numbers; for what needs no digits."""
        return [(self._name(each.parts), cast(Json, each.obj)) for each in self._nodes(document)]

    def find_all(self, document: Json, compared: Plain | Fault) -> list[tuple[str, Json]] | Fault:
        """Name and value of all that it finds, at most MAX_FOUND; `compared` is plain(document)."""
        if isinstance(compared, Fault):
            return compared
        return [
            (self._name(each.parts), _at(document, each.parts)) for each in self._nodes(compared)
        ]

    def _nodes(self, document: Plain) -> list[JSONPathMatch]:
        if not isinstance(document, dict | list):
            return []
        return list(islice(self.compiled.finditer(document), MAX_FOUND))

    def _name(self, parts: Sequence[int | str]) -> str:
        names = [parts[at] for at in self.prefix]
        if self.middle is not None:
            first, last = self.middle
            names += parts[first : len(parts) + last]
        names += [parts[at] for at in self.suffix]
        return ".".join(map(str, names))


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter of RFC 9535 about a whole document, which is `@` in it.

    >>> Condition.compile("@.model == 'X' && @.channel > 1").holds({"model": "X", "channel": 2})
    True
    """

    text: str
    query: Query

    @classmethod
    def compile(cls, text: str) -> "Condition":
        """Raises ValueError, with the reason."""
        query = Query.compile(f"$[?{text}]")
        segments = query.compiled.segments
        selector = segments[0].selectors[0] if len(segments) == 1 else None
        if not isinstance(selector, Filter) or len(segments[0].selectors) != 1:
            raise ValueError("a condition is one comparison, or several with && and ||")
        for each in _expressions(selector.expression):
            if isinstance(each, RootFilterQuery):
                raise ValueError("in a condition the document is @")
        return cls(text, query)

    def holds(self, document: Plain) -> bool:
        """Whether it is true of the document."""
        return bool(self.query.found([document]))


def _compiled(text: str) -> JSONPath:
    if len(text) > MAX_PATH_CHARS:
        raise ValueError(f"a path has at most {MAX_PATH_CHARS} characters")
    try:
        compiled = _ENVIRONMENT.compile(text)
    except (JSONPathError, RecursionError, OverflowError, ValueError) as error:
        raise ValueError(f"no path of RFC 9535: {excerpt(str(error).splitlines()[0])}") from error
    if not isinstance(compiled, JSONPath):
        raise ValueError("a path is one query")
    for segment in compiled.segments:
        _refuse_twice(segment.selectors)
        for selector in segment.selectors:
            _refuse_selector(selector)
    return compiled


def _is_step(segment: JSONPathSegment) -> bool:
    """Whether it leads to one value at most."""
    one = len(segment.selectors) == 1
    return one and not _is_deep(segment) and isinstance(segment.selectors[0], _STEPS)


def _is_deep(segment: JSONPathSegment) -> bool:
    return isinstance(segment, JSONPathRecursiveDescentSegment)


_STEPS = (NameSelector, IndexSelector)


def _refuse_twice(selectors: Sequence[JSONPathSelector]) -> None:
    """Several selectors side by side are names and indices from the front, each of them once."""
    if len(selectors) < 2:
        return
    steps = [each for each in selectors if isinstance(each, _STEPS)]
    is_back = any(isinstance(each, IndexSelector) and each.index < 0 for each in steps)
    if len(set(map(str, steps))) < len(selectors) or is_back:
        raise ValueError("several selectors in brackets are names, or indices from 0, each once")


def _refuse_selector(selector: JSONPathSelector) -> None:
    if isinstance(selector, Filter):
        for expression in _expressions(selector.expression):
            _refuse_expression(expression)
    elif not isinstance(selector, (*_STEPS, SliceSelector, WildcardSelector)):
        raise ValueError("a selector that RFC 9535 does not have")


def _expressions(expression: BaseExpression, depth: int = 0) -> Iterator[BaseExpression]:
    if depth > MAX_DEPTH_OF_FILTER:
        raise ValueError(f"a filter is nested at most {MAX_DEPTH_OF_FILTER} deep")
    yield expression
    for child in expression.children():
        yield from _expressions(child, depth + 1)


def _refuse_expression(expression: BaseExpression) -> None:
    if isinstance(expression, FilterContextPath):
        raise ValueError("a filter begins at @ or $")
    if isinstance(expression, FilterQuery) and not expression.path.singular_query():
        raise ValueError("a path within a filter has names and indices alone")
    if isinstance(expression, FunctionExtension) and expression.name in {"match", "search"}:
        pattern = expression.args[1]
        if not isinstance(pattern, StringLiteral):
            raise ValueError("a regular expression stands in quotes")
        try:
            _expression(pattern.value)
        except re2.error as error:
            raise ValueError(f"no RE2 expression: {excerpt(str(error))}") from error
    if not isinstance(expression, _KNOWN):
        raise ValueError("a filter that RFC 9535 does not have")


_KNOWN = (
    *(FilterExpression, FilterQuery, FunctionExtension, InfixExpression, PrefixExpression),
    *(BooleanLiteral, FloatLiteral, IntegerLiteral, Nil, StringLiteral),
)


def _expression(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _at(document: Json, parts: Sequence[int | str]) -> Json:
    node: Any = document
    for part in parts:
        node = node[part]
    return cast(Json, node)


class _Node(JSONPathMatch):
    """A match that does not carry the text of its path: with a long key that would be much."""

    __slots__ = ()

    def new_child(self, obj: object, key: int | str) -> "_Node":
        return _Node(
            filter_context={},
            obj=obj,
            parent=None,
            path="",
            parts=(*self.parts, key),
            root=self.root,
        )

    def add_child(self, *children: JSONPathMatch) -> None:
        """Nobody asks for them."""


class _Regular(FilterFunction):
    """`match` (the whole text) and `search` (a part of it) of RFC 9535, in linear time."""

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole

    @property
    def arg_types(self) -> list[ExpressionType]:
        return [ExpressionType.VALUE, ExpressionType.VALUE]

    @property
    def return_type(self) -> ExpressionType:
        return ExpressionType.LOGICAL

    def __call__(self, value: object, pattern: object) -> bool:
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        compiled = _expression(pattern)  # RE2's Python layer remembers them
        found = compiled.fullmatch(value) if self._whole else compiled.search(value)
        return found is not None


class _Environment(JSONPathEnvironment):
    match_class = _Node

    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        self.function_extensions["match"] = _Regular(whole=True)
        self.function_extensions["search"] = _Regular(whole=False)


_ENVIRONMENT = _Environment(filter_caching=False, strict=True)
