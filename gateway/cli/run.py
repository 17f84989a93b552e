"""`sosa-gateway run`: the service, from its configuration to a signal."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from gateway.app.gateway import Gateway
from gateway.app.logs import configure_logs
from gateway.config.settings import Config

if sys.platform == "linux":
    from uvloop import new_event_loop
else:
    from asyncio import new_event_loop

log = logging.getLogger(__name__)

T = TypeVar("T")

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` in the platform's fastest event loop."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


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


async def first_of(*waits: Coroutine[Any, Any, object]) -> None:
    """Wait until one has ended, cancel the others; raises what it raised."""
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    for task in ended:
        task.result()


def on_stop_signals(stop: Callable[[], object]) -> None:
    """Have SIGINT and SIGTERM call `stop` in the running loop, instead of their defaults."""
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop)
