"""Group graph patterns: everything that stands between the braces of a WHERE.

Place: layer of the parser above expressions. Source: SPARQL 1.1 Query Language, sections 5 to 8,
10 and 12 and grammar rules [53] to [68].
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from pyoxigraph import Literal, NamedNode, Variable

from gateway.sparql import algebra
from gateway.sparql.algebra import (
    BasicPattern,
    Element,
    Expression,
    Group,
    Query,
    visible_variables,
)
from gateway.sparql.expression_parser import ExpressionParser
from gateway.sparql.term_parser import LITERAL_STARTS
from gateway.sparql.triples_parser import TRIPLES_STARTS

_Cell = NamedNode | Literal | None
_Row = tuple[_Cell, ...]


class _Elements(list[Element]):
    """The elements of a group so far; each is asked once for its variables, and only by BIND."""

    def __init__(self) -> None:
        super().__init__()
        self._visible: dict[Variable, None] = {}
        self._asked = 0

    def visible(self) -> dict[Variable, None]:
        """The variables in scope after the last element."""
        self._visible |= visible_variables(self[self._asked :])
        self._asked = len(self)
        return self._visible


class GroupParser(ExpressionParser):
    """Reads groups; knows which labels and variables are taken where."""

    @abstractmethod
    def sub_select(self) -> Query:
        """The sub-query of a group: a layer above this one knows how."""

    def group(self) -> Group:
        """`{ ... }`, with the span of the braces."""
        start = self.expect("{").start
        self.descend()
        depth, level = self._depth, self.open_level()
        self._outer_labels.append(self._labels)
        self._labels = {}
        if self.key == "SELECT":
            elements: tuple[Element, ...] = (algebra.SubSelect(self.sub_select()),)
            self.count_joined()
        else:
            elements = tuple(self._elements())
        self.close_labels()
        self._labels, self._depth = self._outer_labels.pop(), depth - 1
        self.close_level(level)
        return Group(elements, start, self.expect("}").end)

    def _elements(self) -> list[Element]:
        elements = _Elements()
        if self.key in TRIPLES_STARTS:
            elements.append(self._basic_pattern())
        while (parse := self._ELEMENTS.get(self.key)) is not None:
            if self.key != "FILTER":
                self.close_labels()
            elements.append(parse(self, elements))
            self.accept(".")
            if self.key in TRIPLES_STARTS:
                elements.append(self._basic_pattern())
        if self.key != "}":
            self.fail("a triple pattern, a keyword of a group or }")
        return elements

    def _basic_pattern(self) -> BasicPattern:
        patterns = self.triples_block()
        self.count_triples(patterns)
        return BasicPattern(patterns)

    def _nested_group(self) -> Group:
        """A group that is evaluated by itself."""
        group = self.group()
        self.nest_level()
        return group

    def _group_or_union(self, _: _Elements) -> Element:
        branches = [self.group()]
        if self.key != "UNION":
            self.join_level()
            return branches[0]
        self.count_joined()
        self.nest_level()
        while self.accept("UNION"):
            self.count_branch()
            branches.append(self._nested_group())
        return algebra.Union(tuple(branches))

    def _optional(self, _: _Elements) -> Element:
        self.advance()
        self.count_joined()
        return algebra.Optional(self._nested_group())

    def _minus(self, _: _Elements) -> Element:
        self.advance()
        self.count_element()
        return algebra.Minus(self._nested_group())

    def _graph(self, _: _Elements) -> Element:
        self.advance()
        name = self.variable_or_iri()
        group = self.group()
        self.count_operators(1)
        self.join_level()
        return algebra.Graph(name, group)

    def _service(self, _: _Elements) -> Element:
        self.advance()
        silent = self.accept("SILENT")
        name = self.variable() if self.key == "var" else self.iri()
        self.count_joined()
        return algebra.Service(name, self._nested_group(), silent)

    def _filter(self, _: _Elements) -> Element:
        self.advance()
        self.count_element()
        return algebra.Filter(self.constraint())

    def _bind(self, before: _Elements) -> Element:
        start = self.advance().start
        self.count_element()
        self.expect("(")
        expression, variable = self._named(self.expression())
        if variable in before.visible():
            raise self.error(f"BIND: {variable} has a value in this group already", start)
        return algebra.Bind(expression, variable)

    def _named(self, expression: Expression) -> tuple[Expression, Variable]:
        """The name of an expression in brackets: `AS ?variable )`."""
        self.expect("AS")
        variable = self.variable()
        self.expect(")")
        return expression, variable

    def _values(self, _: _Elements) -> Element:
        self.advance()
        self.count_joined()
        return self.data_block()

    def data_block(self) -> algebra.Values:
        """What follows VALUES: `?x { ... }` or `(?x ?y) { (...) (...) }`."""
        if self.key == "var":
            variables: tuple[Variable, ...] = (self.variable(),)
            row: Callable[[int], _Row] = self._single_cell
        else:
            variables = self._value_variables()
            row = self._full_row
        self.expect("{")
        rows: list[_Row] = []
        while not self.accept("}"):
            rows.append(row(len(variables)))
        return algebra.Values(variables, tuple(rows))

    def _value_variables(self) -> tuple[Variable, ...]:
        self.expect("(", "a variable or (")
        variables: dict[Variable, None] = {}
        while not self.accept(")"):
            self.count_element()
            variable = self.variable()
            if variable in variables:
                raise self.error(f"VALUES names {variable} twice")
            variables[variable] = None
        return tuple(variables)

    def _single_cell(self, _: int) -> _Row:
        return (self._cell_value(),)

    def _full_row(self, width: int) -> _Row:
        start = self.expect("(").start
        cells: list[_Cell] = []
        while not self.accept(")"):
            cells.append(self._cell_value())
        if len(cells) != width:
            raise self.error(f"VALUES: {len(cells)} values for {width} variables", start)
        return tuple(cells)

    def _cell_value(self) -> _Cell:
        if self.accept("UNDEF"):
            return None
        if self.key in LITERAL_STARTS:
            return self.literal()
        if self.key not in {"iriref", "pname"}:
            self.fail("an IRI, a literal or UNDEF")
        return self.iri()

    _ELEMENTS: ClassVar[dict[str, Callable[["GroupParser", _Elements], Element]]] = {
        "{": _group_or_union,
        "OPTIONAL": _optional,
        "MINUS": _minus,
        "GRAPH": _graph,
        "SERVICE": _service,
        "FILTER": _filter,
        "BIND": _bind,
        "VALUES": _values,
    }
