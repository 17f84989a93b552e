"""Where the variables of a SPARQL text stand, and what a term needs around it to stand there.

Place: between the lexer and a rendered template. Source: SPARQL 1.1 Query, 19.8: SelectClause [9],
GroupCondition [20], OrderCondition [24], DataBlock [62], Bind [60], BuiltInCall [121].
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from jsap.lexer import Token, TokenKind


class Role(Enum):
    """How a variable is used at a place."""

    TERM = auto()
    """Any place where a term may stand too."""
    COLUMN = auto()
    """A column of the answer: `SELECT ?v`."""
    INNER_COLUMN = auto()
    """A column of a subselect."""
    KEY = auto()
    """A bare key of GROUP BY or ORDER BY, where a term has to be in brackets."""
    BOUND = auto()
    """`BOUND(?v)`, from the word to its bracket."""
    TARGET = auto()
    """Assigned here: `AS ?v`, `VALUES ?v`."""


@dataclass(frozen=True, slots=True)
class Place:
    """A variable (`name` without `?`) at `text[start:end]`."""

    name: str
    start: int
    end: int
    role: Role


_AFTER_A_CLAUSE = frozenset({"WHERE", "FROM", "HAVING", "LIMIT", "OFFSET"})


def variable_places(tokens: Sequence[Token]) -> tuple[Place, ...]:
    """Every place of a variable, in the order of the text."""
    return tuple(_places(tokens))


def _places(tokens: Sequence[Token]) -> Iterator[Place]:
    scope = _Scope()
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        if token.kind is not TokenKind.VAR:
            scope.enter(token, before)
            continue
        name = token.text[1:]
        if _is_bound_call(tokens, index):
            yield Place(name, tokens[index - 2].start, tokens[index + 1].end, Role.BOUND)
        else:
            yield Place(name, token.start, token.end, scope.role(before))


def _is_bound_call(tokens: Sequence[Token], index: int) -> bool:
    around = (*tokens[max(0, index - 2) : index], *tokens[index + 1 : index + 2])
    return [token.text.upper() for token in around] == ["BOUND", "(", ")"]


class _Scope:
    """What the tokens so far make of the next variable: open braces, open brackets, clause."""

    def __init__(self) -> None:
        self._outer: list[tuple[int, str]] = []
        self._brackets = 0
        self._clause = ""

    def enter(self, token: Token, before: Token | None) -> None:
        """Go past a token that is no variable."""
        if token.kind is TokenKind.WORD:
            self._word(token.text.upper(), "" if before is None else before.text.upper())
        elif token.kind is TokenKind.PUNCT:
            self._punctuation(token.text)

    def _word(self, word: str, before: str) -> None:
        if self._brackets:
            return
        if word in {"SELECT", "VALUES"}:
            self._clause = word
        elif word == "BY" and before in {"GROUP", "ORDER"}:
            self._clause = "BY"
        elif word in _AFTER_A_CLAUSE:
            self._clause = ""

    def _punctuation(self, text: str) -> None:
        match text:
            case "{":
                self._outer.append((self._brackets, self._after_braces()))
                self._brackets, self._clause = 0, ""
            case "}":
                self._brackets, self._clause = self._outer.pop() if self._outer else (0, "")
            case "(":
                self._brackets += 1
            case ")":
                self._brackets -= 1

    def _after_braces(self) -> str:
        """Braces in brackets or after EXISTS are in a clause; others end SELECT and VALUES."""
        return self._clause if self._brackets or self._clause == "BY" else ""

    def role(self, before: Token | None) -> Role:
        """The role of a variable that stands here."""
        if self._clause == "VALUES" or (before is not None and before.text.upper() == "AS"):
            return Role.TARGET
        if self._brackets:
            return Role.TERM
        if self._clause == "SELECT":
            return Role.INNER_COLUMN if self._outer else Role.COLUMN
        return Role.KEY if self._clause == "BY" else Role.TERM
