"""Who may do what below /mappings: nothing without the capability, payloads only of own topics."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from gateway.app.gateway import Gateway
from gateway.config.settings import SecuritySettings
from gateway.rdf.namespaces import CHANGES_GRAPH, MAPPINGS_GRAPH, PROPOSALS_GRAPH
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING, Capability, Policy
from tests.gateway.admin.onboarding.house import config
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.gateway.security.clients import identity
from tests.kit.gateways import LOOPBACK, mapping, running

MAPS = frozenset({Capability.MAPPINGS})
POLICIES = {
    "nobody": Policy(),
    "reader": Policy(query=frozenset({MAPPINGS_GRAPH})),
    "editor": Policy(None, None, None, None, None, frozenset(Capability) - MAPS),
    "mapper": Policy(receive=frozenset({"mine/#"}), capabilities=MAPS),
    "boss": EVERYTHING,
}
T = mapping("t", "lab/+", selector="$.t")
ASKED: list[tuple[str, str, object]] = [
    ("GET", "/mappings", None),
    ("GET", "/mappings/unknown", None),
    ("GET", "/mappings/history", None),
    ("GET", "/mappings/proposals", None),
    ("GET", "/mappings/proposals/x", None),
    ("POST", "/mappings/proposals/confirm", {"ids": ["x"]}),
    ("POST", "/mappings/proposals/reject", {"ids": ["x"]}),
    ("POST", "/mappings/proposals/reopen", {"ids": ["x"]}),
    ("POST", "/mappings/proposals/x/confirm", {}),
    ("POST", "/mappings/proposals/x/reject", None),
    ("POST", "/mappings/try", {"message": {"topic": "mine/a", "payload": "1"}}),
    ("POST", "/mappings/apply", {"add": [T]}),
    ("POST", "/mappings/undo", {"id": "1"}),
]


class Clients:
    """The identities, each with a token."""

    def __init__(self, http: httpx.AsyncClient, tokens: dict[str, str]) -> None:
        self._http = http
        self._tokens = tokens

    async def ask(self, who: str, method: str, path: str, body: object = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._tokens[who]}"} if who else {}
        return await self._http.request(method, path, json=body, headers=headers)

    async def update(self, who: str, text: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._tokens[who]}"}
        return await self._http.post("/update", data={"update": text}, headers=headers)


@asynccontextmanager
async def a_guarded_house(folder: Path) -> AsyncIterator[tuple[Gateway, Clients]]:
    store = IdentityStore(folder / "data" / "security" / "identities.sqlite")
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.USER))
    given = config(folder).model_copy(
        update={"security": SecuritySettings.model_validate({"enabled": True})}
    )
    async with (
        running(given) as gateway,
        httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as http,
    ):
        tokens = {}
        for name in POLICIES:
            answer = await http.post(
                "/oauth/token",
                data={"grant_type": "client_credentials"},
                auth=(f"{name}-id", f"{name}-secret"),
            )
            tokens[name] = answer.json()["access_token"]
        yield gateway, Clients(http, tokens)


async def test_without_the_capability_nothing_is_told(tmp_path: Path) -> None:
    async with a_guarded_house(tmp_path) as (_, clients):
        assert (await clients.ask("boss", "POST", "/mappings/apply", {"add": [T]})).is_success
        for method, path, body in ASKED:
            for prefix in ("", "/secure"):
                assert (await clients.ask("", method, prefix + path, body)).status_code == 401
                for who in ("nobody", "editor", "reader"):
                    answer = await clients.ask(who, method, prefix + path, body)
                    may = path == "/mappings" and who in {"reader", "editor"}
                    assert (answer.status_code, "urn:mapping:t" in answer.text) == (
                        (200, True) if may else (403, False)
                    ), (who, path)
        listed = (await clients.ask("mapper", "GET", "/mappings")).json()["mappings"]
        assert [each["id"] for each in listed] == ["urn:mapping:t"]
        history = (await clients.ask("mapper", "GET", "/mappings/history")).json()["changes"]
        assert [each["by"] for each in history] == ["boss"]


async def test_payloads_are_shown_to_who_may_receive_the_topic(tmp_path: Path) -> None:
    async with a_guarded_house(tmp_path) as (gateway, clients):
        port = gateway.mqtt_port
        async with await RawClient.connect(port, "d", "boss", "boss-secret") as device:
            for topic in ("mine/a", "others/b"):
                await device.publish(topic, b"HUSH", qos=1)
        async with asyncio.timeout(20):
            while len(found := await topics(clients, "mapper")) != 2:
                await asyncio.sleep(0.02)
        assert [each["payload"] for each in found["mine/a"]["payloads"]] == ["HUSH"]
        assert "payloads" not in found["others/b"]
        assert "payloads" in (await topics(clients, "boss"))["others/b"]


async def topics(clients: Clients, who: str) -> dict[str, Any]:
    answer = await clients.ask(who, "GET", "/mappings/unknown")
    return {each["topic"]: each for each in answer.json()["topics"]}


async def test_the_graphs_of_proposals_and_changes_are_written_by_mappers_alone(
    tmp_path: Path,
) -> None:
    async with a_guarded_house(tmp_path) as (_, clients):
        assert (await clients.ask("boss", "POST", "/mappings/apply", {"add": [T]})).is_success
        for graph in (PROPOSALS_GRAPH, CHANGES_GRAPH):
            update = f"INSERT DATA {{ GRAPH {graph} {{ <urn:a> <urn:b> <urn:c> }} }}"
            answers = {who: await clients.update(who, update) for who in ("editor", "mapper")}
            assert {who: each.status_code for who, each in answers.items()} == {
                "editor": 403,
                "mapper": 200,
            }
