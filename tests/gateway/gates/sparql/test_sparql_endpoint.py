"""/sparql for QUERY and UPDATE, aliases, the service description, rights, clients that leave."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import httpx
import pytest
from pyoxigraph import DefaultGraph, NamedNode, RdfFormat, parse

from gateway.gates.sparql.query_pool import QueryLimits
from gateway.gates.sparql.service_description import SD, SUBSCRIBE_LANGUAGE
from gateway.security.policy import Policy
from tests.gateway.gates.sparql.test_protocol import HeldQuery
from tests.kit.fake_guard import FakeGuard
from tests.kit.http_client import ALL, Client, check_error, open_gate, values


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with open_gate() as client:
        yield client


@pytest.mark.parametrize("path", ["/sparql", "/sparql/", "/secure/sparql"])
async def test_one_endpoint_takes_query_and_update(client: httpx.AsyncClient, path: str) -> None:
    update = "INSERT DATA { <urn:c> <urn:p> 3 }"
    assert (await client.post(path, data={"update": update})).status_code == 200
    headers = {"Content-Type": "application/sparql-update"}
    more = await client.post(path, content="DELETE WHERE { <urn:a> ?p ?o }", headers=headers)
    assert more.json()["response"]["body"] == {"added": 0, "removed": 1}
    assert values(await client.get(path, params={"query": ALL})) == ["3"]
    assert values(await client.post(path, data={"query": ALL})) == ["3"]
    headers = {"Content-Type": "application/sparql-query"}
    assert values(await client.post(path, content=ALL, headers=headers)) == ["3"]


@pytest.mark.parametrize("path", ["/secure/query", "/secure/update"])
async def test_paths_of_the_drafts_are_aliases(client: httpx.AsyncClient, path: str) -> None:
    form = {path.rpartition("/")[2]: "ASK {}" if path.endswith("query") else "CLEAR ALL"}
    assert (await client.post(path, data=form)).status_code == 200


@pytest.mark.parametrize(
    "form",
    [
        {"query": "ASK {}", "update": "CLEAR ALL"},
        {"query": ["ASK {}", "ASK {}"]},
        {"neither": "ASK {}"},
        {},
    ],
)
async def test_form_with_other_than_one_operation_is_refused(
    client: httpx.AsyncClient, form: dict[str, str | Sequence[str]]
) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    content = str(httpx.QueryParams(form))
    check_error(await client.post("/sparql", content=content, headers=headers), 400, "bad_request")
    check_error(await client.get("/sparql", params={"update": "CLEAR ALL"}), 400, "bad_request")
    assert len(values(await client.get("/sparql", params={"query": ALL}))) == 1


async def test_dataset_in_the_url_and_in_the_form_is_one(client: httpx.AsyncClient) -> None:
    update = "INSERT DATA { GRAPH <urn:h> { <urn:s> <urn:p> 3 } }"
    await client.post("/update", data={"update": update})
    form = {"query": ALL, "default-graph-uri": "urn:g"}
    response = await client.post("/query?default-graph-uri=urn:h", data=form)
    assert sorted(values(response)) == ["2", "3"]


async def test_dataset_of_the_protocol_beside_that_of_the_text_is_refused(
    client: httpx.AsyncClient,
) -> None:
    for clause in ("USING <urn:g>", "USING NAMED <urn:g>"):
        text = f"INSERT {{ <urn:x> <urn:y> ?o }} {clause} WHERE {{ ?s ?p ?o }}"
        response = await client.post("/update?using-graph-uri=urn:g", data={"update": text})
        check_error(response, 400, "bad_request")


async def test_relative_iris_are_those_of_the_endpoint(client: httpx.AsyncClient) -> None:
    await client.post("/update", data={"update": "INSERT DATA { <a> <urn:q> <#b> }"})
    query = "SELECT ?s ?o { ?s <urn:q> ?o FILTER(?s = <a>) }"
    response = await client.get("/query", params={"query": query})
    here = str(client.base_url).rstrip("/")
    assert values(response, "s") == [f"{here}/a"]
    assert values(response, "o") == [f"{here}/update#b"]
    own = "BASE <http://own.example/> ASK { ?s <urn:q> <x> }"
    assert (await client.get("/query", params={"query": own})).status_code == 200


@pytest.mark.parametrize("path", ["/sparql", "/query", "/secure/query"])
@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("*/*", RdfFormat.TURTLE),
        ("application/rdf+xml", RdfFormat.RDF_XML),
        ("application/ld+json", RdfFormat.JSON_LD),
    ],
)
async def test_service_description_announces_the_subscribe_language(
    client: httpx.AsyncClient, path: str, accept: str, form: RdfFormat
) -> None:
    response = await client.get(path, headers={"Accept": accept})
    assert response.status_code == 200
    here = str(client.base_url).rstrip("/")
    service = NamedNode(f"{here}{path}")
    about = {
        (quad.predicate.value, quad.object)
        for quad in parse(response.content, form, base_iri=here)
        if quad.subject == service
    }
    assert (f"{SD}languageExtension", SUBSCRIBE_LANGUAGE) in about
    assert (f"{SD}endpoint", service) in about
    assert (f"{SD}supportedLanguage", NamedNode(f"{SD}SPARQL11Update")) in about
    names = {object_.value for _, object_ in about if isinstance(object_, NamedNode)}
    assert f"ws://127.0.0.1:{client.base_url.port}/subscribe" in names


async def test_forbidden_graph_is_as_if_empty_and_an_update_of_it_is_refused() -> None:
    seen = frozenset({DefaultGraph()})
    guard = FakeGuard(eve=Policy(query=seen, update=seen), ann=Policy(query=None))
    async with open_gate(guard=guard) as client:
        client.headers["Authorization"] = "Bearer eve"
        for text in (
            "SELECT * { GRAPH ?g { ?s ?p ?o } }",
            "SELECT * { GRAPH <urn:g> { ?s ?p ?o } }",
            "SELECT * FROM <urn:g> { ?s ?p ?o }",
        ):
            response = await client.post("/query", data={"query": text})
            assert response.json()["results"]["bindings"] == []
        for graph in ("urn:g", "urn:nowhere"):
            text = (
                "INSERT DATA { <urn:x> <urn:p> 1 } ; "
                f"DELETE WHERE {{ GRAPH <{graph}> {{ <urn:b> ?p ?o }} }} ; "
                f"CLEAR SILENT GRAPH <{graph}>"
            )
            response = await client.post("/update", data={"update": text})
            check_error(response, 403, "forbidden")
        assert len(values(await client.get("/query", params={"query": ALL}))) == 1
        client.headers["Authorization"] = "Bearer ann"
        update = {"update": "INSERT DATA { <urn:x> <urn:p> 1 }"}
        check_error(await client.post("/update", data=update), 403, "forbidden")
        del client.headers["Authorization"]
        for url in ("/query", "/sparql", "/update/delayed"):
            refused = await client.get(url, params={"query": ALL})
            check_error(refused, 401, "invalid_request")
            assert refused.headers["www-authenticate"] == "Bearer"


async def test_client_that_leaves_frees_its_place() -> None:
    held = HeldQuery()
    async with open_gate(evaluate=held, limits=QueryLimits(threads=1, waiting=1)) as client:

        async def until_waiting(count: int) -> None:
            async with asyncio.timeout(30):
                while client.queries.statistics.waiting != count:
                    await asyncio.sleep(0.01)

        running = asyncio.create_task(client.get("/query", params={"query": "ASK {}"}))
        await until_waiting(1)
        waiting = asyncio.create_task(client.get("/query", params={"query": "ASK {}"}))
        await until_waiting(2)
        waiting.cancel()
        await until_waiting(1)
        running.cancel()
        async with asyncio.timeout(30):
            while client.queries.statistics.abandoned < 2:
                await asyncio.sleep(0.01)
        held.go.set()
        await until_waiting(0)
        assert (await client.get("/query", params={"query": "ASK {}"})).status_code == 200


async def test_queries_of_one_client_have_a_limit_of_their_own() -> None:
    held = HeldQuery()
    guard = FakeGuard(eve=Policy(query=None), ann=Policy(query=None))
    limits = QueryLimits(threads=1, waiting=10, per_client=1)
    async with open_gate(evaluate=held, limits=limits, guard=guard) as client:

        async def ask(name: str) -> httpx.Response:
            headers = {"Authorization": f"Bearer {name}"}
            return await client.get("/query", params={"query": "ASK {}"}, headers=headers)

        first = asyncio.create_task(ask("eve"))
        await asyncio.to_thread(held.started.wait, 5)
        refused = await ask("eve")
        check_error(refused, 429, "too_many_requests")
        assert int(refused.headers["retry-after"]) >= 1
        other = asyncio.create_task(ask("ann"))
        held.go.set()
        assert (await first).status_code == (await other).status_code == 200
