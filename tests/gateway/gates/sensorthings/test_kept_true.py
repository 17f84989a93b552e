"""A filter as SPARQL, subscribed to over WebSocket, follows what the filter finds by HTTP."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect

from gateway.app.gateway import Gateway
from gateway.cli.command import main
from gateway.exchange.sensorthings.index import Index
from gateway.exchange.sensorthings.model import Set
from gateway.exchange.sensorthings.patterns import KEYS
from tests.gateway.gates.sensorthings.test_sensorthings import BEGIN, served, told, values
from tests.kit.gateways import LOOPBACK, WAIT_S, publish, update

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
FILTERS = (
    "Observations?$filter=result gt 25",
    "Observations?$filter=Datastream/Thing/name eq 'Hall' and not (result lt 20)",
    "Observations?$filter=phenomenonTime ge 2026-03-02T07:01:30Z",
    "Datastreams?$filter=Observations/result gt 25 and unitOfMeasurement/symbol eq '°C'",
    "Things?$filter=Datastreams/Observations/result lt 5 or startswith(name,'H')",
)
STEPS: tuple[Callable[[Gateway], Awaitable[None]], ...] = (
    lambda gateway: publish(gateway.mqtt_port, [*told("hall", 20), *told("attic", 30)]),
    lambda gateway: publish(gateway.mqtt_port, told("hall", 26, at=BEGIN + 60)),
    lambda gateway: update(gateway, f"INSERT DATA {{ <urn:room:hall> {LABEL} 'Hall' }}"),
    lambda gateway: publish(gateway.mqtt_port, told("attic", 4, at=BEGIN + 120)),
    lambda gateway: publish(gateway.mqtt_port, told("hall", 4, at=BEGIN + 180)),
    lambda gateway: update(gateway, f"DELETE DATA {{ <urn:room:hall> {LABEL} 'Hall' }}"),
    lambda gateway: update(gateway, "DELETE WHERE { ?o sosa:madeBySensor <urn:sensor:hall> }"),
)


class Kept:
    """The rows of a SUBSCRIBE, as its notifications add up."""

    def __init__(self, socket: ClientConnection, url: str) -> None:
        name, _, self.condition = url.partition("?$filter=")
        self.set = Set(name)
        self.seen = set[tuple[str, ...]]()
        self._socket = socket
        self._names = KEYS[self.set]
        self._rows: Counter[tuple[str, ...]] = Counter()

    async def until(self, index: Index, ids: Sequence[str]) -> None:
        """Hear until the rows are these entities."""
        async with asyncio.timeout(WAIT_S):
            while self._ids(index) != list(ids):
                await self.hear()
        self.seen.add(tuple(ids))

    async def hear(self) -> None:
        """The next notification."""
        notification = json.loads(await self._socket.recv())["notification"]
        added, removed = (
            [tuple(row[name]["value"] for name in self._names) for row in rows["bindings"]]
            for rows in (
                notification["addedResults"].get("results", {"bindings": []}),
                notification["removedResults"].get("results", {"bindings": []}),
            )
        )
        self._rows.update(added)
        self._rows.subtract(removed)
        assert min(self._rows.values(), default=0) >= 0
        self._rows += Counter()

    def _ids(self, index: Index) -> list[str]:
        """What the rows are in URLs."""
        return sorted(
            index.id_of(self.set, row[0] if len(row) == 1 else (row[0], row[1], row[2]))
            for row in self._rows.elements()
        )


async def subscribed(url: str, sparql: str, gateway: Gateway, stack: AsyncExitStack) -> Kept:
    """The first answer has come."""
    address = f"ws://{LOOPBACK}:{gateway.websocket_port}/subscribe"
    socket = await stack.enter_async_context(connect(address))
    await socket.send(json.dumps({"subscribe": {"sparql": sparql}}))
    kept = Kept(socket, url)
    await kept.hear()
    return kept


async def test_the_sparql_of_a_filter_is_told_as_the_filter_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "gateway.toml"
    config.write_text('[gateway]\nid = "test"\n')
    texts = {}
    for url in FILTERS:
        assert main(["sensorthings", url, "--config", str(config)]) == 0
        texts[url] = capsys.readouterr().out
    async with served(tmp_path) as (gateway, client), AsyncExitStack() as stack:
        index = await gateway.stages.indexing.index()
        subscriptions = [await subscribed(url, text, gateway, stack) for url, text in texts.items()]
        for step in STEPS:
            await step(gateway)
            for kept in subscriptions:
                found = await values(client, kept.set.value, filter=kept.condition)
                await kept.until(index, sorted(each["@iot.id"] for each in found))
        for kept in subscriptions:
            assert len(kept.seen) > 1, kept.condition
