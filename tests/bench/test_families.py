"""`bench families`: every family with a case, right answers, and a word where no cases are."""

from pathlib import Path

from bench.families import families
from bench.families.cases import cases
from bench.families.families import FOLDER, measure
from bench.report import Experiment, Skipped


def test_every_family_is_measured_and_ends_with_the_bare_stores_observations() -> None:
    (outcome,) = measure(rounds=1)
    assert isinstance(outcome, Experiment)
    assert outcome.matches
    measured = {row["family"] for row in outcome.table}
    assert measured == {case.family for case in cases(FOLDER) if case.mappings}
    (plain,) = [row for row in outcome.table if row["family"] == families.PLAIN]
    assert plain["cost / plain JSON"] == 1


def test_without_a_checkout_it_says_so(tmp_path: Path) -> None:
    (outcome,) = measure(rounds=1, folder=tmp_path)
    assert isinstance(outcome, Skipped)
    assert str(tmp_path) in outcome.reason
