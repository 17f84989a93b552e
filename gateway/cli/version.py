"""`sosa-gateway version`."""

import argparse

from gateway import __version__
from gateway.cli.options import Commands, add_command, say
from gateway.cli.verbs import VERBS


def add(commands: Commands) -> None:
    """The command `version`."""
    add_command(commands, "version", _version, VERBS["version"].purpose)


def _version(_: argparse.Namespace) -> int:
    say(__version__)
    return 0
