"""The JSON interface: rights before bodies, nothing coerced, handlers in the loop, methods."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from inspect import iscoroutinefunction
from typing import Any

import httpx
import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from gateway.actuation.actuator import Actuator
from gateway.admin.onboarding.onboarding import Onboarding
from gateway.errors import BadRequestError, ForbiddenError
from gateway.gates.admin.actuator_answers import CommandBody
from gateway.gates.admin.actuators import ActuatorsGate
from gateway.gates.admin.mapping_bodies import ApplyBody, TryBody, UndoBody
from gateway.gates.admin.openapi import document
from gateway.gates.admin.rehearsal import RehearsalGate, RehearseBody
from gateway.gates.admin.routers import ROUTERS
from gateway.gates.http.dependencies import Served
from gateway.gates.http.json_body import Body, checked
from gateway.gates.http.json_interface import JsonInterface
from gateway.gates.http.operations import Address, application, serve
from gateway.gates.http.request_body import RequestLimits
from gateway.security.policy import Capability, Policy
from tests.kit.fake_guard import FakeGuard
from tests.kit.http_client import FakeHealth, check_error, health_interface

ROUTES = [each for router in ROUTERS for each in router.routes if isinstance(each, APIRoute)]
PATHS = document()["paths"]
WITH_BODY = [
    each.path_format
    for each in ROUTES
    if "POST" in (each.methods or ()) and "requestBody" in PATHS[each.path_format]["post"]
]
ANYBODYS = {
    "/claim": "who claims a gateway is nobody yet: the code decides",
    "/why/quiet": "it is answered with the rights of whoever asks, as a QUERY is",
}
"""Bodies that no capability stands before."""

GUARD = FakeGuard(
    eve=Policy(), mapper=Policy(capabilities=frozenset({Capability.MAPPINGS, Capability.COMMAND}))
)


class Locked(ActuatorsGate):
    """Actuators that nobody may command."""

    def __init__(self) -> None:
        pass

    def commandable(self, name: str, policy: Policy) -> Actuator:
        raise ForbiddenError("locked")


@asynccontextmanager
async def serving() -> AsyncIterator[Address]:
    gates = {
        ActuatorsGate: Locked(),
        # No request of these tests comes as far as these two.
        Onboarding: Onboarding.__new__(Onboarding),
        RehearsalGate: RehearsalGate.__new__(RehearsalGate),
    }
    served = Served(gates, GUARD, RequestLimits(body_bytes=100))
    app = application(JsonInterface(ROUTERS, served).routes())
    async with serve(app, "127.0.0.1", 0) as address:
        yield address


async def status_without_body(address: Address, path: str, who: str, length_bytes: int) -> int:
    """What is answered to a body that is announced and never comes."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    token = f"Authorization: Bearer {who}\r\n" if who else ""
    writer.write(
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{token}Content-Type: application/json\r\n"
        f"Content-Length: {length_bytes}\r\n\r\n".encode()
    )
    async with asyncio.timeout(30):
        head = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    return int(head.split(b" ")[1])


def test_there_are_bodies() -> None:
    assert set(WITH_BODY) >= {"/mappings/apply", "/mappings/rehearse", "/actuators/{name}/command"}
    assert len(WITH_BODY) == 15
    assert set(WITH_BODY) >= ANYBODYS.keys()


async def test_who_is_not_known_asks_nothing_but_the_claim() -> None:
    async with serving() as address:
        assert await status_without_body(address, "/why/quiet", "", 10) == 401


@pytest.mark.parametrize("path", [each for each in WITH_BODY if each not in ANYBODYS])
async def test_nothing_is_read_of_who_may_not_send_it(path: str) -> None:
    async with serving() as address:
        assert await status_without_body(address, path, "", 10) == 401
        assert await status_without_body(address, path, "eve", 10) == 403


@pytest.mark.parametrize("path", [each for each in WITH_BODY if each.startswith("/mappings")])
async def test_body_that_is_announced_too_long_is_not_waited_for(path: str) -> None:
    async with serving() as address:
        assert await status_without_body(address, path, "mapper", 101) == 413


@pytest.mark.parametrize(
    ("model", "members"),
    [
        (UndoBody, {"id": 1}),
        (UndoBody, {"id": "1", "force": "true"}),
        (UndoBody, {"id": "1", "force": 1}),
        (TryBody, {"message": {"topic": "a", "payload": 1}}),
        (TryBody, {"message": {"topic": "a", "payload": "1", "retained": "false"}}),
        (ApplyBody, {"remove": [1]}),
        (RehearseBody, {"queries": [1]}),
        (CommandBody, {"value": 1, "wait": "1"}),
        (CommandBody, {"value": 1, "wait": True}),
    ],
)
def test_nothing_is_coerced(model: type[Body], members: object) -> None:
    with pytest.raises(BadRequestError):
        checked(model, members)


def test_handlers_and_what_they_depend_on_stay_in_the_loop() -> None:
    """Results of pyoxigraph end the process in another thread."""
    assert ROUTES
    for route in ROUTES:
        for call in calls(route.dependant):
            assert iscoroutinefunction(call) or iscoroutinefunction(type(call).__call__), call


def calls(dependant: Dependant) -> Iterator[Any]:
    yield dependant.call
    for each in dependant.dependencies:
        yield from calls(each)


def test_document_has_no_error_that_is_not_ours() -> None:
    text = json.dumps(document())
    assert "ValidationError" not in text
    assert '"422"' not in text
    assert "#/components/schemas/Error" in text


async def test_methods_of_a_path_and_paths_that_are_none() -> None:
    async with (
        serving() as address,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{address.port}") as client,
    ):
        for prefix in ("", "/secure"):
            allowed = await client.options(f"{prefix}/quarantine")
            assert (allowed.status_code, allowed.text) == (204, "")
            assert allowed.headers["allow"] == "DELETE, GET, HEAD, OPTIONS"
            refused = await client.put(f"{prefix}/quarantine")
            check_error(refused, 405, "method_not_allowed")
            assert refused.headers["allow"] == "DELETE, GET, HEAD, OPTIONS"
            refused = await client.get(f"{prefix}/mappings/apply")
            assert refused.headers["allow"] == "OPTIONS, POST"
            check_error(await client.get(f"{prefix}/quarantine"), 401, "invalid_request")
        for path in ("/docs", "/redoc", "/openapi.json", "/mappings/none/at/all"):
            check_error(await client.get(path), 404, "not_found")


async def test_head_is_get_without_a_body() -> None:
    app = application(health_interface(FakeHealth("full")).routes())
    async with serve(app, "127.0.0.1", 0) as address, httpx.AsyncClient() as client:
        url = f"http://127.0.0.1:{address.port}"
        for path in ("/health", "/secure/health"):
            got, head = await client.get(url + path), await client.head(url + path)
            assert (head.status_code, head.text) == (got.status_code, "") == (503, "")
            assert head.headers["content-type"] == got.headers["content-type"]
            assert head.headers["content-length"] != "0"
