"""Streams and their history over HTTP, of a gateway to which devices publish."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.config.settings import Config, SecuritySettings
from gateway.security.identity import Kind
from gateway.security.policy import EVERYTHING, Capability, Policy
from tests.gateway.gates.admin.access.secured import identities
from tests.gateway.security.clients import identity
from tests.kit.gateways import (
    LOOPBACK,
    mapping,
    publish,
    running,
    settings,
    wait_until,
    write_profile,
)


def configured(folder: Path) -> Config:
    mappings = [
        mapping("temperature", "room/+", selector="$.t", time="$.at"),
        mapping("door", "door/+", selector="$.d"),
    ]
    return settings(folder, write_profile(folder, mappings), kind="disk")


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    async with running(configured(folder)) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            yield gateway, client


def told(room: str, *values: float, at: int = 1_772_434_800) -> list[tuple[str, bytes]]:
    """One value a minute."""
    return [
        (f"room/{room}", f'{{"t": {value}, "at": {at + 60 * n}}}'.encode())
        for n, value in enumerate(values)
    ]


BEGIN_MS = 1_772_434_800_000


async def test_streams_are_seen_at_a_glance_and_read_page_by_page(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        assert (await client.get("/streams")).json() == {"streams": []}
        await publish(gateway.mqtt_port, [*told("hall", 20.5, 21, 22.5), *told("attic", 9)])
        await publish(gateway.mqtt_port, [("door/1", b'{"d": "ajar"}')])
        found = (await client.get("/streams")).json()["streams"]
        assert len(found) == 3
        (hall,) = (await client.get("/streams", params={"sensor": "urn:sensor:hall"})).json()[
            "streams"
        ]
        assert hall["property"] == "urn:property:temperature"
        assert hall["feature"] == "urn:room:hall"
        assert hall["points"] == [
            [BEGIN_MS, 20.5],
            [BEGIN_MS + 60_000, 21],
            [BEGIN_MS + 120_000, 22.5],
        ]
        (door,) = (await client.get("/streams", params={"property": "urn:property:door"})).json()[
            "streams"
        ]
        assert door["points"] == []
        path = f"/streams/{hall['id']}/history"
        first = (await client.get(path, params={"limit": 2})).json()
        assert first["stream"] == {
            each: hall[each] for each in ("id", "sensor", "property", "feature")
        }
        assert [(each["t"], each["value"]) for each in first["points"]] == [
            (BEGIN_MS + 60_000, 21),
            (BEGIN_MS + 120_000, 22.5),
        ]
        second = (await client.get(path, params={"limit": 2, "after": first["next"]})).json()
        assert [each["value"] for each in second["points"]] == [20.5]
        assert "next" not in second
        window = {"from": BEGIN_MS, "to": BEGIN_MS + 120_000, "every": 3600}
        (bucket,) = (await client.get(path, params=window)).json()["points"]
        assert bucket == {"t": BEGIN_MS, "value": 20.75, "min": 20.5, "max": 21, "count": 2}


async def test_a_list_comes_in_pages(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, [each for n in range(7) for each in told(f"r{n}", n)])
        ids: list[str] = []
        parameters = {"limit": "3"}
        while True:
            page = (await client.get("/streams", params=parameters)).json()
            ids += [each["id"] for each in page["streams"]]
            if "next" not in page:
                break
            parameters["after"] = page["next"]
        assert ids == sorted(set(ids))
        assert len(ids) == 7


async def test_after_a_restart_lines_and_history_are_there(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, told("hall", 1, 2, 3))
        before = (await client.get("/streams")).json()
    async with served(tmp_path) as (gateway, client):
        assert (await client.get("/streams")).json() == before
        await publish(gateway.mqtt_port, told("hall", 4, at=BEGIN_MS // 1000 + 600))
        (hall,) = (await client.get("/streams")).json()["streams"]
        assert [value for _, value in hall["points"]] == [1, 2, 3, 4]
        history = (await client.get(f"/streams/{hall['id']}/history")).json()
        assert [each["value"] for each in history["points"]] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "query",
    [
        "from=x",
        "from=-1",
        "to=999999999999999",
        "from=5&to=5",
        "every=-1",
        "every=1.5",
        "limit=0",
        "limit=1001",
        "after=7",
        "after=1-",
        "after=1-2-3",
        "begin=1",
        "other=1",
    ],
)
async def test_what_cannot_be_asked_is_refused(query: str, tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, told("hall", 1))
        (hall,) = (await client.get("/streams")).json()["streams"]
        answer = await client.get(f"/streams/{hall['id']}/history?{query}")
        assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")


async def test_a_stream_that_is_none_is_not_found(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, client):
        for id_ in ("0" * 24, "x", "..%2f..%2fetc"):
            answer = await client.get(f"/streams/{id_}/history")
            assert answer.status_code == 404


async def test_a_damaged_segment_is_named(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, told("hall", 1, 2, 3))
        journal = gateway.stages.storage.journal
        await asyncio.to_thread(journal.rotate)
        await asyncio.to_thread(wait_until, lambda: len(journal.manifest.sealed()) == 1)
        await publish(gateway.mqtt_port, told("hall", 4, at=BEGIN_MS // 1000 + 600))
        (sealed,) = journal.folder.glob("*.gz")
        sealed.write_bytes(sealed.read_bytes()[:40])
        (hall,) = (await client.get("/streams")).json()["streams"]
        history = (await client.get(f"/streams/{hall['id']}/history")).json()
        assert [each["value"] for each in history["points"]][-1] == 4
        assert history["damaged"] == [sealed.name]


POLICIES = {
    "boss": EVERYTHING,
    "reader": Policy(query=None),
    "operator": Policy(subscribe=None, update=None, capabilities=frozenset(Capability)),
}


async def test_streams_are_for_who_may_query_observations(tmp_path: Path) -> None:
    store = identities(tmp_path)
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.USER))
    config = configured(tmp_path)
    security = SecuritySettings(enabled=True)
    async with (
        running(config.model_copy(update={"security": security})) as gateway,
        httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as client,
    ):
        statuses: dict[str, list[int]] = {}
        for name in POLICIES:
            form = {"grant_type": "client_credentials"}
            auth = (f"{name}-id", f"{name}-secret")
            token = (await client.post("/oauth/token", data=form, auth=auth)).json()["access_token"]
            header = {"Authorization": f"Bearer {token}"}
            statuses[name] = [
                (await client.get(path, headers=header)).status_code
                for path in ("/streams", f"/streams/{'0' * 24}/history", "/streams?wrong=1")
            ]
        nobody = [
            (await client.get(path)).status_code
            for path in ("/streams", f"/streams/{'0' * 24}/history")
        ]
    assert statuses == {
        "boss": [200, 404, 400],
        "reader": [200, 404, 400],
        "operator": [403, 403, 403],
    }
    assert nobody == [401, 401]
