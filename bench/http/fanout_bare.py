"""`python -m bench.http.fanout_bare`: the least that a fan-out can cost on this server.

Place on the way of the data: in the gateway's place, the yardstick of `bench fanout`. A POST with a
text has it sent to every socket, one after the other, in one loop; the server and its settings are
the gateway's. It says where it listens, as JSON, and ends with its standard input.
"""

import asyncio
import json
import sys
from contextlib import suppress

import uvloop
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from gateway.gates.http.operations import application, serve
from gateway.runtime.process import raise_limit


class _Bare:
    """Sockets, and a loop over them."""

    def __init__(self) -> None:
        self._sockets: list[WebSocket] = []

    async def open(self, socket: WebSocket) -> None:
        """A first message, as a subscriber gets one; then those that are posted."""
        await socket.accept()
        self._sockets.append(socket)
        await socket.send_text("addedResults")
        with suppress(WebSocketDisconnect):
            await socket.receive_text()

    async def send(self, request: Request) -> Response:
        """The loop."""
        text = (await request.body()).decode()
        for socket in self._sockets:
            await socket.send_text(text)
        return Response(status_code=204)


async def _main() -> None:
    bare = _Bare()
    routes = [WebSocketRoute("/subscribe", bare.open), Route("/send", bare.send, methods=["POST"])]
    async with serve(application(routes), "127.0.0.1", 0) as address:
        sys.stdout.write(json.dumps({"port": address.port}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    raise_limit()
    uvloop.run(_main())
