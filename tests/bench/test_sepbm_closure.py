"""The closure that judges in SEP-BM: each kind of rule has a graph of its own."""

from collections.abc import Sequence
from itertools import islice

import pytest

from bench.sepbm.closure import Closure, Rules
from bench.sepbm.lubm import RDF_TYPE, UNIV_BENCH, Statement, universities
from bench.sepbm.ontology import univ_bench

RULES = Rules(univ_bench())


def _statement(text: str) -> Statement:
    """`x p y`, `x a C` or `x p "value"`; lower case names are resources of the test."""
    s, p, o = text.split()
    name = RDF_TYPE if p == "a" else f"<{UNIV_BENCH}{p}>"
    value = o if o.startswith('"') else f"<{UNIV_BENCH}{o}>" if p == "a" else f"<urn:{o}>"
    return f"<urn:{s}>", name, value


@pytest.mark.parametrize(
    ("given", "follows", "needed"),
    [
        (["x a FullProfessor"], "x a Faculty", "x a FullProfessor"),
        (["x headOf d"], "x worksFor d", "x headOf d"),
        (["d member x"], "x memberOf d", "d member x"),
        (["x degreeFrom u"], "u hasAlumnus x", "x degreeFrom u"),
        (['x telephone "1"'], "x a Person", 'x telephone "1"'),
        (["x advisor y"], "y a Professor", "x advisor y"),
        (["x a Person", "x takesCourse c", "c a Course"], "x a Student", "x takesCourse c"),
        (["x a Student"], "x a Person", "x a Student"),
        (["x headOf c", "c a College"], "x a Dean", "c a College"),
        (
            ["a subOrganizationOf b", "b subOrganizationOf c", "c subOrganizationOf d"],
            "a subOrganizationOf d",
            "b subOrganizationOf c",
        ),
    ],
    ids=[
        "subclass",
        "subproperty",
        "inverse",
        "inverse-other-way",
        "domain",
        "range",
        "definition",
        "definition-parts",
        "definition-without-parts",
        "transitive",
    ],
)
def test_each_kind_of_rule_concludes_and_ceases(
    given: Sequence[str], follows: str, needed: str
) -> None:
    statements = [_statement(text) for text in given]
    closure = Closure(RULES, statements)
    assert _statement(follows) in closure.facts
    assert _statement(follows) in closure.remove([_statement(needed)])
    assert _statement(follows) not in closure.facts


def test_member_and_member_of_do_not_keep_each_other() -> None:
    closure = Closure(RULES, [_statement("x memberOf d")])
    closure.remove([_statement("x memberOf d")])
    assert not closure.facts


def test_no_conclusion_has_a_literal_as_subject() -> None:
    closure = Closure(RULES, [_statement('x advisor "nobody"')])
    assert not any(subject.startswith('"') for subject, _, _ in closure.facts)


def test_closure_has_the_known_size() -> None:
    assert len(Closure(RULES, universities(1)).facts) == 137_931


def test_removed_and_added_again_is_as_from_nothing() -> None:
    statements = list(dict.fromkeys(islice(universities(1), 20_000)))
    closure = Closure(RULES, statements)
    before = frozenset(closure.facts)
    subjects = sorted({subject for subject, _, _ in statements})[::100]
    subjects.append("<http://www.Department0.University0.edu>")
    gone = [each for each in statements if each[0] in subjects]
    closure.remove(gone)
    assert closure.facts == Closure(RULES, set(statements) - set(gone)).facts
    closure.add(gone)
    assert closure.facts == before
