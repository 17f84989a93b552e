"""`sosa-gateway alarms`: what a person has to look after, and had; docs/alarms.md.

Place on the way of the data: a client of the HTTP gates /alarms and /health/history.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.cli.asking import service
from gateway.cli.options import Commands, add_access, add_command, say
from gateway.cli.verbs import VERBS


def add(commands: Commands) -> None:
    """The command `alarms`."""
    parser = add_command(commands, "alarms", _alarms, VERBS["alarms"].purpose)
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--history", action="store_true", help="what was, over restarts: exit code 0"
    )
    add_access(parser)


def _alarms(options: argparse.Namespace) -> int:
    """0 while there is none."""
    access = service.Access(options.ca, options.credentials)
    if options.history:
        return _history(options, access)
    answer = service.call(f"{options.url}/alarms", "GET", None, access)
    if options.json:
        say(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        say("\n".join(_lines(answer["alarms"])) or "no alarms: all is well")
    return 1 if answer["alarms"] else 0


def _history(options: argparse.Namespace, access: service.Access) -> int:
    answer = service.call(f"{options.url}/health/history", "GET", None, access)
    if options.json:
        say(json.dumps(answer, ensure_ascii=False, indent=2))
        return 0
    for each in answer["entries"]:
        said = "  ".join(f"{name}={value}" for name, value in each["said"].items())
        say(f"{each['number']:>6}  {each['at']}  {each['what']:<8} {said}".rstrip())
    return 0


def _lines(alarms: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in alarms:
        word = "FAULT" if each["fault"] else "alarm"
        yield f"{word} {each['kind']} since {each['since']}"
        yield f"  {each['where']}: {each['what']}"
        yield f"  {each['what_to_do']}"
