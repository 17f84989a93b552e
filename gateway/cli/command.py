"""The command line: `sosa-gateway run | demo | check | query | update | subscribe …`.

The outermost layer: arguments become values, errors become one line on standard error and an exit
code: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted. What a command needs is loaded
when it is chosen, so that `version` does not pay for a broker: the one place where that is right.
"""

import gc
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Protocol, cast

from gateway import __version__
from gateway.cli.asking.known_gateway import fill
from gateway.cli.options import Action, Commands, Documented, Parser
from gateway.cli.programs.archive import run_archive
from gateway.cli.programs.benchmarks import run_bench
from gateway.cli.verbs import VERBS, Verb
from gateway.errors import GatewayError

_PROGRAMS: dict[str, Callable[[Sequence[str]], int]] = {"archive": run_archive, "bench": run_bench}
"""Commands that are programs of their own, which read their arguments themselves."""


_COLLECT = (20_000, 10, 500)
"""While something is loaded: objects, and looks at young ones for one at older ones."""


class _Module(Protocol):
    """A module of commands."""

    def add(self, commands: Commands) -> None:
        """Add the parsers of its commands."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. `arguments` are without the program's name."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    verb = given[0] if given else ""
    try:
        if verb and not verb.startswith("-") and verb not in VERBS:
            return _unknown(verb)
        if verb in _PROGRAMS:
            return _PROGRAMS[verb](given[1:])
        return _run(given, verb)
    except GatewayError as error:
        return _fail(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output is gone; the interpreter would fail once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def documented() -> Iterator[Documented]:
    """Every command, in the order of the help; loads all their modules."""
    for name, verb in VERBS.items():
        if verb.module:
            own = (each for each in _parser(name).documented() if each.words[0] == name)
            yield from own
        else:
            yield Documented((name,), verb.purpose, ())


def _run(given: Sequence[str], verb: str) -> int:
    parser = _parser(verb)
    options, unknown = parser.parse_known_args(given)
    if unknown:
        return _unknown_option(parser, verb, unknown[0])
    # Commands speak for themselves; those that log configure it.
    logging.getLogger("gateway").addHandler(logging.NullHandler())
    if getattr(options, "asks_gateway", False):
        fill(options, os.environ)
    command: Action = options.command
    return command(options)


def _parser(verb: str) -> Parser:
    """Knows all commands by name, and the options of those in the module of one."""
    parser = Parser(
        "sosa-gateway", description="MQTT readings become SOSA triples; SPARQL tells what changed."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    chosen = VERBS.get(verb, Verb("")).module
    if chosen:
        _load(chosen).add(commands)
    for name, (purpose, module) in VERBS.items():
        if not chosen or module != chosen:
            commands.add_parser(name, help=purpose)
    return parser


def _load(module: str) -> _Module:
    """Nearly all that is loaded stays: looking for garbage among it takes a fifth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(*_COLLECT)
    try:
        return cast(_Module, import_module(f"gateway.cli.{module}"))
    finally:
        gc.set_threshold(*before)


def _unknown_option(parser: Parser, verb: str, word: str) -> int:
    """Usage, so exit code 2; an option that is nearly one is told, but not that of a neighbour."""
    name, known = word.partition("=")[0], sorted(set(parser.option_names()))
    near = [] if name in known else get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"sosa-gateway {verb} --help lists them"
    what = "option" if word.startswith("-") else "argument"
    sys.stderr.write(f"error: there is no {what} {word!r} here\nwhat to do: {hint}\n")
    return 2


def _unknown(verb: str) -> int:
    """Usage, so exit code 2; a name that is nearly one is told."""
    near = get_close_matches(verb, VERBS, n=1)
    hint = f"did you mean {near[0]}?" if near else "sosa-gateway --help lists them"
    sys.stderr.write(f"error: there is no command {verb!r}\nwhat to do: {hint}\n")
    return 2


def _fail(error: GatewayError) -> int:
    sys.stderr.write(f"error: {error.description}\n")
    if error.hint:
        sys.stderr.write(f"what to do: {error.hint}\n")
    return 1
