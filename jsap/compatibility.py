"""What shipped profiles write otherwise than JSAP says, put right with a warning for each.

Place: between the JSON of a file and its checked members (`file_format`). Source: facts about the
profiles of the SEPA project: numbers for texts, one text for a list, `wss` without `scheme`, which
the reference client takes for `ws`, and the form of 2018 (`format_2018`).
"""

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum, auto
from typing import TypeAlias

from jsap.format_2018 import converted, is_of_2018


class _Wanted(Enum):
    TEXT = auto()
    TEXTS = auto()


_EVERY = "*"
"""The key of a shape that all members have."""

_Shape: TypeAlias = "_Wanted | Mapping[str, _Shape]"


def _both(name: str) -> dict[str, _Shape]:
    return {name: _Wanted.TEXTS, name.replace("-", "_"): _Wanted.TEXTS}


def _texts(*names: str) -> dict[str, _Shape]:
    return dict.fromkeys(names, _Wanted.TEXT)


_GRAPHS: _Shape = {
    **_both("default-graph-uri"),
    **_both("named-graph-uri"),
    **_both("using-graph-uri"),
    **_both("using-named-graph-uri"),
}
_OPERATION: _Shape = _texts("path", "method", "format")
_SPARQL: _Shape = {**_texts("host", "protocol"), "query": _OPERATION, "update": _OPERATION}
_SE: _Shape = {
    **_texts("host", "protocol"),
    "availableProtocols": {_EVERY: _texts("path", "scheme", "host")},
}
_BINDINGS: _Shape = {_EVERY: _texts("datatype", "language")}
_PROTOCOLS: dict[str, _Shape] = {"sparql11protocol": _SPARQL, "sparql11seprotocol": _SE}
_ENTRY: _Shape = {
    "host": _Wanted.TEXT,
    "graphs": _GRAPHS,
    "forcedBindings": _BINDINGS,
    **_PROTOCOLS,
}
_OAUTH_TEXTS = ("client_id", "client_secret", "jwt", "expires", "type")
_OAUTH: _Shape = {
    **_texts("register", "tokenRequest", "provider", *_OAUTH_TEXTS),
    "registration": _texts("endpoint", "client_id", "username", "initialAccessToken"),
    "authentication": _texts("endpoint", *_OAUTH_TEXTS),
}
_PROFILE: dict[str, _Shape] = {
    "host": _Wanted.TEXT,
    "include": _Wanted.TEXTS,
    "#include": _Wanted.TEXTS,
    "graphs": _GRAPHS,
    "oauth": _OAUTH,
    "namespaces": {_EVERY: _Wanted.TEXT},
    "updates": {_EVERY: _ENTRY},
    "queries": {_EVERY: _ENTRY},
    **_PROTOCOLS,
}


def put_right(members: Mapping[str, object]) -> tuple[Mapping[str, object], list[str]]:
    """The members as JSAP wants them, and a warning for each change; `members` stay as they are.

    >>> put_right({"host": 7, "include": "more.jsap"})[0]
    {'host': '7', 'include': ['more.jsap']}
    """
    warnings: list[str] = []
    if is_of_2018(members):
        members = converted(members)
        warnings.append("parameters: the form of 2018; converted")
    return _members(members, _PROFILE, "", warnings), warnings


def _put_right(value: object, shape: _Shape, path: str, warnings: list[str]) -> object:
    if isinstance(shape, _Wanted):
        wanted = _list if shape is _Wanted.TEXTS else _text
        return wanted(value, path, warnings)
    return _members(value, shape, path, warnings) if isinstance(value, Mapping) else value


def _members(
    members: Mapping[str, object], shape: Mapping[str, _Shape], path: str, warnings: list[str]
) -> dict[str, object]:
    if path.endswith("availableProtocols"):
        _warn_of_wss(members, path, warnings)
    return {
        key: _put_right(member, inner, f"{path}.{key}".removeprefix("."), warnings)
        if (inner := shape.get(key, shape.get(_EVERY))) is not None
        else member
        for key, member in members.items()
    }


def _list(value: object, path: str, warnings: list[str]) -> object:
    if isinstance(value, str):
        warnings.append(f"{path}: write a list of texts")
        return [value]
    return value


def _text(value: object, path: str, warnings: list[str]) -> object:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        warnings.append(f"{path}: write it as a text")
        return str(value)
    return value


def _warn_of_wss(channels: Mapping[str, object], path: str, warnings: list[str]) -> None:
    wss = channels.get("wss")
    if isinstance(wss, Mapping) and wss.get("scheme") is None:
        warnings.append(f"{path}.wss: no scheme; wss is taken, some clients take ws")
