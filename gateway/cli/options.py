"""What commands have in common: parsers, where a gateway is, how to get in, the configuration."""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
Action = Callable[[argparse.Namespace], int]
"""Runs a command; gives the exit code."""


_NO_CHOICE = re.compile(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)", re.DOTALL)
"""What argparse says of a word that is none of those to choose from."""

_NAMES = {"COMMAND": "command"}


class Parser(argparse.ArgumentParser):
    """Tells wrong usage as every other error is told: what is wrong, and what to do."""

    def error(self, message: str) -> NoReturn:
        """Exit code 2; a word that is nearly one of those to choose from is told."""
        hint = f"{self.prog} --help"
        if found := _NO_CHOICE.fullmatch(message):
            what, word, known = found.groups()
            near = get_close_matches(word, re.findall(r"'([^']*)'", known), n=1)
            message = f"there is no {_NAMES.get(what, what)} {word!r} here"
            hint = f"did you mean {near[0]}?" if near else hint
        sys.stderr.write(f"error: {message}\nwhat to do: {hint}\n")
        raise SystemExit(2)

    def documented(self) -> Iterator["Documented"]:
        """The commands below, each behind the one that it belongs to."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):  # nothing public lists them
                purposes = {each.dest: each.help or "" for each in action._choices_actions}
                for name, parser in action.choices.items():
                    own = tuple(parser._described())
                    yield Documented((name,), purposes.get(name, ""), own)
                    for below in parser.documented():
                        yield below._replace(words=(name, *below.words))

    def _described(self) -> Iterator[tuple[str, str]]:
        for action in self._actions:
            if not isinstance(action, argparse._SubParsersAction | argparse._HelpAction):
                value = "" if action.nargs == 0 else _value_name(action)
                names = ", ".join(action.option_strings)
                yield " ".join(part for part in (names, value) if part), action.help or ""

    def option_names(self) -> Iterator[str]:
        """Every option of this one and of its commands."""
        for action in self._actions:
            yield from (name for name in action.option_strings if name.startswith("--"))
            if isinstance(action.choices, dict):
                for each in action.choices.values():
                    yield from each.option_names() if isinstance(each, Parser) else ()


class Documented(NamedTuple):
    """A command as manuals tell it: its words, what it is for, its options and arguments."""

    words: tuple[str, ...]
    purpose: str
    options: tuple[tuple[str, str], ...]


def _value_name(action: argparse.Action) -> str:
    """What stands for an option's value: its name, or what there is to choose from."""
    if action.metavar is not None:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper() if action.option_strings else action.dest


HTTP_URL = "http://127.0.0.1:8000"


def add_command(
    commands: Commands, name: str, action: Action, purpose: str
) -> argparse.ArgumentParser:
    """A command without options."""
    parser = commands.add_parser(name, help=purpose, description=purpose)
    parser.set_defaults(command=action)
    return parser


def add_group(commands: Commands, name: str, purpose: str) -> Commands:
    """A command that has commands of its own, of which one must be given."""
    parser = commands.add_parser(name, help=purpose, description=purpose)
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def add_action(
    commands: Commands, name: str, action: Action, purpose: str
) -> argparse.ArgumentParser:
    """A command that asks a running gateway and can tell the answer as it is."""
    parser = add_command(commands, name, action, purpose)
    add_access(parser)
    parser.add_argument("--json", action="store_true", help="the gateway's answer as it is")
    return parser


def add_access(parser: argparse.ArgumentParser) -> None:
    """The options that say where a gateway is and how to get in (`known_gateway` settles them)."""
    known = "default: of the gateway.toml here, of `sosa-gateway login`"
    parser.add_argument("--url", metavar="URL", help=f"{known}, {HTTP_URL}")
    parser.add_argument(
        "--credentials", metavar="FILE", help="of `sosa-gateway client add`; default: of `login`"
    )
    parser.add_argument("--ca", metavar="FILE", help=f"{known}, the system's CAs")
    parser.set_defaults(asks_gateway=True)


def add_config(parser: argparse.ArgumentParser) -> None:
    """The option that names the configuration."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="default: ./gateway.toml if there is one"
    )


def say(line: str) -> None:
    """Write a line on standard output, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
