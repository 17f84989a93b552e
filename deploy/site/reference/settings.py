"""Every setting: bounds from the classes, default and meaning from gateway.example.toml."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deploy.site.reference.tables import code, table, words
from gateway.config.settings import Config

_EXAMPLE = Path(__file__).parents[3] / "gateway.example.toml"
_HEAD = """\
# Settings

Made of gateway.example.toml and of the classes that check it. Each is a line of
`gateway.toml`, or the variable `SOSA_GATEWAY_SECTION__KEY` of the environment, which wins;
[Commands](../commands.md) says what `check` finds.
"""
_SETTING = re.compile(r"^(\w+) = (.*?)\s+# (.*)$")
_SECTION = re.compile(r"^\[([\w.]+)\](?:\s+# (.*))?$")
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "minItems": "items at least",
}


def settings_page() -> str:
    """One chapter a section."""
    schema = Config.model_json_schema()
    return "\n".join([_HEAD, *_chapters(_EXAMPLE.read_text(encoding="utf-8"), schema)])


def _chapters(example: str, schema: Mapping[str, Any]) -> Iterator[str]:
    rows: list[list[str]] = []
    section = ""
    for line in [*example.splitlines(), "[end]"]:
        if opened := _SECTION.match(line):
            if rows:
                yield table(["setting", "default", "what may be", "meaning"], rows) + "\n"
            rows, section = [], opened[1]
            if section != "end":
                yield f"## {section}\n\n{words(opened[2] or '')}\n"
        elif found := _SETTING.match(line):
            name, default, meaning = found.groups()
            member = _member(schema, section, name)
            rows.append([code(name), code(default), _kind(member, schema), words(meaning)])


def _member(schema: Mapping[str, Any], section: str, name: str) -> Mapping[str, Any]:
    kind = schema["properties"][section]
    found: Mapping[str, Any] = schema["$defs"][kind["$ref"].rpartition("/")[2]]
    member: Mapping[str, Any] = found["properties"][name]
    return member


def _kind(member: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if "$ref" in member:
        return "table"
    if "anyOf" in member:
        return " or ".join(_kind(each, schema) for each in member["anyOf"])
    if "const" in member:
        return code(f'"{member["const"]}"')
    if "enum" in member:
        return ", ".join(code(f'"{each}"') for each in member["enum"])
    kind = {"object": "table", "array": "list", "string": "text", "boolean": "`true`, `false`"}
    told = kind.get(member.get("type", ""), member.get("type", "text"))
    bounds = [f"{word} {member[name]}" for name, word in _BOUNDS.items() if name in member]
    return ", ".join([told, *bounds])
