"""`history=true`: the past of archive and journal with the store of a running gateway."""

import asyncio
import json
import os
import pickle
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import httpx
import pytest
from pyoxigraph import NamedNode

from gateway.app.gateway import Gateway
from gateway.config.archive import ArchiveSettings
from gateway.config.settings import SecuritySettings
from gateway.errors import TooLargeError
from gateway.gates.protocol.media_types import Acceptable
from gateway.gates.sparql.history_job import MODULE, HistoryAnswer, HistoryJob, HistoryQuery
from gateway.gates.sparql.history_process import answered
from gateway.journal.names import SEALED, raw_segments
from gateway.security.identity import Kind
from gateway.security.policy import EVERYTHING, Policy
from gateway.sparql.bounds.answer import AnswerBounds
from tests.gateway.gates.admin.access.secured import identities
from tests.gateway.journal.past.pasts import LIMITS, NAMESPACES, SHAPES, Past
from tests.gateway.security.clients import identity
from tests.kit.archives import take
from tests.kit.gateways import (
    LOOPBACK,
    mapping,
    publish,
    running,
    settings,
    update,
    wait_until,
    write_profile,
)
from tests.paths import ROOT

PREFIX = "PREFIX sosa: <http://www.w3.org/ns/sosa/> "
VALUES = "SELECT ?v { ?o sosa:madeBySensor <urn:sensor:1> ; sosa:hasSimpleResult ?v }"
LABELLED = (
    "SELECT ?label (COUNT(?o) AS ?n) { ?o sosa:madeBySensor ?s . ?s <urn:label> ?label } "
    "GROUP BY ?label"
)


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """Five readings: two ingested and gone from the journal, two sealed, one as it came."""
    profile = write_profile(tmp_path, [mapping("t", "t/1", selector="$.t")])
    config = settings(tmp_path, profile).model_copy(
        update={"archive": ArchiveSettings(path=str(tmp_path / "archive"))}
    )
    async with running(config) as gateway:
        port = gateway.mqtt_port
        await publish(port, [("t/1", b'{"t": 1}'), ("t/1", b'{"t": 2}')])
        _seal(gateway)
        _ingest(tmp_path)
        await publish(port, [("t/1", b'{"t": 3}'), ("t/1", b'{"t": 4}')])
        _seal(gateway)
        await publish(port, [("t/1", b'{"t": 5}')])
        await update(gateway, "INSERT DATA { <urn:sensor:1> <urn:label> 'hall' }")
        yield gateway


def _seal(gateway: Gateway) -> None:
    """Have its own thread seal what is there."""
    journal = gateway.stages.storage.journal
    journal.rotate()
    wait_until(lambda: len(raw_segments(journal.folder)) == 1)


def _ingest(folder: Path) -> None:
    """Take what is sealed, and have the journal lose it."""
    for path in (folder / "data" / "journal").glob(f"*{SEALED}"):
        take(folder / "archive", [path])
        path.unlink()


async def ask(gateway: Gateway, text: str, **parameters: str) -> httpx.Response:
    url = f"http://{LOOPBACK}:{gateway.http_port}/query"
    async with httpx.AsyncClient(timeout=60) as client:
        return await client.post(url, data={"query": PREFIX + text, **parameters})


def values(answer: httpx.Response, name: str) -> list[str]:
    assert answer.status_code == 200, answer.text
    return sorted(row[name]["value"] for row in answer.json()["results"]["bindings"])


async def test_all_times_are_asked_only_where_it_is_said(gateway: Gateway) -> None:
    assert values(await ask(gateway, VALUES), "v") == ["5"]
    found = await ask(gateway, VALUES, history="true")
    assert values(found, "v") == ["1", "2", "3", "4", "5"]
    assert found.json()["history"] == {"observations": 5}
    assert "History-Gaps" not in found.headers


async def test_what_the_store_says_is_joined(gateway: Gateway) -> None:
    found = await ask(gateway, LABELLED, history="true")
    assert values(found, "label") == ["hall"]
    assert values(found, "n") == ["5"]


def _process() -> int:
    """The one that answers queries over time."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if parent == str(os.getpid()) and MODULE.encode() in (folder / "cmdline").read_bytes():
                return int(folder.name)
    raise AssertionError("nobody answers queries over time")


async def _stop_what_answers(asked: asyncio.Task[httpx.Response]) -> None:
    """As soon as it is there, so that it never ends by itself."""
    is_stopped = False
    while not (is_stopped or asked.done()):
        with suppress(AssertionError, ProcessLookupError):
            os.kill(_process(), signal.SIGSTOP)
            is_stopped = True
        await asyncio.sleep(0.01)


async def test_readings_are_acknowledged_while_a_query_over_time_runs(gateway: Gateway) -> None:
    """The process that answers is stopped, so that the query runs for as long as it takes."""
    assert len(values(await ask(gateway, VALUES, history="true"), "v")) == 5
    process = _process()
    os.kill(process, signal.SIGSTOP)
    try:
        asked = asyncio.create_task(ask(gateway, VALUES, history="true"))
        await publish(gateway.mqtt_port, [("t/1", b'{"t": %d}' % n) for n in range(6, 56)])
        assert values(await ask(gateway, VALUES), "v") == ["55"]
        assert not asked.done()
    finally:
        os.kill(process, signal.SIGCONT)
    assert {"1", "2", "3", "4", "5"} <= set(values(await asked, "v"))


async def test_a_query_over_time_ends_with_its_time(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [mapping("t", "t/1", selector="$.t")])
    config = settings(tmp_path, profile)
    limits = config.limits.model_copy(update={"query_s": 2.0})
    archive = ArchiveSettings(path=str(tmp_path / "archive"))
    async with running(config.model_copy(update={"archive": archive, "limits": limits})) as gateway:
        await publish(gateway.mqtt_port, [("t/1", b'{"t": 1}')])
        _seal(gateway)
        _ingest(tmp_path)
        asked = asyncio.create_task(ask(gateway, VALUES, history="true"))
        await _stop_what_answers(asked)
        found = await asked
        assert found.status_code == 503
        assert "2 s" in found.json()["error_description"]
        assert values(await ask(gateway, VALUES), "v") == ["1"]


async def test_the_command_line_reads_an_archive_here(gateway: Gateway, tmp_path: Path) -> None:
    command = (
        *(sys.executable, "-m", "gateway", "query", PREFIX + LABELLED, "--format", "csv"),
        *("--url", f"http://{LOOPBACK}:{gateway.http_port}"),
        *("--archive", str(tmp_path / "archive"), "--journal", str(tmp_path / "data" / "journal")),
    )
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=PIPE,
        stderr=PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err
    # No gateway.toml here says whose the journal is: its own lines do.
    assert out.decode().split() == ["label,n", "hall,5"]


async def test_a_refusal_says_what_to_write_instead(gateway: Gateway) -> None:
    found = await ask(gateway, "SELECT * { ?o ?p ?v }", history="true")
    assert found.status_code == 400
    assert "as a predicate" in found.json()["error_description"]
    found = await ask(gateway, VALUES, **{"history": "true", "default-graph-uri": "urn:g"})
    assert (found.status_code, "dataset" in found.text) == (400, True)


POLICIES = {"boss": EVERYTHING, "elsewhere": Policy(query=frozenset({NamedNode("urn:graph")}))}


async def test_who_may_read_other_graphs_alone_sees_no_time(tmp_path: Path) -> None:
    store = identities(tmp_path)
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.USER))
    past = Past(tmp_path / "past")
    past.live(Random(1), 9)
    past.ingest(past.sealed())
    config = settings(tmp_path, write_profile(tmp_path)).model_copy(
        update={
            "archive": ArchiveSettings(path=str(past.archive)),
            "security": SecuritySettings(enabled=True),
        }
    )
    text = PREFIX + "SELECT ?v { ?o sosa:hasSimpleResult ?v }"
    told: dict[str, int] = {}
    async with running(config) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            for name in POLICIES:
                form, auth = {"grant_type": "client_credentials"}, (f"{name}-id", f"{name}-secret")
                token = (await client.post("/oauth/token", data=form, auth=auth)).json()
                headers = {"Authorization": f"Bearer {token['access_token']}"}
                data = {"query": text, "history": "true"}
                answer = await client.post("/query", data=data, headers=headers)
                told[name] = len(values(answer, "v"))
    assert told == {"boss": 9, "elsewhere": 0}


async def test_an_archive_that_is_away_is_named(gateway: Gateway, tmp_path: Path) -> None:
    (tmp_path / "archive").rename(tmp_path / "away")
    found = await ask(gateway, VALUES, history="true")
    assert values(found, "v") == ["3", "4", "5"]
    assert "is not there" in found.headers["History-Missing"]
    assert found.headers["History-Gaps"].startswith("missing test/")
    told = found.json()["history"]
    assert [(gap["first"], gap["last"]) for gap in told["gaps"]] == [(1, 2)]


def job(past: Past, text: str) -> HistoryJob:
    query = HistoryQuery(text, SHAPES, NAMESPACES)
    accept = Acceptable.of("application/sparql-results+json")
    return HistoryJob(query, past.sources, LIMITS, AnswerBounds(), accept, 0)


def told(job: HistoryJob) -> HistoryAnswer:
    answer = pickle.loads(answered(pickle.loads(pickle.dumps(job))))
    assert isinstance(answer, HistoryAnswer)
    return answer


def test_who_may_not_read_the_default_graph_sees_no_observation(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(1), 9)
    past.ingest(past.sealed()[:1])
    asked = job(past, "SELECT ?o { ?o sosa:hasSimpleResult ?v }")
    assert len(json.loads(told(asked).answer.body)["results"]["bindings"]) == 9
    hidden = told(replace(asked, is_hidden=True))
    assert json.loads(hidden.answer.body)["results"]["bindings"] == []
    assert (hidden.gaps, hidden.missing) == ((), {})


def test_what_is_too_large_is_told_with_the_job_that_answers_it(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(1), 9)
    past.ingest(past.sealed())
    asked = job(past, "SELECT ?o { ?o sosa:hasSimpleResult ?v }")
    with pytest.raises(TooLargeError, match="more than 8 observations") as refused:
        answered(replace(asked, limits=replace(LIMITS, rows=8)))
    assert f"sosa-gateway archive query --archive {past.archive}" in refused.value.hint
