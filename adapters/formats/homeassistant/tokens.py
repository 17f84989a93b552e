"""Tokens of Home Assistant's templates.

Place on the way: `template` finds where an expression or statement begins, this reads it to its
end, `expression` makes a function of it.
"""

import re
from typing import NamedTuple

from adapters.values.fault import excerpt

MAX_TOKENS = 400


class TemplateError(ValueError):
    """A template that is beyond the safe part; the text says why."""


class Token(NamedTuple):
    """A number, text, name or sign, and where it stands."""

    kind: str
    text: str


_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,15}(?:\.\d{1,15})?)(?![\w.])"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<text>'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
    r"|(?P<sign>==|!=|<=|>=|//|\*\*|[-+*/%~|.,:()\[\]{}<>=]))",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def tokens(whole: str, position: int, end: str) -> tuple[list[Token], int]:
    """The tokens from `position` to the sign `end`, which is not in braces, and what is behind."""
    found: list[Token] = []
    depth = 0
    while True:
        if not depth and (stop := re.compile(rf"\s*-?{end}").match(whole, position)):
            return found, stop.end()
        token = _TOKEN.match(whole, position)
        if token is None or token.lastgroup is None:
            raise TemplateError(f"{excerpt(whole[position:])} is not understood")
        kind = token.lastgroup
        said = token.group(kind)
        depth += (said in "{[(") - (said in "}])") if kind == "sign" else 0
        found.append(Token(kind, _unquoted(said) if kind == "text" else said))
        if len(found) > MAX_TOKENS:
            raise TemplateError(f"more than {MAX_TOKENS} words and signs")
        position = token.end()


def _unquoted(quoted: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), quoted[1:-1])
