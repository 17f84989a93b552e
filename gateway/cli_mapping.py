"""`sosa-gateway mapping`: what a running gateway makes of messages, from the command line.

Place on the way of the data: a client of the HTTP gate below /mappings; docs/mappings.md shows it.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from gateway import cli_client
from gateway.cli_inspection import add_inspection

Members: TypeAlias = Mapping[str, Any]
Action: TypeAlias = Callable[[argparse.Namespace], int]


def add_mapping(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", url: str) -> None:
    """The command `mapping`; `url` is where a gateway is by default."""
    purpose = "what a running gateway makes of messages: list, try, confirm, undo"
    parser = commands.add_parser("mapping", help=purpose, description=purpose)
    inner = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _action(inner, "list", _list, "all mappings, with what is wrong with one", url)
    add_inspection(inner, url)


def _action(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    action: Action,
    purpose: str,
    url: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=purpose, description=purpose)
    parser.set_defaults(command=action)
    cli_client.add_access(parser, url)
    parser.add_argument("--json", action="store_true", help="the gateway's answer as it is")
    return parser


def _ask(options: argparse.Namespace, method: str, path: str, body: object = None) -> Any:
    access = cli_client.Access(options.ca, options.credentials)
    return cli_client.call(f"{options.url}{path}", method, body, access)


def _list(options: argparse.Namespace) -> int:
    answer = _ask(options, "GET", "/mappings")
    return _tell(options, answer, [_mapping_lines(each) for each in answer["mappings"]])


Line: TypeAlias = tuple[str, object]
"""A word and what is said behind it."""


def _mapping_lines(mapping: Members) -> list[Line]:
    """What it reads and what it makes of that; the first line is its id."""
    return [
        (mapping["id"], ""),
        ("reads", " ".join(str(mapping.get(name, "")) for name in ("topic", "format", "selector"))),
        ("gives", mapping.get("property", "")),
        ("of", mapping.get("feature", "")),
        ("by", mapping.get("sensor", "")),
        *((name, mapping[name]) for name in _OTHERS if name in mapping),
    ]


_OTHERS = (
    *("unit", "deviceUnit", "time", "sequence", "trueValue", "falseValue", "expiresAfter"),
    *("availability", "retained", "actuator", "error"),
)


def _tell(options: argparse.Namespace, answer: object, blocks: Sequence[Sequence[Line]]) -> int:
    """The answer as JSON if that was asked for, otherwise in blocks of lines."""
    if options.json:
        sys.stdout.write(f"{json.dumps(answer, ensure_ascii=False, indent=2)}\n")
        return 0
    for (title, _), *lines in blocks:
        sys.stdout.write(f"{cli_client.printable(str(title))}\n")
        for word, value in lines:
            sys.stdout.write(f"    {word:<12} {cli_client.printable(str(value).strip())}\n")
    return 0
