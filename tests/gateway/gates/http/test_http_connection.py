"""Connections that send nothing, too slowly, too many at once, or no HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.gates.http.http_connection import ConnectionLimits
from gateway.gates.http.operations import (
    Address,
    ServerSettings,
    application,
    serve,
)
from tests.kit.http_client import FakeHealth, health_interface

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@asynccontextmanager
async def _serving(limits: ConnectionLimits) -> AsyncIterator[Address]:
    app = application(health_interface(FakeHealth()).routes())
    settings = ServerSettings(connections=limits)
    async with serve(app, "127.0.0.1", 0, settings) as address:
        yield address


async def _answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, object]]:
    async with asyncio.timeout(30):
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r")[0])
        body = await reader.readexactly(length)
    return int(head.split(b" ")[1]), json.loads(body)


@pytest.mark.parametrize("begun", [b"", b"GET /health HTTP/1.1\r\nHost: loc"])
async def test_head_that_does_not_come_ends_the_connection(begun: bytes) -> None:
    async with _serving(ConnectionLimits(head_s=0.2)) as address:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(begun)
        status, body = await _answer(reader)
        assert (status, body["error"]) == (408, "request_timeout")
        assert await reader.read() == b""
        writer.close()


async def test_second_head_has_as_much_time_from_its_first_byte() -> None:
    async with _serving(ConnectionLimits(head_s=0.3)) as address:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(HEALTH)
        assert (await _answer(reader))[0] == 200
        await asyncio.sleep(0.4)  # idle, which is no slow head
        writer.write(HEALTH)
        assert (await _answer(reader))[0] == 200
        writer.write(HEALTH[:20])
        assert (await _answer(reader))[0] == 408
        writer.close()


@pytest.mark.parametrize(
    "limits", [ConnectionLimits(connections=2), ConnectionLimits(client_connections=2)]
)
async def test_connections_beyond_the_limit_are_refused_until_one_goes(
    limits: ConnectionLimits,
) -> None:
    async with _serving(limits) as address:
        first = [await asyncio.open_connection(address.host, address.port) for _ in range(2)]
        for reader, writer in first:
            writer.write(HEALTH)
            assert (await _answer(reader))[0] == 200
        reader, writer = await asyncio.open_connection(address.host, address.port)
        status, body = await _answer(reader)
        assert (status, body["error"]) == (503, "overloaded")
        writer.close()
        first[0][1].close()
        async with asyncio.timeout(30):
            while True:
                reader, writer = await asyncio.open_connection(address.host, address.port)
                writer.write(HEALTH)
                status, _ = await _answer(reader)
                writer.close()
                if status == 200:
                    break
        first[1][1].close()


@pytest.mark.parametrize(
    "garbage", [b"\x16\x03\x01\x02\x00", b"HELO\r\n\r\n", b"GET / HTTP/9\r\n\r\n"]
)
async def test_what_is_no_http_is_answered_with_the_error_object(garbage: bytes) -> None:
    async with _serving(ConnectionLimits(head_s=0.5)) as address:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(garbage)
        status, body = await _answer(reader)
        assert status in {400, 408}
        assert body["status_code"] == status
        writer.close()


_LONG = b"x" * 70_000


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        (b"GET /health?" + _LONG, 414, "uri_too_long"),
        (b"GET /health?" + _LONG + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "uri_too_long"),
        (
            b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + _LONG,
            431,
            "header_fields_too_large",
        ),
        (
            b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + _LONG + b"\r\n\r\n",
            431,
            "header_fields_too_large",
        ),
        (
            b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n",
            400,
            "bad_request",
        ),
    ],
)
async def test_head_that_is_refused_ends_the_connection(
    head: bytes, status: int, code: str, in_parts: bool
) -> None:
    """Also where it is the second one, and however it comes."""
    async with _serving(ConnectionLimits(head_s=5)) as address:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(HEALTH)
        assert (await _answer(reader))[0] == 200
        for part in (head[:40_000], head[40_000:]) if in_parts else (head,):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)
        found, body = await _answer(reader)
        assert (found, body["error"]) == (status, code)
        assert await reader.read() == b""
        writer.close()


async def test_large_body_is_no_large_head() -> None:
    async with _serving(ConnectionLimits()) as address:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        for _ in range(2):
            writer.write(
                b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n" + _LONG
            )
            assert (await _answer(reader))[0] == 405
        writer.close()
