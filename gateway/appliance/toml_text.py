"""A TOML document written from its values, as `tomllib` reads it back. Source: TOML 1.0.0.

The standard library only reads TOML. Comments are not kept: who writes what somebody else wrote
says so.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from math import isinf, isnan

_DELETE = {0x7F: "\\u007F"}
"""The one character that a JSON string may have and a TOML string may not."""


def toml_of(document: Mapping[str, object]) -> str:
    """The text; linear in what it holds.

    >>> print(toml_of({"name": "a", "http": {"port": 80, "hosts": ["b"]}}), end="")
    name = "a"
    <BLANKLINE>
    [http]
    port = 80
    hosts = ["b"]
    """
    return "".join(f"{line}\n" for line in _lines(document, ()))


def _lines(table: Mapping[str, object], path: tuple[str, ...]) -> Iterator[str]:
    """First what is not a table, which would else belong to the last one."""
    if path:
        yield ""
        yield f"[{'.'.join(map(_key, path))}]"
    for name, value in table.items():
        if not isinstance(value, dict):
            yield f"{_key(name)} = {_value(value)}"
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _lines(value, (*path, name))


def _key(name: str) -> str:
    is_bare = name.isascii() and name and all(sign.isalnum() or sign in "_-" for sign in name)
    return name if is_bare else _text(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(name)} = {_value(each)}' for name, each in value.items())}}}"
    return _text(str(value))


def _float(value: float) -> str:
    if isnan(value):
        return "nan"
    return ("inf" if value > 0 else "-inf") if isinf(value) else repr(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_DELETE)
