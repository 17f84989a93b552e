"""SERVICE and LOAD reach the hosts on the list and no other, by no redirect either."""

import json
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from gateway.engine import Engine
from gateway.errors import (
    ConfigurationError,
    GatewayError,
    UnsupportedQueryError,
    UpdateFailedError,
)
from gateway.profiles import Profiles
from gateway.store.fetch import HttpFetch
from gateway.store.remote import Remote

RESULTS = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"far"}}]}}'
DOCUMENTS = {
    "/lamps.ttl": ("text/turtle", b"<lamp> <urn:p> 01.50 . _:b <urn:p> <lamp#x> ."),
    "/named.trig": ("application/trig", b"<urn:g> { <urn:a> <urn:p> 1 }"),
    "/broken.ttl": ("text/turtle", b"<lamp> <urn:p> 1 . <lamp> <urn"),
    "/page.html": ("text/html", b"<html/>"),
    "/long.nt": ("application/n-triples", b"<urn:a> <urn:p> <urn:b> .\n" * 1000),
    "/sparql": ("application/sparql-results+json", RESULTS),
    "/more.jsap": ("application/json", b'{"host": "h", "queries": {"Q": {"sparql": "ASK {}"}}}'),
    "/local.jsap": ("application/json", b'{"host": "h", "include": ["file:///etc/hostname"]}'),
}


class Host:
    """A server that counts who comes, and sends `/away` to another."""

    def __init__(self, elsewhere: str = "") -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                if self.path == "/away":
                    self.send_response(307)
                    self.send_header("Location", elsewhere)
                    self.end_headers()
                    return
                if self.path not in DOCUMENTS:
                    self.send_error(404)
                    return
                media_type, body = DOCUMENTS[self.path]
                self.send_response(200)
                self.send_header("Content-Type", media_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815  # the name that http.server calls

            def log_message(self, *_: object) -> None:
                """Silence."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.name = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.name}"
        self._thread = Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


@pytest.fixture
def forbidden() -> Iterator[Host]:
    host = Host()
    yield host
    host.close()


@pytest.fixture
def allowed(forbidden: Host) -> Iterator[Host]:
    host = Host(f"{forbidden.url}/sparql")
    yield host
    host.close()


@pytest.fixture
def engine(allowed: Host) -> Iterator[Engine]:
    with closing(Engine.open()) as engine:
        engine.store.remote = Remote(frozenset({allowed.name}), HttpFetch(10_000, 5.0))
        yield engine


def test_load_inserts_what_the_document_says_as_the_store_writes_it(
    engine: Engine, allowed: Host
) -> None:
    text = f"LOAD <{allowed.url}/lamps.ttl> INTO GRAPH <urn:g>"
    delta = engine.update(text).delta
    lamp, p, g = NamedNode(f"{allowed.url}/lamp"), NamedNode("urn:p"), NamedNode("urn:g")
    decimal = NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
    assert Quad(lamp, p, Literal("1.5", datatype=decimal), g) in delta.added
    assert len(delta.added) == 2
    assert delta.graphs_created == (g,)
    (again,) = engine.update(text).delta.added  # blank nodes are fresh, the rest is there
    assert again.object == NamedNode(f"{allowed.url}/lamp#x")


def test_load_is_one_request_with_the_other_operations(engine: Engine, allowed: Host) -> None:
    text = (
        f"LOAD <{allowed.url}/lamps.ttl> ; "
        "DELETE { ?s ?p ?o } INSERT { ?s ?p 7 } WHERE { ?s ?p ?o FILTER(isNumeric(?o)) }"
    )
    added = engine.update(text).delta.added
    assert {str(quad.object) for quad in added if isinstance(quad.object, Literal)} == {
        str(Literal(7))
    }


@pytest.mark.parametrize(
    "path", ["/nowhere", "/broken.ttl", "/page.html", "/named.trig", "/long.nt", "/away"]
)
def test_document_that_does_not_come_fails_the_request_or_is_passed_over_if_silent(
    engine: Engine, allowed: Host, forbidden: Host, path: str
) -> None:
    insert = "INSERT DATA { <urn:a> <urn:p> 1 }"
    with pytest.raises(UpdateFailedError, match="LOAD"):
        engine.update(f"{insert} ; LOAD <{allowed.url}{path}>")
    assert len(engine.store) == 0
    assert len(engine.update(f"LOAD SILENT <{allowed.url}{path}> ; {insert}").delta.added) == 1
    assert forbidden.asked == []


@pytest.mark.parametrize(
    "iri",
    [
        "{forbidden}/lamps.ttl",
        "file:///etc/hostname",
        "http://{allowed_name}@{forbidden_name}/lamps.ttl",
        "{forbidden}/lamps.ttl#@{allowed_name}/",
        "ftp://{allowed_name}/lamps.ttl",
        "urn:lamps",
    ],
)
def test_nothing_else_is_loaded_be_it_silent(
    engine: Engine, allowed: Host, forbidden: Host, iri: str
) -> None:
    source = iri.format(
        forbidden=forbidden.url, allowed_name=allowed.name, forbidden_name=forbidden.name
    )
    for silent in ("", "SILENT "):
        with pytest.raises(UnsupportedQueryError, match="may not be reached"):
            engine.update(f"LOAD {silent}<{source}>")
    assert allowed.asked == forbidden.asked == []


def test_service_of_an_allowed_host_answers_queries_and_updates(
    engine: Engine, allowed: Host
) -> None:
    where = f"{{ SERVICE <{allowed.url}/sparql> {{ ?s ?p ?x }} }}"
    (row,) = engine.query(f"SELECT ?x {where}")  # type: ignore[misc]  # a SELECT
    assert row["x"] == Literal("far")
    delta = engine.update(f"INSERT {{ <urn:a> <urn:p> ?x }} WHERE {where}").delta
    assert delta.added == (Quad(NamedNode("urn:a"), NamedNode("urn:p"), Literal("far")),)
    # After a change in the same request it is another way of ours to the same answer.
    text = f"INSERT DATA {{ <urn:b> <urn:p> 1 }} ; INSERT {{ <urn:c> <urn:p> ?x }} WHERE {where}"
    assert len(engine.update(text).delta.added) == 2


@pytest.mark.parametrize(
    "where",
    [
        "{{ SERVICE <{forbidden}/sparql> {{ ?s ?p ?x }} }}",
        "{{ SERVICE SILENT <{forbidden}/sparql> {{ ?s ?p ?x }} }}",
        "{{ SERVICE <{allowed}/sparql> {{ ?s ?p ?x SERVICE <{forbidden}/sparql> {{ ?x ?p 1}} }} }}",
        "{{ ?s ?p ?x FILTER EXISTS {{ SERVICE <{forbidden}/sparql> {{ ?s ?p ?o }} }} }}",
        "{{ {{ SELECT ?x {{ SERVICE <{forbidden}/sparql> {{ ?s ?p ?x }} }} }} }}",
        "{{ VALUES ?h {{ <{forbidden}/sparql> }} SERVICE ?h {{ ?s ?p ?x }} }}",
    ],
)
def test_service_elsewhere_is_refused(
    engine: Engine, allowed: Host, forbidden: Host, where: str
) -> None:
    group = where.format(allowed=allowed.url, forbidden=forbidden.url)
    with pytest.raises(UnsupportedQueryError, match=r"host|reached"):
        engine.query(f"SELECT ?x {group}")
    for before in ("", "INSERT DATA { <urn:s> <urn:p> 1 } ; "):
        with pytest.raises(UnsupportedQueryError, match=r"host|reached"):
            engine.update(f"{before}INSERT {{ <urn:a> <urn:p> ?x }} WHERE {group}")
    assert len(engine.store) == 0
    assert allowed.asked == forbidden.asked == []


def test_service_that_leads_elsewhere_is_not_followed(
    engine: Engine, allowed: Host, forbidden: Host
) -> None:
    where = f"{{ SERVICE <{allowed.url}/away> {{ ?s ?p ?x }} }}"
    with pytest.raises(GatewayError):
        engine.update(f"INSERT {{ <urn:a> <urn:p> ?x }} WHERE {where}")
    with pytest.raises((GatewayError, OSError)):
        list(engine.query(f"SELECT ?x {where}"))  # type: ignore[arg-type]  # a SELECT
    assert set(allowed.asked) == {"/away"}
    assert forbidden.asked == []


def test_subscription_takes_no_service(engine: Engine, allowed: Host) -> None:
    with pytest.raises(UnsupportedQueryError, match="SERVICE"):
        engine.subscribe(f"SELECT ?x {{ SERVICE <{allowed.url}/sparql> {{ ?s ?p ?x }} }}")


def test_without_a_list_nothing_is_reached() -> None:
    engine = Engine.open()
    with pytest.raises(UnsupportedQueryError):
        engine.update("LOAD <http://localhost/x.ttl>")
    with pytest.raises(UnsupportedQueryError):
        engine.query("SELECT * { SERVICE <http://localhost/x> { ?s ?p ?o } }")


def including(folder: Path, url: str) -> Path:
    path = folder / "profile.jsap"
    path.write_text(json.dumps({"host": "h", "include": [url]}), encoding="utf-8")
    return path


def test_a_profile_includes_files_of_hosts_on_the_list(
    tmp_path: Path, allowed: Host, forbidden: Host
) -> None:
    remote = Remote(frozenset({allowed.name}), HttpFetch(10_000, 5.0))
    path = including(tmp_path, f"{allowed.url}/more.jsap")
    assert Profiles.load([path], remote).query_text("Q") == "ASK {}"
    for url in (
        f"{forbidden.url}/more.jsap",
        f"{allowed.url}/away",
        f"{allowed.url}/local.jsap",
        f"{allowed.url}/absent.jsap",
        f"{allowed.url}/page.html",
    ):
        with pytest.raises(ConfigurationError):
            Profiles.load([including(tmp_path, url)], remote)
    with pytest.raises(ConfigurationError):
        Profiles.load([including(tmp_path, f"{allowed.url}/more.jsap")])
    assert forbidden.asked == []
