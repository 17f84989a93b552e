"""`python -m bench.http.poster SPECIFICATION`: a client that sends UPDATEs at a pace, by HTTP.

Place on the way of the data: before the HTTP gate, by plain requests over connections that stay
open, so that the client is not what is measured. It says `ready`, waits for a line, sends, and says
as JSON when it sent which (ns, monotonic).
"""

import asyncio
import json
import sys
from dataclasses import asdict, dataclass
from time import monotonic, monotonic_ns

import uvloop

from bench.processes import Child, python_child

PREDICATE = "urn:bench:is"
_HEAD = (
    "POST /update HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/sparql-update\r\n"
    "Content-Length: {}\r\n\r\n{}"
)


@dataclass(frozen=True, slots=True)
class Poster:
    """`updates` in all, `rate` of them a second, over so many connections in turn."""

    port: int
    updates: int
    rate: float
    connections: int = 16

    def child(self) -> Child:
        """The process that does it."""
        return python_child("poster", "bench.http.poster", json.dumps(asdict(self)))


class _Connection:
    """One connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def post(self, text: str) -> None:
        """Send an UPDATE and read its answer; raises ConnectionError for any status but 200."""
        self._writer.write(_HEAD.format(len(text), text).encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        if not head.startswith("http/1.1 200"):
            raise ConnectionError(head.partition("\r\n")[0])
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        await self._reader.readexactly(length)

    def close(self) -> None:
        """No more requests."""
        self._writer.close()


async def _send(poster: Poster, connections: list[_Connection]) -> dict[int, int]:
    """Each connection has its share; a slow answer delays those of its connection only."""
    sent: dict[int, int] = {}
    begun = monotonic() + 0.1

    async def share(first: int) -> None:
        for number in range(first, poster.updates, poster.connections):
            await asyncio.sleep(begun + number / poster.rate - monotonic())
            sent[number] = monotonic_ns()
            subject = f"urn:bench:{number % 100}"
            await connections[first].post(f"INSERT DATA {{ <{subject}> <{PREDICATE}> {number} }}")

    await asyncio.gather(*(share(number) for number in range(poster.connections)))
    return sent


async def _main(poster: Poster) -> None:
    connections = [
        _Connection(*await asyncio.open_connection("127.0.0.1", poster.port))
        for _ in range(poster.connections)
    ]
    _say("ready")
    if await asyncio.to_thread(sys.stdin.readline):  # else the benchmark is gone
        _say(json.dumps(await _send(poster, connections)))
    for connection in connections:
        connection.close()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(_main(Poster(**json.loads(sys.argv[1]))))
