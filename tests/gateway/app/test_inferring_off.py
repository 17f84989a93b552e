"""`infer` on every transport of a gateway that does not reason: refused, and told what to do."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.cli.command import main
from gateway.client import AsyncClient, RefusedError
from jsap import Profile
from tests.kit.gateways import LOOPBACK, Device, running, settings, write_profile

ALL = "SELECT ?s { ?s a <urn:Sensor> }"
WRITE = "INSERT { ?s <urn:seen> true } WHERE { ?s a <urn:Sensor> }"
REFUSED = "this gateway does not reason"


def address(gateway: Gateway) -> str:
    return f"http://{LOOPBACK}:{gateway.http_port}"


async def refusal(gateway: Gateway, method: str, path: str, **options: str) -> str:
    async with httpx.AsyncClient(timeout=20) as client:
        data = options if method == "POST" else None
        params = None if method == "POST" else options
        answer = await client.request(method, address(gateway) + path, params=params, data=data)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"] == "bad_request"
    return str(answer.json()["error_description"])


async def by_query(gateway: Gateway) -> str:
    return await refusal(gateway, "GET", "/query", query=ALL, infer="true")


async def by_update(gateway: Gateway) -> str:
    return await refusal(gateway, "POST", "/update", update=WRITE, infer="true")


async def by_explain(gateway: Gateway) -> str:
    return await refusal(gateway, "GET", "/explain", query=ALL, infer="true")


async def by_events(gateway: Gateway) -> str:
    return await refusal(gateway, "GET", "/subscribe", query=ALL, infer="true")


async def by_graph_store(gateway: Gateway) -> str:
    return await refusal(gateway, "GET", "/rdf-graph-store", default="", infer="true")


def profile(gateway: Gateway) -> Profile:
    protocol = {"host": LOOPBACK, "port": gateway.http_port, "protocol": "http"}
    channel = {"host": LOOPBACK, "port": gateway.websocket_port, "path": "/subscribe"}
    return Profile.parse(
        {
            "host": LOOPBACK,
            "sparql11protocol": protocol,
            "sparql11seprotocol": {"protocol": "ws", "availableProtocols": {"ws": channel}},
            "queries": {"ALL": {"sparql": ALL, "infer": True}},
            "updates": {"WRITE": {"sparql": WRITE, "infer": True}},
        }
    )


async def by_client_query(gateway: Gateway) -> str:
    async with AsyncClient(profile(gateway)) as client:
        with pytest.raises(RefusedError) as caught:
            await client.query("ALL")
    return str(caught.value)


async def by_client_update(gateway: Gateway) -> str:
    async with AsyncClient(profile(gateway)) as client:
        with pytest.raises(RefusedError) as caught:
            await client.update("WRITE")
    return str(caught.value)


async def by_web_socket(gateway: Gateway) -> str:
    async with AsyncClient(profile(gateway)) as client:
        with pytest.raises(RefusedError) as caught:
            async with client.subscribe("ALL"):
                pass
    return str(caught.value)


async def by_mqtt(gateway: Gateway) -> str:
    def work() -> str:
        with Device(gateway.mqtt_port, "me") as device:
            device.subscribe("sparql/me/answer")
            device.send(
                "sparql/me/request", json.dumps({"subscribe": {"sparql": ALL, "infer": True}})
            )
            message = json.loads(device.receive()[1])
            assert message["status_code"] == 400
            return str(message["error_description"])

    return await asyncio.to_thread(work)


WAYS: dict[str, Callable[[Gateway], Awaitable[str]]] = {
    way.__name__: way
    for way in (
        by_query,
        by_update,
        by_explain,
        by_events,
        by_graph_store,
        by_client_query,
        by_client_update,
        by_web_socket,
        by_mqtt,
    )
}


async def test_infer_is_refused_where_reasoning_is_off(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        for name, way in WAYS.items():
            told = await way(gateway)
            assert REFUSED in told, name
            assert "[reasoning]" in told, name


async def test_infer_false_asks_for_what_there_is(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    async with running(config) as gateway, httpx.AsyncClient() as client:
        query = f"{address(gateway)}/query"
        for word, status in (("false", 200), ("maybe", 400), ("", 400)):
            answer = await client.get(query, params={"query": ALL, "infer": word})
            assert answer.status_code == status, word
        twice = await client.get(f"{query}?query=ASK{{}}&infer=true&infer=true")
        assert twice.status_code == 400


async def test_the_command_line_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        url = address(gateway)
        for command, text in (
            ("query", ALL),
            ("update", WRITE),
            ("explain", ALL),
            ("subscribe", ALL),
        ):
            arguments = [command, text, "--infer", "--url", url]
            assert await asyncio.to_thread(main, arguments) == 1
            told = capsys.readouterr().err
            assert REFUSED in told, command
        assert await asyncio.to_thread(main, ["query", ALL, "--no-infer", "--url", url]) == 0
