"""`python -m bench.http.fanout_listener SPECIFICATION`: many sockets that count what comes.

Place on the way of the data: its end, as a process, for the gateway and for the bare loop alike. It
says `ready` when every socket has had its first message; then, each time all of them have had one
more, when the last one had it (ns, monotonic) and how many different messages there were.
"""

import asyncio
import json
import sys
from dataclasses import asdict, dataclass
from time import monotonic_ns

import uvloop
from websockets.asyncio.client import ClientConnection, connect

from bench.processes import Child, python_child
from gateway.runtime.process import raise_limit

_TOGETHER = 50


@dataclass(frozen=True, slots=True)
class FanoutListener:
    """`sockets` of them; `hello` is what each says first, empty for nothing."""

    url: str
    sockets: int
    hello: str = ""

    def child(self) -> Child:
        """The process that does it."""
        specification = json.dumps(asdict(self))
        return python_child("listener", "bench.http.fanout_listener", specification)


class _Rounds:
    """What has come so far, round by round."""

    def __init__(self, sockets: int) -> None:
        self._sockets = sockets
        self._counts: list[int] = []
        self._values: list[set[str]] = []

    def take(self, number: int, message: str) -> None:
        """One socket has its message of a round; the first says that all are ready."""
        if number == len(self._counts):
            self._counts.append(0)
            self._values.append(set())
        self._counts[number] += 1
        self._values[number].add(message.partition("addedResults")[2])
        if self._counts[number] == self._sockets:
            seen = {"at": monotonic_ns(), "different": len(self._values[number])}
            _say("ready" if number == 0 else json.dumps(seen))


async def _listen(socket: ClientConnection, rounds: _Rounds) -> None:
    number = 0
    async for message in socket:
        rounds.take(number, str(message))
        number += 1


async def _main(listener: FanoutListener) -> None:
    rounds = _Rounds(listener.sockets)
    async with asyncio.TaskGroup() as tasks:
        opening = asyncio.Semaphore(_TOGETHER)

        async def run() -> None:
            async with opening:
                socket = await connect(
                    listener.url, compression=None, proxy=None, ping_interval=None
                )
                if listener.hello:
                    await socket.send(listener.hello)
            await _listen(socket, rounds)

        for number in range(listener.sockets):
            tasks.create_task(run(), name=f"socket {number}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise_limit()
    uvloop.run(_main(FanoutListener(**json.loads(sys.argv[1]))))
