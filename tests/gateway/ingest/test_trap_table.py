"""docs/traps.md: every test and every case that it names is there."""

import re

import pytest

from bench.families.cases import cases
from tests.paths import ROOT

TABLE = (ROOT / "docs" / "traps.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", TABLE)))
NAMED = set(re.findall(r"`(\w+/[\w-]+)`", TABLE))
CASES = {f"{each.family}/{each.name}" for each in cases(ROOT / "tests" / "data" / "families")}


@pytest.mark.parametrize(("file", "name"), TESTS, ids=lambda part: part)
def test_named_test_is_there(file: str, name: str) -> None:
    source = (ROOT / "tests" / file).read_text(encoding="utf-8")
    assert re.search(rf"^(async )?def {name}\(", source, re.MULTILINE)


def test_named_cases_are_there() -> None:
    assert len(TESTS) > 40
    assert NAMED <= CASES
