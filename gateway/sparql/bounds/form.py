"""Bounds on the form of a query or update: what planning and evaluating a text may cost at most.

Place: asked by the parser of every text before anybody plans it. Planning is more than linear in
the patterns of a group and the steps of a path, here and in the store; neither can be stopped. The
bounds are those of the process: `set_bounds` takes them from the settings once, at the start. Data
(INSERT DATA, VALUES, templates) is bounded by the length of the text alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import NoReturn

from gateway.errors import TooLargeError
from gateway.sparql import algebra, paths
from gateway.sparql.scope import walk


@dataclass(frozen=True, slots=True)
class FormBounds:
    """`patterns` of a group: its triple patterns, and all that is joined to them; those of groups
    and GRAPHs in it count too. `steps` of one path. `operators` of the whole text: patterns,
    clauses, and what expressions are made of.
    """

    patterns: int = 200
    steps: int = 100
    operators: int = 10_000


_bounds = FormBounds()

_DATA = (algebra.Values, algebra.QuadPattern)
_COUNTED = (
    *(algebra.Operation, algebra.Call, algebra.Aggregate, algebra.In, algebra.Exists),
    *(algebra.Group, algebra.Graph, algebra.Optional, algebra.Union, algebra.Minus),
    *(algebra.Filter, algebra.Bind, algebra.SubSelect, algebra.Service, algebra.TriplePattern),
)


def set_bounds(bounds: FormBounds) -> None:
    """The bounds from now on, in the whole process."""
    global _bounds  # noqa: PLW0603  # as documented: the parser has no other way to settings
    _bounds = bounds


def require_form(tree: algebra.Query | algebra.Update) -> None:
    """Raise TooLargeError where the text is beyond a bound; linear in the tree."""
    bounds, operators = _bounds, 0
    for node in walk(tree, _DATA):
        if isinstance(node, _COUNTED):
            operators += 1
        if isinstance(node, algebra.TriplePattern) and not isinstance(
            node.predicate, algebra.VarOrIri
        ):
            steps = sum(1 for _ in _steps(node.predicate))
            operators += steps
            if steps > bounds.steps:
                _refuse("a path", steps, "steps", "query_steps")
        elif isinstance(node, algebra.Group):
            patterns = sum(_patterns(node.elements))
            if patterns > bounds.patterns:
                _refuse("a group", patterns, "patterns", "query_patterns")
        if operators > bounds.operators:
            _refuse("the text", operators, "operators", "query_operators")


def _refuse(what: str, number: int, kind: str, setting: str) -> NoReturn:
    raise TooLargeError(
        f"{what} has {number} {kind} or more", f"divide it, or raise [limits] {setting}"
    )


def _patterns(elements: Iterable[algebra.Element]) -> Iterator[int]:
    """How many each element adds to its group; groups are joined, so theirs count."""
    waiting = list(elements)
    while waiting:
        element = waiting.pop()
        match element:
            case algebra.BasicPattern(patterns=patterns):
                yield len(patterns)
            case algebra.Union(branches=branches):
                yield len(branches)
            case algebra.Group() | algebra.Graph():
                group = element.group if isinstance(element, algebra.Graph) else element
                waiting.extend(group.elements)
            case algebra.Filter():
                pass
            case _:
                yield 1


def _steps(path: paths.Path) -> Iterator[paths.Path]:
    waiting: list[object] = [path]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(node)
        elif isinstance(node, paths.Path):
            yield node
            if not isinstance(node, paths.Link | paths.NegatedPropertySet):
                waiting.extend(getattr(node, each.name) for each in fields(node))
