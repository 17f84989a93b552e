"""Several rows of forced bindings in one request, by VALUES.

Place: between a `Template` and its rendered text, where one row would be rendered as terms. Source:
SPARQL 1.1 Query, 10.2.2 and 19.8 [61]-[65]; SPARQL 1.1 Update, 3.1.

A VALUES block with all rows goes to the front of the WHERE, and of every group within it that
names one of their variables: so FILTER and BIND see the values in UNION, OPTIONAL, MINUS and
sub-groups too, and the join of the blocks keeps every row by itself. An EXISTS sees what the group
around it has. `INSERT DATA`, `DELETE DATA`,
`DELETE WHERE` and `CONSTRUCT WHERE` are written as the long forms that may have a WHERE.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyoxigraph import BlankNode

from jsap.errors import BindingError
from jsap.forced_bindings import Term
from jsap.groups import Group, Operation, operations
from jsap.lexer import Token
from jsap.sparql_terms import written
from jsap.variable_places import Place, Role

Rows = Sequence[Mapping[str, Term]]
Edit = tuple[int, int, str]


def values_block(columns: Sequence[str], rows: Rows) -> str:
    """A VALUES block; equal rows are one, a term that a row lacks is UNDEF.

    >>> values_block(["a"], [{}, {}])
    'VALUES (?a) { (UNDEF) }'
    """
    lines = (
        " ".join(written(row[name]) if name in row else "UNDEF" for name in columns) for row in rows
    )
    data = " ".join(f"({line})" for line in dict.fromkeys(lines))
    return f"VALUES ({' '.join(f'?{name}' for name in columns)}) {{ {data} }}"


def rows_edits(
    template: str, tokens: Sequence[Token], places: Iterable[Place], rows: Rows
) -> list[Edit]:
    """What to change in the text of `tokens` so that it is evaluated for all rows.

    Raises BindingError where a variable cannot have several values: assigned in the text, in a
    subselect that does not select it, outside of any WHERE; and for a blank node.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    _check(template, places, columns, rows)
    writer = _Writer(template, tokens, columns, values_block(columns, rows))
    edits = [edit for each in operations(tokens, columns) for edit in writer.operation(each)]
    return sorted(edits)


def _check(template: str, places: Iterable[Place], columns: Sequence[str], rows: Rows) -> None:
    for place in places:
        if place.name in columns and place.role is Role.TARGET:
            raise BindingError(template, place.name, "the text itself assigns it", "do not bind it")
    for row in rows:
        for name, term in row.items():
            if isinstance(term, BlankNode):
                raise BindingError(template, name, "a blank node in VALUES", "bind it alone")


class _Writer:
    """The changes of one text."""

    def __init__(
        self, template: str, tokens: Sequence[Token], columns: Sequence[str], values: str
    ) -> None:
        self._template = template
        self._tokens = tokens
        self._columns = frozenset(columns)
        self._values = values

    def operation(self, operation: Operation) -> Iterator[Edit]:
        """The changes of one operation; none where it names no variable of the rows."""
        variable = operation.root.mentioned
        if variable is None:
            return
        if operation.short_form is not None:
            yield from self._long_form(operation.short_form, operation.is_data)
        elif operation.root.where is None:
            raise self._error(variable, "it stands where only one value can")
        else:
            yield from self._within(operation.root)

    def _within(self, group: Group) -> Iterator[Edit]:
        """The changes in a query, subselect or group; VALUES where its solutions begin."""
        if group.where is not None and (variable := group.mentioned) is not None:
            self._check_columns(group, variable)
            yield self._values_behind(group.where)
        for inner in group.groups:
            if inner is not group.where and inner.wants_values:
                yield self._values_behind(inner)
            if not inner.is_exists:
                yield from self._within(inner)

    def _values_behind(self, group: Group) -> Edit:
        end = self._tokens[group.opening].end
        return end, end, f" {self._values} "

    def _check_columns(self, group: Group, variable: str) -> None:
        if group.selected is None or "*" in group.selected:
            return
        if missing := self._columns - group.selected:
            raise self._error(variable, f"it is in a subselect without ?{min(missing)}")

    def _long_form(self, braces: Group, is_data: bool) -> Iterator[Edit]:
        """`INSERT DATA {…}` and `DELETE WHERE {…}` as `INSERT {…} WHERE {VALUES …}`."""
        word = self._tokens[braces.opening - 1]
        yield word.start, word.end, ""
        end = self._tokens[braces.closing].end
        inner = self._tokens[braces.opening + 1 : braces.closing]
        pattern = "" if is_data else " ".join(token.text for token in inner)
        yield end, end, f" WHERE {{ {self._values} {pattern} }}"

    def _error(self, variable: str, reason: str) -> BindingError:
        return BindingError(self._template, variable, reason, "bind one row at a time")
