"""The lexer of SPARQL 1.1 Query and Update: text -> tokens with their place.

Place: under forced bindings (terms are substituted for variable tokens, so never inside a string,
a comment or an IRI) and under the gateway's parser. Source: SPARQL 1.1 Query, 19.2 (codepoint
escapes), 19.4 (comments), 19.8 (terminals). Numbers are unsigned here: whether `-1` is a literal
or a subtraction is for the grammar to say. As the specification has it the longest token wins, so
`?a<?b&&?c>?d` without white space has an IRI in it.
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What a token is. WORD is a bare name: a keyword, `a`, `true`, the name of a built-in."""

    IRIREF = "IRI"
    PNAME = "prefixed name"
    BNODE = "blank node"
    VAR = "variable"
    STRING = "string"
    LANGTAG = "language tag"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    WORD = "word"
    PUNCT = "punctuation"


class Token(NamedTuple):
    """A token: `text[start:end]` is its text, quotes and sigils included."""

    kind: Kind
    text: str
    start: int
    end: int


class LexError(ValueError):
    """No token begins at `offset`; `line` and `column` are 1-based."""

    def __init__(self, text: str, offset: int, reason: str) -> None:
        self.offset = offset
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - text.rfind("\n", 0, offset)
        self.reason = reason
        super().__init__(f"{reason} at line {self.line}, column {self.column}")


_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = f"{_BASE}_0-9\u00b7\u0300-\u036f\u203f-\u2040"
_PREFIX = f"[{_BASE}](?:[{_NAME}.-]*[{_NAME}-])?"
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.!$&'()*+,;=/?#@%-]"
_LOCAL = f"(?:[{_BASE}_0-9:]|{_PLX})(?:(?:[{_NAME}.:-]|{_PLX})*(?:[{_NAME}:-]|{_PLX}))?"
_ESCAPE = r"\\[tbnrf\\\"']"

_PATTERNS: tuple[tuple[Kind | None, str], ...] = (
    (None, r"(?:[\x20\t\r\n]+|#[^\r\n]*)+"),
    (Kind.VAR, f"[?$][{_BASE}_0-9][{_BASE}_0-9\u00b7\u0300-\u036f\u203f-\u2040]*"),
    (Kind.IRIREF, r"<[^\x00-\x20<>\"{}|^`\\]*>"),
    (Kind.PNAME, f"(?:{_PREFIX})?:(?:{_LOCAL})?"),
    (Kind.BNODE, f"_:[{_BASE}_0-9](?:[{_NAME}.-]*[{_NAME}-])?"),
    (Kind.WORD, r"[A-Za-z][A-Za-z0-9_]*"),
    (Kind.STRING, f'"""(?:"{{0,2}}(?:[^"\\\\]|{_ESCAPE}))*"""'),
    (Kind.STRING, f"'''(?:'{{0,2}}(?:[^'\\\\]|{_ESCAPE}))*'''"),
    (Kind.STRING, f'"(?:[^"\\\\\r\n]|{_ESCAPE})*"'),
    (Kind.STRING, f"'(?:[^'\\\\\r\n]|{_ESCAPE})*'"),
    (Kind.LANGTAG, r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*"),
    (Kind.DOUBLE, r"(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
    (Kind.DECIMAL, r"[0-9]*\.[0-9]+"),
    (Kind.INTEGER, r"[0-9]+"),
    (Kind.PUNCT, r"\^\^|\|\||&&|!=|<=|>=|<<|>>|[{}()\[\].;,^/|?*+\-!=<>]"),
)
_KINDS = tuple(kind for kind, _ in _PATTERNS)
_TOKEN = re.compile("|".join(f"({pattern})" for _, pattern in _PATTERNS))

_CODEPOINT = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_STRING_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_QUOTES = {'"': "a string", "'": "a string", "<": "an IRI"}


def tokenize(text: str) -> list[Token]:
    r"""The tokens of a text; white space and comments are left out.

    Raises LexError where no token begins. A `\u0041` or `\U00000041` is read as its character
    (19.2): positions then count in the text with those replaced, see `unescape_codepoints`.

    >>> [token.text for token in tokenize("SELECT ?s { ?s a <urn:x> } # all")]
    ['SELECT', '?s', '{', '?s', 'a', '<urn:x>', '}']
    """
    tokens: list[Token] = []
    position = 0
    scan = _TOKEN.scanner(text).match
    while (found := scan()) is not None:
        kind = _KINDS[found.lastindex - 1]  # type: ignore[operator]
        position = found.end()
        if kind is not None:
            tokens.append(Token(kind, found[0], found.start(), position))
    if position < len(text):
        if "\\u" in text or "\\U" in text:
            unescaped = unescape_codepoints(text)
            if unescaped != text:
                return tokenize(unescaped)
        what = _QUOTES.get(text[position])
        reason = f"{what} that does not end" if what else f"unexpected {text[position]!r}"
        raise LexError(text, position, reason)
    return tokens


def unescape_codepoints(text: str) -> str:
    r"""Replace `\uXXXX` and `\UXXXXXXXX`, which may stand anywhere in a text (19.2).

    Surrogates and numbers beyond Unicode stay as they are; they are no characters.
    """

    def character(match: re.Match[str]) -> str:
        code = int(match[1] or match[2], 16)
        legal = code < 0xD800 or 0xDFFF < code <= 0x10FFFF
        return chr(code) if legal else match[0]

    return _CODEPOINT.sub(character, text)


def string_value(text: str) -> str:
    """The characters that a STRING token stands for: quotes off, escapes replaced."""
    quotes = 3 if text[:3] in {'"""', "'''"} and len(text) >= 6 else 1
    inner = text[quotes:-quotes]
    if "\\" not in inner:
        return inner
    return _STRING_ESCAPE.sub(lambda match: _CHARACTERS.get(match[1], match[1]), inner)


def substitute(text: str, tokens: Sequence[Token], terms: Mapping[str, str]) -> str:
    """The text with each variable token of `terms` (names without `?`) replaced by its term.

    `terms` are written as SPARQL writes them; everything that is no variable token stays.
    """
    pieces: list[str] = []
    end = 0
    for token in tokens:
        if token.kind is Kind.VAR and token.text[1:] in terms:
            pieces += (text[end : token.start], terms[token.text[1:]])
            end = token.end
    return "".join(pieces) + text[end:]
