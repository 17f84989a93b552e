"""The event loop of a command, and the signals that end it."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

if sys.platform == "linux":
    from uvloop import new_event_loop
else:
    from asyncio import new_event_loop

T = TypeVar("T")

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` in the platform's fastest event loop."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


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
