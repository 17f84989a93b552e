"""A JSAP file as it is written: JSON with the members of JSAP, both spellings of some.

Place: first step from a file to a `Profile`; nothing is expanded, merged or compiled here. Source:
JSAP of the SEPA project, as its specification, its clients and its shipped files have it. Members
that are not named here are free.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from jsap.errors import JsapError
from jsap.forced_bindings import BindingType


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_type(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
"""A list of texts, or one text alone."""


def _spelled(hyphened: str) -> Any:
    return Field(default=(), validation_alias=AliasChoices(hyphened, hyphened.replace("-", "_")))


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class GraphsPart(_Part):
    """`graphs`, with hyphens or with underscores."""

    default_graph_uri: Texts = _spelled("default-graph-uri")
    named_graph_uri: Texts = _spelled("named-graph-uri")
    using_graph_uri: Texts = _spelled("using-graph-uri")
    using_named_graph_uri: Texts = _spelled("using-named-graph-uri")


class Operation(_Part):
    """`query` or `update` of the SPARQL 1.1 Protocol."""

    path: str | None = None
    method: str | None = None
    format: str | None = None


class Sparql11Protocol(_Part):
    """`sparql11protocol`: where and how queries and updates are sent."""

    host: str | None = None
    protocol: str | None = None
    port: int | None = None
    query: Operation = Operation()
    update: Operation = Operation()


class Channel(_Part):
    """One of `availableProtocols`."""

    port: int | None = None
    path: str | None = None
    scheme: str | None = None


class Sparql11SeProtocol(_Part):
    """`sparql11seprotocol`: where subscriptions are opened; `channels` by name, `ws` or `wss`."""

    host: str | None = None
    protocol: str | None = None
    reconnect: bool = True
    channels: dict[str, Channel] = Field(default={}, validation_alias="availableProtocols")


class BindingPart(_Part):
    """One of `forcedBindings`."""

    binding_type: Annotated[BindingType, BeforeValidator(_as_type)] = Field(validation_alias="type")
    value: str | bool | int | Decimal | None = None
    datatype: str | None = None
    language: str | None = None


class EntryPart(_Part):
    """One of `updates` or `queries`."""

    sparql: str
    forced_bindings: dict[str, BindingPart] = Field(default={}, validation_alias="forcedBindings")
    graphs: GraphsPart = GraphsPart()
    sparql11protocol: Sparql11Protocol | None = None
    sparql11seprotocol: Sparql11SeProtocol | None = None


class ProfilePart(_Part):
    """A whole file."""

    host: str | None = None
    include: Texts = Field(default=(), validation_alias=AliasChoices("include", "#include"))
    sparql11protocol: Sparql11Protocol | None = None
    sparql11seprotocol: Sparql11SeProtocol | None = None
    graphs: GraphsPart = GraphsPart()
    namespaces: dict[str, str] = {}
    extended: Any = None
    updates: dict[str, EntryPart] = {}
    queries: dict[str, EntryPart] = {}


_REASONS = {
    "missing": "missing",
    "extra_forbidden": "unknown",
    "dict_type": "not an object",
    "model_type": "not an object",
    "tuple_type": "not a list",
    "string_type": "not a text",
    "bool_type": "neither true nor false",
}
"""Pydantic's words for Python's types, in JSON's."""

_WHAT_TO_DO = {"missing": "add it", "extra_forbidden": "correct or remove it"}


def read_json(text: str, source: str) -> Mapping[str, object]:
    """The members of a JSON object. Raises JsapError."""
    try:
        members = json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise JsapError(place, f"not JSON: {error.msg}", "correct it there", source) from error
    if not isinstance(members, dict):
        raise JsapError("", "not a JSON object", 'begin with {"queries": ...}', source)
    return members


def profile_part(members: Mapping[str, object], source: str) -> ProfilePart:
    """The members checked. Raises JsapError with the JSON path of the first that is wrong."""
    try:
        return ProfilePart.model_validate(members)
    except ValidationError as error:
        raise first_error(error, "", source) from error


def first_error(error: ValidationError, under: str, source: str) -> JsapError:
    """The first of pydantic's findings as ours; `under` is the JSON path of what was checked."""
    first = error.errors(include_url=False, include_context=False)[0]
    path = json_path(under, first["loc"])
    reason = _REASONS.get(first["type"], first["msg"])
    if first["type"] in _WHAT_TO_DO:
        return JsapError(path, reason, _WHAT_TO_DO[first["type"]], source)
    given = f"{_shown(first['input'])} is given"
    return JsapError(path, reason[:1].lower() + reason[1:], given, source)


def json_path(under: str, steps: tuple[int | str, ...]) -> str:
    """The path of a member.

    >>> json_path("extended", ("rules", 0, "qos"))
    'extended.rules[0].qos'
    """
    path = under
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix(".")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
