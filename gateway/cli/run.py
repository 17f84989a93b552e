"""`sosa-gateway run`: the service, from its configuration to a signal."""

import argparse
import asyncio
import logging
import os
import signal

from gateway.app.gateway import Gateway
from gateway.app.logs import configure_logs
from gateway.cli.loop import first_of, on_stop_signals, run_loop
from gateway.cli.options import Commands, add_command, add_config
from gateway.cli.verbs import VERBS
from gateway.config.file import load_config
from gateway.config.settings import Config

log = logging.getLogger(__name__)


def add(commands: Commands) -> None:
    """The command `run`."""
    add_config(add_command(commands, "run", _run, VERBS["run"].purpose))


def _run(options: argparse.Namespace) -> int:
    run_gateway(load_config(options.config, os.environ))
    return 0


def run_gateway(config: Config) -> None:
    """Serve until SIGINT, SIGTERM or the gateway's own end; then close it in order."""
    configure_logs(config.log)
    # Until there is a gateway that can reload its profiles, SIGHUP must not end it.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    run_loop(_serve(config))


async def _serve(config: Config) -> None:
    signalled = asyncio.Event()
    on_stop_signals(signalled.set)
    async with Gateway(config) as gateway:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, gateway.reload_profiles)
        log.info(
            "serving",
            extra={
                "mqtt_port": gateway.mqtt_port,
                "http_port": gateway.http_port,
                "websocket_port": gateway.websocket_port,
            },
        )
        await first_of(gateway.wait_closed(), signalled.wait())
        log.info("stopping")
