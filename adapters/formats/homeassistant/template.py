"""`ValueTemplate` and `CommandTemplate`: Home Assistant's templates as far as they are safe.

Place on the way: selectors and commands of the family, and discovery, which asks a person about
every template that this grammar does not have. Never Jinja: expressions are those of `expression`,
and around them stand texts and these statements:

    {{ expression }}    {% set name = expression %}    {% set name %} ... {% endset %}
    {% if expression %} ... {% elif expression %} ... {% else %} ... {% endif %}    {# ... #}
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from adapters.documents.json_path import ABSENT, Absent, JsonPath
from adapters.formats.homeassistant.expression import (
    MAX_NESTING,
    Parser,
)
from adapters.formats.homeassistant.operands import Evaluate, Scope
from adapters.formats.homeassistant.operations import (
    BareText,
    NoValueError,
    Value,
    bounded,
    failed,
    text,
    truth,
)
from adapters.formats.homeassistant.tokens import TemplateError, Token, tokens
from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.payload import Json, Payload
from adapters.values.result import (
    STRING,
    Result,
    captured_result,
    forced_string_result,
    json_result,
)

MAX_TEMPLATE_CHARS = 4096
MAX_STATEMENTS = 64

_TAG = re.compile(r"\{(?:\{|%|#)-?")
_END = {"{{": r"\}\}", "{%": r"%\}"}
_PLAIN_MEMBER = re.compile(
    r"\s*\{\{-?\s*value_json(?P<path>(?:\.[A-Za-z_]\w*|\[(?:\d{1,6}|'[^'\\]*'|\"[^\"\\]*\")\])+)"
    r"(?:\s*\|\s*is_defined)?\s*-?\}\}\s*"
)
_PLAIN_VALUE = re.compile(r"\s*\{\{-?\s*value\s*-?\}\}\s*")

Read = Callable[[Payload], Result | Fault]


@dataclass(frozen=True, slots=True)
class ValueTemplate:
    """A compiled template that reads a state.

    >>> from datetime import UTC, datetime
    >>> from adapters.values.message import Message
    >>> template = ValueTemplate.compile("{{ value_json.t | float / 10 | round(1) }}")
    >>> template.evaluate(Payload(Message("x", b'{"t": 215}', datetime.now(UTC)))).lexical
    '21.5'
    """

    evaluate: Read

    @classmethod
    def compile(cls, template: str, *, as_word: bool = False) -> "ValueTemplate":
        """Parse a template, whose result stays a text if `as_word`; raises TemplateError."""
        if len(template) <= MAX_TEMPLATE_CHARS and not as_word:
            if _PLAIN_VALUE.fullmatch(template):
                return cls(_bare)
            plain = _PLAIN_MEMBER.fullmatch(template)
            if plain is not None and "__" not in plain["path"]:
                return cls(_member(plain["path"]))
        render = _compiled(template, frozenset({"value", "value_json"}))
        return cls(lambda payload: _read(render, payload, _word if as_word else _typed))


_COMMANDED = frozenset(
    {
        *("value", "brightness", "color_temp", "effect", "flash", "transition"),
        *("red", "green", "blue", "hue", "sat"),
    }
)
"""Names of commands; only the value is ever told, whether others are defined may be asked."""


@dataclass(frozen=True, slots=True)
class CommandTemplate:
    """A compiled template that writes a command.

    >>> CommandTemplate.compile("{{ 1 if value == 'on' else 0 }}").render("on")
    '1'
    """

    _render: "_Render"

    @classmethod
    def compile(cls, template: str) -> "CommandTemplate":
        """Parse a template; raises TemplateError."""
        return cls(_compiled(template, _COMMANDED, is_command=True))

    def render(self, value: Json) -> str:
        """The payload for a value; raises ValueError where the template finds none."""
        try:
            told = text(self._render({"value": lambda: value})).strip()
        except NoValueError as error:
            raise ValueError(f"the template of the command: {error}") from error
        if not told:
            raise ValueError("the template of the command makes nothing of it")
        return told


def _bare(payload: Payload) -> Result | Fault:
    told = payload.text()
    return told if isinstance(told, Fault) else captured_result(told)


def _member(path: str) -> Read:
    compiled = JsonPath.compile("$" + path)

    def evaluate(payload: Payload) -> Result | Fault:
        document = payload.document()
        if isinstance(document, Fault):
            return document
        value = compiled.find(document)
        if value is ABSENT:
            return Fault(None, FaultReason.MISSING, "the payload has no such member")
        return json_result(value)

    return evaluate


def _typed(value: Json) -> Result | Fault:
    if value == "":
        return Fault(None, FaultReason.MISSING, "the template says nothing of this message")
    return captured_result(value) if type(value) is BareText else json_result(value)


def _word(value: Json) -> Result | Fault:
    """A word in the letters of the device; what JSON has for true and false as it has them."""
    if isinstance(value, bool):
        return Result("true" if value else "false", STRING)
    if value is None or not isinstance(value, str):
        return json_result(value)
    return forced_string_result(value) if value else _typed(value)


def _read(
    render: "_Render", payload: Payload, typed: Callable[[Json], Result | Fault]
) -> Result | Fault:
    try:
        value = render(payload.once(_names))
    except NoValueError as error:
        return error.fault
    if isinstance(value, Absent):
        return Fault(None, FaultReason.MISSING, "the payload has no such member")
    return typed(value)


def _names(payload: Payload) -> Scope:
    """What every template of a message may name."""

    def bare() -> Value:
        told = payload.text()
        return failed(told) if isinstance(told, Fault) else BareText(told)

    def document() -> Value:
        told = payload.document()
        return failed(told) if isinstance(told, Fault) else told

    return {"value": bare, "value_json": document}


_Render = Callable[[Scope], Value]

_Bound = dict[str, Callable[[], Value]]
_Piece = Callable[[_Bound], Value]
"""A text or statement, which may bind names; an empty text where it prints nothing."""

_NOTHING = BareText()


def _compiled(template: str, names: frozenset[str], *, is_command: bool = False) -> _Render:
    if len(template) > MAX_TEMPLATE_CHARS:
        raise TemplateError(f"longer than {MAX_TEMPLATE_CHARS} characters")
    statements = _Statements(template, names, is_command)
    pieces, _ = statements.block(())
    if not statements.has_expressions and not is_command:
        raise TemplateError("a template has an {{ expression }}")
    if len(pieces) == 1:
        return cast(_Render, pieces[0])
    return lambda scope: _printed(pieces, dict(scope))


def _printed(pieces: Sequence[_Piece], names: _Bound) -> Value:
    """What the pieces print: the value itself where only one of them prints something."""
    found = [each(names) for each in pieces]
    told = [value for value in found if not _is_blank(value)]
    if len(told) == 1:
        return BareText(told[0].strip()) if type(told[0]) is BareText else told[0]
    return BareText(bounded("".join(map(text, found))).strip()) if told else _NOTHING


def _is_blank(value: Value) -> bool:
    return type(value) is BareText and not value.strip()


def _or_nothing(evaluate: Evaluate) -> _Piece:
    """What is not defined prints nothing, as in Jinja: in a state it would be no reading."""

    def piece(names: _Bound) -> Value:
        value = evaluate(names)
        return _NOTHING if isinstance(value, Absent) else value

    return piece


class _Statements:
    """The statements of one template, read from its beginning."""

    def __init__(self, template: str, names: frozenset[str], is_command: bool) -> None:
        self._template = template
        self._names = names
        self._is_command = is_command
        self._position = 0
        self._count = 0
        self._nesting = 0
        self.has_expressions = False

    def block(self, ends: tuple[str, ...]) -> tuple[list[_Piece], list[Token]]:
        """The pieces up to a statement that begins with one of `ends`, and that statement."""
        pieces: list[_Piece] = []
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise TemplateError(f"nested more than {MAX_NESTING} deep")
        while (tag := _TAG.search(self._template, self._position)) is not None:
            self._count += 1
            if self._count > MAX_STATEMENTS:
                raise TemplateError(f"more than {MAX_STATEMENTS} statements")
            self._text(pieces, tag.start(), is_trimmed=tag[0].endswith("-"))
            self._position = tag.end()
            if tag[0].startswith("{#"):
                self._comment()
                continue
            found = self._tokens(tag[0][:2])
            if tag[0].startswith("{%") and found and found[0].text in ends:
                self._nesting -= 1
                return pieces, found
            pieces.append(self._statement(tag[0], found))
        if ends:
            raise TemplateError(f"{ends[-1]} is missing")
        self._text(pieces, len(self._template), is_trimmed=False)
        return pieces, []

    def _text(self, pieces: list[_Piece], end: int, *, is_trimmed: bool) -> None:
        told = self._template[self._position : end]
        if self._template[: self._position].endswith(("-}}", "-%}")):
            told = told.lstrip()
        constant = BareText(told.rstrip() if is_trimmed else told)
        if constant:
            pieces.append(lambda names: constant)  # noqa: ARG005

    def _comment(self) -> None:
        end = self._template.find("#}", self._position)
        if end < 0:
            raise TemplateError("#} is missing")
        self._position = end + 2

    def _tokens(self, tag: str) -> list[Token]:
        found, self._position = tokens(self._template, self._position, _END[tag])
        return found

    def _statement(self, tag: str, found: list[Token]) -> _Piece:
        if tag.startswith("{{"):
            self.has_expressions = True
            evaluate = self._expression(found)
            return _or_nothing(evaluate) if self._is_command else evaluate
        word = found[0].text if found else ""
        if word == "if":
            self.has_expressions = True
            return self._if(found[1:])
        if word == "set" and len(found) > 1 and found[1].kind == "name":
            return self._set(found[1].text, found[2:])
        raise TemplateError(f"the statement {excerpt(word)} is not known")

    def _expression(self, found: list[Token]) -> Evaluate:
        return Parser(found, self._names, is_condition=self._is_command).parse()

    def _set(self, name: str, found: list[Token]) -> _Piece:
        if found:
            if found[0].text != "=":
                raise TemplateError("set needs one name and =")
            evaluate = self._expression(found[1:])
        else:
            pieces, _ = self.block(("endset",))
            evaluate = lambda names: _printed(pieces, dict(names))  # noqa: E731
        self._names |= {name}

        def bind(names: _Bound) -> Value:
            value = evaluate(names)
            names[name] = lambda: value
            return _NOTHING

        return bind

    def _if(self, found: list[Token]) -> _Piece:
        branches: list[tuple[Evaluate, list[_Piece]]] = []
        otherwise: list[_Piece] = []
        while found is not None:
            condition = Parser(found, self._names, is_condition=True).parse()
            pieces, end = self.block(("elif", "else", "endif"))
            branches.append((condition, pieces))
            if end[0].text == "else":
                otherwise, end = self.block(("endif",))
            if end[0].text == "endif":
                break
            found = end[1:]

        def choose(names: _Bound) -> Value:
            for condition, pieces in branches:
                if truth(condition(names)):
                    return _printed(pieces, names)
            return _printed(otherwise, names)

        return choose
