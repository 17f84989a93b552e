"""`python -m bench.http.sensorthings_load SPECIFICATION`: clients of the SensorThings API.

Place on the way of the data: before the HTTP gate. Each connection asks for `each` pages of 20
Datastreams by their ids, with the latest Observation of each, one page after another. It says
`ready`, and for each line `PORT` what a turn took as JSON: all of it, and each request, in seconds.
"""

import asyncio
import json
import random
import re
import sys
from dataclasses import asdict, dataclass
from time import perf_counter
from urllib.parse import quote

import uvloop

from bench.processes import Child, ChildFailedError, python_child
from gateway.exchange.sensorthings.index import digest

PAGE = 20
STREAM = ("urn:bench:s:{}", "urn:bench:temperature", "urn:bench:room:{}")
_LENGTH = re.compile(rb"(?i)content-length: *([0-9]+)")


def stream_id(number: int) -> str:
    """The id of a Datastream of the benchmark."""
    return digest("\n".join(each.format(number) for each in STREAM))


@dataclass(frozen=True, slots=True)
class SensorThingsLoad:
    """`connections` clients that ask for `each` pages a turn, of so many `streams`."""

    connections: int
    each: int
    streams: int

    def child(self) -> Child:
        """The process that does it."""
        specification = json.dumps(asdict(self))
        return python_child("SensorThings clients", "bench.http.sensorthings_load", specification)

    async def turn(self, port: int) -> dict[str, object]:
        """What one turn took, and how many Observations came."""
        started = perf_counter()
        told = await asyncio.gather(
            *(self._client(port, number) for number in range(self.connections))
        )
        times = [time for each, _ in told for time in each]
        seen = sum(count for _, count in told)
        return {"elapsed_s": perf_counter() - started, "times": times, "observations": seen}

    async def _client(self, port: int, number: int) -> tuple[list[float], int]:
        chance = random.Random(number)  # noqa: S311  # which streams are asked for
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        times: list[float] = []
        seen = 0
        try:
            for _ in range(self.each):
                request = _request(chance.sample(range(self.streams), PAGE))
                began = perf_counter()
                writer.write(request)
                body = await _read_answer(reader)
                times.append(perf_counter() - began)
                seen += body.count(b'"result":')
        finally:
            writer.close()
            await writer.wait_closed()
        return times, seen


def _request(numbers: list[int]) -> bytes:
    condition = " or ".join(f"id eq '{stream_id(number)}'" for number in numbers)
    query = f"$expand=Observations($top=1)&$filter={quote(condition)}"
    return f"GET /sta/v1.1/Datastreams?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


async def _read_answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    if not head.startswith(b"HTTP/1.1 200") or length is None:
        raise ChildFailedError(f"the server answered: {head.splitlines()[0].decode()}")
    return await reader.readexactly(int(length[1]))


def _main(load: SensorThingsLoad) -> None:
    _say("ready")
    for line in sys.stdin:
        _say(json.dumps(uvloop.run(load.turn(int(line)))))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _main(SensorThingsLoad(**json.loads(sys.argv[1])))
