"""The configuration in force, as it may be told: every setting, but no secret.

Place: asked by GET /configuration. A text that may be a secret by its name is told as given or not;
of a table with values of any kind (`[mqtt] users`, `[shipping] options`) the names alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from gateway.admin.looking.secrets import HIDDEN, bared, names_secret

Value = bool | int | float | str | None | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting; `is_default`: nobody has said otherwise."""

    name: str
    value: Value
    is_default: bool


@dataclass(frozen=True, slots=True)
class SettingsSection:
    """A section of gateway.toml."""

    name: str
    settings: tuple[Setting, ...]


def told_settings(config: BaseModel, default: BaseModel) -> list[SettingsSection]:
    """Every section, in the order of the settings; `default` is the same without any file."""
    return [
        SettingsSection(name, tuple(_settings(section, getattr(default, name))))
        for name, section in _members(config)
        if isinstance(section, BaseModel)
    ]


def _settings(section: BaseModel, default: BaseModel) -> Iterator[Setting]:
    for name, value in _members(section):
        yield Setting(name, _told(name, value), _is_default(value, getattr(default, name)))


def _members(model: BaseModel) -> Iterator[tuple[str, object]]:
    for name in type(model).model_fields:
        yield name, getattr(model, name)


def _told(name: str, value: object) -> Value:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {bared(str(key)): HIDDEN for key in value}
    if isinstance(value, BaseModel):
        return {key: _told(key, each) for key, each in _members(value)}
    if isinstance(value, Iterable) and not isinstance(value, str | Path):
        return [_told(name, each) for each in value]
    text = str(value)
    if names_secret(name):
        return HIDDEN if text else ""
    return bared(text)


def _is_default(value: object, default: object) -> bool:
    """Whether it is the default one, a relative path taken from the file's folder too."""
    if isinstance(value, Path) and isinstance(default, Path) and not default.is_absolute():
        return value == default or value.parts[-len(default.parts) :] == default.parts
    return value == default
