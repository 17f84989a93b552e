"""`sosa-gateway run`: the service, from its configuration to a signal.

SIGHUP has a service read its profiles again; in a terminal it says that this was closed, and ends
the gateway.
"""

import argparse
import asyncio
import gc
import logging
import os
import signal
from pathlib import Path

from gateway.app.gateway import Gateway
from gateway.app.logs import configure_logs
from gateway.appliance.upgrade.waiting import until_passed
from gateway.appliance.watchdog import Watch, Watchdog
from gateway.cli.loop import first_of, on_stop_signals, run_loop
from gateway.cli.options import Commands, add_command, add_config
from gateway.cli.verbs import VERBS
from gateway.config.file import load_config, settings_file
from gateway.config.settings import Config
from gateway.runtime.service_manager import ServiceManager

log = logging.getLogger(__name__)


def add(commands: Commands) -> None:
    """The command `run`."""
    add_config(add_command(commands, "run", _run, VERBS["run"].purpose))


def _run(options: argparse.Namespace) -> int:
    config = load_config(options.config, os.environ)
    run_gateway(config, settings_file(options.config))
    return 0


def run_gateway(config: Config, settings: Path | None = None) -> None:
    """Serve until SIGINT, SIGTERM or the gateway's own end; then close it in order."""
    # What has been loaded lives as long as the process: no look for garbage goes through it again.
    gc.freeze()
    configure_logs(config.log)
    ends_with_terminal = _has_terminal() and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
    # Until there is a gateway that can reload its profiles, SIGHUP must not end it.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    run_loop(_serve(config, settings, ends_with_terminal=ends_with_terminal))


def _has_terminal() -> bool:
    """Whether it was started in one: its closing sends SIGHUP; nohup has that ignored."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


async def _serve(config: Config, settings: Path | None, *, ends_with_terminal: bool) -> None:
    loop, signalled = asyncio.get_running_loop(), asyncio.Event()
    on_stop_signals(signalled.set)
    if ends_with_terminal:
        loop.add_signal_handler(signal.SIGHUP, signalled.set)
    manager = ServiceManager.of(os.environ)
    async with (
        Watchdog(manager) as watchdog,
        Gateway(
            config,
            starting=lambda stage: manager.status(f"starting: {stage}"),
            settings=settings,
            may_serve=until_passed(manager),
            start_anew=signalled.set if manager.is_there else None,
        ) as gateway,
    ):
        if not ends_with_terminal:
            loop.add_signal_handler(signal.SIGHUP, gateway.reload_profiles)
        log.info(
            "serving",
            extra={
                "mqtt_port": gateway.mqtt_port,
                "http_port": gateway.http_port,
                "websocket_port": gateway.websocket_port,
            },
        )
        watchdog.ready(Watch(gateway.pulses()))
        try:
            await first_of(gateway.wait_closed(), signalled.wait())
            log.info("stopping")
        finally:
            watchdog.stopping()
