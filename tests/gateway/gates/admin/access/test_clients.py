"""Clients are let in and removed over HTTP, by who has all rights there are."""

import asyncio
import json
import logging
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from websockets.asyncio.client import connect

from gateway.cli.command import main
from gateway.security import clients
from gateway.security.identity import Identity, Kind
from gateway.security.policy import EVERYTHING
from gateway.security.policy_text import words_of
from tests.gateway.gates.admin.access.secured import open_house
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.kit.gateways import LOOPBACK, running, settings, write_profile

PASSWORD = "a password of ours"
LAMP = {"client_id": "lamp", "kind": "device", "policy": {"publish": ["home/lamp/#"]}}


async def test_a_client_is_let_in_listed_and_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_house(tmp_path, "boss", "reader") as house:
        made = await house.ask("boss", "POST", "/clients", json=LAMP)
        assert made.status_code == 200, made.text
        assert made.headers["cache-control"] == "no-store"
        told = made.json()
        secret = told.pop("client_secret")
        assert told == {**LAMP, "name": "lamp", "state": "registered"}
        listed = (await house.ask("boss", "GET", "/clients")).json()
        assert [each["name"] for each in listed["clients"]] == ["boss", "lamp", "reader"]
        assert listed["clients"][1] == told
        assert listed["clients"][0]["policy"] == words_of(EVERYTHING)
        assert secret not in (await house.ask("boss", "GET", "/clients")).text
        token = await house.token("lamp", secret)
        assert (await house.http.get("/me", headers=token)).json()["identity"] == "lamp"
        assert (await house.ask("boss", "DELETE", "/clients/lamp")).status_code == 204
        assert (await house.http.get("/me", headers=token)).status_code == 401
        gone = await house.ask("boss", "DELETE", "/clients/lamp")
        assert (gone.status_code, gone.json()["error"]) == (404, "not_found")
    assert secret not in caplog.text


async def test_a_login_that_was_made_for_a_device_publishes_what_it_may(tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss") as house:
        made = await house.ask("boss", "POST", "/clients", json={**LAMP, "password": PASSWORD})
        assert made.json()["client_secret"] == PASSWORD
        port = house.gateway.mqtt_port
        async with (
            await RawClient.connect(port, "b", "boss", "boss-secret") as boss,
            await RawClient.connect(port, "l", "lamp", PASSWORD) as lamp,
        ):
            assert lamp.code == 0
            assert await boss.subscribe("#") == 0
            await lamp.publish("home/door/state", b"open")
            await lamp.publish("home/lamp/state", b"on")
            heard = await boss.next_packet()
            assert heard is not None
            assert b"home/lamp/state" in heard.body
            assert (await house.ask("boss", "DELETE", "/clients/lamp")).status_code == 204
            assert await lamp.next_packet() is None


async def test_what_a_removed_client_has_open_ends(tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss", "reader") as house:
        reader = await house.token("reader")
        url = f"ws://{LOOPBACK}:{house.gateway.websocket_port}/subscribe"
        async with connect(url, additional_headers=reader) as socket:
            query = {"subscribe": {"sparql": "SELECT * { ?s ?p ?o }"}}
            await socket.send(json.dumps(query))
            await socket.recv()
            assert (await house.ask("boss", "DELETE", "/clients/reader")).status_code == 204
            async with asyncio.timeout(60):
                ended = json.loads(await socket.recv())
            assert (ended["error"], ended["status_code"]) == ("invalid_grant", 401)
        assert (await house.http.get("/me", headers=reader)).status_code == 401


async def test_a_client_may_be_named_by_the_id_that_it_logs_in_with(tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss", "reader") as house:
        assert (await house.ask("boss", "DELETE", "/clients/reader-id")).status_code == 204
        name = "room 1/lamp:2 ü"
        made = await house.ask("boss", "POST", "/clients", json={**LAMP, "client_id": name})
        assert made.json()["name"] == name
        path = f"/clients/{quote(name, safe='')}"
        assert (await house.ask("boss", "DELETE", path)).status_code == 204


async def test_the_last_with_all_rights_cannot_be_removed(tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss", "nearly") as house:
        refused = await house.ask("boss", "DELETE", "/clients/boss")
        assert (refused.status_code, refused.json()["error"]) == (409, "conflict")
        waiting = Identity("waits", Kind.USER, EVERYTHING, register_until=2e10)
        house.store.add(waiting)  # who has no credentials cannot come
        assert (await house.ask("boss", "DELETE", "/clients/boss")).status_code == 409
        everything = words_of(EVERYTHING)
        body = {"client_id": "second", "policy": everything}
        assert (await house.ask("boss", "POST", "/clients", json=body)).status_code == 200
        assert (await house.ask("boss", "DELETE", "/clients/boss")).status_code == 204
        assert set(house.store.snapshot().identities) == {"nearly", "second", "waits"}


@pytest.mark.parametrize("who", ["reader", "operator", "nearly"])
async def test_who_has_not_all_rights_learns_and_changes_nothing(who: str, tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss", who) as house:
        for method, path in (
            ("GET", "/clients"),
            ("POST", "/clients"),
            ("DELETE", "/clients/boss"),
            ("DELETE", "/clients/nobody"),
        ):
            answer = await house.ask(who, method, path, content=b"{")
            assert (answer.status_code, answer.json()["error"]) == (403, "forbidden"), path
            assert "boss" not in answer.text
            nobody = await house.http.request(method, path, content=b"{")
            assert nobody.status_code == 401
        assert set(house.store.snapshot().identities) == {"boss", who}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"client_id": ""}, 400),
        ({"client_id": "x" * 257}, 400),
        ({"client_id": "a\nb"}, 400),
        ({"client_id": "SEPATest"}, 400),
        ({"client_id": "boss"}, 409),
        ({"client_id": "boss-id"}, 409),
        ({"kind": "robot"}, 400),
        ({"policy": {"publish": ["home/#/lamp"]}}, 400),
        ({"policy": {"query": ["no iri"]}}, 400),
        ({"policy": {"may": ["fly"]}}, 400),
        ({"policy": {"fly": ["all"]}}, 400),
        ({"policy": {"publish": "all"}}, 400),
        ({"policy": {"publish": ["a"] * 1001}}, 400),
        ({"password": "short"}, 400),
        ({"password": "eyJ-which-begins-as-a-token"}, 400),
        ({"password": "with a \u0000 in it"}, 400),
        ({"password": "x" * 129}, 400),
        ({"other": 1}, 400),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else str(value),
)
async def test_a_client_that_cannot_be_changes_nothing(
    change: dict[str, object], status: int, tmp_path: Path
) -> None:
    async with open_house(tmp_path, "boss") as house:
        answer = await house.ask("boss", "POST", "/clients", json={**LAMP, **change})
        assert answer.status_code == status, answer.text
        assert set(house.store.snapshot().identities) == {"boss"}


async def test_there_are_so_many_clients_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "MOST_CLIENTS", 2)
    async with open_house(tmp_path, "boss", "reader") as house:
        answer = await house.ask("boss", "POST", "/clients", json=LAMP)
        assert (answer.status_code, "2 clients" in answer.text) == (409, True)


async def test_a_list_comes_in_pages(tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss", "nearly", "operator", "reader", sepatest=True) as house:
        names: list[str] = []
        path = "/clients?limit=3"
        while path:
            page = (await house.ask("boss", "GET", path)).json()
            names += [each["name"] for each in page["clients"]]
            path = f"/clients?limit=3&after={page['next']}" if "next" in page else ""
        assert names == ["boss", "nearly", "operator", "reader"]


async def test_what_the_command_line_and_http_do_is_the_same(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(f'[gateway]\ndata_dir = "{tmp_path / "data"}"\n', encoding="utf-8")
    async with open_house(tmp_path, "boss") as house:
        await house.ask("boss", "POST", "/clients", json={**LAMP, "client_id": "by-http"})
        add = ["client", "add", "by-cli", "--kind", "device", "--publish", "home/lamp/#"]
        command = [*add, "--register-within", "1", "--config", str(file)]
        assert await asyncio.to_thread(main, command) == 0
        async with asyncio.timeout(60):
            while len((await house.ask("boss", "GET", "/clients")).json()["clients"]) < 3:
                await asyncio.sleep(0.1)
        told = (await house.ask("boss", "GET", "/clients")).json()["clients"]
        by_cli, by_http = (next(e for e in told if e["name"] == n) for n in ("by-cli", "by-http"))
        assert (by_cli["state"], by_http["state"]) == ("may-register", "registered")
        assert (by_cli["policy"], by_cli["kind"]) == (by_http["policy"], by_http["kind"])


async def test_where_nobody_is_asked_there_are_no_clients(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url) as client:
            for method, path in (
                ("GET", "/clients"),
                ("POST", "/clients"),
                ("DELETE", "/clients/a"),
            ):
                assert (await client.request(method, path)).status_code == 404
