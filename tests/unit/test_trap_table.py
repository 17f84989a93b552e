"""docs/traps.md: every test and every case that it names is there, and no case is left out."""

import re
from pathlib import Path

import pytest

from gateway.bench.family_cases import cases

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "traps.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", TABLE)))
NAMED = set(re.findall(r"`(\w+/[\w-]+)`", TABLE))
CASES = {f"{each.family}/{each.name}" for each in cases(ROOT / "tests" / "data" / "families")}
PLAIN = {"bytes", "cbor", "csv", "hex", "json", "msgpack", "scalar", "text"}
"""Formats without a device behind them, whose traps are those of their syntax."""


@pytest.mark.parametrize(("file", "name"), TESTS, ids=lambda part: part)
def test_named_test_is_there(file: str, name: str) -> None:
    source = (ROOT / "tests" / file).read_text(encoding="utf-8")
    assert re.search(rf"^(async )?def {name}\(", source, re.MULTILINE)


def test_named_cases_are_there() -> None:
    assert len(TESTS) > 40
    assert NAMED <= CASES


def test_every_case_of_a_device_family_is_in_the_table() -> None:
    unnamed = {case for case in CASES - NAMED if case.partition("/")[0] not in PLAIN}
    assert not unnamed
