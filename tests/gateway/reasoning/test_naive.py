"""The naive fixpoint gives what is written out, and what owlrl and reasonable give."""

from collections.abc import Iterable

import pytest
from pyoxigraph import Quad

from tests.kit.reasoning.cases import CASES, Case, quads
from tests.kit.reasoning.fixpoint.closure import Closure, Fact, Schema
from tests.kit.reasoning.fixpoint.schema import schema_closure
from tests.kit.reasoning.others import OTHERS, about_individuals, about_schema


def facts(found: Iterable[Quad]) -> set[Fact]:
    return {(quad.subject, quad.predicate, quad.object) for quad in found}  # type: ignore[misc]


def closed(case: Case) -> tuple[set[Fact], set[Fact]]:
    """What holds of the data, and of the axioms' own terms."""
    schema = Schema(quads(case.axioms))
    closure = Closure(schema)
    closure.add(facts(quads(case.data)))
    return closure.facts, schema_closure(schema) | facts(quads(case.axioms))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_naive_is_what_is_written_out(case: Case) -> None:
    found, schema = closed(case)
    assert found == facts(quads(case.data + case.follows))
    assert about_schema(schema) == about_schema(facts(quads(case.axioms + case.schema)))


@pytest.mark.parametrize(
    ("other", "case"),
    [
        pytest.param(other, case, id=f"{other}-{case.id}")
        for other in OTHERS
        for case in CASES
        if not (other == "reasonable" and case.has_chain)  # it knows no chains
    ],
)
def test_naive_is_what_others_find(other: str, case: Case) -> None:
    found, schema = closed(case)
    theirs = OTHERS[other](quads(case.axioms + case.data))
    assert about_individuals(found) == about_individuals(theirs)
    if other == "owlrl" and not case.is_ours_alone:
        assert about_schema(schema) == about_schema(theirs)
