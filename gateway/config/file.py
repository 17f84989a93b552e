"""Where settings come from: gateway.toml and SOSA_GATEWAY_* variables, read once.

A setting's value is, first found wins, the environment variable SOSA_GATEWAY_SECTION__KEY, the
file's `[section] key`, the default in `gateway.config.settings`. Lists and tables in a variable are
JSON. gateway.example.toml shows every setting.
"""

import difflib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from gateway.config.settings import SHIPPED_PROFILES, Config
from gateway.errors import ConfigurationError

ENVIRONMENT_PREFIX = "SOSA_GATEWAY_"

_SAFETY = {"tls", "security"}
"""Sections by which it is judged what others may say."""

Location = tuple[str, ...]
"""The dotted path of a setting: section, key."""


def load_config(path: Path | None, environ: Mapping[str, str]) -> Config:
    """The settings of a gateway.toml (None: `./gateway.toml` if there is one) and of `environ`.

    Relative paths in it are taken from the file's folder. Raises ConfigurationError that names
    every wrong setting with its line or variable.
    """
    given = Given.read(path, environ)
    try:
        return given.config()
    except ValidationError as error:
        faults = "\n".join(map(str, given.faults(error)))
        raise ConfigurationError(faults, "gateway.example.toml shows every setting") from error


def settings_file(path: Path | None) -> Path | None:
    """The file that `load_config` reads; None where there is none."""
    file = path if path is not None else Path("gateway.toml")
    return file.absolute() if path is not None or file.exists() else None


class Fault(NamedTuple):
    """A wrong setting: where it is, with its path, and what is wrong with it and what to do."""

    place: str
    reason: str
    section: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Given:
    """What was written as settings, right or wrong: a file's text, and the variables over it."""

    file: Path
    text: str
    settings: dict[str, object]
    variables: Mapping[Location, str]

    @classmethod
    def read(cls, path: Path | None, environ: Mapping[str, str]) -> Self:
        """As `load_config` takes it. Raises ConfigurationError for what cannot be read at all."""
        file = path if path is not None else Path("gateway.toml")
        text = _read(file) if path is not None or file.exists() else ""
        settings = _parse(text, file)
        return cls(file, text, settings, _overlay(settings, environ))

    def config(self) -> Config:
        """The settings. Raises ValidationError."""
        return Config.model_validate(self.settings).at(self.file.parent)

    def place(self, *location: str) -> str:
        """Where a setting was written, and its path: `gateway.toml:3: http.port`."""
        return f"{self._source(location)}: {'.'.join(location)}"

    def faults(self, error: ValidationError) -> list[Fault]:
        """What is wrong."""
        return [self._fault(each) for each in error.errors()]

    def what_is_right(self) -> tuple[Config, list[Fault]]:
        """The settings with defaults in place of wrong ones, and what is wrong with those."""
        told: list[Fault] = []
        while True:
            try:
                return self.config(), told
            except ValidationError as error:
                wrong = {each.section for each in told}
                # What does not go with the default that now stands there is no fault of its own.
                if not wrong & _SAFETY:
                    told += [each for each in self.faults(error) if each.section not in wrong]
                for each in error.errors():
                    self._leave_out(_located(each))

    def _leave_out(self, location: Location) -> None:
        """A table of settings, as `mqtt.users`, goes as a whole, with the first that is wrong."""
        section, *keys = location
        table = self.settings.get(section)
        if keys and isinstance(table, dict):
            table.pop(keys[0], None)
        else:
            self.settings.pop(section, None)

    def _fault(self, error: ErrorDetails) -> Fault:
        location = _located(error)
        return Fault(self.place(*location), _reason(error, location), location[0])

    def _source(self, location: Location) -> str:
        if location[:2] in self.variables:
            return f"environment variable {self.variables[location[:2]]}"
        line = _line_of(location, self.text)
        wrong = [name for key, name in self.variables.items() if key[: len(location)] == location]
        return f"{self.file}:{line}" if line else ", ".join([str(self.file), *wrong])


def _located(error: ErrorDetails) -> Location:
    """The section alone, for sections that do not go together."""
    location = tuple(str(part) for part in error["loc"])
    return location or (str(error.get("ctx", {}).get("section", "")),)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or error}",
            "name a readable TOML file with --config",
        ) from error


def _parse(text: str, file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, deep nesting
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


def _reason(error: ErrorDetails, location: Location) -> str:
    if error["type"] == "extra_forbidden":
        return _unknown(location)
    if error["type"] == "model_type":
        return f"write it as a table [{location[0]}]"
    reason = error["msg"].removeprefix("Value error, ")
    if error["type"] in _WRONG_TYPES:
        reason = f"{_shown(error['input'])} is {_WRONG_TYPES[error['type']]}"
    if not 2 <= len(location) <= 3 or location[1] not in _section(location[0]):
        return reason
    default = _section(location[0])[location[1]].default
    return f"{reason}; the default is {_shown(default)}"


_WRONG_TYPES = {
    "int_parsing": "no whole number",
    "int_type": "no whole number",
    "int_from_float": "no whole number",
    "float_parsing": "no number",
    "float_type": "no number",
    "bool_parsing": "neither true nor false",
    "bool_type": "neither true nor false",
    "string_type": "no text; write it in quotes",
}


def _shown(value: object) -> str:
    """As TOML and JSON write it; of files that ship their names."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, Path) and value.parent == SHIPPED_PROFILES:
        return json.dumps(value.stem)
    return json.dumps(value, default=str, ensure_ascii=False)


def _unknown(location: Location) -> str:
    known = list(_section(*location[:-1]) if len(location) > 1 else Config.model_fields)
    close = difflib.get_close_matches(location[-1], known, n=1)
    advice = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return f"unknown setting; {advice}"


def _section(*path: str) -> Mapping[str, FieldInfo]:
    """The settings of a section, or of a table in a list of them: `reasoning`, `joint`, `0`."""
    fields: Mapping[str, FieldInfo] = Config.model_fields
    for name in path:
        if not name.isdigit():
            fields = _model_of(fields[name].annotation) if name in fields else {}
    return fields


def _model_of(annotation: object) -> Mapping[str, FieldInfo]:
    for each in (annotation, *get_args(annotation)):
        if isinstance(each, type) and issubclass(each, BaseModel):
            return each.model_fields
    return {}


def _line_of(location: Location, text: str) -> int | None:
    """The 1-based line of a setting; of its table's header where the key is not found.

    tomllib keeps no positions; this reads headers and `key =` lines, good enough for a message.
    """
    table, found, lists = "", None, Counter[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*(\[\[?)\s*([\w.\-\"]+)\s*\]", line):
            table = header[2].replace('"', "")
            key = ""
            if header[1] == "[[":
                lists[table] += 1
                table = f"{table}.{lists[table] - 1}"
        else:
            assigned = re.match(r"\s*([\w.\-\"]+)\s*=", line)
            key = assigned[1].replace('"', "") if assigned else "\0"
        here = ".".join(part for part in (table, key) if part)
        if here == ".".join(location):
            return number
        if ".".join(location).startswith(f"{here}."):
            found = number
    return found
