"""`sosa-gateway journal` and `collect`: looking after the journal, and receiving those of others.

Place on the way of the data: beside it. `status` only reads and may be asked while the gateway
runs; `seal` and `ship` are for a gateway that is stopped.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from gateway.app.logs import configure_logs
from gateway.app.shipping import shipper_of
from gateway.cli.run import first_of, on_stop_signals, run_loop
from gateway.config.settings import Config, LogSettings, is_loopback
from gateway.errors import ConfigurationError, ShippingError
from gateway.gates.collector.collector import CollectorGate, CollectorLimits
from gateway.gates.collector.token_file import TokenFile
from gateway.gates.http.operations import ServerSettings, application, serve
from gateway.gates.http.origins import LOOPBACK_NAMES, Names
from gateway.journal import Journal, Origin
from gateway.journal.status import Status, read_status
from gateway.security.tls import GivenCertificate

log = logging.getLogger(__name__)


def add_journal(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    load: Callable[[argparse.Namespace], Config],
) -> None:
    """The command `journal`; `load` reads the configuration that the options name."""
    purpose = "segments, what is not shipped, hours left; seal or ship while stopped"
    parser = commands.add_parser("journal", help=purpose, description=purpose)
    parser.add_argument("action", choices=["status", "seal", "ship"], nargs="?", default="status")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="default: ./gateway.toml if there is one"
    )
    actions = {"status": _status, "seal": _seal, "ship": _ship}
    parser.set_defaults(command=lambda options: actions[options.action](load(options)))


def add_collect(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command `collect`."""
    purpose = "a landing zone: take the segments that gateways ship by HTTP"
    parser = commands.add_parser("collect", help=purpose, description=purpose)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where segments are put")
    parser.add_argument(
        "--tokens", type=Path, required=True, metavar="FILE", help="lines: gateway id, token"
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--port", type=int, default=8100, help="default: 8100; 0: any free port")
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="PEM, with its chain")
    parser.add_argument("--key", type=Path, metavar="FILE", help="of the certificate")
    parser.add_argument(
        "--name", action="append", default=[], help="a name that it is called by; may be repeated"
    )
    parser.add_argument(
        "--segment-bytes", type=int, default=CollectorLimits().segment_bytes, metavar="N"
    )
    parser.set_defaults(command=_collect)


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


def _collect(options: argparse.Namespace) -> int:
    tls = _tls(options)
    limits = CollectorLimits(segment_bytes=options.segment_bytes)
    gate = CollectorGate(options.folder, TokenFile(options.tokens), limits)
    configure_logs(LogSettings())
    run_loop(_serve(gate, options, tls))
    return 0


def _tls(options: argparse.Namespace) -> GivenCertificate | None:
    if options.certificate and options.key:
        return GivenCertificate(options.certificate, options.key)
    if options.certificate or options.key:
        raise ConfigurationError("a certificate needs its key", "give --certificate and --key")
    if not is_loopback(options.host):
        raise ConfigurationError(
            f"tokens would cross the network to {options.host} in the clear",
            "give --certificate and --key, or bind 127.0.0.1 behind a proxy that speaks TLS",
        )
    return None


async def _serve(
    gate: CollectorGate, options: argparse.Namespace, tls: GivenCertificate | None
) -> None:
    signalled = asyncio.Event()
    on_stop_signals(signalled.set)
    names = Names(LOOPBACK_NAMES | {name.lower() for name in options.name}, tls is not None)
    settings = ServerSettings(tls=tls.context if tls else None)
    app = application(gate.routes(), names)
    async with serve(app, options.host, options.port, settings) as address:
        log.info("collecting", extra={"host": address.host, "port": address.port})
        await first_of(signalled.wait(), *([tls.run()] if tls else []))
