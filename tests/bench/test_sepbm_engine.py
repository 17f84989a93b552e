"""SEP-BM's engine against naive, row by row, there and back; and by the protocols, in processes."""

import json
from pathlib import Path

import pytest
from pyoxigraph import Quad, RdfFormat, parse

from bench.command import run
from bench.readings.service import running_service
from bench.sepbm import sepbm
from bench.sepbm.adapters.adapter import n_triples
from bench.sepbm.adapters.engine import EngineAdapter
from bench.sepbm.adapters.gateway import GatewayAdapter, gateway_config
from bench.sepbm.adapters.graph_ss import GraphSS
from bench.sepbm.adapters.naive import Naive
from bench.sepbm.adapters.se_endpoint import SeEndpoint
from bench.sepbm.adapters.string_rs import StringRS
from bench.sepbm.configuration import configure
from bench.sepbm.lubm import UNIV_BENCH_2004, universities
from bench.sepbm.ontology import univ_bench
from bench.sepbm.queries import queries, reordered
from bench.sepbm.reference import reference_run
from bench.sepbm.runner import Runner
from gateway.rdf.namespaces import ONTOLOGY_GRAPH
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.reasoning.domains import Domains
from gateway.reasoning.reasoner import Reasoner
from gateway.store.quad_store import QuadStore
from tests.bench.sepbm_data import NAMESPACE, small, small_reference


def test_reasoner_s_closure_of_two_universities_has_the_known_size() -> None:
    store = QuadStore.open(None)
    data = set(universities(2))
    store.load(parse(n_triples(data), format=RdfFormat.N_TRIPLES), [])
    axioms = univ_bench()
    store.load(
        (Quad(t.subject, t.predicate, t.object, ONTOLOGY_GRAPH) for t in axioms), [ONTOLOGY_GRAPH]
    )
    reasoner = Reasoner(store, Domains(frozenset({DEFAULT_GRAPH})), bound=10**7)
    reasoner.start()
    derived = list(reasoner.derived.match(None, None, None, DEFAULT_GRAPH))
    assert len(data) + len(derived) == 314_692
    store.close()


def test_engine_tells_what_naive_finds_at_one_university_there_and_back() -> None:
    configuration = configure(1, each=2)
    texts = queries(UNIV_BENCH_2004)
    naive = Naive(UNIV_BENCH_2004, reordered(UNIV_BENCH_2004))
    reference = reference_run(configuration, naive, texts)
    engine = EngineAdapter(UNIV_BENCH_2004)
    engine.load(configuration.base)
    run = Runner(engine, configuration, reference).run(texts)
    assert run.is_complete, run.problems
    assert len(run.publish_s) == 38
    assert run.components_ms is not None
    assert run.components_ms["reason"] > 0
    engine.close()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_engine_tells_what_naive_finds_in_the_whole_sequence() -> None:
    configuration = configure(1)
    texts = queries(UNIV_BENCH_2004)
    naive = Naive(UNIV_BENCH_2004, reordered(UNIV_BENCH_2004))
    reference = reference_run(configuration, naive, texts)
    engine = EngineAdapter(UNIV_BENCH_2004, measured=False)
    engine.load(configuration.base)
    run = Runner(engine, configuration, reference).run(texts)
    assert run.is_complete, run.problems
    assert len(run.publish_s) == 285
    engine.close()


@pytest.mark.parametrize("made", [StringRS, GraphSS])
def test_heuristics_are_exact_with_the_engine_as_truth(made: type[StringRS | GraphSS]) -> None:
    adapter = made(NAMESPACE, "engine")
    adapter.load(small().base)
    run = Runner(adapter, small(), small_reference()).run(queries(NAMESPACE))
    assert run.is_complete, run.problems
    assert run.guessed["C06"]["hits"] > 0
    adapter.close()


@pytest.mark.end_to_end
def test_gateway_that_reasons_brings_every_row(tmp_path: Path) -> None:
    adapter = GatewayAdapter(tmp_path, NAMESPACE)
    try:
        adapter.load(small().base)
        run = Runner(adapter, small(), small_reference()).run(queries(NAMESPACE))
        assert run.is_complete, run.problems
        assert adapter.cpu_s() > 0
        assert run.memory_bytes
        assert run.memory_bytes > 10**7
    finally:
        adapter.close()


@pytest.mark.end_to_end
def test_endpoint_that_does_not_reason_brings_every_row_of_what_it_is_given(
    tmp_path: Path,
) -> None:
    config = gateway_config(tmp_path, NAMESPACE, derives=False)
    with running_service(config) as service:
        urls = f"{service.http_url}/update", service.subscribe_url
        adapter = SeEndpoint(*urls, NAMESPACE, derives=False)
        try:
            adapter.load(small().base)
            run = Runner(adapter, small(), small_reference()).run(queries(NAMESPACE))
        finally:
            adapter.close()
    assert run.is_complete, run.problems
    assert "derived" in adapter.notes[0]


@pytest.mark.end_to_end
def test_command_writes_the_members_of_the_experiment_and_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sepbm, "BUILD", tmp_path / "build")
    monkeypatch.setattr(sepbm, "configure", lambda *_, **__: small())
    argv = ["sepbm", "--adapter", "engine", "--json", "--report", str(tmp_path / "report")]
    assert run([*argv, "--channels", "requery"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["experiment"] == "sepbm"
    assert found.keys() >= MEMBERS
    assert found["complete"]
    assert found["rows"] == found["rows_expected"] > 0
    assert found["configuration_sha256"] == small().digest
    assert {each["id"] for each in found["channels"]} == {"C11+", "C14L"}
    assert all(value is not None for value in found["components_ms"].values())
    (report,) = (tmp_path / "report").iterdir()
    assert "SENS" in report.read_text(encoding="utf-8")
    assert list((tmp_path / "build").glob("*/requery.json"))


MEMBERS = {
    "universities",
    "adapter",
    "channels_mode",
    "publications",
    "rows",
    "rows_expected",
    "complete",
    "notification_ms",
    "publications_per_s",
    "cpu_ms_per_publication",
    "delete_cpu_ms",
    "components_ms",
    "channels",
    "first_answers_s",
    "load_s",
    "memory_bytes",
    "configuration_sha256",
    "paper",
    "versions",
}


@pytest.mark.parametrize("adapters", ["virtuoso", "engine,", "sepa=ftp://a"])
def test_command_refuses_adapters_that_nobody_knows(
    adapters: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["sepbm", "--adapter", adapters])
    assert ended.value.code == 2
    assert "sepa=http" in capsys.readouterr().err
