"""`Cursor`: the tokens of a text with a place among them, and errors that name that place.

Place: between the lexer and the layers of the parser. Each token has a key, by which the grammar
decides: a keyword in upper case, a punctuation mark as it is, or the kind in lower case.
"""

from typing import NoReturn

from gateway.errors import SparqlSyntaxError
from jsap.lexer import LexError, Token, TokenKind, tokenize

MAX_DEPTH = 64
"""How deep brackets, groups and operators may nest: far from Python's own recursion limit."""

END = "end of text"

_NAMES = {
    "iriref": "an IRI",
    "pname": "a prefixed name",
    "bnode": "a blank node",
    "var": "a variable",
    "string": "a string",
    "langtag": "a language tag",
    "integer": "an integer",
    "decimal": "a decimal",
    "double": "a double",
}


def _key(token: Token) -> str:
    if token.kind is TokenKind.PUNCT:
        return token.text
    if token.kind is TokenKind.WORD:
        return token.text.upper()
    return token.kind.name.lower()


class Cursor:
    """A place in the tokens of a text; `key` is the key of the token there.

    Raises SparqlSyntaxError when the text has no tokens of SPARQL.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = _tokens(text)
        self._keys = [_key(token) for token in self._tokens]
        self._keys.append(END)
        self._index = 0
        self.key = self._keys[0]
        self._depth = 0

    @property
    def token(self) -> Token:
        """The token at the place; there is none at the end of the text."""
        if self.key is END:
            raise self.error("the text ends too early")
        return self._tokens[self._index]

    @property
    def last_end(self) -> int:
        """Where the token before this place ends, in characters."""
        return self._tokens[self._index - 1].end

    def advance(self) -> Token:
        """The token at the place, which moves on."""
        if self.key is END:
            raise self.error("the text ends too early")
        token = self._tokens[self._index]
        self._index += 1
        self.key = self._keys[self._index]
        return token

    def accept(self, key: str) -> bool:
        """Move on if the token here has the key; tell whether."""
        if self.key != key:
            return False
        self._index += 1
        self.key = self._keys[self._index]
        return True

    def expect(self, key: str, expected: str = "") -> Token:
        """The token here, which must have the key."""
        if self.key != key:
            self.fail(expected or _NAMES.get(key, key))
        return self.advance()

    def next_key(self) -> str:
        """The key of the token after this one."""
        return self._keys[min(self._index + 1, len(self._tokens))]

    def touches_number(self) -> bool:
        """Whether a number follows the sign here without a space, so that both are one term."""
        if self.next_key() not in {"integer", "decimal", "double"}:
            return False
        return self._tokens[self._index].end == self._tokens[self._index + 1].start

    def descend(self) -> None:
        """Count one level of nesting; the caller takes it back from `_depth` when it is over."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.error(f"nested more than {MAX_DEPTH} deep")

    def fail(self, expected: str) -> NoReturn:
        """Raise for what is here, naming what should be."""
        found = self.key if self.key is END else repr(self._tokens[self._index].text)
        raise self.error(f"found {found}, expected {expected}")

    def error(self, description: str, offset: int | None = None) -> SparqlSyntaxError:
        """An error at a character offset, by default that of the token here."""
        if offset is None:
            offset = len(self.text) if self.key is END else self._tokens[self._index].start
        return _error_at(self.text, offset, description)


def _tokens(text: str) -> list[Token]:
    try:
        return tokenize(text)
    except LexError as error:
        raise _error_at(text, error.offset, error.reason) from error


def _error_at(text: str, offset: int, description: str) -> SparqlSyntaxError:
    line = text.count("\n", 0, offset) + 1
    return SparqlSyntaxError(description, line, offset - text.rfind("\n", 0, offset))
