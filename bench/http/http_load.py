"""`python -m bench.http.http_load SPECIFICATION`: HTTP clients that send UPDATEs, as a process.

Place on the way of the data: before the HTTP gate. Each connection is one client that sends its
next UPDATE when the last one is answered, and sets a lamp of its own, so that the last value of
each lamp is known. It says `ready`, and for each line `PORT FIRST` that it is told it sends its
UPDATEs, numbered from FIRST, there, and says as JSON how long that took. A server that echoes
takes them too.
"""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from time import perf_counter

import uvloop

from bench.city.streets import CITY, lamp_iri, ulamp
from bench.processes import Child, ChildFailedError, python_child

_LENGTH = re.compile(rb"(?i)content-length: *([0-9]+)")


@dataclass(frozen=True, slots=True)
class HttpLoad:
    """`connections` clients that send `each` UPDATEs a turn."""

    connections: int
    each: int

    @property
    def requests(self) -> int:
        """Requests of one turn, of all connections."""
        return self.connections * self.each

    def child(self) -> Child:
        """The process that does it."""
        return python_child("HTTP clients", "bench.http.http_load", json.dumps(asdict(self)))

    def lamps(self) -> Iterator[str]:
        """The IRIs of the lamps that are set."""
        return (lamp_iri(road, 1) for road in range(1, self.connections + 1))

    def fill(self) -> str:
        """An UPDATE that gives every lamp its first value."""
        triples = " ".join(f'<{lamp}> <{CITY}hasDimmingValue> "none" .' for lamp in self.lamps())
        return f"INSERT DATA {{ {triples} }}"

    def values(self, turns: int) -> Iterator[tuple[str, str]]:
        """Each lamp with its value after so many turns."""
        last = str(turns * self.each - 1)
        return ((lamp, last) for lamp in self.lamps())

    async def turn(self, port: int, first: int) -> float:
        """The seconds that one turn takes."""
        started = perf_counter()
        clients = [self._client(port, road, first) for road in range(1, self.connections + 1)]
        await asyncio.gather(*clients)
        return perf_counter() - started

    async def _client(self, port: int, road: int, first: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for number in range(first, first + self.each):
                writer.write(_request(ulamp(road, 1, str(number)).encode()))
                await _read_answer(reader)
        finally:
            writer.close()
            await writer.wait_closed()


def _request(body: bytes) -> bytes:
    head = (
        "POST /update HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/sparql-update\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _read_answer(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    if not head.startswith(b"HTTP/1.1 200") or length is None:
        raise ChildFailedError(f"the server answered: {head.splitlines()[0].decode()}")
    await reader.readexactly(int(length[1]))


def _main(load: HttpLoad) -> None:
    _say("ready")
    for line in sys.stdin:
        port, first = map(int, line.split())
        _say(json.dumps({"elapsed_s": uvloop.run(load.turn(port, first))}))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _main(HttpLoad(**json.loads(sys.argv[1])))
