"""A lexer for SPARQL 1.1 Query and Update.

Place: text of a template or request → tokens → term-level substitution here, and the gateway's
parser. Source: SPARQL 1.1 Query Language (W3C 2013), section 19: terminals [139] to [173],
comments (19.4) and codepoint escapes (19.2).

Each token is the longest match. Left to the parser: the sign of a number is a PUNCT (`?x-1` is a
subtraction, `(-1 1)` a list), as are both halves of `()` and `[]`. Two readings of the standard:

- An escape `\\u0022` inside a string or an IRI stands for that character and ends nothing, as in
  SPARQL 1.2 and in Oxigraph; elsewhere it is decoded before the text is divided into tokens.
- `?a<?b&&?c>?d` has the IRI `<?b&&?c>` in it, by the rule of the longest match: write spaces.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, NoReturn


class TokenKind(Enum):
    """What a token is; the value is for error messages.

    WORD is a bare name: a keyword, `a`, `true`, the name of a built-in.
    """

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
    """`text` as it stands in the source from `start` to `end`, in characters.

    A STRING has its quotes and escapes, a VAR its `?` or `$`, a LANGTAG its `@`. Only codepoint
    escapes outside strings and IRIs are decoded in `text`; `start` and `end` count them undecoded.
    """

    kind: TokenKind
    text: str
    start: int
    end: int


class LexError(ValueError):
    """No token begins at `offset`, in characters; `line` and `column` count from 1."""

    def __init__(self, reason: str, text: str, offset: int) -> None:
        self.reason = reason
        self.offset = offset
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - text.rfind("\n", 0, offset)
        super().__init__(f"{reason} at line {self.line}, column {self.column}")


_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_CHARS_U = f"{_BASE}_"
_VAR_CHARS = rf"{_CHARS_U}0-9\u00b7\u0300-\u036f\u203f-\u2040"
_CHARS = rf"{_VAR_CHARS}\-"
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
LOCAL_NAME = (
    rf"(?:[{_CHARS_U}:0-9]|{_PLX})(?:[{_CHARS}:]|{_PLX})*+(?:\.++(?:[{_CHARS}:]|{_PLX})++)*+"
)
_HEX = "[0-9A-Fa-f]"
_UCHAR_4 = rf"(?:[0-9A-CEFa-cef]{_HEX}{{3}}|[Dd][0-7]{_HEX}{{2}})"
_UCHAR = rf"\\u{_UCHAR_4}|\\U0000{_UCHAR_4}|\\U00(?:0[1-9A-Fa-f]|10){_HEX}{{4}}"
ESCAPED_CHAR = r"""\\[tbnrf"'\\]"""
_ESCAPE = rf"{ESCAPED_CHAR}|{_UCHAR}"
_STRING = (
    rf"'''(?:'{{0,2}}(?:[^'\\]|{_ESCAPE}))*+'''"
    rf'|"""(?:"{{0,2}}(?:[^"\\]|{_ESCAPE}))*+"""'
    rf"|'(?:[^'\\\n\r]++|{_ESCAPE})*+'"
    rf'|"(?:[^"\\\n\r]++|{_ESCAPE})*+"'
)
_IRIREF = rf'<(?:[^\x00-\x20<>"{{}}|^`\\]++|{_UCHAR})*+>'
_IGNORED = r"(?:[ \t\r\n]++|#[^\r\n]*+)*+"

PREFIXED_NAME = rf"(?:[{_BASE}][{_CHARS}]*+(?:\.++[{_CHARS}]++)*+)?:(?:{LOCAL_NAME})?"
LANGTAG = r"@[A-Za-z]++(?:-[A-Za-z0-9]++)*+"

# The order counts where two terminals begin alike: `a:b` before `a`, `.5` before `.`.
_TERMINALS = {
    TokenKind.VAR: rf"[?$][{_CHARS_U}0-9][{_VAR_CHARS}]*+",
    TokenKind.PNAME: PREFIXED_NAME,
    TokenKind.WORD: r"[A-Za-z][A-Za-z0-9_]*+",
    TokenKind.DOUBLE: r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)[eE][+-]?[0-9]++",
    TokenKind.DECIMAL: r"[0-9]*+\.[0-9]++",
    TokenKind.INTEGER: r"[0-9]++",
    TokenKind.IRIREF: _IRIREF,
    TokenKind.PUNCT: rf"\^\^|\|\||&&|!=|<=|>=|<(?!{_IRIREF})<|>>|[{{}}()\[\].;,^/|?*+\-!=<>]",
    TokenKind.STRING: _STRING,
    TokenKind.LANGTAG: LANGTAG,
    TokenKind.BNODE: rf"_:[{_CHARS_U}0-9][{_CHARS}]*+(?:\.++[{_CHARS}]++)*+",
}
_KINDS: list[TokenKind | None] = [None, *_TERMINALS, None]
_TOKEN = re.compile(
    rf"{_IGNORED}(?:{'|'.join(f'({terminal})' for terminal in _TERMINALS.values())}|\Z|(.))",
    re.DOTALL,
)
_ESCAPED_NAME = re.compile(rf"{_STRING}|{_IRIREF}|#[^\r\n]*+|\\[^uU]|({_UCHAR})|(['\"])")
_CODEPOINT = re.compile(_UCHAR)
_HAS_CODEPOINT = re.compile(r"\\[uU]")
_STRING_ESCAPE = re.compile(r"\\(?:u(.{4})|U(.{8})|(.))")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}

_new = tuple.__new__


def tokenize(text: str) -> list[Token]:
    """The tokens of `text`, white space and comments left out; linear in its length.

    Raises LexError where no token begins.

    >>> [token.text for token in tokenize("?s a:b 'x'@en . # end")]
    ['?s', 'a:b', "'x'", '@en', '.']
    """
    if _HAS_CODEPOINT.search(text):
        return _tokenize_escaped(text)
    return _tokens(text)


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    add, kinds, new = tokens.append, _KINDS, _new
    for match in _TOKEN.finditer(text):
        index = match.lastindex
        if index is None:
            break
        kind = kinds[index]
        start, end = match.span(index)
        if kind is None:
            _refuse(text, start)
        add(new(Token, (kind, text[start:end], start, end)))
    return tokens


def _refuse(text: str, offset: int) -> NoReturn:
    char = text[offset]
    if char in "'\"":
        raise LexError("a string that does not end, or has an unknown escape", text, offset)
    raise LexError(f"{char!r} begins no token of SPARQL", text, offset)


def _tokenize_escaped(text: str) -> list[Token]:
    """As `tokenize`, with codepoint escapes outside strings, IRIs and comments decoded first."""
    pieces: list[str] = []
    places, shifts = [0], [0]
    done = length = 0
    for match in _ESCAPED_NAME.finditer(text):
        if match[2]:
            break  # a malformed string, which decoding must not make whole
        if not match[1]:
            continue
        pieces += (text[done : match.start()], chr(int(match[1][2:], 16)))
        length += match.start() - done + 1
        done = match.end()
        places.append(length)
        shifts.append(done - length)
    pieces.append(text[done:])

    def original(offset: int) -> int:
        return offset + shifts[bisect_right(places, offset) - 1]

    try:
        tokens = _tokens("".join(pieces))
    except LexError as error:
        raise LexError(error.reason, text, original(error.offset)) from error
    return [Token(kind, name, original(i), original(j)) for kind, name, i, j in tokens]


def unescape_codepoints(text: str) -> str:
    r"""Replace `\uXXXX` and `\UXXXXXXXX` wherever they stand, in strings too (19.2).

    Surrogates and numbers beyond Unicode stay as they are; they are no characters.
    """
    return _CODEPOINT.sub(lambda match: chr(int(match[0][2:], 16)), text)


def string_value(token_text: str) -> str:
    r"""The characters that a STRING token stands for.

    >>> string_value(r"'''it\'s \u00e9'''")
    "it's é"
    """
    quotes = 3 if token_text[:3] in {"'''", '"""'} else 1
    value = token_text[quotes:-quotes]
    return _STRING_ESCAPE.sub(_unescaped, value) if "\\" in value else value


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(match[3], match[3])


def substitute(text: str, tokens: Sequence[Token], rendered: Mapping[str, str]) -> str:
    """`text` with each variable named in `rendered`, without `?`, replaced by that text.

    `tokens` are those of `text`. Only VAR tokens change: nothing in a string, comment or IRI.

    >>> substitute("?o-1 < ?oo", tokenize("?o-1 < ?oo"), {"o": '"a"@en'})
    '"a"@en -1 < ?oo'
    """
    return splice(
        text,
        (
            (token.start, token.end, rendered[token.text[1:]])
            for token in tokens
            if token.kind is TokenKind.VAR and token.text[1:] in rendered
        ),
    )


def splice(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """`text` with each span `start`, `end` replaced; spans are in order and do not overlap.

    A space is put where a replacement would grow together with its neighbour, `@en` with `-1`.
    """
    pieces: list[str] = []
    done = 0
    for start, end, replacement in edits:
        pieces += (text[done:start], _gap(text, start - 1), replacement, _gap(text, end))
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _gap(text: str, offset: int) -> str:
    return "" if not 0 <= offset < len(text) or text[offset] in " \t\r\n" else " "
