"""A gateway in a process of its own that kills itself at a step of an actuation.

python -m tests.gateway.actuation.killed FOLDER BROKER_PORT STEP
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gateway.actuation.consumer import Consumer
from tests.kit.gateways import running, settings

NEVER = "never"
REQUESTED = "requested"
SENT = "sent"
PUBLISHED = "published"
CONFIRMED = "confirmed"


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _first(do: Callable[..., Any]) -> Callable[..., Any]:
    """Kill after the first time that it has been done."""

    async def done(*given: Any, **more: Any) -> None:
        await do(*given, **more)
        if given[0].statistics.confirmed:
            _die()

    return done


def kill_at(step: str) -> None:
    """Between two steps of the consumer."""
    consumer: Any = Consumer
    match step:
        case "requested":
            consumer.take = lambda self, requests: _die() if list(requests) else None
        case "sent":
            consumer._publish = _die
        case "published":
            consumer.observe = _die
        case "confirmed":
            consumer._end = _first(consumer._end)


async def serve(folder: Path, port: int) -> None:
    async with running(settings(folder, folder / "test.jsap", kind="disk", mosquitto=port)) as one:
        sys.stdout.write(f"http {one.http_port}\n")
        sys.stdout.flush()
        await one.wait_closed()


if __name__ == "__main__":
    kill_at(sys.argv[3])
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2])))
