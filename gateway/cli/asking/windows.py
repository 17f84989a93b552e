"""`sosa-gateway windows`: what windows a running gateway has, and what they hold.

Place on the way of the data: a client of /windows; docs/windows.md.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.cli.asking import service
from gateway.cli.options import Commands, add_access, add_command, say
from gateway.cli.verbs import VERBS


def add(commands: Commands) -> None:
    """The command `windows`."""
    parser = add_command(commands, "windows", _windows, VERBS["windows"].purpose)
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_access(parser)


def _windows(options: argparse.Namespace) -> int:
    access = service.Access(options.ca, options.credentials)
    told = service.call(f"{options.url}/windows", "GET", None, access)
    if options.json:
        say(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        say("\n".join(map(service.printable, _lines(told))))
    return 0


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    held, limits = told["held"], told["limits"]
    yield (
        f"windows: {len(told['windows'])}, which hold {held['elements']} of "
        f"{limits['elements']} elements, {held['bytes']} of {limits['bytes']} bytes"
    )
    for each in told["windows"]:
        yield from _window_lines(each)
    named = {name for each in told["windows"] for name in each["names"]}
    for iri in told["declared"]:
        if iri not in named:
            yield f"{iri}: declared, nobody sees it"
    for each in told["streams"]:
        word = "declared" if each["declared"] else "not declared"
        yield f"stream {each['stream']}: {word}, elements that windows saw {each['elements']}"
    if told["clock_jumps"]:
        yield f"times that the clock was set: {told['clock_jumps']}"


def _window_lines(window: Mapping[str, Any]) -> Iterator[str]:
    members, automaton = window["window"], window["automaton"]
    yield ", ".join(window["names"])
    yield "  " + ", ".join(f"{name} {_text(value)}" for name, value in members.items())
    yield (
        f"  subscriptions {window['subscriptions']}, elements {window['elements']}, "
        f"triples {window['triples']}, bytes {window['bytes']}"
    )
    whole = "complete" if window["complete"] else "not complete"
    yield f"  {whole}, from {window['from'] or 'nothing'} to {window['to'] or 'nothing'}"
    yield f"  late {window['late']}, dropped {window['dropped']}, expired {window['expired']}"
    if window["warning"]:
        yield f"  {window['warning']}"
    if automaton["plans"]:
        counts = ", ".join(f"{name} {count}" for name, count in automaton.items())
        yield f"  automaton: {counts}"


def _text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
