"""The data of SEP-BM: LUBM's universities are those of everybody else's generator."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from bench.sepbm.adapters.naive import Naive
from bench.sepbm.configuration import Configuration
from bench.sepbm.enrich import enriched
from bench.sepbm.lubm import UNIV_BENCH, UNIV_BENCH_2004, Statement, digest, universities
from bench.sepbm.ontology import univ_bench
from bench.sepbm.queries import queries, reordered
from tests.bench.sepbm_data import small

TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
OWL = "http://www.w3.org/2002/07/owl#"


@cache
def _emitted(number: int) -> tuple[Statement, ...]:
    """The generator's statements, made once for the tests of this file."""
    return tuple(universities(number))


@pytest.fixture(scope="module", autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    _emitted.cache_clear()


@pytest.mark.parametrize(
    ("number", "emitted", "distinct", "expected"),
    [
        (1, 103_074, 100_543, "d28d8017c82ff50164650690e2e1a600bd7cf07e223bf43b91f666e8545ae0bd"),
        (2, 237_142, 230_061, "1e97a214a05a3fb37c8bc4240eddf312b8a501da9684dc32fb09cad87ac44255"),
        pytest.param(
            10,
            1_316_322,
            1_272_575,
            "bf93121c3a9b8ba15eaab5f33190bcf9381c4dee6a16435d2dfd9268cd1a2e34",
            marks=(pytest.mark.slow, pytest.mark.timeout(3600)),
        ),
    ],
    ids=["1", "2", "10"],
)
def test_universities_are_those_of_the_published_generator(
    number: int, emitted: int, distinct: int, expected: str
) -> None:
    statements = _emitted(number)
    assert len(statements) == emitted
    assert len(set(statements)) == distinct
    assert digest(set(statements)) == expected


def test_another_seed_gives_other_universities() -> None:
    first = digest({next(found) for found in [universities(1)] for _ in range(5000)})
    other = digest({next(found) for found in [universities(1, seed=1)] for _ in range(5000)})
    assert first != other


@pytest.mark.parametrize("namespace", [UNIV_BENCH, UNIV_BENCH_2004], ids=["later", "2004"])
def test_ontology_has_all_classes_and_properties(namespace: str) -> None:
    triples = univ_bench(namespace)
    declared = {
        kind: {
            str(t.subject)
            for t in triples
            if (t.predicate, t.object) == (TYPE, NamedNode(f"{OWL}{kind}"))
        }
        for kind in ("Class", "ObjectProperty", "DatatypeProperty")
    }
    assert [len(found) for found in declared.values()] == [43, 25, 7]
    assert all(iri.startswith(f"<{namespace}") for found in declared.values() for iri in found)


@pytest.mark.parametrize(("number", "quads"), [(1, 125_536), (2, 287_427)])
def test_enriched_data_have_the_paper_s_number_of_statements(number: int, quads: int) -> None:
    data = enriched(_emitted(number), seed=5)
    assert len(data) == quads == len(set(data))


def test_enriched_data_replace_every_generated_name_of_a_person() -> None:
    data = enriched(_emitted(1))
    names = {o for s, p, o in data if p.endswith("#name>") and "/GraduateStudent" in s}
    assert not any("GraduateStudent" in name for name in names)
    assert "xxx-xxx-xxxx" not in {o for _, _, o in data}
    courses = {o for s, p, o in data if p.endswith("#name>") and "/Course0>" in s}
    assert courses == {'"Course0"'}


ANSWERS = (4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916, 7790, 7790, 7790, 3738)


def test_queries_have_the_published_answers_at_one_university() -> None:
    naive = Naive(UNIV_BENCH_2004)
    naive.load(enriched(universities(1, UNIV_BENCH_2004), UNIV_BENCH_2004))
    found = [naive.answer(text).total() for text in reordered().values()]
    assert tuple(found[:18]) == ANSWERS
    assert found[19] == 8330
    surnames = naive.answer(SURNAMES)
    expected = [line for line in surnames.elements() if line.split('"')[1][0] in "ABCD"]
    assert found[18] == len(expected) > 0


SURNAMES = (
    f"PREFIX uni: <{UNIV_BENCH_2004}> PREFIX foaf: <http://xmlns.com/foaf/0.1/> "
    "SELECT ?s ?n { ?s a uni:Student ; foaf:surname ?n }"
)


def test_reordered_queries_have_the_same_answers() -> None:
    naive = Naive(UNIV_BENCH_2004)
    naive.load(small().base)
    for channel, text in queries().items():
        assert naive.answer(reordered()[channel]) == naive.answer(text), channel


def test_configuration_is_the_same_each_time_and_survives_its_files(tmp_path: Path) -> None:
    configuration = small()
    configuration.write(tmp_path)
    read = Configuration.read(tmp_path)
    assert read == configuration
    assert read.digest == configuration.digest
    other = replace(configuration, publications=configuration.publications[1:])
    assert other.digest != configuration.digest


def test_a_resource_that_is_drawn_again_is_withdrawn_first() -> None:
    configuration = small()
    present = set[str]()
    for step in configuration.steps():
        subject = configuration.publications[step.publication].subject
        assert (subject in present) == (step.kind != "publish")
        present ^= {subject}
    kinds = Counter(step.kind for step in configuration.steps())
    assert not present
    assert kinds["publish"] == len(configuration.publications) == 38
    assert kinds["withdraw"] > 0
    assert all(each.channel != "C02" for each in configuration.publications)


def test_publications_are_whole_descriptions() -> None:
    configuration = small()
    published = {each.subject for each in configuration.publications}
    assert not any(subject in published for subject, _, _ in configuration.base)
    assert all(len({s for s, _, _ in each.graph}) == 1 for each in configuration.publications)
