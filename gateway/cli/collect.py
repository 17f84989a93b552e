"""`sosa-gateway collect`: receiving the journals of gateways that ship by HTTP."""

import argparse
import asyncio
import logging
from pathlib import Path

from gateway.app.logs import configure_logs
from gateway.cli.loop import first_of, on_stop_signals, run_loop
from gateway.cli.options import Commands, add_command
from gateway.cli.verbs import VERBS
from gateway.config.settings import LogSettings, is_loopback
from gateway.errors import ConfigurationError
from gateway.gates.collector.collector import CollectorGate, CollectorLimits
from gateway.gates.collector.token_file import TokenFile
from gateway.gates.http.operations import ServerSettings, application, serve
from gateway.gates.http.origins import LOOPBACK_NAMES, Names
from gateway.security.tls import GivenCertificate

log = logging.getLogger(__name__)


def add(commands: Commands) -> None:
    """The command `collect`."""
    parser = add_command(commands, "collect", _collect, VERBS["collect"].purpose)
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
