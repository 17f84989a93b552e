"""`sosa-gateway actuators` and `actuate`: what can be set, and setting it, at a running gateway.

Place on the way of the data: a client of the HTTP gate below /actuators (docs/actuators.md).
"""

import argparse
import json
import sys
from collections.abc import Mapping
from typing import Any, TypeAlias
from urllib.parse import quote

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gateway.actuation.values import is_boolean, is_number, spelled_range, value_of
from gateway.cli.asking import service
from gateway.cli.options import Commands, add_action
from gateway.cli.verbs import VERBS

Members: TypeAlias = Mapping[str, Any]

_REFUSED_S = 0.3
"""So long a command without --wait is looked after: a value that cannot be has failed by then."""

_WAIT_S = 30.0
_MOST_S = 50.0


def add(commands: Commands) -> None:
    """The two commands."""
    add_action(commands, "actuators", _list, VERBS["actuators"].purpose)
    parser = add_action(commands, "actuate", _actuate, VERBS["actuate"].purpose)
    parser.add_argument("actuator", metavar="ACTUATOR", help="its name or IRI")
    parser.add_argument("value", metavar="VALUE", help="true, 21.5, ON ...")
    parser.add_argument(
        "--wait",
        nargs="?",
        type=_seconds,
        const=_WAIT_S,
        default=0.0,
        metavar="S",
        help=f"until it is confirmed or has failed; default: {_WAIT_S:g} s",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _MOST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 0 to {_MOST_S:g} seconds")
    return seconds


def _list(options: argparse.Namespace) -> int:
    answer = _ask(options, "GET", "/actuators")
    if options.json:
        sys.stdout.write(f"{json.dumps(answer, ensure_ascii=False)}\n")
        return 0
    if not answer["actuators"]:
        sys.stdout.write("there is no actuator (docs/actuators.md)\n")
        return 0
    table = Table("actuator", "takes", "last value", "status")
    for each in answer["actuators"]:
        last = each.get("last", {})
        cells = (each["name"], _takes(each), last.get("value", ""), last.get("status", ""))
        table.add_row(*(Text(_shown(cell)) for cell in cells))
    Console().print(table)
    return 0


def _actuate(options: argparse.Namespace) -> int:
    """0 where it is confirmed, or on its way where nobody waits for that; 1 at once where not."""
    value = value_of(options.value)
    sent: object = value.value
    if is_boolean(value) or is_number(value):
        sent = json.loads(value.value)
    path = f"/actuators/{quote(options.actuator, safe='')}/command"
    wait = max(options.wait, _REFUSED_S)
    entry = _ask(options, "POST", path, {"value": sent, "wait": wait})
    reason = f": {entry['reason']}" if "reason" in entry else ""
    sys.stdout.write(f"{entry['id']} {entry['status']}{reason}\n")
    if entry["status"] == "confirmed":
        return 0
    return 1 if options.wait or entry["status"] == "failed" else 0


def _ask(options: argparse.Namespace, method: str, path: str, body: object = None) -> Any:
    access = service.Access(options.ca, options.credentials)
    return service.call(f"{options.url}{path}", method, body, access)


def _takes(actuator: Members) -> str:
    meant = [actuator[word] for word in ("trueValue", "falseValue") if word in actuator]
    words = ", ".join(actuator.get("values", ()) or meant)
    numbers = spelled_range(
        actuator.get("minimum"), actuator.get("maximum"), actuator.get("unit", "")
    )
    return ", ".join(each for each in (words, numbers) if each) or "any"


def _shown(cell: object) -> str:
    text = json.dumps(cell) if isinstance(cell, bool) else str(cell)
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
