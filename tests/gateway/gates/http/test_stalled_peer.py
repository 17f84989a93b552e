"""A peer that reads nothing holds no memory of the server for ever."""

import asyncio
import sys

import pytest
from starlette.types import Receive, Scope, Send

from gateway.gates.http.operations import ServerSettings, serve

END_S = 10.0
MORE_THAN_BUFFERS = bytes(32 * 1024 * 1024)


@pytest.mark.skipif(sys.platform != "linux", reason="TCP_USER_TIMEOUT is Linux's")
async def test_peer_that_reads_nothing_is_cut_off() -> None:
    ended = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": MORE_THAN_BUFFERS, "more_body": True})
        # Waits until the peer has taken some of it, or is gone.
        await send({"type": "http.response.body", "body": b""})
        ended.set()

    async with serve(app, "127.0.0.1", 0, ServerSettings(stall_s=0.5)) as address:
        _, writer = await asyncio.open_connection(address.host, address.port, limit=1024)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(END_S):
            await ended.wait()
        writer.transport.abort()
