"""The HTTP gate on a real socket, over the real engine."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator

import httpx
import pytest
from pyoxigraph import NamedNode, RdfFormat, parse
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.engine import Engine
from gateway.engine.request import QueryRequest
from gateway.errors import ConfigurationError
from gateway.gates.http.operations import ServerSettings, application, serve
from gateway.gates.http.origins import Names, host_name
from gateway.gates.protocol.media_types import RESULTS, choose
from gateway.gates.sparql.query_pool import QueryLimits
from gateway.sparql.bounds.answer import AnswerBounds
from gateway.store.quad_store import QueryResults
from tests.kit.http_client import (
    ALL,
    FakeHealth,
    check_error,
    health_interface,
    open_gate,
    values,
)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with open_gate() as client:
        yield client


async def test_query_by_get_answers_json(client: httpx.AsyncClient) -> None:
    response = await client.get("/query", params={"query": ALL})
    assert values(response) == ["a+b %41"]
    assert response.headers["content-type"] == "application/sparql-results+json"


async def test_query_by_direct_post_with_charset_answers(client: httpx.AsyncClient) -> None:
    headers = {"Content-Type": 'application/sparql-query; charset="UTF-8"'}
    assert values(await client.post("/query", content=ALL, headers=headers)) == ["a+b %41"]


async def test_query_by_form_answers(client: httpx.AsyncClient) -> None:
    query = 'SELECT ?o { ?s ?p ?o FILTER(?o = "a+b %41") }'
    assert values(await client.post("/query", data={"query": query})) == ["a+b %41"]


async def test_query_by_head_has_no_body(client: httpx.AsyncClient) -> None:
    response = await client.head("/query", params={"query": ALL})
    assert response.status_code == 200
    assert response.content == b""


async def test_query_with_graph_parameters_uses_their_dataset(client: httpx.AsyncClient) -> None:
    parameters = {"query": ALL, "default-graph-uri": ["urn:g", "urn:h"]}
    assert values(await client.get("/query", params=parameters)) == ["2"]
    named = "SELECT ?o { GRAPH ?g { ?s ?p ?o } }"
    headers = {"Content-Type": "application/sparql-query"}
    for graph, expected in (("urn:g", ["2"]), ("urn:h", [])):
        url = f"/query?named-graph-uri={graph}"
        assert values(await client.post(url, content=named, headers=headers)) == expected


@pytest.mark.parametrize(
    ("accept", "media_type", "start"),
    [
        ("application/sparql-results+xml", "application/sparql-results+xml", "<?xml"),
        ("text/csv, application/json;q=0.5", "text/csv; charset=utf-8", "s,o\r\n"),
        ("text/tab-separated-values", "text/tab-separated-values; charset=utf-8", "?s\t?o\n"),
        ("application/json, text/plain, */*", "application/json", "{"),
        ("text/html, */*;q=0.1", "application/sparql-results+json", "{"),
    ],
)
async def test_results_are_written_in_the_accepted_media_type(
    client: httpx.AsyncClient, accept: str, media_type: str, start: str
) -> None:
    response = await client.get("/query", params={"query": ALL}, headers={"Accept": accept})
    assert response.headers["content-type"] == media_type
    assert response.text.startswith(start)


@pytest.mark.parametrize(
    ("accept", "format_"),
    [
        ("*/*", RdfFormat.TURTLE),
        ("application/n-triples", RdfFormat.N_TRIPLES),
        ("application/rdf+xml", RdfFormat.RDF_XML),
        ("application/ld+json", RdfFormat.JSON_LD),
    ],
)
async def test_graph_is_written_in_the_accepted_media_type(
    client: httpx.AsyncClient, accept: str, format_: RdfFormat
) -> None:
    query = "CONSTRUCT { <urn:x> <urn:of> ?s } WHERE { ?s <urn:p> ?o }"
    response = await client.get("/query", params={"query": query}, headers={"Accept": accept})
    triples = [quad.triple for quad in parse(response.content, format=format_)]
    assert [triple.object for triple in triples] == [NamedNode("urn:a")]


@pytest.mark.parametrize("accept", ["image/png", "text/turtle", "text/html;q=0", "nonsense", ","])
async def test_solutions_are_json_where_accept_names_nothing_that_fits(
    client: httpx.AsyncClient, accept: str
) -> None:
    for query in (ALL, "ASK {}"):
        response = await client.get("/query", params={"query": query}, headers={"Accept": accept})
        assert response.status_code == 200
        assert response.headers["content-type"] == "application/sparql-results+json"


async def test_graph_is_turtle_where_accept_names_nothing_that_fits(
    client: httpx.AsyncClient,
) -> None:
    for accept in ("image/png", "text/csv"):
        headers = {"Accept": accept}
        query = {"query": "DESCRIBE <urn:a>"}
        response = await client.get("/query", params=query, headers=headers)
        assert response.headers["content-type"] == "text/turtle; charset=utf-8"
        assert "<urn:a> <urn:p>" in response.text


@pytest.mark.parametrize(
    "accept", ["application/json, text/plain, */*", "application/sparql-results+json"]
)
async def test_graph_as_json_is_rows_of_its_triples_as_sepa_answers(
    client: httpx.AsyncClient, accept: str
) -> None:
    query = {"query": "CONSTRUCT WHERE { ?s ?p ?o }"}
    response = await client.get("/query", params=query, headers={"Accept": accept})
    assert response.json()["head"]["vars"] == ["subject", "predicate", "object"]
    assert values(response, "object") == ["a+b %41"]


async def test_ask_answers_a_boolean(client: httpx.AsyncClient) -> None:
    response = await client.get("/query", params={"query": "ASK { <urn:a> ?p ?o }"})
    assert response.json() == {"head": {}, "boolean": True}


async def test_update_by_form_tells_what_it_changed(client: httpx.AsyncClient) -> None:
    text = 'DELETE { ?s <urn:p> ?o } INSERT { ?s <urn:p> "1+1" , "é" } WHERE { ?s <urn:p> ?o }'
    response = await client.post("/update", data={"update": text})
    assert response.status_code == 200
    assert response.json()["response"]["body"] == {"added": 2, "removed": 1}
    assert sorted(values(await client.get("/query", params={"query": ALL}))) == ["1+1", "é"]


async def test_update_by_direct_post_with_graphs_uses_their_dataset(
    client: httpx.AsyncClient,
) -> None:
    response = await client.post(
        "/update?using-graph-uri=urn:g",
        content="INSERT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o }",
        headers={"Content-Type": "application/sparql-update"},
    )
    assert response.json()["response"]["body"] == {"added": 1, "removed": 0}
    query = {"query": "SELECT ?s { ?s <urn:q> ?o }"}
    assert values(await client.get("/query", params=query), "s") == ["urn:b"]


async def test_update_by_get_is_refused_with_allow(client: httpx.AsyncClient) -> None:
    response = await client.get("/update", params={"update": "CLEAR ALL"})
    check_error(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "OPTIONS, POST"


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/query", ("SELECT", "application/sparql-query"), 400, "sparql_syntax"),
        ("/query", (b"SELECT \xff", "application/sparql-query"), 400, "bad_request"),
        ("/query", (ALL, "text/plain"), 415, "unsupported_media_type"),
        ("/query", (ALL, ""), 415, "unsupported_media_type"),
        (
            "/query",
            (ALL, "application/sparql-query; charset=latin-1"),
            415,
            "unsupported_media_type",
        ),
        ("/query", ("a=b", "application/x-www-form-urlencoded"), 400, "bad_request"),
        ("/query", ("query=%FF", "application/x-www-form-urlencoded"), 400, "bad_request"),
        ("/query", ("query=A&query=B", "application/x-www-form-urlencoded"), 400, "bad_request"),
        ("/query", ("a=b&" * 1001, "application/x-www-form-urlencoded"), 413, "too_large"),
        ("/query?default-graph-uri=x", (ALL, "application/sparql-query"), 400, "bad_request"),
        ("/update", ("INSERT", "application/sparql-update"), 400, "sparql_syntax"),
        ("/update", ("CLEAR ALL", "application/sparql-query"), 415, "unsupported_media_type"),
        ("/update", ("#" * 2001, "application/sparql-update"), 413, "too_large"),
        ("/nowhere", ("", "text/plain"), 404, "not_found"),
    ],
)
async def test_bad_request_is_answered_with_the_error_object(
    client: httpx.AsyncClient,
    path: str,
    body: tuple[str | bytes, str],
    status: int,
    code: str,
) -> None:
    content, content_type = body
    headers = {"Content-Type": content_type}
    check_error(await client.post(path, content=content, headers=headers), status, code)


async def test_body_in_chunks_beyond_the_limit_is_refused(client: httpx.AsyncClient) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"#" * 1000

    headers = {"Content-Type": "application/sparql-update"}
    response = await client.post("/update", content=chunks(), headers=headers)
    check_error(response, 413, "too_large")


async def test_body_that_does_not_come_times_out(client: httpx.AsyncClient) -> None:
    never = asyncio.Event()

    async def chunks() -> AsyncIterator[bytes]:
        yield b"ASK"
        await never.wait()

    headers = {"Content-Type": "application/sparql-query"}
    # httpx reads no answer before it has sent the whole body: send by hand what it would.
    request = client.build_request("POST", "/query", content=chunks(), headers=headers)
    reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
    lines = [b"POST /query HTTP/1.1", *(b": ".join(item) for item in request.headers.raw)]
    writer.write(b"\r\n".join([*lines, b"", b"3\r\nASK\r\n"]))
    assert b" 408 " in await asyncio.wait_for(reader.readline(), 30)
    writer.close()
    await writer.wait_closed()


class HeldQuery:
    """A QUERY that takes as long as the test wants."""

    def __init__(self) -> None:
        self.engine = Engine.open()
        self.started = threading.Event()
        self.go = threading.Event()

    def __call__(self, query: QueryRequest, /) -> QueryResults:
        self.started.set()
        assert self.go.wait(10)
        return self.engine.query(query)


async def test_query_beyond_the_limit_is_refused_for_now() -> None:
    held = HeldQuery()
    async with open_gate(evaluate=held, limits=QueryLimits(threads=1, waiting=0)) as client:
        first = asyncio.create_task(client.get("/query", params={"query": "ASK {}"}))
        await asyncio.to_thread(held.started.wait, 5)
        refused = await client.get("/query", params={"query": "ASK {}"})
        check_error(refused, 429, "too_many_requests")
        assert int(refused.headers["retry-after"]) >= 1
        held.go.set()
        assert (await first).json()["boolean"] is True
        again = await client.get("/query", params={"query": "ASK {}"})
        assert again.status_code == 200


async def test_query_past_its_time_is_answered_and_keeps_its_place() -> None:
    held = HeldQuery()
    limits = QueryLimits(threads=1, waiting=0, rendering=AnswerBounds(timeout_s=0.1))
    async with open_gate(evaluate=held, limits=limits) as client:
        slow = await client.get("/query", params={"query": "ASK {}"})
        check_error(slow, 503, "query_timeout")
        refused = await client.get("/query", params={"query": "ASK {}"})
        check_error(refused, 429, "too_many_requests")
        held.go.set()


async def test_query_that_streams_past_its_time_is_stopped() -> None:
    numbers = " ".join(str(n) for n in range(60))
    query = f"SELECT * {{ {' '.join(f'VALUES ?v{n} {{ {numbers} }}' for n in range(4))} }}"
    limits = QueryLimits(threads=1, waiting=0, rendering=AnswerBounds(timeout_s=0.2))
    async with open_gate(limits=limits) as client:
        slow = await client.get("/query", params={"query": query})
        check_error(slow, 503, "query_timeout")
        async with asyncio.timeout(30):
            while (await client.get("/query", params={"query": "ASK {}"})).status_code == 429:
                await asyncio.sleep(0.01)


async def test_result_beyond_its_size_is_refused() -> None:
    async with open_gate(limits=QueryLimits(rendering=AnswerBounds(result_bytes=50))) as client:
        response = await client.get("/query", params={"query": ALL})
        check_error(response, 413, "too_large")


@pytest.mark.parametrize(
    ("query", "accept"),
    [
        *((ALL, media_type) for media_type in RESULTS),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "text/turtle"),
    ],
)
async def test_result_with_too_many_solutions_is_refused(query: str, accept: str) -> None:
    data = "INSERT DATA { <urn:s> <urn:p> 1, 2, 3, 4 }"
    for solutions in (4, 3):
        limits = QueryLimits(rendering=AnswerBounds(solutions=solutions))
        async with open_gate(limits=limits) as client:
            await client.post("/update", data={"update": "CLEAR ALL"})
            await client.post("/update", data={"update": data})
            headers = {"Accept": accept}
            response = await client.get("/query", params={"query": query}, headers=headers)
            if solutions == 4:
                assert response.status_code == 200
            else:
                check_error(response, 413, "too_many_solutions")


@pytest.mark.parametrize("host", ["localhost:1234", "LOCALHOST", "127.0.0.1", "[::1]:8000"])
async def test_host_of_loopback_passes(client: httpx.AsyncClient, host: str) -> None:
    response = await client.get("/health", headers={"Host": host})
    assert response.status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "a@localhost", ""])
async def test_host_elsewhere_is_refused(client: httpx.AsyncClient, host: str) -> None:
    response = await client.get("/health", headers={"Host": host})
    check_error(response, 403, "forbidden_host")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:1@evil.example"]
)
async def test_origin_elsewhere_is_refused(client: httpx.AsyncClient, origin: str) -> None:
    headers = {"Origin": origin}
    response = await client.post("/update", data={"update": "CLEAR ALL"}, headers=headers)
    check_error(response, 403, "forbidden_origin")
    assert "access-control-allow-origin" not in response.headers
    assert len(values(await client.get("/query", params={"query": ALL}))) == 1


async def test_page_of_another_port_is_of_another_origin(client: httpx.AsyncClient) -> None:
    headers = {"Origin": "http://localhost:3000"}
    response = await client.get("/query", params={"query": ALL}, headers=headers)
    check_error(response, 403, "forbidden_origin")


async def test_page_of_the_gateway_itself_may_call(client: httpx.AsyncClient) -> None:
    headers = {"Origin": str(client.base_url).rstrip("/")}
    response = await client.get("/query", params={"query": ALL}, headers=headers)
    assert len(values(response)) == 1
    assert response.headers["vary"] == "Accept, Accept-Encoding, Origin"
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_page_of_a_configured_origin_may_read_the_answer() -> None:
    origin = "https://dashboard.example"
    async with open_gate(names=Names(origins=frozenset({origin}))) as client:
        response = await client.get("/query", params={"query": ALL}, headers={"Origin": origin})
        assert response.headers["access-control-allow-origin"] == origin
        headers = {
            "Origin": origin,
            "Access-Control-Request-Method": "PUT",
            "Access-Control-Request-Headers": "content-type",
        }
        preflight = await client.options("/rdf-graph-store?default", headers=headers)
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == origin
        assert preflight.headers["access-control-allow-methods"] == "PUT"
        assert preflight.headers["access-control-allow-headers"] == "content-type"
        headers["Origin"] = "https://evil.example"
        foreign = await client.options("/query", headers=headers)
        check_error(foreign, 403, "forbidden_origin")
        assert "access-control-allow-origin" not in foreign.headers


async def test_any_address_but_no_unknown_name_is_served_where_remote_is_allowed() -> None:
    async with open_gate(names=Names(frozenset({"gateway.lan"}), any_address=True)) as client:
        for host in ("gateway.lan:8000", "192.0.2.7", "[2001:db8::7]:80"):
            headers = {"Host": host, "Origin": f"https://{host}"}
            assert (await client.get("/health", headers=headers)).status_code == 200
            headers["Origin"] = "http://gateway.lan:3000"
            check_error(await client.get("/health", headers=headers), 403, "forbidden_origin")
        headers = {"Host": "rebound.example"}
        check_error(await client.get("/health", headers=headers), 403, "forbidden_host")


def test_page_of_the_http_port_may_call_the_websocket_port_of_its_host() -> None:
    names = Names(frozenset({"gateway.lan"}), any_address=True).with_pages_of(8000)
    for host in ("gateway.lan", "192.0.2.7", "[2001:db8::7]"):
        assert names.admits(f"https://{host}:8000", f"{host}:9000")
        assert not names.admits(f"https://{host}:8001", f"{host}:9000")
    assert not names.admits("http://evil.example:8000", "gateway.lan:9000")


async def test_options_say_what_a_path_allows(client: httpx.AsyncClient) -> None:
    for path, allow in (
        ("/query", "GET, HEAD, OPTIONS, POST"),
        ("/update", "OPTIONS, POST"),
        ("/secure/rdf-graph-store", "DELETE, GET, HEAD, OPTIONS, POST, PUT"),
    ):
        response = await client.options(path)
        assert (response.status_code, response.headers["allow"]) == (204, allow)


async def test_health_tells_version_uptime_and_counters(client: httpx.AsyncClient) -> None:
    body = (await client.get("/health")).json()
    assert body["status"] == "ok"
    assert body["version"]
    assert body["uptime_s"] >= 0
    assert body["counters"] == {"updates": 3}


async def test_health_of_a_broken_gateway_is_the_error() -> None:
    async with open_gate(health=FakeHealth(is_broken=True)) as client:
        check_error(await client.get("/health"), 503, "storage")


async def test_metrics_are_those_of_the_registry(client: httpx.AsyncClient) -> None:
    response = await client.get("/metrics")
    assert "readings_total 7.0" in response.text
    assert response.headers["content-type"].startswith("text/plain")


async def test_defect_of_the_gateway_is_answered_with_the_error_object() -> None:
    def defective(_: QueryRequest, /) -> QueryResults:
        raise ZeroDivisionError

    async with open_gate(evaluate=defective) as client:
        check_error(await client.get("/query", params={"query": ALL}), 500, "internal")
        assert (await client.get("/health")).status_code == 200


async def test_serve_on_a_port_in_use_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"cannot listen on 127.0.0.1 port {port}"):
            await serve(application([]), "127.0.0.1", port).__aenter__()


@pytest.mark.alone
async def test_serve_ends_in_time_with_a_request_under_way() -> None:
    started = asyncio.Event()

    async def never(_: Request) -> Response:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    app = application([Route("/never", never)])
    async with serve(app, "127.0.0.1", 0, ServerSettings(grace_s=1)) as address:
        _, writer = await asyncio.open_connection("127.0.0.1", address.port)
        writer.write(b"GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.wait_for(started.wait(), 30)
        begun = time.monotonic()
    assert 1 <= time.monotonic() - begun < 3
    writer.transport.abort()


async def test_serve_on_ipv6_loopback_is_reached_by_its_name() -> None:
    app = application(health_interface(FakeHealth()).routes())
    async with serve(app, "::1", 0) as address, httpx.AsyncClient(verify=False) as client:
        response = await client.get(f"http://[::1]:{address.port}/health")
    assert json.loads(response.text)["status"] == "ok"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", "text/csv"),
        ("text/*", "text/csv"),
        ("*/*, text/csv;q=0.1", "text/html"),
        ("text/csv;q=0", None),
        ("TEXT/HTML ; Q=0.9 , text/csv;q=0.8", "text/html"),
        ("text/csv;q=often", None),
        ("*/*;q=0", None),
    ],
)
def test_choose_by_accept(accept: str, chosen: str | None) -> None:
    assert choose(accept, ["text/csv", "text/html"]) == chosen


@pytest.mark.parametrize(
    "authority", ["", "a b", "localhost:x", "http://", "ftp://localhost", "a/b", "<a>"]
)
def test_host_name_of_no_authority_is_empty(authority: str) -> None:
    assert host_name(authority) == ""
