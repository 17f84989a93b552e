"""The Graph Store HTTP Protocol beyond the W3C cases: refusals, rights, notifications."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from pyoxigraph import DefaultGraph, NamedNode

from gateway.gates.sparql.query_pool import QueryLimits
from gateway.rdf.terms import GraphName
from gateway.security.policy import Policy
from gateway.sparql.bounds.answer import AnswerBounds
from tests.kit.fake_guard import FakeGuard
from tests.kit.gateways import running, settings, watch, write_profile
from tests.kit.http_client import check_error, open_gate

STORE = "/rdf-graph-store"
TURTLE = {"Content-Type": "text/turtle"}
G = {"graph": "urn:g"}
BAD = (400, "bad_request")
UNREADABLE = (415, "unsupported_media_type")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with open_gate() as client:
        yield client


async def _turtle(client: httpx.AsyncClient, url: str = f"{STORE}?graph=urn:g") -> str:
    response = await client.get(url, headers={"Accept": "application/n-triples"})
    assert response.status_code == 200, response.text
    return response.text


async def test_put_replaces_and_post_merges(client: httpx.AsyncClient) -> None:
    put = await client.put(STORE, params=G, content="<urn:a> <urn:p> 21.50 .", headers=TURTLE)
    assert put.status_code == 204
    post = await client.post(STORE, params=G, content="<urn:a> <urn:p> 22 .", headers=TURTLE)
    assert post.status_code == 204
    lines = sorted((await _turtle(client)).splitlines())
    assert ['"21.5"' in lines[0], '"22"' in lines[1], len(lines)] == [True, True, 2]


async def test_graph_that_is_put_empty_is_there_and_empty(client: httpx.AsyncClient) -> None:
    url = f"{STORE}?graph=urn:new"
    check_error(await client.get(url), 404, "not_found")
    assert (await client.put(url, content="", headers=TURTLE)).status_code == 201
    assert await _turtle(client, url) == ""
    assert (await client.put(url, content="", headers=TURTLE)).status_code == 204
    assert (await client.delete(url)).status_code == 204
    check_error(await client.delete(url), 404, "not_found")


async def test_default_graph_is_there_even_when_it_is_deleted(client: httpx.AsyncClient) -> None:
    assert "urn:a" in await _turtle(client, f"{STORE}?default")
    assert (await client.delete(f"{STORE}?default")).status_code == 204
    assert await _turtle(client, f"{STORE}?default") == ""
    assert "urn:b" in await _turtle(client)


async def test_post_makes_a_new_graph_below_the_endpoint(client: httpx.AsyncClient) -> None:
    made = [await client.post(STORE, content="[] <urn:p> 1 .", headers=TURTLE) for _ in range(2)]
    assert [each.status_code for each in made] == [201, 201]
    first, second = (each.headers["location"] for each in made)
    assert first != second
    assert first.startswith(f"{client.base_url}{STORE}/")
    assert "<urn:p>" in await _turtle(client, first)
    assert "<urn:p>" in await _turtle(client, f"{STORE}?graph={quote(first, safe='')}")


async def test_blank_nodes_of_two_documents_are_different(client: httpx.AsyncClient) -> None:
    for _ in range(2):
        await client.post(STORE, params=G, content="_:x <urn:p> 1 .", headers=TURTLE)
    await client.put(STORE, params=G, content="_:x <urn:p> 1 ; <urn:q> _:x .", headers=TURTLE)
    assert len((await _turtle(client)).splitlines()) == 2
    for _ in range(2):
        await client.post(STORE, params=G, content="_:x <urn:p> 1 .", headers=TURTLE)
    assert len((await _turtle(client)).splitlines()) == 4


async def test_relative_iris_are_those_of_the_graph(client: httpx.AsyncClient) -> None:
    url = f"{STORE}/house/1"
    await client.put(url, content="<> <p> <lamp> .", headers=TURTLE)
    here = f"{client.base_url}{STORE}/house"
    assert await _turtle(client, url) == f"<{here}/1> <{here}/p> <{here}/lamp> .\n"


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        ("application/n-triples", "<urn:s> <urn:p> <urn:o> ."),
        ("text/turtle; charset=utf-8", "<urn:s> <urn:p> <urn:o> ."),
        ("application/ld+json", '{"@id": "urn:s", "urn:p": {"@id": "urn:o"}}'),
        (
            "application/rdf+xml",
            '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="urn:">'
            '<r:Description r:about="urn:s"><p r:resource="urn:o"/></r:Description></r:RDF>',
        ),
    ],
)
async def test_every_format_is_read_and_written(
    client: httpx.AsyncClient, media_type: str, text: str
) -> None:
    headers = {"Content-Type": media_type}
    assert (await client.put(STORE, params=G, content=text, headers=headers)).status_code == 204
    assert await _turtle(client) == "<urn:s> <urn:p> <urn:o> .\n"
    bare = media_type.partition(";")[0]
    answer = await client.get(STORE, params=G, headers={"Accept": bare})
    assert answer.headers["content-type"].partition(";")[0] == bare


@pytest.mark.parametrize(
    ("method", "url", "body", "error"),
    [
        ("PUT", "?graph=urn:g", ("<urn:a> <urn:p> ", "text/turtle"), BAD),
        ("PUT", "?graph=urn:g", ("x", "text/html"), UNREADABLE),
        ("PUT", "?graph=urn:g", ("x", ""), UNREADABLE),
        (
            "PUT",
            "?graph=urn:g",
            ("", "text/turtle; charset=latin-1"),
            UNREADABLE,
        ),
        ("PUT", "?graph=urn:g", ("#" * 2001, "text/turtle"), (413, "too_large")),
        ("PUT", "?graph=not-absolute", ("", "text/turtle"), BAD),
        ("PUT", "?graph=%FF", ("", "text/turtle"), BAD),
        ("PUT", "?graph=urn:g&default", ("", "text/turtle"), BAD),
        ("PUT", "/a?default", ("", "text/turtle"), BAD),
        ("PUT", "", ("", "text/turtle"), BAD),
        ("DELETE", "", ("", "text/turtle"), BAD),
        ("GET", "", ("", "text/turtle"), BAD),
        ("PATCH", "?default", ("", "text/turtle"), (405, "method_not_allowed")),
        (
            "POST",
            "?graph=urn:g",
            ("--x\r\n", "multipart/form-data; boundary=x"),
            BAD,
        ),
        (
            "PUT",
            "?graph=urn:g",
            ("<urn:a> <urn:p> 1 <urn:elsewhere> .", "application/n-quads"),
            BAD,
        ),
    ],
)
async def test_bad_request_changes_nothing(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    body: tuple[str, str],
    error: tuple[int, str],
) -> None:
    content, content_type = body
    headers = {"Content-Type": content_type}
    response = await client.request(method, STORE + url, content=content, headers=headers)
    check_error(response, *error)
    assert (await _turtle(client)).count("urn:") == 2


async def test_gzip_is_read_and_written(client: httpx.AsyncClient) -> None:
    text = "\n".join(f"<urn:a> <urn:p> {number} ." for number in range(500))
    headers = {**TURTLE, "Content-Encoding": "gzip"}
    packed = gzip.compress(text.encode())
    too_long = await client.put(STORE, params=G, content=packed, headers=headers)
    check_error(too_long, 413, "too_large")
    packed = gzip.compress(text[:1990].encode().rpartition(b"\n")[0])
    assert (await client.put(STORE, params=G, content=packed, headers=headers)).status_code == 204
    accept = {"Accept": "application/n-triples", "Accept-Encoding": "gzip;q=0.5"}
    answer = await client.get(STORE, params=G, headers=accept)
    assert answer.headers["content-encoding"] == "gzip"
    assert "<urn:a>" in answer.text
    accept["Accept-Encoding"] = "identity"
    plain = await client.get(STORE, params=G, headers=accept)
    assert "content-encoding" not in plain.headers
    assert plain.text == answer.text
    for content in (b"no gzip", packed[:-4], packed + b"more"):
        broken = await client.put(STORE, params=G, content=content, headers=headers)
        check_error(broken, 400, "bad_request")
    headers["Content-Encoding"] = "br"
    check_error(
        await client.put(STORE, params=G, content=packed, headers=headers),
        415,
        "unsupported_media_type",
    )


async def test_unacceptable_type_is_refused(client: httpx.AsyncClient) -> None:
    response = await client.get(STORE, params=G, headers={"Accept": "image/png"})
    check_error(response, 406, "not_acceptable")


async def test_graph_beyond_the_limit_is_refused() -> None:
    limits = QueryLimits(rendering=AnswerBounds(solutions=1))
    async with open_gate(limits=limits) as client:
        assert "urn:b" in await _turtle(client)
        await client.post(STORE, params=G, content="<urn:c> <urn:p> 3 .", headers=TURTLE)
        check_error(await client.get(STORE, params=G), 413, "too_many_solutions")


async def test_forbidden_graph_is_as_if_it_were_not_there() -> None:
    mine = frozenset[GraphName]({DefaultGraph(), NamedNode("urn:mine")})
    guard = FakeGuard(eve=Policy(query=mine, update=mine), ann=Policy(query=None, update=None))
    async with open_gate(guard=guard) as client:
        client.headers["Authorization"] = "Bearer eve"
        for url in (f"{STORE}?graph=urn:g", f"{STORE}?graph=urn:nowhere"):
            check_error(await client.get(url), 404, "not_found")
            errors = [
                await client.put(url, content="", headers=TURTLE),
                await client.post(url, content="", headers=TURTLE),
                await client.delete(url),
            ]
            for each in errors:
                check_error(each, 403, "forbidden")
        made = await client.put(f"{STORE}?graph=urn:mine", content="", headers=TURTLE)
        assert made.status_code == 201
        check_error(await client.post(STORE, content="", headers=TURTLE), 403, "forbidden")
        client.headers["Authorization"] = "Bearer ann"
        assert "urn:b" in await _turtle(client)
        del client.headers["Authorization"]
        refused = await client.get(f"{STORE}?default")
        check_error(refused, 401, "invalid_request")
        assert refused.headers["www-authenticate"] == "Bearer"


async def test_subscribers_are_told_of_a_graph_in_one_step(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        told = await watch(gateway, "SELECT ?o { GRAPH <urn:g> { ?s <urn:p> ?o } }")
        url = f"http://127.0.0.1:{gateway.http_port}{STORE}?graph=urn:g"
        async with httpx.AsyncClient() as client:
            for text in ("<urn:a> <urn:p> 1, 2 .", "<urn:a> <urn:p> 2, 3 ."):
                await client.put(url, content=text, headers=TURTLE)
            await client.delete(url)
        await told.until(lambda: len(told.notifications) == 4)
    steps = [(len(each.results.added), len(each.results.removed)) for each in told.notifications]
    assert steps == [(0, 0), (2, 0), (1, 1), (0, 2)]


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
async def test_what_follows_cannot_be_written(client: httpx.AsyncClient, method: str) -> None:
    before = await _turtle(client)
    body = "" if method == "DELETE" else "<urn:a> <urn:p> 1 ."
    parameters = {**G, "infer": "true"}
    answer = await client.request(method, STORE, params=parameters, content=body, headers=TURTLE)
    check_error(answer, *BAD)
    assert await _turtle(client) == before
