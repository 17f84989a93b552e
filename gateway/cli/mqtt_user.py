"""`sosa-gateway mqtt-user`: a user of the embedded broker, as the configuration names one."""

import argparse
import getpass
import json
import sys

from gateway.cli.options import Commands, add_command, say
from gateway.cli.verbs import VERBS
from gateway.errors import ConfigurationError
from gateway.security.passwords import hash_password


def add(commands: Commands) -> None:
    """The command `mqtt-user`."""
    parser = add_command(commands, "mqtt-user", _mqtt_user, VERBS["mqtt-user"].purpose)
    parser.add_argument("name", metavar="NAME")


def _mqtt_user(options: argparse.Namespace) -> int:
    """The password is asked for on a terminal and is the first line of input elsewhere."""
    interactive = sys.stdin.isatty()
    password = getpass.getpass() if interactive else sys.stdin.readline().rstrip("\n")
    if not password:
        raise ConfigurationError("the password is empty", "type one, or pipe one in")
    if interactive and getpass.getpass("again: ") != password:
        raise ConfigurationError("the two passwords differ", "try again")
    say(f"{json.dumps(options.name)} = {json.dumps(hash_password(password))}")
    return 0
