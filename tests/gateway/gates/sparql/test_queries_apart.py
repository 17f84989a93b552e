"""Queries that no form bounds: answered apart, exactly, and at the cost of who asks alone."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from pyoxigraph import DefaultGraph, NamedNode, QueryResultsFormat, QueryTriples

from gateway.app.gateway import Gateway
from gateway.engine import Engine, QueryRequest, SubscribeRequest
from gateway.errors import QueryTimeoutError, TooLargeError, TooManySolutionsError
from gateway.gates.protocol.media_types import Acceptable
from gateway.gates.sparql.queries_apart import QueriesApart
from gateway.gates.sparql.snapshots import Snapshots
from gateway.gates.subscriptions.tried_first import TriedFirst
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, OWL
from gateway.rdf.rights import Rights
from gateway.reasoning.domains import Domains
from gateway.reasoning.reasoning import Reasoning
from gateway.sparql.bounded import query_facts
from gateway.sparql.bounds.answer import AnswerBounds
from gateway.store.quad_store import QuadStore
from tests.gateway.sparql.bounds.test_growth import GROWING
from tests.kit.gateways import (
    LOOPBACK,
    mapping,
    publish,
    running,
    settings,
    wait_until,
    watch,
    write_profile,
)

JSON = Acceptable.of("application/sparql-results+json")
VALUES = "SELECT ?v { ?o <http://www.w3.org/ns/sosa/hasSimpleResult> ?v }"
ORDERED = "SELECT ?s ?o { ?s <urn:p> ?o } ORDER BY DESC(?o)"
CROSS = "SELECT (COUNT(*) AS ?n) { ?a <urn:p> ?b . ?c <urn:p> ?d . ?e <urn:p> ?f . ?g <urn:p> ?h }"

BOUNDED = [
    "SELECT * { ?s ?p ?o }",
    "SELECT ?o { <urn:a> <urn:p> ?o . ?o <urn:q> ?v FILTER(?v > 3) } LIMIT 3",
    "SELECT (AVG(?v) AS ?m) ?room { ?o a <urn:O> ; <urn:in> ?room ; <urn:v> ?v } GROUP BY ?room",
    "SELECT ?a { ?a <urn:p> 1 FILTER NOT EXISTS { ?a <urn:in> ?o } }",
    "SELECT DISTINCT ?p { ?s a <urn:T> . ?s ?p ?o OPTIONAL { ?o <urn:name> ?n } }",
    "ASK { GRAPH ?g { ?s <urn:p> 1 . ?s <urn:q> ?o } }",
    "SELECT * { VALUES ?s { <urn:a> <urn:b> } ?s <urn:p>/<urn:q> ?o }",
    "CONSTRUCT { ?s <urn:made> ?n } { ?s <urn:p> ?o BIND(CONCAT('a', ?o) AS ?n) }",
]
UNBOUNDED = [
    ORDERED,
    CROSS,
    "SELECT * { ?a <urn:p> ?b . ?b <urn:p> ?c }",
    "SELECT * { ?a <urn:p> 1 . ?c <urn:p> 2 }",
    "SELECT * { ?a a <urn:T> OPTIONAL { ?x <urn:p> ?y } }",
    "SELECT * { ?a <urn:p> 1 OPTIONAL { ?a <urn:q> ?b ; <urn:r> ?c } }",
    "SELECT * { { ?a <urn:p> 1 } { ?a <urn:q> 1 } }",
    "SELECT * { { ?a <urn:p> 1 } UNION { ?a <urn:q> 1 } }",
    "SELECT * { ?a <urn:p> 1 MINUS { ?a <urn:q> 1 } }",
    "SELECT * { ?a <urn:p> 1 FILTER NOT EXISTS { ?b <urn:q> ?o . ?o <urn:q> ?c } }",
    "SELECT * { ?a <urn:p> 1 BIND(EXISTS { ?a <urn:q> ?o } AS ?is) }",
    "SELECT (EXISTS { ?a <urn:q> ?o } AS ?is) { ?a <urn:p> 1 }",
    "SELECT * { <urn:a> <urn:p>* ?o }",
    "SELECT * { { SELECT ?a { ?a <urn:p> 1 } } }",
    "SELECT (GROUP_CONCAT(?v) AS ?all) { ?s <urn:p> ?v }",
    *GROWING.values(),
]


@pytest.mark.parametrize("text", BOUNDED)
def test_forms_that_bound(text: str) -> None:
    assert query_facts(text).is_bounded


@pytest.mark.parametrize("text", UNBOUNDED)
def test_forms_that_bound_nothing(text: str) -> None:
    assert not query_facts(text).is_bounded


@pytest.fixture(params=["memory", "disk"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    with closing(Engine.open(tmp_path / "store" if request.param == "disk" else None)) as engine:
        rows = " ".join(f"<urn:{n}> <urn:p> {n} ." for n in range(200))
        engine.update(f"INSERT DATA {{ {rows} GRAPH <urn:g> {{ <urn:a> <urn:p> 'g' }} }}")
        yield engine


@pytest.fixture
def apart(engine: Engine, tmp_path: Path) -> Iterator[QueriesApart]:
    limits = AnswerBounds(solutions=1000, timeout_s=30.0)
    with closing(QueriesApart(engine, tmp_path / "copies", limits, 64 << 20)) as apart:
        yield apart


def asked(apart: QueriesApart, query: QueryRequest) -> bytes:
    return apart.answer(query, JSON, lambda: True, takes_gzip=False).body


def test_answers_are_those_of_the_store(engine: Engine, apart: QueriesApart) -> None:
    graph, default = NamedNode("urn:g"), DefaultGraph()
    for text in (ORDERED, "SELECT * { ?s <urn:p> ?o } ORDER BY NOW() ?o LIMIT 7", *UNBOUNDED[2:12]):
        for rights in (
            Rights(),
            Rights(read=frozenset((graph,))),
            Rights(read=frozenset((default,))),
        ):
            query = QueryRequest(text, rights=rights)
            results = engine.query(query)
            assert not isinstance(results, QueryTriples)
            expected = results.serialize(format=QueryResultsFormat.JSON)
            assert sorted(asked(apart, query)) == sorted(expected or b""), text


def test_every_update_that_was_answered_is_seen(engine: Engine, apart: QueriesApart) -> None:
    for number in range(5):
        engine.update(
            f"INSERT DATA {{ <urn:n> <urn:p> {1000 + number} }}", deferred=number % 2 == 1
        )
        assert f'"{1000 + number}"'.encode() in asked(apart, QueryRequest(ORDERED))
    assert apart.snapshots.made == 5
    asked(apart, QueryRequest(ORDERED))
    assert apart.snapshots.made == 5
    assert apart.snapshots.bytes_written > 0
    assert apart.processes.starts == 1


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_what_follows_comes_with_the_copy(tmp_path: Path, kind: str) -> None:
    """The copies are of one view each; texts that look at no domain read those of the store."""
    path = tmp_path / "store" if kind == "disk" else None
    engine = Engine.open(path, reasoning=Reasoning(Domains(frozenset({DefaultGraph()}))))
    query = QueryRequest("SELECT ?s ?o { ?s <urn:p>/<urn:p> ?o } ORDER BY ?s", infer=True)
    elsewhere = QueryRequest("SELECT ?s ?o { GRAPH <urn:g> { ?s <urn:p> ?o } }", infer=True)
    with closing(engine), closing(QueriesApart(engine, tmp_path / "copies")) as apart:
        engine.update("INSERT DATA { <urn:a> <urn:p> <urn:b> GRAPH <urn:g> { <urn:x> <urn:p> 7 } }")
        assert b"urn:a" not in asked(apart, query)
        engine.update(
            f"INSERT DATA {{ GRAPH {ONTOLOGY_GRAPH} {{ <urn:p> a <{OWL}SymmetricProperty> }} }}",
        )
        for number in range(2):
            results = engine.query(query)
            assert not isinstance(results, QueryTriples)
            assert asked(apart, query) == results.serialize(format=QueryResultsFormat.JSON)
            assert b"urn:a" in asked(apart, query)
            assert b"urn:a" not in asked(apart, replace(query, infer=False))
            engine.update(f"INSERT DATA {{ <urn:d> <urn:p> {number} }}", deferred=True)
        made = apart.snapshots.made
        assert b"urn:x" in asked(apart, elsewhere)
        assert apart.snapshots.made == made + 1
        hidden = replace(query, rights=Rights(read=frozenset({NamedNode("urn:g")})))
        assert b"urn:a" not in asked(apart, hidden)
    if path is not None:
        with closing(QuadStore.open(path)) as store:
            assert len(store.match(None, NamedNode("urn:p"), None, DefaultGraph())) == 3


@pytest.mark.parametrize("name", GROWING)
def test_strings_that_grow_cost_their_asker_an_error(apart: QueriesApart, name: str) -> None:
    engine = apart._engine  # the data that makes it grow
    engine.update(f"INSERT DATA {{ <urn:x> <urn:p> '{'x' * 300_000}' }}")
    with pytest.raises((TooLargeError, QueryTimeoutError)):
        asked(apart, QueryRequest(GROWING[name]))
    assert asked(apart, QueryRequest(ORDERED))


def test_time_is_bounded(engine: Engine, tmp_path: Path) -> None:
    limits = AnswerBounds(timeout_s=1.0)
    with closing(QueriesApart(engine, tmp_path / "copies", limits, 64 << 20)) as apart:
        with pytest.raises(QueryTimeoutError):
            asked(apart, QueryRequest(CROSS))
        assert len(apart.processes) == 0


def test_number_of_solutions_is_bounded(apart: QueriesApart) -> None:
    with pytest.raises(TooManySolutionsError):
        asked(apart, QueryRequest("SELECT * { ?a <urn:p> ?b . ?c <urn:p> ?d } ORDER BY ?a"))
    with pytest.raises(TooManySolutionsError):
        apart.try_first(QueryRequest("SELECT * { ?a <urn:p> ?b . ?c <urn:p> ?d }"), lambda: True)


def test_copies_go_when_nobody_reads_them(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    (folder / "left behind").mkdir()
    with closing(Snapshots(engine.store, folder, idle_s=0.2)) as snapshots:
        assert not folder.exists()
        with snapshots.reading() as first:
            engine.update("INSERT DATA { <urn:n> <urn:p> 1 }")
            with snapshots.reading() as second:
                assert first.exists()
                assert second.exists()
            assert first.exists()
        assert not first.exists()
        wait_until(lambda: not second.exists())


async def gateway_with(folder: Path, kind: str) -> AsyncIterator[Gateway]:
    profile = write_profile(folder, [mapping("t", "t/+", selector="$.v")])
    config = settings(folder, profile, kind=kind, query_s=3, query_memory_bytes=64 << 20)
    async with running(config) as gateway:
        yield gateway


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async for gateway in gateway_with(tmp_path, "disk"):
        yield gateway


def resident() -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) >> 10


async def test_nobody_else_notices(gateway: Gateway) -> None:
    told = await watch(gateway, VALUES)
    base = f"http://{LOOPBACK}:{gateway.http_port}"
    rows = " ".join(f"<urn:{n}> <urn:p> {n} ." for n in range(2000))
    async with httpx.AsyncClient(base_url=base, timeout=60) as client:
        await client.post("/update", data={"update": f"INSERT DATA {{ {rows} }}"})
        await client.post(
            "/update", data={"update": "INSERT DATA { <urn:x> <urn:p> '%s' }" % ("x" * 60_000)}
        )
        assert (await client.post("/query", data={"query": ORDERED})).status_code == 200
        before = resident()
        hostile = [GROWING["binds"], GROWING["replacement"], CROSS]
        asking = [
            asyncio.create_task(client.post("/query", data={"query": text})) for text in hostile
        ]
        for number in range(20):
            await publish(gateway.mqtt_port, [("t/x", b'{"v":%d}' % number)])
            await told.until(lambda number=number: str(number) in told.values())  # type: ignore[misc]
        for text in BOUNDED[:3]:
            assert (await client.post("/query", data={"query": text})).status_code in {200, 413}
        statuses = {each.status_code for each in await asyncio.gather(*asking)}
        assert statuses <= {413, 503}
        assert (await client.get("/health")).json()["status"] == "ok"
        assert resident() - before < 20
        metrics = (await client.get("/metrics")).text
        assert "sosa_gateway_apart_deaths_total 0" not in metrics
        assert (await client.post("/query", data={"query": ORDERED})).status_code == 200


class Everything:
    """Subscriptions that take what comes."""

    async def subscribe(self, query: SubscribeRequest, /, **_: object) -> str:
        return query.text

    async def unsubscribe(self, spuid: str) -> None:
        raise AssertionError(spuid)


async def test_trials_of_one_client_keep_nobody_else_waiting(apart: QueriesApart) -> None:
    def subscribe(owner: str, text: str) -> asyncio.Task[str]:
        query = SubscribeRequest(text, owner=owner)
        asked = tried.subscribe(query, sink=lambda _: None, ended=lambda _: None)
        return asyncio.create_task(asked)

    with closing(TriedFirst(Everything(), apart)) as tried:
        greedy = [subscribe("greedy", CROSS.replace("?n", f"?n{n}")) for n in range(12)]
        await asyncio.to_thread(wait_until, lambda: len(apart.processes) == 1)
        for text in (ORDERED, BOUNDED[0]):
            assert await subscribe("other", text) == text
        assert not any(task.done() for task in greedy)
        assert len(apart.processes) <= 2
        for task in greedy:
            task.cancel()
        await asyncio.gather(*greedy, return_exceptions=True)
        await asyncio.to_thread(wait_until, lambda: len(apart.processes) <= 1)
