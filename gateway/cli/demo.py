"""`sosa-gateway demo`: a gateway with simulated devices, live.

The screen is there before the gateway is loaded, which takes a second or several.
"""

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

from gateway.cli.options import Commands, add_command, add_config, say
from gateway.cli.verbs import VERBS
from gateway.demo.options import DemoOptions
from gateway.demo.terminal import Terminal
from gateway.errors import ConfigurationError


def add(commands: Commands) -> None:
    """The command `demo`."""
    parser = add_command(commands, "demo", _demo, VERBS["demo"].purpose)
    add_config(parser)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--replay", type=Path, metavar="FILE.csv", help="publish these readings instead"
    )
    instead.add_argument(
        "--fleet", type=_positive, metavar="N", help="N devices of all dialects that know the truth"
    )
    instead.add_argument(
        "--gateways", type=_house_of, metavar="N", help="N gateways that answer together"
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


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:9]) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text[:9])


def _house_of(text: str) -> int:
    if not (text.isdecimal() and 2 <= int(text[:4]) <= 20):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 2 to 20")
    return int(text)


def _not_negative(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return value


def _demo(options: argparse.Namespace) -> int:
    if options.gateways is not None:
        return _gateways(options)
    return _house(options) if options.fleet is None else _fleet(options)


def _house(options: argparse.Namespace) -> int:
    chosen = DemoOptions(
        replay=options.replay,
        speed=options.speed,
        duration_s=options.duration,
        seed=options.seed,
        landing=options.landing,
        config=options.config,
    )
    with Terminal(plain=options.plain) as terminal:
        terminal.stage("program")
        session: Any = import_module("gateway.demo.session")
        loop: Any = import_module("gateway.cli.loop")
        ports = loop.run_loop(session.run_demo(chosen, terminal))
    after: Any = import_module("gateway.cli.next_steps")
    for line in after.next_steps(ports, options.config):
        say(line)
    return 0


def _gateways(options: argparse.Namespace) -> int:
    if options.landing is not None or options.config is not None:
        raise ConfigurationError(
            "several gateways take free ports and ship nothing",
            "leave out --landing and --config, or --gateways",
        )
    loop: Any = import_module("gateway.cli.loop")
    session: Any = import_module("gateway.demo.gateways.session")
    with Terminal(plain=True) as terminal:
        loop.run_loop(session.run_gateways(options.gateways, options.duration, terminal))
    return 0


def _fleet(options: argparse.Namespace) -> int:
    if options.landing is not None:
        raise ConfigurationError("a fleet ships nothing", "leave out --landing or --fleet")
    if options.config is not None:
        raise ConfigurationError("a fleet takes free ports", "leave out --config or --fleet")
    loop: Any = import_module("gateway.cli.loop")
    session: Any = import_module("gateway.demo.fleet.session")
    command: Any = import_module("gateway.demo.fleet.command")
    fleet = session.FleetOptions(
        options.fleet, options.minutes, options.seed, options.speed or 0.0, options.restart
    )
    status: int = loop.run_loop(command.fleet_command(fleet, options.duration))
    return status
