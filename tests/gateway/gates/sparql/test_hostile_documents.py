"""Documents that are made to harm their parser cost who sends them an error, and nobody else."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.engine import Engine
from gateway.errors import ForbiddenError, UpdateFailedError
from gateway.rdf.rights import Rights
from gateway.security.policy import Policy
from gateway.store.remote import Document, Remote
from tests.gateway.rdf.test_document_form import DEEP, OWL
from tests.kit.fake_guard import FakeGuard
from tests.kit.gateways import LOOPBACK, mapping, publish, running, settings, watch, write_profile
from tests.kit.http_client import check_error, open_gate

BOUND = 64 << 20
"""Bytes of memory that a document may cost its own process; fewer stay in the gateway's."""
STORE = "/rdf-graph-store?graph=urn:g"
VALUES = "SELECT ?v { ?o <http://www.w3.org/ns/sosa/hasSimpleResult> ?v }"
TURTLE = "text/turtle"
LONG_PREFIX = b"@prefix p: <urn:%s> .\n" % (b"x" * 100_000) + b"p:a p:b p:c .\n" * 20_000
"""20 GB of IRIs in 380 kB: no look at its form tells."""

HOSTILE = {
    **{name: (content, form.media_type) for name, (content, form) in DEEP.items()},
    "a prefix that is long": (LONG_PREFIX, TURTLE),
    "a base that is long": (
        b"@base <urn:%s/> .\n" % (b"x" * 100_000) + b"<a> <b> <c> .\n" * 9000, TURTLE
    ),
    "a prefix that is long enough": (
        b"@prefix p: <urn:%s> .\n" % (b"x" * 50_000)
        + b"".join(b"p:%d p:b p:c .\n" % n for n in range(300)), TURTLE
    ),
    "bytes": (bytes(range(256)) * 4000, TURTLE),
    "a context elsewhere": (b'{"@context":"http://127.0.0.1:9/c","a":1}', "application/ld+json"),
    "too many triples": (
        b"".join(b"<urn:%d> <urn:p> 1 ." % number for number in range(60_000)) * 5, TURTLE
    ),
}  # fmt: skip
REFUSED = {400, 413}


def resident() -> int:
    """MiB of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) >> 10


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    profile = write_profile(tmp_path, [mapping("t", "t/+", selector="$.v")])
    config = settings(tmp_path, profile, request_bytes=16 << 20, document_memory_bytes=BOUND)
    async with running(config) as gateway:
        yield gateway


async def test_nobody_else_notices(gateway: Gateway) -> None:
    told = await watch(gateway, VALUES)
    base = f"http://{LOOPBACK}:{gateway.http_port}"
    async with httpx.AsyncClient(base_url=base, timeout=60) as client:
        await client.put(STORE, content=b"<urn:a> <urn:p> 1 .", headers={"Content-Type": TURTLE})
        before = resident()
        for number, (name, (content, media_type)) in enumerate(HOSTILE.items()):
            headers = {"Content-Type": media_type, "Content-Encoding": "gzip"}
            packed = gzip.compress(content)
            for method in ("PUT", "POST"):
                answer = await client.request(method, STORE, content=packed, headers=headers)
                assert answer.status_code in REFUSED, (name, answer.status_code, answer.text[:200])
            await publish(gateway.mqtt_port, [("t/x", b'{"v":%d}' % number)])
            await told.until(lambda number=number: str(number) in told.values())  # type: ignore[misc]
            assert (await client.get("/health")).json()["status"] == "ok"
        kept = await client.get(STORE, headers={"Accept": "application/n-triples"})
        assert kept.text.split() == ["<urn:a>", "<urn:p>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', "."]  # fmt: skip  # noqa: E501
        assert resident() - before < BOUND >> 20
        answer = await client.put(
            STORE, content=OWL, headers={"Content-Type": "application/rdf+xml"}
        )
        assert answer.status_code == 204, answer.text


async def test_rights_are_looked_at_before_the_document() -> None:
    guard = FakeGuard(eve=Policy(query=None, update=frozenset()))
    async with open_gate(guard=guard) as client:
        for method in ("PUT", "POST"):
            answer = await client.request(
                method, STORE, content=b"no turtle", headers={"Authorization": "Bearer eve"}
            )
            check_error(answer, 403, "forbidden")


def test_load_is_refused_before_anything_is_fetched() -> None:
    fetched: list[str] = []

    def fetch(iri: str) -> Document:
        fetched.append(iri)
        return Document(*HOSTILE["triple terms"])

    engine = Engine.open()
    engine.store.remote = Remote(frozenset({"data.example"}), fetch)
    text = "LOAD <http://data.example/a> INTO GRAPH <urn:g>"
    with pytest.raises(ForbiddenError):
        engine.update(text, rights=Rights(write=frozenset()))
    assert not fetched
    with pytest.raises(UpdateFailedError, match="document_depth"):
        engine.update(text)
    assert len(fetched) == 1
    assert not engine.update(text.replace("LOAD", "LOAD SILENT")).delta.added
    engine.close()
