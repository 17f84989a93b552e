"""A JSAP file as it is written: JSON with the members of JSAP, both spellings of some.

Place: first step from a file to a `Profile`; nothing is expanded, merged or compiled here. Source:
JSAP of the SEPA project, as its specification, its clients and its shipped files have it; `at` and
`delay` of an update, `windows`, `output`, `mode`, `gateways` and `absent` of a query are ours.
Members that are not named here are free.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import ErrorDetails

from jsap.compatibility import put_right
from jsap.errors import JsapError
from jsap.forced_bindings import BindingType


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


Texts = tuple[str, ...]
Port = Annotated[int, Field(ge=1, le=65535)]


class Method(Enum):
    """How an operation of the SPARQL 1.1 Protocol is sent."""

    GET = "GET"
    POST = "POST"
    URL_ENCODED_POST = "URL_ENCODED_POST"


class Scheme(Enum):
    """The protocol of queries and updates."""

    HTTP = "http"
    HTTPS = "https"


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
    method: Annotated[Method, BeforeValidator(_upper)] | None = None
    format: str | None = None


class Sparql11Protocol(_Part):
    """`sparql11protocol`: where and how queries and updates are sent."""

    host: str | None = None
    protocol: Annotated[Scheme, BeforeValidator(_lower)] | None = None
    port: Port | None = None
    query: Operation = Operation()
    update: Operation = Operation()


class Channel(_Part):
    """One of `availableProtocols`; what else it has depends on the protocol, and is kept."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    host: str | None = None
    port: Port | None = None
    path: str | None = None
    scheme: str | None = None


class Sparql11SeProtocol(_Part):
    """`sparql11seprotocol`: where subscriptions are opened; `channels` by name: ws, wss, mqtt."""

    host: str | None = None
    protocol: str | None = None
    reconnect: bool | None = None
    channels: dict[str, Channel] = Field(default={}, validation_alias="availableProtocols")


def _seconds(value: object) -> object:
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return value
    try:
        return timedelta(seconds=float(value))
    except OverflowError as error:
        raise ValueError("more seconds than there is time") from error


Delay = Annotated[timedelta, BeforeValidator(_seconds), Field(ge=timedelta(0))]
"""Seconds, or an ISO 8601 duration, `PT30S`."""


class BindingPart(_Part):
    """One of `forcedBindings`."""

    binding_type: Annotated[BindingType, BeforeValidator(_lower)] = Field(validation_alias="type")
    value: str | bool | int | Decimal | None = None
    datatype: str | None = None
    language: str | None = None


class EntryPart(_Part):
    """One of `updates` or `queries`."""

    sparql: str
    host: str | None = None
    forced_bindings: dict[str, BindingPart] = Field(default={}, validation_alias="forcedBindings")
    graphs: GraphsPart = GraphsPart()
    sparql11protocol: Sparql11Protocol | None = None
    sparql11seprotocol: Sparql11SeProtocol | None = None
    at: AwareDatetime | None = None
    delay: Delay | None = None
    infer: bool | None = None
    windows: dict[str, dict[str, Any]] = {}
    output: Literal["changes", "added", "removed", "whole"] | None = None
    mode: Literal["union", "event", "each"] | None = None
    gateways: Literal["all"] | list[str] | None = None
    absent: Literal["keep", "drop"] | None = None


class Registration(_Part):
    """`registration` of `oauth`, new style."""

    endpoint: str | None = None
    client_id: str | None = None
    username: str | None = None
    initial_access_token: str | None = Field(
        default=None, validation_alias="initialAccessToken", repr=False
    )


class Authentication(_Part):
    """`authentication` of `oauth`, new style."""

    endpoint: str | None = None
    client_id: str | None = None
    client_secret: str | None = Field(default=None, repr=False)


class OAuthPart(_Part):
    """`oauth`: URLs in `register` and `tokenRequest` (old), or in objects of their own (new)."""

    enable: bool = False
    provider: str | None = None
    register_url: str | None = Field(default=None, validation_alias="register")
    token_request: str | None = Field(default=None, validation_alias="tokenRequest")
    client_id: str | None = None
    client_secret: str | None = Field(default=None, repr=False)
    registration: Registration | None = None
    authentication: Authentication | None = None


class ProfilePart(_Part):
    """A whole file."""

    host: str | None = None
    include: Texts = Field(default=(), validation_alias=AliasChoices("include", "#include"))
    sparql11protocol: Sparql11Protocol | None = None
    sparql11seprotocol: Sparql11SeProtocol | None = None
    oauth: OAuthPart | None = None
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
    "timezone_aware": "a time without its zone",
}
"""Pydantic's words for Python's types, in JSON's."""

_WHAT_TO_DO = {"missing": "add it", "extra_forbidden": "correct or remove it"}


def read_json(text: str, source: str) -> Mapping[str, object]:
    """The members of a JSON object. Raises JsapError."""
    try:
        members = json.loads(text, parse_float=_number)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise JsapError(place, f"not JSON: {error.msg}", "correct it there", source) from error
    except RecursionError as error:
        raise JsapError("", "nested too deeply", "write it flatter", source) from error
    except ValueError as error:
        raise JsapError("", f"not JSON: {error}", "write shorter numbers", source) from error
    if not isinstance(members, dict):
        raise JsapError("", "not a JSON object", 'begin with {"queries": ...}', source)
    return members


def _number(text: str) -> Decimal:
    """A number that can be written out; one of a million digits would fill the memory."""
    try:
        number = Decimal(text)
    except InvalidOperation as error:  # an exponent of twenty digits
        raise ValueError(f"{text[:40]} is no number that can be written out") from error
    if number and abs(number.adjusted()) > _MAX_DIGITS:
        raise ValueError(f"{text[:40]} has more than {_MAX_DIGITS} digits")
    return number


def profile_part(members: Mapping[str, object], source: str) -> tuple[ProfilePart, list[str]]:
    """The members checked, and what of them was put right, as warnings.

    Raises JsapError with the JSON path of the first that is wrong.
    """
    for path in _unwritable(members, ""):
        reason = "half of a surrogate pair, no character"
        raise JsapError(path, reason, r"write \ud83d\ude00, or the character itself", source)
    right, warnings = put_right(members)
    try:
        part = ProfilePart.model_validate(right)
        return part, [*warnings, *_misspelt(right)]
    except ValidationError as error:
        raise first_error(error, "", source) from error


def _misspelt(members: Mapping[str, object]) -> Iterator[str]:
    """Members are free, so one that is nearly one of JSAP's can only be warned of."""
    yield from _nearly(members, ProfilePart, "")
    for group in ("updates", "queries"):
        entries = members.get(group)
        for key, entry in entries.items() if isinstance(entries, Mapping) else ():
            yield from _nearly(entry, EntryPart, f"{group}.{key}.")


def _nearly(members: object, model: type[_Part], under: str) -> Iterator[str]:
    known = _written(model)
    for name in members if isinstance(members, Mapping) else ():
        near = [] if name in known else get_close_matches(name, known, n=1, cutoff=0.85)
        if near:
            yield f"{under}{name}: no member of JSAP, so it says nothing; did you mean {near[0]}?"


@cache
def _written(model: type[_Part]) -> frozenset[str]:
    """The members of a part as files write them."""
    names: set[str] = set()
    for name, member in model.model_fields.items():
        alias = member.validation_alias
        names |= {name, *map(str, alias.choices if isinstance(alias, AliasChoices) else [alias])}
    return frozenset(names)


def _unwritable(value: object, path: str) -> Iterator[str]:
    """Paths of texts that no UTF-8, so no request and no store, can have."""
    if isinstance(value, str):
        if not _SURROGATE.isdisjoint(value):
            yield path
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _unwritable(key, path)
            yield from _unwritable(member, f"{path}.{key}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _unwritable(item, f"{path}[{index}]")


_MAX_DIGITS = 1000
_SURROGATE = frozenset(map(chr, range(0xD800, 0xE000)))


def first_error(
    error: ValidationError, under: str, source: str, known: Sequence[str] = ()
) -> JsapError:
    """Pydantic's findings as ours, the first with the others.

    `under` is the JSON path of what was checked, `known` are the members that it may have.
    """
    found = error.errors(include_url=False, include_context=False)
    first, *others = [_error_of(each, under, source, known) for each in found]
    return first.with_others(others)


def _error_of(found: ErrorDetails, under: str, source: str, known: Sequence[str]) -> JsapError:
    path = json_path(under, found["loc"])
    reason = _REASONS.get(found["type"], found["msg"].removeprefix("Value error, "))
    near = get_close_matches(str(found["loc"][-1]), known, n=1) if found["loc"] else []
    if near and found["type"] == "extra_forbidden":
        return JsapError(path, reason, f"did you mean {near[0]}?", source)
    if found["type"] in _WHAT_TO_DO:
        return JsapError(path, reason, _WHAT_TO_DO[found["type"]], source)
    given = f"{_shown(found['input'])} is given"
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
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
