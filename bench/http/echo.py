"""`python -m bench.http.echo`: a bare Starlette application that answers with what it is sent.

Place on the way of the data: in the gateway's place, the yardstick of `bench http`, on the same
server with the same settings. It says its port and ends with its standard input.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bench.processes import Child, python_child
from gateway.gates.http.operations import serve
from gateway.runtime.process import one_core

_run: Callable[[Coroutine[Any, Any, None]], None]
if sys.platform == "linux":
    import uvloop

    _run = uvloop.run
else:
    _run = asyncio.run


def echo_child() -> Child:
    """The process that does it."""
    return python_child("echo", "bench.http.echo", "")


async def _echo(request: Request) -> JSONResponse:
    return JSONResponse({"body": (await request.body()).decode()})


async def _main() -> None:
    application = Starlette(routes=[Route("/update", _echo, methods=["POST"])])
    async with serve(application, "127.0.0.1", 0) as address:
        sys.stdout.write(json.dumps({"port": address.port}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    with one_core():
        _run(_main())
