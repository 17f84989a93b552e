"""The W3C cases of the SPARQL 1.1 Protocol and the Graph Store HTTP Protocol, over a real gateway.

The suites are not part of the project; where they are, see `test_update_cases`.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.gateway.gates.sparql.http_cases import Case, Exchange, Expected, Manifest, graph_of
from tests.kit.gateways import running, settings, write_profile
from tests.paths import SHARED

pytestmark = pytest.mark.conformance

_SUITE = SHARED / "data" / "rdf-tests" / "sparql" / "sparql11"
_FORMATS = {
    "boolean": ("application/sparql-results+json", "application/sparql-results+xml"),
    "tabular": ("application/sparql-results+json", "application/sparql-results+xml", "text/csv"),
    "RDF": ("text/turtle", "application/rdf+xml", "application/n-triples"),
}


def _cases(*manifests: str) -> list[Case]:
    if not _SUITE.is_dir():
        return []
    return [case for name in manifests for case in Manifest(_SUITE / name).cases()]


PROTOCOL = _cases("protocol/manifest.ttl")
GRAPH_STORE = _cases(
    "graph-store-protocol/manifest-indirect.ttl", "graph-store-protocol/manifest-direct.ttl"
)


def test_the_suites_are_there() -> None:
    if not _SUITE.is_dir():
        stop = pytest.fail if os.environ.get("SOSA_GATEWAY_REQUIRE_SHARED") == "1" else pytest.skip
        stop(f"no W3C cases: {_SUITE} is missing")
    assert len(PROTOCOL) == 34
    assert len(GRAPH_STORE) == 14


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a gateway with nothing in it."""
    async with (
        running(settings(tmp_path, write_profile(tmp_path))) as gateway,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{gateway.http_port}") as client,
    ):
        yield client


@pytest.mark.parametrize("case", PROTOCOL, ids=lambda case: case.name)
async def test_protocol_case(case: Case, client: httpx.AsyncClient) -> None:
    for name, file in case.graphs:
        await client.put(
            "/rdf-graph-store",
            params={"graph": name},
            content=file.read_bytes(),
            headers={"Content-Type": "application/n-triples"},
        )
    for exchange in case.exchanges:
        path = exchange.path.replace("/sparql/", "/sparql", 1)
        response = await _send(client, exchange, path, exchange.body)
        _check_protocol(response, exchange.expected)


@pytest.mark.parametrize("case", GRAPH_STORE, ids=lambda case: case.name)
async def test_graph_store_case(case: Case, client: httpx.AsyncClient) -> None:
    locations: dict[str, str] = {}
    for exchange in case.exchanges:
        path, body = exchange.path, exchange.body
        for name, location in locations.items():
            path = path.replace(name, location)
            body = body.replace(name.encode(), location.encode())
        path = path.replace("/gsp", "/rdf-graph-store", 1) if path.startswith("/gsp") else path
        response = await _send(client, exchange, path, body)
        _check_graph(response, exchange.expected)
        if exchange.expected.location is not None:
            locations[exchange.expected.location] = response.headers["location"]


async def _send(
    client: httpx.AsyncClient, exchange: Exchange, path: str, body: bytes
) -> httpx.Response:
    # As it is: httpx would encode the query once more.
    url = client.base_url.copy_with(raw_path=path.encode())
    return await client.request(exchange.method, url, headers=exchange.headers, content=body)


def _check_status(response: httpx.Response, expected: Expected) -> None:
    status = str(response.status_code)
    accepted = {status, f"{status[0]}xx"}
    assert accepted & set(expected.statuses), (response.status_code, response.text)


def _check_protocol(response: httpx.Response, expected: Expected) -> None:
    _check_status(response, expected)
    media_type = response.headers.get("content-type", "").partition(";")[0]
    if expected.form is not None:
        assert media_type in _FORMATS[expected.form]
    if expected.boolean is not None:
        assert response.json()["boolean"] is expected.boolean


def _check_graph(response: httpx.Response, expected: Expected) -> None:
    _check_status(response, expected)
    for name, value in expected.headers.items():
        assert response.headers[name] == value
    if expected.body is not None:
        base = str(response.url)
        assert graph_of(response.text, base) == graph_of(expected.body, base)
