"""Columns come in the order of SELECT, in every format and in notifications; of `*` by name."""

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect

from gateway.app.gateway import Gateway
from gateway.cli.asking import service
from gateway.cli.command import main
from tests.kit.gateways import LOOPBACK, running, settings, update, write_profile

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.end_to_end]

SELECTS = [
    ("SELECT ?o ?s { ?s ?p ?o }", ["o", "s"]),
    ("SELECT ?s ?o { ?s ?p ?o }", ["s", "o"]),
    ("SELECT ?none (STR(?p) AS ?b) ?a { ?s ?p ?o BIND(1 AS ?a) }", ["none", "b", "a"]),
    ("SELECT (COUNT(*) AS ?n) ?a { ?s ?p ?a } GROUP BY ?a", ["n", "a"]),
    ("SELECT ?o (SUM(?v) AS ?a) { ?s ?p ?o, ?v } GROUP BY ?o", ["o", "a"]),
    ("SELECT * { ?s ?p ?o OPTIONAL { ?o <urn:none> ?a } }", ["a", "o", "p", "s"]),
]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    folder = tmp_path_factory.mktemp("columns")
    async with running(settings(folder, write_profile(folder))) as gateway:
        await update(gateway, "INSERT DATA { <urn:s> <urn:p> 1 }")
        yield gateway


@pytest.mark.parametrize(("query", "columns"), SELECTS)
async def test_columns_of_a_query_in_every_format(
    gateway: Gateway, capsys: pytest.CaptureFixture[str], query: str, columns: list[str]
) -> None:
    async def told(form: str) -> str:
        arguments = ["query", query, "--format", form, "--url", _url(gateway)]
        assert await asyncio.to_thread(main, arguments) == 0
        return capsys.readouterr().out

    head, _ = (await told("table")).replace("┃", " ").split("┡")
    assert head.split()[1:] == columns
    assert json.loads(await told("json"))["head"]["vars"] == columns
    assert next(csv.reader(io.StringIO(await told("csv")))) == columns
    assert (await told("tsv")).split("\n")[0].split("\t") == [f"?{name}" for name in columns]
    assert _names(await told("xml")) == columns


@pytest.mark.parametrize(("query", "columns"), SELECTS)
async def test_columns_of_notifications(gateway: Gateway, query: str, columns: list[str]) -> None:
    """By WebSocket, as events, and as `subscribe` prints them: what is not bound is left out."""
    async with connect(f"ws://{LOOPBACK}:{gateway.websocket_port}/subscribe") as socket:
        await socket.send(json.dumps({"subscribe": {"sparql": query}}))
        told = json.loads(await socket.recv())["notification"]
    event = (await _first_event(gateway, query))["notification"]
    for notification in (told, event):
        for member in ("addedResults", "removedResults"):
            assert notification[member]["head"]["vars"] == columns
    out = io.StringIO()
    service.show_notification(out, told, colour=False)
    printed = [word[1:].partition("=")[0] for word in out.getvalue().split() if "=" in word]
    bound = told["addedResults"]["results"]["bindings"][0]
    assert printed == [name for name in columns if name in bound]


async def _first_event(gateway: Gateway, query: str) -> Any:
    async with (
        httpx.AsyncClient(verify=False) as client,
        client.stream("GET", f"{_url(gateway)}/subscribe", params={"query": query}) as answer,
    ):
        lines = answer.aiter_lines()
        data = await anext(line async for line in lines if line.startswith("data:"))
    return json.loads(data.removeprefix("data:"))


def _names(xml: str) -> list[str | None]:
    found = ElementTree.fromstring(xml).iter("{http://www.w3.org/2005/sparql-results#}variable")
    return [each.get("name") for each in found]


def _url(gateway: Gateway) -> str:
    return f"http://{LOOPBACK}:{gateway.http_port}"
