"""The data of SEP-BM: LUBM's universities are those of everybody else's generator."""

import pytest
from pyoxigraph import NamedNode

from bench.sepbm.lubm import UNIV_BENCH, UNIV_BENCH_2004, digest, universities
from bench.sepbm.ontology import univ_bench

TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
OWL = "http://www.w3.org/2002/07/owl#"


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
            marks=pytest.mark.slow,
        ),
    ],
    ids=["1", "2", "10"],
)
def test_universities_are_those_of_the_published_generator(
    number: int, emitted: int, distinct: int, expected: str
) -> None:
    statements = list(universities(number))
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
