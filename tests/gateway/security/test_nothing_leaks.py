"""A client that reads and writes what is another's, by every route there is: nothing comes of it.

alice has `urn:alice`, the default graph is hers too; mallory has `urn:mallory`. What is alice's has
the word HUSH in it, in terms and in pending requests, so that any answer with it is a leak.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyoxigraph import DefaultGraph, NamedNode
from websockets.asyncio.client import ClientConnection, connect

from gateway.app.gateway import Gateway
from gateway.config.settings import SecuritySettings
from gateway.rdf.terms import GraphName
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING, Policy
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient, publish_packet
from tests.gateway.security.clients import identity
from tests.kit.gateways import LOOPBACK, rows_of, running, settings, write_profile

SECRET = "HUSH"
ALICES = frozenset[GraphName]({NamedNode("urn:alice"), DefaultGraph()})
MALLORYS = frozenset[GraphName]({NamedNode("urn:mallory")})
POLICIES = {
    "alice": Policy(ALICES, ALICES, ALICES, frozenset({"alice/#"}), frozenset({"alice/#"})),
    "mallory": Policy(MALLORYS, MALLORYS, MALLORYS, frozenset({"mall/#"}), frozenset({"mall/#"})),
    "boss": EVERYTHING,
    "editor": Policy(None, None, None),
}
FILL = """
    INSERT DATA { <urn:HUSH> <urn:p> "HUSH in the default graph" .
      GRAPH <urn:alice> { <urn:HUSH> <urn:p> "HUSH" , 42 . <urn:public> <urn:p> <urn:HUSH> } }"""
QUERY, UPDATE, FORM = "application/sparql-query", "application/sparql-update", None
EVERYTHING_THERE_IS = "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
MINE = "GRAPH <urn:mallory> { ?s ?p ?o }"


@dataclass(slots=True)
class World:
    """A gateway with its clients."""

    gateway: Gateway
    store: IdentityStore
    http: httpx.AsyncClient
    tokens: Mapping[str, str]
    leaks: list[str] = field(default_factory=list)

    async def ask(self, who: str, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens[who]}", **options.pop("headers", {})}
        return await self.http.request(method, path, headers=headers, **options)

    async def update(self, who: str, text: str, **parameters: str) -> httpx.Response:
        return await self.ask(who, "POST", "/update", data={"update": text, **parameters})

    async def attack(self, name: str, expected: int, method: str, path: str, **rest: Any) -> None:
        """Mallory's request; what is wrong with its answer goes to `leaks`."""
        answer = await self.ask("mallory", method, path, **rest)
        told = f"{answer.status_code} {answer.headers} {answer.text}"
        if answer.status_code != expected:
            self.leaks.append(f"{name}: {told}")
        self.look(name, told)

    def look(self, name: str, told: str) -> None:
        if SECRET in told:
            self.leaks.append(f"{name}: {told}")

    @asynccontextmanager
    async def socket(self, who: str) -> AsyncIterator["Socket"]:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        url = f"ws://{LOOPBACK}:{self.gateway.websocket_port}/subscribe"
        async with connect(url, additional_headers=headers) as socket:
            yield Socket(socket)

    def rows(self) -> list[list[str]]:
        """What is alice's now."""
        return rows_of(
            self.gateway, "SELECT ?s ?p ?o { GRAPH <urn:alice> { ?s ?p ?o } }"
        ) + rows_of(self.gateway, "SELECT ?s ?p ?o { ?s ?p ?o }")


@dataclass(slots=True)
class Socket:
    """A WebSocket; everything that came is in `told`."""

    socket: ClientConnection
    told: list[str] = field(default_factory=list)

    async def ask(self, **message: Any) -> dict[str, Any]:
        await self.socket.send(json.dumps(message))
        return await self.next()

    async def next(self) -> dict[str, Any]:
        text = str(await asyncio.wait_for(self.socket.recv(), 60))
        self.told.append(text)
        found: dict[str, Any] = json.loads(text)
        return found


@asynccontextmanager
async def a_world(folder: Path, **security: object) -> AsyncIterator[World]:
    store = IdentityStore(folder / "data" / "security" / "identities.sqlite")
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.USER))
    config = settings(folder, write_profile(folder)).model_copy(
        update={"security": SecuritySettings.model_validate({"enabled": True, **security})}
    )
    async with (
        running(config) as gateway,
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
        world = World(gateway, store, http, tokens)
        assert (await world.update("alice", FILL)).status_code == 200
        mine = 'INSERT DATA { GRAPH <urn:mallory> { <urn:m> <urn:p> "mine" } }'
        assert (await world.update("mallory", mine)).status_code == 200
        before = world.rows()
        assert len(before) == 4
        yield world
        assert not world.leaks, "\n".join(world.leaks)
        assert world.rows() == before


QUERIES = {
    "everything": EVERYTHING_THERE_IS,
    "by name": "SELECT * { GRAPH <urn:alice> { ?s ?p ?o } }",
    "from": "SELECT * FROM <urn:alice> { ?s ?p ?o }",
    "from named": "SELECT * FROM NAMED <urn:alice> { GRAPH ?g { ?s ?p ?o } }",
    "construct": "CONSTRUCT { ?s ?p ?o } { GRAPH ?g { ?s ?p ?o } }",
    "construct from": "CONSTRUCT FROM <urn:alice> WHERE { ?s ?p ?o }",
    "describe": "DESCRIBE <urn:public>",
    "sub-query": "SELECT * { { SELECT * { GRAPH ?g { ?s ?p ?o } } } }",
    "path": "SELECT * { GRAPH ?g { ?s <urn:p>/<urn:p>? ?o } }",
    "exists": "SELECT ?leak { BIND(EXISTS { GRAPH <urn:alice> { ?s ?p ?o } } AS ?leak) }",
    "count": "SELECT (COUNT(*) AS ?leak) { GRAPH <urn:alice> { ?s ?p ?o } }",
    "graphs": "SELECT ?g { GRAPH ?g {} }",
    "reserved": "SELECT * { GRAPH <https://sosa-gateway.example/graph/delayed> { ?s ?p ?o } }",
}
NOTHING_SEEN = {"by name", "from", "from named", "reserved"}


async def test_queries(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        await world.update("alice", FILL, delay="3600")
        for name, text in QUERIES.items():
            for path in ("/query", "/sparql", "/secure/query"):
                await world.attack(f"{name} {path}", 200, "GET", path, params={"query": text})
            for accept in ("text/csv", "text/turtle", "application/n-quads"):
                headers = {"Content-Type": QUERY, "Accept": accept}
                await world.attack(name, 200, "POST", "/query", content=text, headers=headers)
        for parameter in ("default-graph-uri", "named-graph-uri"):
            form = {"query": EVERYTHING_THERE_IS, parameter: "urn:alice"}
            await world.attack(parameter, 200, "POST", "/query", data=form)
        for name in sorted(NOTHING_SEEN):
            answer = await world.ask("mallory", "GET", "/query", params={"query": QUERIES[name]})
            assert answer.json()["results"]["bindings"] == []
        for name, zero in (("exists", "false"), ("count", "0")):
            answer = await world.ask("mallory", "GET", "/query", params={"query": QUERIES[name]})
            assert [row["leak"]["value"] for row in answer.json()["results"]["bindings"]] == [zero]
        own = f"http://{LOOPBACK}:{world.gateway.http_port}/query"
        service = {"query": f"SELECT * {{ SERVICE <{own}> {{ GRAPH ?g {{ ?s ?p ?o }} }} }}"}
        await world.attack("service", 400, "GET", "/query", params=service)


READING = {
    "where": f"INSERT {{ {MINE} }} WHERE {{ GRAPH <urn:alice> {{ ?s ?p ?o }} }}",
    "where default": f"INSERT {{ {MINE} }} WHERE {{ ?s ?p ?o }}",
    "where any": f"INSERT {{ {MINE} }} WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    "using": f"INSERT {{ {MINE} }} USING <urn:alice> WHERE {{ ?s ?p ?o }}",
    "using named": f"INSERT {{ {MINE} }} USING NAMED <urn:alice> "
    "WHERE { GRAPH ?g { ?s ?p ?o } }",
    "exists": f"INSERT {{ {MINE} }} WHERE {{ GRAPH <urn:mallory> {{ ?s ?p ?x }} "
    'BIND(STR(EXISTS { GRAPH <urn:alice> { ?a ?b ?c } }) AS ?o) FILTER(?o = "true") }',
    "copy": "COPY <urn:alice> TO <urn:mallory>",
    "copy default": "COPY DEFAULT TO <urn:mallory>",
    "add": "ADD <urn:alice> TO <urn:mallory>",
    "later operation": "INSERT DATA { GRAPH <urn:mallory> { <urn:x> <urn:y> 1 } } ; "
    f"INSERT {{ {MINE} }} WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }}",
}
WRITING = {
    "move": "MOVE <urn:alice> TO <urn:mallory>",
    "copy onto": "COPY <urn:mallory> TO <urn:alice>",
    "add onto default": "ADD <urn:mallory> TO DEFAULT",
    "insert data": "INSERT DATA { GRAPH <urn:alice> { <urn:x> <urn:y> 1 } }",
    "insert default": "INSERT DATA { <urn:x> <urn:y> 1 }",
    "insert new": "INSERT DATA { GRAPH <urn:new> { <urn:x> <urn:y> 1 } }",
    "delete guess": 'DELETE DATA { GRAPH <urn:alice> { <urn:HUSH> <urn:p> "HUSH" } }',
    "delete wrong guess": 'DELETE DATA { GRAPH <urn:alice> { <urn:x> <urn:p> "x" } }',
    "clear": "CLEAR GRAPH <urn:alice>",
    "clear default": "CLEAR DEFAULT",
    "drop": "DROP GRAPH <urn:alice>",
    "drop silently": "DROP SILENT GRAPH <urn:alice>",
    "create": "CREATE GRAPH <urn:alice>",
    "whole or not": "INSERT DATA { GRAPH <urn:mallory> { <urn:half> <urn:y> 1 } } ; "
    "CLEAR GRAPH <urn:alice>",
    "mappings": "INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> "
    "{ <urn:x> a <https://sosa-gateway.example/ns#Mapping> } }",
    "delayed": "INSERT DATA { GRAPH <https://sosa-gateway.example/graph/delayed> "
    "{ <urn:x> <https://sosa-gateway.example/ns#due> 1 } }",
}
SEEN_BY_MALLORY = f"SELECT * {{ {MINE} }}"


async def test_updates(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        for name, text in READING.items():
            await world.attack(name, 200, "POST", "/update", data={"update": text})
            query = {"query": SEEN_BY_MALLORY}
            await world.attack(f"what {name} copied", 200, "GET", "/query", params=query)
        form = {"update": f"INSERT {{ {MINE} }} WHERE {{ ?s ?p ?o }}"}
        for parameter in ("using-graph-uri", "using-named-graph-uri"):
            await world.attack(
                parameter, 200, "POST", "/update", data={**form, parameter: "urn:alice"}
            )
        for name, text in WRITING.items():
            headers = {"Content-Type": UPDATE}
            # Their own words come back to clients; not more than those.
            said = text.replace(SECRET, "word")
            await world.attack(name, 403, "POST", "/update", content=said, headers=headers)
        answer = await world.ask("mallory", "GET", "/query", params={"query": SEEN_BY_MALLORY})
        assert "urn:x" in answer.text
        assert "urn:half" not in answer.text
        for name in ("DROP ALL", "CLEAR NAMED", f"DELETE {{ {MINE} }} WHERE {{ {MINE} }}"):
            answer = await world.update("mallory", name)
            world.look(name, answer.text)
            assert answer.status_code in {200, 403}
        everywhere = "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }"
        await world.attack(
            "delete what is seen", 200, "POST", "/update", data={"update": everywhere}
        )


ANEW = "DROP SILENT GRAPH <urn:mallory> ; INSERT DATA { GRAPH <urn:mallory> { <urn:m> <urn:p> 1 } }"


async def test_a_refusal_does_not_tell_what_is_there(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        for text in ("CREATE GRAPH <{}>", "DROP GRAPH <{}>", "COPY <{}> TO <urn:mallory>"):
            told = []
            for graph in ("urn:alice", "urn:absent"):
                await world.update("mallory", ANEW)
                answer = await world.update("mallory", text.format(graph))
                told.append(answer.text.replace(graph, ""))
            assert told[0] == told[1]
        told = [
            str(await _seen(world, "GET", graph)).replace(graph, "")
            for graph in ("urn:alice", "urn:absent")
        ]
        assert told[0] == told[1]


async def _seen(world: World, method: str, graph: str) -> tuple[int, str]:
    answer = await world.ask("mallory", method, "/rdf-graph-store", params={"graph": graph})
    return answer.status_code, answer.text


async def test_the_graph_store(tmp_path: Path) -> None:
    turtle = {"Content-Type": "text/turtle"}
    async with a_world(tmp_path) as world:
        for graph in ({"graph": "urn:alice"}, {"default": ""}):
            store = "/rdf-graph-store"
            found = 200 if "default" in graph else 404  # the default graph is always there
            for method, expected in (("GET", found), ("HEAD", found), ("DELETE", 403)):
                await world.attack(f"{method} {graph}", expected, method, store, params=graph)
            for method in ("PUT", "POST"):
                await world.attack(
                    f"{method} {graph}",
                    403,
                    method,
                    store,
                    params=graph,
                    content="<urn:x> <urn:y> 1 .",
                    headers=turtle,
                )
        await world.attack(
            "POST new", 403, "POST", store, content="<urn:x> <urn:y> 1 .", headers=turtle
        )


async def test_delayed_updates(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        hers = await world.update("alice", FILL, delay="3600")
        assert hers.status_code == 202
        place = hers.headers["location"]
        await world.attack("list", 200, "GET", "/update/delayed")
        await world.attack("see", 404, "GET", place)
        await world.attack("cancel", 404, "DELETE", place)
        assert (await world.ask("alice", "GET", place)).status_code == 200
        for text in (*READING.values(), *WRITING.values()):
            waiting = await world.update("mallory", text.replace(SECRET, "word"), delay="0")
            assert waiting.status_code == 202
        await _until_run(world, "mallory")
        await world.attack("what ran", 200, "GET", "/query", params={"query": SEEN_BY_MALLORY})


async def _until_run(world: World, who: str) -> None:
    async with asyncio.timeout(60):
        while (await world.ask(who, "GET", "/update/delayed")).json()["delayed"]:
            await asyncio.sleep(0.05)


async def test_a_delayed_update_has_no_more_rights_than_its_sender_when_it_runs(
    tmp_path: Path,
) -> None:
    async with a_world(tmp_path) as world:
        text = "INSERT DATA { GRAPH <urn:alice> { <urn:late> <urn:p> 1 } }"
        assert (await world.update("alice", text, delay="1.5")).status_code == 202
        world.store.change_policy("alice", POLICIES["mallory"])
        await _until_run(world, "boss")
        graph = {"query": "ASK { GRAPH <urn:alice> { <urn:late> ?p ?o } }"}
        assert (await world.ask("boss", "GET", "/query", params=graph)).json()["boolean"] is False


async def test_the_graphs_of_the_gateway_are_no_other_graphs(tmp_path: Path) -> None:
    """Who may UPDATE everything writes no mapping, and no UPDATE in the name of another."""
    async with a_world(tmp_path) as world:
        await world.update("alice", FILL, delay="3600")
        kept = "SELECT * { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), STR(<GRAPHS>))) }"
        kept = kept.replace("GRAPHS", "https://sosa-gateway.example/graph/")
        before = rows_of(world.gateway, kept)
        assert before
        for text in ("mappings", "delayed"):
            assert (await world.update("editor", WRITING[text])).status_code == 403
        state = "CLEAR GRAPH <https://sosa-gateway.example/graph/state>"
        assert (await world.update("editor", state)).status_code == 403
        scratch = "INSERT DATA { GRAPH <urn:scratch> { <urn:x> <urn:y> 1 } }"
        assert (await world.update("editor", scratch)).status_code == 200
        for text in (
            "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } FILTER(?s = <urn:x>) }",
            "DELETE { GRAPH ?g { ?s ?p ?o } } INSERT { GRAPH ?g { ?s ?p ?o } } "
            "WHERE { GRAPH ?g { ?s ?p ?o } }",
        ):
            assert (await world.update("editor", text)).status_code == 200
        assert rows_of(world.gateway, kept) == before
        assert (await world.update("boss", WRITING["mappings"])).status_code == 200


async def test_subscriptions(tmp_path: Path) -> None:
    texts = {name: text for name, text in QUERIES.items() if name not in {"describe", "graphs"}}
    async with (
        a_world(tmp_path) as world,
        world.socket("alice") as alice,
        world.socket("mallory") as m,
    ):
        spuids = {}
        for name, text in texts.items():
            first = await alice.ask(subscribe={"sparql": text, "alias": name})
            spuids[name] = first["notification"]["spuid"]
            await m.ask(subscribe={"sparql": text, "alias": name})
        for member in ("default-graph-uri", "named-graph-uri"):
            asked = {"sparql": EVERYTHING_THERE_IS, member: ["urn:alice"]}
            await m.ask(subscribe=asked)
        assert SECRET in "".join(alice.told)
        # Two who ask for the same text, shared or not, each see their own.
        changed = "INSERT DATA { GRAPH <urn:alice> { <urn:HUSH> <urn:p> 43 } }"
        assert (await world.update("alice", changed)).status_code == 200
        assert "43" in str(await alice.next())
        mine = "INSERT DATA { GRAPH <urn:mallory> { <urn:m> <urn:p> 44 } }"
        assert (await world.update("mallory", mine)).status_code == 200
        assert "44" in str(await m.next())
        for spuid in spuids.values():
            refused = await _answer(m, unsubscribe={"spuid": spuid})
            assert refused["status_code"] in {404, 410, 500}
            for resumed in (0, 1):
                again = {"sparql": texts["by name"], "spuid": spuid, "sequence": resumed}
                await _answer(m, subscribe=again)
        for text in m.told:
            world.look("subscription", text)
        undone = "DELETE DATA { GRAPH <urn:alice> { <urn:HUSH> <urn:p> 43 } }"
        assert (await world.update("alice", undone)).status_code == 200


async def _answer(socket: Socket, **message: Any) -> dict[str, Any]:
    """The next message that is no later notification."""
    found = await socket.ask(**message)
    while found.get("notification", {}).get("sequence", 0) > 0:
        found = await socket.next()
    return found


async def test_event_streams(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        for name, text in QUERIES.items():
            if name == "describe":
                continue
            headers = {"Authorization": f"Bearer {world.tokens['mallory']}"}
            async with world.http.stream(
                "GET", "/subscribe", params={"query": text}, headers=headers
            ) as stream:
                assert stream.status_code == 200
                async for line in stream.aiter_lines():
                    world.look(name, line)
                    if line.startswith("data:"):
                        break


async def test_a_lost_subscription_is_not_resumed_by_another(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        async with world.socket("alice") as alice:
            first = await alice.ask(subscribe={"sparql": EVERYTHING_THERE_IS})
            alice.socket.transport.abort()
        spuid = first["notification"]["spuid"]
        asked = {"sparql": EVERYTHING_THERE_IS, "spuid": spuid, "sequence": 0}
        async with world.socket("mallory") as mallory:
            told = await mallory.ask(subscribe=asked)
            world.look("resume", str(told))
            assert told["status_code"] == 410


async def test_a_subscription_ends_with_its_token_and_with_its_identity(tmp_path: Path) -> None:
    async with (
        a_world(tmp_path) as world,
        world.socket("alice") as alice,
        world.socket("boss") as boss,
    ):
        for socket in (alice, boss):
            assert (await socket.ask(subscribe={"sparql": EVERYTHING_THERE_IS}))["notification"]
        form = {"token": world.tokens["alice"]}
        assert (await world.http.post("/oauth/revoke", data=form)).status_code == 200
        ended = await alice.next()
        assert (ended["status_code"], ended["error"]) == (401, "invalid_grant")
        world.store.revoke("boss")
        assert (await boss.next())["error"] == "invalid_grant"
        refused = await alice.ask(subscribe={"sparql": EVERYTHING_THERE_IS})
        assert refused["error"] == "invalid_grant"


async def test_topics(tmp_path: Path) -> None:
    async with (
        a_world(tmp_path) as world,
        await RawClient.connect(
            world.gateway.mqtt_port, "m", "mallory", "mallory-secret"
        ) as mallory,
        await RawClient.connect(world.gateway.mqtt_port, "a", "alice", "alice-secret") as alice,
    ):
        await alice.publish("alice/x", b"HUSH", retain=True)
        for topic_filter in ("#", "alice/#", "alice/x", "+/x", "$share/g/alice/x"):
            assert await mallory.subscribe(topic_filter) == 0x80
        assert await mallory.subscribe("mall/#") == 0
        await alice.publish("alice/x", b"HUSH")
        await alice.publish("mall/x", b"HUSH")
        assert await mallory.ping() == []


async def test_subscriptions_over_topics(tmp_path: Path) -> None:
    texts = {name: text for name, text in QUERIES.items() if name not in {"describe", "graphs"}}
    async with (
        a_world(tmp_path) as world,
        await RawClient.connect(
            world.gateway.mqtt_port, "m", "mallory", "mallory-secret"
        ) as mallory,
    ):
        for topic_filter in ("sparql/alice/#", "sparql/+/answer", "sparql/#"):
            assert await mallory.subscribe(topic_filter) == 0x80
        assert await mallory.subscribe("sparql/mallory/notification/+") == 0
        for client in ("alice", "mallory"):
            for name, text in texts.items():
                asked = {"subscribe": {"sparql": text, "alias": name}}
                mallory.send(publish_packet(f"sparql/{client}/request", json.dumps(asked).encode()))
        for _ in texts:
            message = await mallory.next_message()
            assert message.topic.startswith("sparql/mallory/")
            assert b'"sequence":0' in message.payload
            world.look(message.topic, message.payload.decode())
        changed = "INSERT DATA { GRAPH <urn:alice> { <urn:HUSH> <urn:p> 43 } }"
        assert (await world.update("alice", changed)).status_code == 200
        undone = "DELETE DATA { GRAPH <urn:alice> { <urn:HUSH> <urn:p> 43 } }"
        assert (await world.update("alice", undone)).status_code == 200
        assert await mallory.ping() == []


@pytest.mark.parametrize("path", ["/metrics", "/health"])
async def test_operations(tmp_path: Path, path: str) -> None:
    async with a_world(tmp_path) as world:
        await world.attack(path, 403 if path == "/metrics" else 200, "GET", path)
        health = (await world.ask("mallory", "GET", "/health")).json()
        assert health == {"status": "ok"}
        assert (await world.http.get("/health")).json() == health
        assert "counters" in (await world.ask("boss", "GET", "/health")).json()
        assert (await world.ask("boss", "GET", "/metrics")).status_code == 200


async def test_explanations_are_for_those_who_operate(tmp_path: Path) -> None:
    asked = {"data": {"query": "SELECT * { GRAPH <urn:alice> { ?s ?p ?o } }"}}
    async with a_world(tmp_path) as world:
        await world.attack("/explain", 403, "POST", "/explain", **asked)
        assert (await world.ask("boss", "POST", "/explain", **asked)).status_code == 200


WITHOUT_A_TOKEN = [
    ("GET", "/query", 401),
    ("POST", "/query", 401),
    ("GET", "/sparql", 401),
    ("POST", "/update", 401),
    ("GET", "/rdf-graph-store", 401),
    ("PUT", "/rdf-graph-store", 401),
    ("GET", "/update/delayed", 401),
    ("POST", "/explain", 401),
    ("GET", "/update/delayed/x", 401),
    ("GET", "/subscribe", 401),
    ("GET", "/metrics", 401),
    ("GET", "/secure/query", 401),
]


async def test_nobody_is_let_in_without_a_token_or_with_a_false_one(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        false = world.tokens["boss"][:-6] + "AAAAAA"
        for headers in ({}, {"Authorization": f"Bearer {false}"}, {"Authorization": "Basic eDp5"}):
            for method, path, expected in WITHOUT_A_TOKEN:
                answer = await world.http.request(
                    method,
                    path,
                    params={"query": EVERYTHING_THERE_IS, "default": ""},
                    headers=headers,
                )
                assert answer.status_code == expected, (method, path, answer.text)
                assert "WWW-Authenticate" in answer.headers
                assert set(answer.json()) == {"error", "error_description", "status_code"}
                world.look(path, answer.text)
        url = f"ws://{LOOPBACK}:{world.gateway.websocket_port}/subscribe"
        async with connect(url) as plain:
            socket = Socket(plain)
            for shown in (None, "Bearer x", f"Bearer {false}", "Basic eDp5"):
                asked = {"sparql": EVERYTHING_THERE_IS, "alias": "a"}
                if shown is not None:
                    asked["authorization"] = shown
                told = await socket.ask(subscribe=asked)
                assert (told["status_code"], told["alias"]) == (401, "a")


async def test_error_texts(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        for text in (
            "SELECT * { GRAPH <urn:alice> { ?s ?p ?o } FILTER(<urn:none>(?o)) }",
            "SELECT * { GRAPH <urn:alice> { ?s ?p ?o } } ORDER BY xsd:integer(?o)",
            "SELECT (1/0 AS ?x) (SUM(?o) AS ?leak) { GRAPH <urn:alice> { ?s ?p ?o } }",
            "SELECT * { GRAPH <urn:alice> { ?s ?p",
        ):
            answer = await world.ask("mallory", "GET", "/query", params={"query": text})
            world.look(text, answer.text)
        hers = "GRAPH <urn:alice> { ?s ?p ?o }"
        text = f"INSERT {{ {MINE} }} WHERE {{ {hers} BIND(<urn:none>(?o) AS ?x) }}"
        world.look(text, (await world.update("mallory", text)).text)
