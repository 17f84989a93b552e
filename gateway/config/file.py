"""Where settings come from: gateway.toml and SOSA_GATEWAY_* variables, read once.

A setting's value is, first found wins, the environment variable SOSA_GATEWAY_SECTION__KEY, the
file's `[section] key`, the default in `gateway.config.settings`. Lists and tables in a variable are
JSON. gateway.example.toml shows every setting.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from gateway.config.settings import Config
from gateway.errors import ConfigurationError

ENVIRONMENT_PREFIX = "SOSA_GATEWAY_"

Location = tuple[str, ...]
"""The dotted path of a setting: section, key."""


def load_config(path: Path | None, environ: Mapping[str, str]) -> Config:
    """The settings of a gateway.toml (None: `./gateway.toml` if there is one) and of `environ`.

    Relative paths in it are taken from the file's folder. Raises ConfigurationError that names
    every wrong setting with its line or variable.
    """
    file = path if path is not None else Path("gateway.toml")
    text = _read(file) if path is not None or file.exists() else ""
    settings = _parse(text, file)
    variables = _overlay(settings, environ)
    try:
        return Config.model_validate(settings).at(file.parent)
    except ValidationError as error:
        faults = [_fault(each, text, file, variables) for each in error.errors()]
        raise ConfigurationError(
            "\n".join(faults), "gateway.example.toml shows every setting"
        ) from error


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"cannot read {file}: {error}", "name a readable TOML file with --config"
        ) from error


def _parse(text: str, file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{file}: {error}", "correct the TOML syntax") from error


def _overlay(settings: dict[str, object], environ: Mapping[str, str]) -> dict[Location, str]:
    """Put the variables over the file's settings; tells which variable gave which setting."""
    variables: dict[Location, str] = {}
    for name in sorted(environ):
        location = _location(name)
        if location is None:
            continue
        section, key = location
        table = settings.setdefault(section, {})
        if isinstance(table, dict):
            table[key] = _variable_value(environ[name], name)
            variables[location] = name
    return variables


def _location(name: str) -> Location | None:
    """(section, key) of a variable of ours; others, also SOSA_GATEWAY_SHARED, are not settings."""
    if not name.startswith(ENVIRONMENT_PREFIX):
        return None
    section, separator, key = name.removeprefix(ENVIRONMENT_PREFIX).lower().partition("__")
    if separator:
        return (section, key)
    for known in Config.model_fields:
        if section.startswith(f"{known}_"):
            variable = f"{ENVIRONMENT_PREFIX}{known}__{section.removeprefix(known)[1:]}".upper()
            raise ConfigurationError(
                f"environment variable {name}: not a setting", f"did you mean {variable}?"
            )
    return None


def _variable_value(text: str, name: str) -> object:
    if not text.startswith(("[", "{")):
        return text
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigurationError(
            f"environment variable {name}: {error}", "lists and tables are written as JSON"
        ) from error
    return value


def _fault(error: ErrorDetails, text: str, file: Path, variables: Mapping[Location, str]) -> str:
    """One line: where, which setting, what is wrong, what to do."""
    location = tuple(str(part) for part in error["loc"])
    if not location:  # sections that do not go together
        location = (str(error.get("ctx", {}).get("section", "")),)
    place = f"environment variable {variables.get(location[:2])}"
    if location[:2] not in variables:
        line = _line_of(location, text)
        wrong = [name for key, name in variables.items() if key[: len(location)] == location]
        place = f"{file}:{line}" if line else ", ".join([str(file), *wrong])
    return f"{place}: {'.'.join(location)}: {_reason(error, location)}"


def _reason(error: ErrorDetails, location: Location) -> str:
    if error["type"] == "extra_forbidden":
        return _unknown(location)
    if error["type"] == "model_type":
        return f"write it as a table [{location[0]}]"
    reason = error["msg"].removeprefix("Value error, ")
    if len(location) < 2 or location[1] not in _section(location[0]):
        return reason
    default = _section(location[0])[location[1]].default
    return f"{reason}; the default is {json.dumps(default, default=str)}"


def _unknown(location: Location) -> str:
    known = list(_section(location[0]) if len(location) > 1 else Config.model_fields)
    close = difflib.get_close_matches(location[-1], known, n=1)
    advice = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return f"unknown setting; {advice}"


def _section(name: str) -> Mapping[str, FieldInfo]:
    model = Config.model_fields[name].annotation
    return model.model_fields if isinstance(model, type) and issubclass(model, BaseModel) else {}


def _line_of(location: Location, text: str) -> int | None:
    """The 1-based line of a setting; of its table's header where the key is not found.

    tomllib keeps no positions; this reads headers and `key =` lines, good enough for a message.
    """
    table, found = "", None
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([\w.\-\"]+)\s*\]", line):
            table = header[1].replace('"', "")
            key = ""
        else:
            assigned = re.match(r"\s*([\w.\-\"]+)\s*=", line)
            key = assigned[1].replace('"', "") if assigned else "\0"
        here = ".".join(part for part in (table, key) if part)
        if here == ".".join(location):
            return number
        if ".".join(location).startswith(f"{here}."):
            found = number
    return found
