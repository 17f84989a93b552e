"""The groups of a SPARQL text by its braces: operations, subselects, where their solutions begin.

Place: between the lexer and the VALUES of several rows (`rows`). Source: SPARQL 1.1 Query, 19.8:
WhereClause [17], SubSelect [8], GroupGraphPattern [53], QuadData [49]. Only braces, brackets and
some words are looked at, so a text that is no SPARQL gives some tree and no error.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from jsap.lexer import Token, TokenKind

_NO_GROUP = frozenset({"INSERT", "DELETE", "CONSTRUCT", "DATA"})


@dataclass(slots=True, eq=False)
class Group:
    """Braces, from the index of their `{` to that of their `}`, or a whole operation.

    `named` is a variable of interest that stands directly in it; `selected` are the columns of a
    subselect (`*` for all); `where` is the group in which the solutions of a query begin.
    """

    opening: int
    is_pattern: bool = True
    is_exists: bool = False
    closing: int = -1
    named: str | None = None
    selected: set[str] | None = None
    where: "Group | None" = None
    groups: list["Group"] = field(default_factory=list)

    @property
    def mentioned(self) -> str | None:
        """A variable of interest that stands anywhere in it."""
        within = (inner.mentioned for inner in self.groups)
        return self.named or next((name for name in within if name is not None), None)

    @property
    def wants_values(self) -> bool:
        """Whether a variable of interest stands directly in this group, or in an EXISTS of it.

        What is within an EXISTS sees the values of the group around it.
        """
        if not self.is_pattern or self.is_exists or self.where is not None:
            return False
        return self.named is not None or any(
            inner.is_exists and inner.mentioned for inner in self.groups
        )


@dataclass(slots=True, eq=False)
class Operation:
    """A query or an operation of an update; `short_form` are the braces of one without WHERE."""

    root: Group
    short_form: Group | None = None
    is_data: bool = False


def operations(tokens: Sequence[Token], variables: Collection[str]) -> list[Operation]:
    """The operations of a text; `variables` are those of interest, without `?`."""
    reader = _Reader(tokens, frozenset(variables))
    return list(reader.operations())


class _Reader:
    """Goes through the tokens once."""

    def __init__(self, tokens: Sequence[Token], variables: frozenset[str]) -> None:
        self._tokens = tokens
        self._variables = variables
        self._begin()

    def _begin(self) -> None:
        self._operation = Operation(Group(-1))
        self._open = [self._operation.root]
        self._brackets = [0]

    def operations(self) -> Iterator[Operation]:
        """Each operation, where it ends."""
        for index, token in enumerate(self._tokens):
            if token.text == ";" and len(self._open) == 1:
                yield self._operation
                self._begin()
            else:
                self._token(index, token)
        yield self._operation

    def _token(self, index: int, token: Token) -> None:
        if token.kind is TokenKind.VAR:
            self._variable(token.text[1:])
            return
        match token.text:
            case "{":
                self._enter(index)
            case "}":
                self._leave(index)
            case "(" | ")":
                self._brackets[-1] += 1 if token.text == "(" else -1
            case "*":
                self._select("*")

    def _variable(self, name: str) -> None:
        group = self._open[-1]
        if name in self._variables:
            group.named = name
        self._select(name)

    def _select(self, column: str) -> None:
        """A column, where the clause of a subselect is open."""
        group = self._open[-1]
        if group.selected is not None and group.where is None and not self._brackets[-1]:
            group.selected.add(column)

    def _enter(self, index: int) -> None:
        outer = self._open[-1]
        word = self._word(index - 1)
        short = word == "WHERE" and self._word(index - 2) in {"DELETE", "CONSTRUCT"}
        is_pattern = outer.is_pattern and not (short or word in _NO_GROUP or self._is_data(index))
        group = Group(index, is_pattern, word == "EXISTS")
        if short or word == "DATA":
            self._operation.short_form, self._operation.is_data = group, word == "DATA"
        if is_pattern and self._word(index + 1) == "SELECT":
            group.selected = set()
        if is_pattern and self._begins_solutions(outer):
            outer.where = group
        outer.groups.append(group)
        self._open.append(group)
        self._brackets.append(0)

    def _begins_solutions(self, outer: Group) -> bool:
        is_query = outer.selected is not None or outer is self._operation.root
        return is_query and outer.where is None and not self._brackets[-1]

    def _leave(self, index: int) -> None:
        if len(self._open) > 1:
            self._open.pop().closing = index
            self._brackets.pop()

    def _is_data(self, index: int) -> bool:
        """Whether this `{` begins the rows of a VALUES."""
        for token in reversed(self._tokens[:index]):
            if token.kind is not TokenKind.VAR and token.text not in {"(", ")"}:
                return token.text.upper() == "VALUES"
        return False

    def _word(self, index: int) -> str:
        return self._tokens[index].text.upper() if 0 <= index < len(self._tokens) else ""
