"""The command line: `sosa-gateway run | demo | check | query | update | subscribe | bench ...`.

Place on the way of the data: the outermost layer. Arguments become values, errors become one line
on standard error and an exit code: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted.
"""

import argparse
import getpass
import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from rich.console import Console

from gateway import __version__
from gateway.admin.profile_checks import Finding
from gateway.cli import check, jsap, security, service
from gateway.cli.actuators import add_actuate
from gateway.cli.archive import run_archive
from gateway.cli.benchmarks import run_bench
from gateway.cli.journal import add_collect, add_journal
from gateway.cli.mappings import add_mapping
from gateway.cli.quarantine import add_quarantine
from gateway.cli.run import run_gateway, run_loop
from gateway.config.file import load_config
from gateway.config.settings import Config
from gateway.demo.fleet.command import fleet_command
from gateway.demo.fleet.session import FleetOptions
from gateway.demo.session import DemoOptions, run_demo
from gateway.errors import ConfigurationError, GatewayError
from gateway.security.passwords import hash_password

Command = Callable[[argparse.Namespace], int]

HTTP_URL = "http://127.0.0.1:8000"
WEBSOCKET_URL = "ws://127.0.0.1:9000/subscribe"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. `arguments` are without the program's name."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["bench"]:
        return _started(run_bench, given[1:])
    if given[:1] == ["archive"]:
        return _started(run_archive, given[1:])
    options = _parser().parse_args(given)
    # Commands speak for themselves; those that log configure it.
    logging.getLogger("gateway").addHandler(logging.NullHandler())
    command: Command = options.command
    try:
        return command(options)
    except GatewayError as error:
        return _fail(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output is gone; the interpreter would fail once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "sosa-gateway", description="MQTT readings become SOSA triples; SPARQL tells what changed."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    adders = (_add_service, _add_demo, _add_client, _add_jsap, security.add_commands)
    for add in (*adders, _add_others):
        add(commands)
    return parser


_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _command(
    commands: _Commands, name: str, command: Command, purpose: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=purpose, description=purpose)
    parser.set_defaults(command=command)
    return parser


def _add_service(commands: _Commands) -> None:
    for name, command, purpose in (
        ("run", _run, "run the gateway until SIGINT or SIGTERM"),
        ("check", _check, "say what is wrong with configuration, profiles, mappings"),
    ):
        parser = _command(commands, name, command, purpose)
        parser.add_argument(
            "--config", type=Path, metavar="FILE", help="default: ./gateway.toml if there is one"
        )


def _add_demo(commands: _Commands) -> None:
    parser = _command(commands, "demo", _demo, "a gateway with simulated devices, live")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--replay", type=Path, metavar="FILE.csv", help="publish these readings instead"
    )
    instead.add_argument(
        "--fleet", type=_positive, metavar="N", help="N devices of all dialects that know the truth"
    )
    parser.add_argument("--restart", action="store_true", help="of a fleet's gateway, at half time")
    parser.add_argument(
        "--minutes", type=_not_negative, default=60.0, help="simulated time of a fleet; default: 60"
    )
    parser.add_argument(
        "--speed",
        type=_not_negative,
        help="times real time; house: 60, replay and fleet: 0 (as fast as it goes)",
    )
    parser.add_argument("--duration", type=_not_negative, metavar="S", help="end after S seconds")
    parser.add_argument("--plain", action="store_true", help="lines instead of a live screen")
    parser.add_argument("--seed", type=int, default=0, help="another house; default: 0")
    parser.add_argument(
        "--landing", type=Path, metavar="FOLDER", help="ship the journal there, for the archive"
    )


def _add_client(commands: _Commands) -> None:
    parser = _command(commands, "query", _query, "ask a running gateway")
    _add_sparql(parser, HTTP_URL)
    parser.add_argument(
        "--format",
        choices=["table", *service.RESULT_TYPES],
        help="default: table on a terminal, else json",
    )
    _add_sparql(_command(commands, "update", _update, "change a running gateway"), HTTP_URL)
    parser = _command(commands, "subscribe", _subscribe, "show live how an answer changes")
    _add_sparql(parser, WEBSOCKET_URL)
    parser.add_argument("--json", action="store_true", help="one notification a line, as JSON")
    parser = _command(commands, "explain", _explain, "how a subscription is served, at what cost")
    _add_sparql(parser, HTTP_URL)
    parser.add_argument("--json", action="store_true", help="as JSON")


def _add_jsap(commands: _Commands) -> None:
    purpose = "JSAP profiles: their JSON Schema, what is wrong with one, reading them again"
    parser = _command(commands, "jsap", _jsap_schema, purpose)
    inner = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _command(inner, "schema", _jsap_schema, "print the JSON Schema of a profile")
    checked = _command(inner, "check", _jsap_check, "say what is wrong with a profile")
    checked.add_argument("file", type=Path, metavar="FILE")
    checked.add_argument("--strict", action="store_true", help="warnings are errors")
    purpose = "have a running gateway read its profiles again"
    service.add_access(_command(inner, "reload", _jsap_reload, purpose), HTTP_URL)


def _add_sparql(parser: argparse.ArgumentParser, url: str) -> None:
    parser.add_argument("text", metavar="TEXT|@FILE", help="SPARQL; @- reads standard input")
    service.add_access(parser, url)


def _add_others(commands: _Commands) -> None:
    _command(commands, "archive", _version, "jobs on Spark; see sosa-gateway archive --help")
    add_mapping(commands, HTTP_URL)
    add_quarantine(commands, HTTP_URL)
    add_actuate(commands, HTTP_URL)
    add_journal(commands, _config)
    add_collect(commands)
    _command(commands, "bench", _version, "measure; see sosa-gateway bench --help")
    parser = _command(commands, "mqtt-user", _mqtt_user, "make a line for [mqtt.users]")
    parser.add_argument("name", metavar="NAME")
    _command(commands, "version", _version, "print the version")


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:9]) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text[:9])


def _not_negative(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return value


def _run(options: argparse.Namespace) -> int:
    run_gateway(_config(options))
    return 0


def _check(options: argparse.Namespace) -> int:
    return _report(check.check(_config(options)))


def _jsap_schema(_: argparse.Namespace) -> int:
    _say(jsap.schema())
    return 0


def _jsap_check(options: argparse.Namespace) -> int:
    return _report(jsap.check(options.file, strict=options.strict))


def _jsap_reload(options: argparse.Namespace) -> int:
    answer = service.call(f"{options.url}/profiles/reload", "POST", None, _access(options))
    _say(jsap.told(answer))
    return 0


def _report(findings: Sequence[Finding]) -> int:
    for finding in findings:
        _say(str(finding))
    errors = sum(finding.is_error for finding in findings)
    _say(f"{errors} errors, {len(findings) - errors} warnings" if findings else "all is well")
    return 1 if errors else 0


def _demo(options: argparse.Namespace) -> int:
    if options.fleet is not None:
        if options.landing is not None:
            raise ConfigurationError("a fleet ships nothing", "leave out --landing or --fleet")
        fleet = FleetOptions(
            options.fleet, options.minutes, options.seed, options.speed or 0.0, options.restart
        )
        return run_loop(fleet_command(fleet, options.duration))
    run_loop(
        run_demo(
            DemoOptions(
                replay=options.replay,
                speed=options.speed,
                duration_s=options.duration,
                plain=options.plain,
                seed=options.seed,
                landing=options.landing,
            )
        )
    )
    return 0


def _query(options: argparse.Namespace) -> int:
    text, access = service.read_text(options.text), _access(options)
    wanted = options.format or ("table" if sys.stdout.isatty() else "json")
    if wanted != "table":
        accept = service.RESULT_TYPES[wanted]
        _say(service.query(options.url, text, accept, access).rstrip("\n"))
        return 0
    accept = f"{service.RESULT_TYPES['json']}, text/turtle;q=0.9"
    service.print_table(Console(), service.query(options.url, text, accept, access))
    return 0


def _update(options: argparse.Namespace) -> int:
    text = service.read_text(options.text)
    _say(service.update(options.url, text, _access(options)).rstrip("\n"))
    return 0


def _explain(options: argparse.Namespace) -> int:
    text = service.read_text(options.text)
    accept = "application/json" if options.json else "text/plain"
    _say(service.explain(options.url, text, accept, _access(options)).rstrip("\n"))
    return 0


def _subscribe(options: argparse.Namespace) -> int:
    text = service.read_text(options.text)
    for notification in service.notifications(options.url, text, _access(options)):
        if options.json:
            _say(json.dumps(notification, ensure_ascii=False))
        else:
            colour = sys.stdout.isatty()
            service.show_notification(sys.stdout, notification, colour=colour)
    return 0


def _started(run: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    try:
        return run(arguments)
    except GatewayError as error:
        return _fail(error)


def _access(options: argparse.Namespace) -> service.Access:
    return service.Access(options.ca, options.credentials)


def _mqtt_user(options: argparse.Namespace) -> int:
    """The password is asked for on a terminal and is the first line of input elsewhere."""
    interactive = sys.stdin.isatty()
    password = getpass.getpass() if interactive else sys.stdin.readline().rstrip("\n")
    if not password:
        raise ConfigurationError("the password is empty", "type one, or pipe one in")
    if interactive and getpass.getpass("again: ") != password:
        raise ConfigurationError("the two passwords differ", "try again")
    _say(f"{json.dumps(options.name)} = {json.dumps(hash_password(password))}")
    return 0


def _version(_: argparse.Namespace) -> int:
    _say(__version__)
    return 0


def _config(options: argparse.Namespace) -> Config:
    return load_config(options.config, os.environ)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _fail(error: GatewayError) -> int:
    sys.stderr.write(f"error: {error.description}\n")
    if error.hint:
        sys.stderr.write(f"what to do: {error.hint}\n")
    return 1
