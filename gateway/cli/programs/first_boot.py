"""`sosa-gateway first-boot`: a device set up by a file on its card; called at each start."""

import argparse
from pathlib import Path

from gateway.appliance.device_settings import DATA_DIR
from gateway.appliance.first_boot import Places, first_boot
from gateway.cli.options import Commands, add_command, say
from gateway.cli.verbs import VERBS
from gateway.errors import StorageError


def add(commands: Commands) -> None:
    """The command `first-boot`."""
    parser = add_command(commands, "first-boot", _first_boot, VERBS["first-boot"].purpose)
    for name, default, purpose in (
        ("--boot", "/boot/firmware", "where the card's FAT partition is"),
        ("--data", "/data", "where what the device keeps is"),
        ("--state", DATA_DIR, "the gateway's own data; its owner is the gateway's user"),
    ):
        told = f"{purpose}; default: {default}"
        parser.add_argument(name, type=Path, default=Path(default), metavar="FOLDER", help=told)


def _first_boot(options: argparse.Namespace) -> int:
    try:
        say(first_boot(Places(options.boot, options.data, options.state)).rstrip())
    except OSError as error:
        raise StorageError(
            f"the device cannot be set up: {error}",
            f"see that {options.data} and {options.state} are there and can be written",
        ) from error
    return 0
