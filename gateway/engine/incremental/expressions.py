"""Expressions, evaluated in batches as the pinned store does it: on an empty store, by VALUES.

Place: conditions and columns of a `plan`. Source: SPARQL 1.1 Query Language, section 17.
Invariant: the value is that of pyoxigraph for these arguments; `shortcuts` answers what is surely
the same, and what was asked before is remembered.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    QuerySolutions,
    Store,
    Triple,
    Variable,
)

from gateway.engine.incremental.shortcuts import UNKNOWN, shortcut
from gateway.rdf.geometry import GEOMETRY
from gateway.rdf.terms import Term
from gateway.runtime.text_cache import remembered
from gateway.sparql import algebra
from gateway.sparql.algebra import HIDDEN_PREFIX
from gateway.sparql.scope import walk
from gateway.store.faults import fault

Solution = dict[str, Term]
Arguments = tuple[Term | None, ...]
Answers = Iterator[tuple[int, Term | None]]
"""Number of a row of arguments and a value."""

Value = TypeVar("Value")

MOST_REMEMBERED = 4096
"""Arguments of one expression whose value is remembered."""

_INFIX = frozenset({"||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"})
_UNWRAP = NamedNode("https://sosa-gateway.example/ns#internal-unwrap")
_WRAPPED = "https://sosa-gateway.example/ns#internal-wrapped-"
CALLED = "\u00b7"
"""Stands in a hidden variable before the name that it had in the query."""

_OURS = "internal__"
"""What begins the names that are ours; variables of a query that begin so are renamed."""

_ROW, _VALUE = f"?{_OURS}row", f"?{_OURS}value"
_EMPTY = Store()


class Expression:
    """An expression of variables, without EXISTS or aggregates.

    >>> double = expression(algebra.Operation("*", (Variable("x"), Literal(2))))
    >>> [term and term.value for term in double.values([{"x": Literal(4)}, {}])]
    ['8', None]
    """

    def __init__(self, tree: algebra.Expression, base: str = "") -> None:
        self.tree = tree
        self.names = tuple(
            dict.fromkeys(node.value for node in walk(tree) if isinstance(node, Variable))
        )
        self._columns = _columns(self.names)
        text = _rendered(tree, dict(zip(self.names, self._columns, strict=True)))
        prologue = f"BASE <{base}> " if base else ""
        self._values_text = f"{prologue}SELECT {_ROW} (({text}) AS {_VALUE}) {{ %s }}"
        self._truths_text = f"{prologue}SELECT {_ROW} {{ %s FILTER({text}) }}"
        self._shortcut = shortcut(tree, self.names)
        self._values: dict[Arguments, Term | None] = {}
        self._truths: dict[Arguments, bool] = {}

    def values(self, solutions: Sequence[Mapping[str, Term]]) -> list[Term | None]:
        """The value of the expression for each solution; None for an error."""
        if isinstance(self.tree, Variable):
            return [solution.get(self.tree.value) for solution in solutions]
        return self._look_up(solutions, self._values, self._ask_values)

    def truths(self, solutions: Sequence[Mapping[str, Term]]) -> list[bool]:
        """The effective boolean value for each solution; False for an error."""
        if self._shortcut is None:
            return self._look_up(solutions, self._truths, self._ask_truths)
        decided = [self._shortcut(self._arguments(solution)) for solution in solutions]
        if UNKNOWN not in decided:
            return [truth is True for truth in decided]
        return self._look_up(solutions, self._truths, self._ask_truths)

    def _arguments(self, solution: Mapping[str, Term]) -> Arguments:
        return tuple([solution.get(name) for name in self.names])

    def _look_up(
        self,
        solutions: Sequence[Mapping[str, Term]],
        known: dict[Arguments, Value],
        ask: Callable[[Sequence[Arguments]], Mapping[Arguments, Value]],
    ) -> list[Value]:
        rows = [self._arguments(solution) for solution in solutions]
        new = [row for row in dict.fromkeys(rows) if row not in known]
        if new:
            if len(known) + len(new) > MOST_REMEMBERED:
                known.clear()
                new = list(dict.fromkeys(rows))
            known.update(ask(new))
        return [known[row] for row in rows]

    def _ask_values(self, rows: Sequence[Arguments]) -> Mapping[Arguments, Term | None]:
        return {rows[place]: value for place, value in self._answers(self._values_text, rows)}

    def _ask_truths(self, rows: Sequence[Arguments]) -> Mapping[Arguments, bool]:
        passed = {place for place, _ in self._answers(self._truths_text, rows)}
        return {row: place in passed for place, row in enumerate(rows)}

    def _answers(self, template: str, rows: Sequence[Arguments]) -> Answers:
        """Evaluate the text over all rows of arguments in one query."""
        table = _ArgumentTable(self._columns, rows)
        try:
            results = _EMPTY.query(
                template % table.text, custom_functions={**GEOMETRY, **table.functions}
            )
            if isinstance(results, QuerySolutions):
                wants_value = len(results.variables) > 1
                for row in results:
                    yield int(row[0].value), row[1] if wants_value else None
        except (RuntimeError, ValueError, SyntaxError) as error:
            raise fault("expression", error) from error


@remembered(length=lambda tree: len(repr(tree)))
def expression(tree: algebra.Expression, base: str = "") -> Expression:
    """The expression; equal ones share what they remember."""
    return Expression(tree, base)


def _columns(names: Sequence[str]) -> list[str]:
    """The variables of an expression as a text writes them, by the names that they had.

    Oxigraph sorts the operands of + by a hash of them, and then adds a duration to a date but no
    date to a duration: the value depends on how a variable is called.
    """
    written = [_called(name) for name in names]
    if len(set(written)) < len(written) or any(name.startswith(_OURS) for name in written):
        written = [f"{_OURS}{place}" for place in range(len(names))]
    return [f"?{name}" for name in written]


def _called(name: str) -> str:
    if not name.startswith(HIDDEN_PREFIX):
        return name
    hidden, _, called = name.removeprefix(HIDDEN_PREFIX).partition(CALLED)
    return called or hidden


class _ArgumentTable:
    """Rows of arguments as a VALUES clause: their number, and their terms by the columns.

    Terms that no text can name (blank nodes) pass as IRIs that a function turns back.
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[Arguments]) -> None:
        self._hidden: dict[Term, NamedNode] = {}
        written = "".join(
            f"({place}{''.join(map(self._written, row))})" for place, row in enumerate(rows)
        )
        given = columns
        if self._hidden:
            given = [f"?{_OURS}wrapped{place}" for place in range(len(columns))]
        self.text = f"VALUES ({' '.join((_ROW, *given))}) {{ {written} }}"
        if self._hidden:
            for wrapped, column in zip(given, columns, strict=True):
                self.text += f" BIND({_UNWRAP}({wrapped}) AS {column})"

    @property
    def functions(self) -> dict[NamedNode, Callable[..., Term | None]]:
        """What the text calls."""
        hidden = {name: term for term, name in self._hidden.items()}
        return {_UNWRAP: lambda term: hidden.get(term, term)} if hidden else {}

    def _written(self, term: Term | None) -> str:
        if term is None:
            return " UNDEF"
        if isinstance(term, BlankNode | Triple):
            name = NamedNode(f"{_WRAPPED}{len(self._hidden)}")
            term = self._hidden.setdefault(term, name)
        return f" {term}"


def _rendered(tree: algebra.Expression, names: Mapping[str, str]) -> str:
    """The expression as text, its variables renamed."""
    match tree:
        case Variable(value=name):
            return names[name]
        case NamedNode() | Literal():
            return str(tree)
        case algebra.In(value=value, options=options, negated=negated):
            listed = _listed(options, names)
            return f"({_rendered(value, names)} {'NOT ' if negated else ''}IN ({listed}))"
        case algebra.Call(iri=iri, args=args):
            return f"{iri}({_listed(args, names)})"
        case algebra.Operation(name=name, args=(argument,)) if name in {"!", "+", "-"}:
            return f"({name} {_rendered(argument, names)})"
        case algebra.Operation(name=name, args=args) if name in _INFIX:
            return "(" + f" {name} ".join(_rendered(each, names) for each in args) + ")"
        case algebra.Operation(name=name, args=args):
            return f"{name}({_listed(args, names)})"
    raise ValueError(f"{type(tree).__name__} has no value of its own")


def _listed(trees: Sequence[algebra.Expression], names: Mapping[str, str]) -> str:
    return ", ".join(_rendered(tree, names) for tree in trees)
