"""Quarantine by HTTP and command: what is listed, replayed once, discarded, and who may."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.cli.command import main
from gateway.config.settings import SecuritySettings
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING, Capability, Policy
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.gateway.security.clients import identity
from tests.kit.gateways import (
    LOOPBACK,
    MAPPINGS,
    PREFIXES,
    VALUES,
    Device,
    JsonObject,
    Program,
    free_port,
    journal_records,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    update,
    watch,
    write_profile,
)

TEMPERATURE = mapping("t", "room/+", selector="$.t")
HUMIDITY = mapping("h", "room/+", selector="$.h")
TIMED = mapping("v", "timed/+", selector="$.v", time="$.at")
PROFILE = [TEMPERATURE, HUMIDITY, TIMED]
RANGE = """INSERT DATA {
  <urn:sensor:a> <http://www.w3.org/ns/ssn/systems/hasSystemCapability> <urn:c> .
  <urn:c> <http://www.w3.org/ns/ssn/systems/hasSystemProperty> <urn:r> .
  <urn:r> <https://schema.org/maxValue> 30 }"""
WIDER = """DELETE DATA { <urn:r> <https://schema.org/maxValue> 30 } ;
  INSERT DATA { <urn:r> <https://schema.org/maxValue> 90 }"""
COMMAND = (
    sys.executable,
    "-W",
    "error",
    "-c",
    "from gateway.cli.command import main; exit(main())",
)


@asynccontextmanager
async def asking(gateway: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    url = f"http://{LOOPBACK}:{gateway.http_port}"
    async with httpx.AsyncClient(base_url=url) as client:
        yield client


async def entries_of(client: httpx.AsyncClient, **asked: str) -> list[JsonObject]:
    answer = await client.get("/quarantine", params=asked)
    assert answer.status_code == 200, answer.text
    entries: list[JsonObject] = answer.json()["entries"]
    return entries


async def test_a_message_is_kept_whole_and_replayed_once(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path, PROFILE), kind="disk", latest=5)
    async with running(config) as gateway, asking(gateway) as client:
        told = await watch(gateway, VALUES)
        await update(gateway, RANGE)
        await publish(gateway.mqtt_port, [("room/a", b'{"t":50,"h":20}')])
        assert told.values() == ["20"]
        (entry,) = await entries_of(client)
        assert (entry["topic"], entry["payload_bytes"]) == ("room/a", 15)
        assert [fault["reason"] for fault in entry["faults"]] == ["out_of_range"]  # type: ignore[attr-defined]
        shown = (await client.get(f"/quarantine/{entry['id']}")).json()
        assert shown["payload"] == '{"t":50,"h":20}'

        again = (await client.post(f"/quarantine/{entry['id']}/replay")).json()
        assert (again["done"], again["observations"]) == (False, 0)
        await update(gateway, WIDER)
    async with running(config) as gateway, asking(gateway) as client:
        (same,) = await entries_of(client)
        assert same == entry
        done = (await client.post(f"/quarantine/{entry['id']}/replay")).json()
        assert (done["done"], done["observations"], done["faults"]) == (True, 1, [])
        assert sorted(value for _, value in rows_of(gateway, VALUES)) == ["20", "50"]
        assert await entries_of(client) == []
        assert (await client.post(f"/quarantine/{entry['id']}/replay")).status_code == 404
    records = journal_records(tmp_path)
    assert [record.observation.lexical for record in records] == ["20", "50"]
    assert records[0].ingested_at == records[1].ingested_at


async def test_what_fails_stays_with_the_new_reason(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, PROFILE)
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, [("room/a", b"{"), ("room/b", b'{"t":null}')])
        first, second = reversed(await entries_of(client))
        await update(
            gateway,
            f"""WITH <{MAPPINGS}> DELETE {{ ?m gw:topicFilter ?f }}
                INSERT {{ ?m gw:topicFilter "hall/+" }}
                WHERE {{ ?m gw:topicFilter ?f FILTER(?f = "room/+") }}""",
        )
        answer = (await client.post("/quarantine/replay", params={"reason": "null"})).json()
        (outcome,) = answer["replayed"]
        assert outcome["id"] == second["id"]
        assert [fault["reason"] for fault in outcome["faults"]] == ["no_mapping"]
        assert [entry["id"] for entry in await entries_of(client, reason="no_mapping")] == [
            second["id"]
        ]
        assert [entry["id"] for entry in await entries_of(client, reason="malformed")] == [
            first["id"]
        ]
        assert gateway.statistics()["readings_in"] == 2, "a replay is no message of a device"


async def test_an_observation_of_a_replay_is_a_duplicate_as_ever(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TIMED, {**TIMED, "id": "urn:x", "selector": "$.w"}])
    members = {"v": 1, "w": None, "at": "2026-03-02T07:00:00Z"}
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, [("timed/a", json.dumps(members).encode())])
        assert gateway.statistics()["observations"] == 1
        (entry,) = await entries_of(client)
        await update(gateway, f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <urn:x> ?p ?o }} }}")
        done = (await client.post(f"/quarantine/{entry['id']}/replay")).json()
        assert (done["done"], done["observations"]) == (True, 0)
        assert gateway.statistics()["observations"] == 1
    assert len(journal_records(tmp_path)) == 1


async def test_lists_are_filtered_and_in_pages(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, PROFILE)
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, [(f"room/{n}", b"{") for n in range(7)])
        await publish(gateway.mqtt_port, [("room/x/y", b"{"), ("timed/a", b'{"v":null}')])
        seen: list[object] = []
        page = (await client.get("/quarantine", params={"limit": "3", "topic": "room/+"})).json()
        while True:
            seen += [entry["topic"] for entry in page["entries"]]
            if page["next"] is None:
                break
            asked = {"limit": "3", "topic": "room/+", "before": page["next"]}
            page = (await client.get("/quarantine", params=asked)).json()
        assert seen == [f"room/{n}" for n in reversed(range(7))]
        assert len(await entries_of(client, mapping="urn:mapping:v")) == 1
        assert await entries_of(client, mapping="urn:mapping:none") == []
        for wrong in (
            "limit=0",
            "limit=x",
            "limit=1001",
            "before=-1",
            "topic=a/%23/b",
            "nonsense=1",
        ):
            assert (await client.get(f"/quarantine?{wrong}")).status_code == 400, wrong
        assert (await client.delete("/quarantine", params={"reason": "null"})).json() == {
            "discarded": 1
        }
        (newest, *_) = await entries_of(client)
        assert (await client.delete(f"/quarantine/{newest['id']}")).status_code == 204
        assert (await client.delete(f"/quarantine/{newest['id']}")).status_code == 404
        assert (await client.delete("/quarantine")).json() == {"discarded": 6}
        assert await entries_of(client) == []


WRONG = ("limit=0", "limit=x", "limit=1001", "before=-1", "topic=a/%23/b", "nonsense=1")


async def test_a_payload_that_is_too_long_is_kept_in_part(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path, PROFILE), quarantine_payload_bytes=10)
    async with running(config) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, [("room/a", b"\xff" * 50)])
        (entry,) = await entries_of(client)
        assert (entry["is_whole"], entry["payload_bytes"]) == (False, 50)
        assert (await client.get(f"/quarantine/{entry['id']}")).json()[
            "payload_base64"
        ] == "/////////////w=="
        answer = await client.post(f"/quarantine/{entry['id']}/replay")
        assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")


async def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = write_profile(tmp_path, PROFILE)
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:

        async def run(*arguments: str) -> tuple[int, str]:
            url = f"http://{LOOPBACK}:{gateway.http_port}"
            code = await asyncio.to_thread(main, ["quarantine", *arguments, "--url", url])
            told = capsys.readouterr()
            return code, told.out + told.err

        assert await run("list") == (0, "nothing is in quarantine\n")
        await update(gateway, RANGE)
        sent = [("room/a", b'{"t":50,"h":1}'), ("room/b", b'{"t":"\\u001b[2J","h":1}')]
        await publish(gateway.mqtt_port, sent)
        ids = [str(entry["id"]) for entry in reversed(await entries_of(client))]
        code, out = await run("list", "--topic", "room/b")
        assert (code, ids[1] in out, ids[0] in out, "\x1b" in out) == (0, True, False, False)
        assert '{"t":50,"h":1}' in (await run("show", ids[0]))[1]
        assert (await run("replay", ids[0]))[0] == 1
        await update(gateway, WIDER)
        code, out = await run("replay", "--all", "--topic", "room/a")
        assert (code, "done, 1 observations" in out) == (0, True)
        code, out = await run("list", "--json")
        assert [entry["id"] for entry in json.loads(out)["entries"]] == [ids[1]]
        assert (await run("discard"))[0] == 1
        assert await run("discard", ids[1]) == (0, "1 discarded\n")
        assert await run("discard", "--all") == (0, "0 discarded\n")


OPERATES = frozenset({Capability.OPERATIONS})
POLICIES = {
    "boss": EVERYTHING,
    "nobody": Policy(receive=None, publish=None),
    "reader": Policy(
        receive=frozenset({"room/#"}), capabilities=frozenset({Capability.OPERATIONS})
    ),
    "other": Policy(
        receive=frozenset({"timed/#"}),
        publish=frozenset({"timed/#"}),
        capabilities=OPERATES,
    ),
}


async def test_a_client_sees_what_it_may_receive_and_replays_what_it_may_publish(
    tmp_path: Path,
) -> None:
    store = IdentityStore(tmp_path / "data" / "security" / "identities.sqlite")
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.APPLICATION))
    config = settings(tmp_path, write_profile(tmp_path, PROFILE))
    config = config.model_copy(update={"security": SecuritySettings(enabled=True)})
    async with running(config) as gateway, asking(gateway) as client:

        async def ask(who: str, method: str, path: str) -> httpx.Response:
            root = f"http://{LOOPBACK}:{gateway.http_port}"
            token = await client.post(
                f"{root}/oauth/token",
                data={"grant_type": "client_credentials"},
                auth=(f"{who}-id", f"{who}-secret"),
            )
            headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
            return await client.request(method, f"{root}/quarantine{path}", headers=headers)

        async with await RawClient.connect(
            gateway.mqtt_port, "device", "boss", "boss-secret"
        ) as device:
            for topic in ("room/a", "timed/a"):
                await device.publish(topic, b"{")
        entries: list[JsonObject] = []
        while len(entries) < 2:
            entries = (await ask("boss", "GET", "")).json()["entries"]
        timed, room = (entry["id"] for entry in entries)
        seen = (await ask("reader", "GET", "")).json()["entries"]
        assert [entry["id"] for entry in seen] == [room]
        for path in ("", f"/{room}"):
            assert (await ask("nobody", "GET", path)).status_code == 403
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/replay")):
            assert (await ask("other", method, f"/{room}{path}")).status_code == 404
            assert (await ask("nobody", method, f"/{room}{path}")).status_code == 403
        for method, path in (("DELETE", ""), ("POST", "/replay")):
            assert (await ask("reader", method, f"/{room}{path}")).status_code == 403
        assert (await ask("reader", "DELETE", "")).json() == {"discarded": 0}
        assert (await ask("reader", "POST", "/replay")).json() == {"replayed": []}
        (replayed,) = (await ask("other", "POST", "/replay")).json()["replayed"]
        assert replayed["id"] == timed
        assert (await ask("other", "DELETE", "")).json() == {"discarded": 1}
        assert len((await ask("boss", "GET", "")).json()["entries"]) == 1


REPLAY = b"POST /quarantine/replay HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n"


def service(folder: Path, http_port: int, mqtt_port: int) -> tuple[str, ...]:
    path = folder / "gateway.toml"
    path.write_text(
        f'[gateway]\ndata_dir = "data"\n[mqtt]\nport = {mqtt_port}\n[http]\nport = {http_port}\n'
        '[websocket]\nport = 0\n[jsap]\nprofiles = ["observations", "test.jsap"]\n'
    )
    return (*COMMAND, "run", "--config", str(path))


@pytest.mark.alone
def test_kill_9_while_entries_come_and_go_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Killed in the midst of replays: each is in quarantine or in the journal, never twice."""
    write_profile(tmp_path, [TEMPERATURE])
    ports = free_port(), free_port()
    url = f"http://{LOOPBACK}:{ports[0]}"
    command = service(tmp_path, *ports)
    with Program(*command) as program:
        program.wait_for("serving")
        httpx.post(f"{url}/update", data={"update": PREFIXES + RANGE})
        with Device(ports[1], "device") as device:
            device.publish([("room/a", b'{"t":%d}' % number) for number in range(40, 80)])
        httpx.post(f"{url}/update", data={"update": PREFIXES + WIDER})
        ids = [each["id"] for each in httpx.get(f"{url}/quarantine").json()["entries"]]
        assert len(ids) == 40
    for count in (0, 10):
        with Program(*command) as program:
            program.wait_for("serving")
            left = [each["id"] for each in httpx.get(f"{url}/quarantine").json()["entries"]]
            assert set(left) <= set(ids)
            for id_ in left[:count]:
                httpx.post(f"{url}/quarantine/{id_}/replay")
            with socket.create_connection((LOOPBACK, ports[0])) as connection:
                # These are on their way when the process dies.
                connection.sendall(REPLAY)
                if count == 10:
                    connection.settimeout(0.005)
                    with suppress(TimeoutError):
                        connection.recv(1)
    with Program(*command) as program:
        program.wait_for("serving")
        answer = httpx.post(f"{url}/quarantine/replay", timeout=30).json()
        assert all(each["done"] for each in answer["replayed"])
        assert httpx.get(f"{url}/quarantine").json()["entries"] == []
        assert program.terminate() == 0
    values = sorted(int(record.observation.lexical) for record in journal_records(tmp_path))
    assert values == list(range(40, 80))
