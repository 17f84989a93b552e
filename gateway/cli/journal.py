"""`sosa-gateway journal`: looking after the journal.

`status` only reads and may be asked while the gateway runs; `seal` and `ship` are for a gateway
that is stopped.
"""

import argparse
import os
import sys
from datetime import UTC, datetime

from gateway.app.storage import shipper_of
from gateway.cli.options import Commands, add_command, add_config
from gateway.cli.verbs import VERBS
from gateway.config.file import load_config
from gateway.config.settings import Config
from gateway.errors import ConfigurationError, ShippingError
from gateway.journal import Journal, Origin
from gateway.journal.status import Status, read_status
from gateway.security.private_files import keep_private


def add(commands: Commands) -> None:
    """The command `journal`."""
    parser = add_command(commands, "journal", _run, VERBS["journal"].purpose)
    parser.add_argument("action", choices=["status", "seal", "ship"], nargs="?", default="status")
    add_config(parser)


def _run(options: argparse.Namespace) -> int:
    actions = {"status": _status, "seal": _seal, "ship": _ship}
    return actions[options.action](load_config(options.config, os.environ))


def _status(config: Config) -> int:
    folder = config.gateway.data_dir / "journal"
    for name, value in _rows(read_status(folder, config.journal.limits())):
        sys.stdout.write(f"{name:<22} {value}\n")
    return 0


def _rows(status: Status) -> list[tuple[str, str]]:
    oldest = status.oldest_unshipped
    since = f"{datetime.fromtimestamp(oldest / 1e6, UTC):%F %T} UTC" if oldest else "-"
    return [
        ("raw segments", f"{status.raw} ({status.raw_bytes:,} bytes)"),
        ("sealed segments", f"{status.sealed} ({status.sealed_bytes:,} bytes)"),
        ("observations sealed", f"{status.count:,}"),
        (
            "bytes an observation",
            f"{status.sealed_bytes / status.count:.1f}" if status.count else "-",
        ),
        ("not shipped", f"{status.unshipped} ({status.unshipped_bytes:,} bytes)"),
        ("oldest of these", since),
        ("never to come", f"{status.gaps:,}"),
        ("hours left", f"{status.hours_left:,.0f}" if status.hours_left else "not known yet"),
    ]


def _journal(config: Config) -> Journal:
    keep_private(config.gateway.data_dir)
    origin = Origin(config.gateway.id, config.gateway.base_iri)
    return Journal(config.gateway.data_dir / "journal", origin, config.journal.limits())


def _seal(config: Config) -> int:
    with _journal(config) as journal:
        sys.stdout.write(f"{journal.seal()} segments sealed\n")
    return 0


def _ship(config: Config) -> int:
    with _journal(config) as journal:
        shipper = shipper_of(config.shipping, journal)
        if shipper is None:
            raise ConfigurationError("there is no landing zone", "set [shipping] to")
        journal.seal()
        shipper.ship()
        sys.stdout.write(f"{shipper.statistics.delivered} segments shipped\n")
        if shipper.statistics.failing:
            raise ShippingError(shipper.statistics.failing)
    return 0
