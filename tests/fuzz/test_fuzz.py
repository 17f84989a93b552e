"""Damaged inputs for five minutes each (SOSA_GATEWAY_FUZZ_S); the corpus keeps what was found.

A finding is made smaller and put into tests/fuzz/corpus, where `test_corpus.py` has it from then
on. SOSA_GATEWAY_FUZZ_START repeats a run: it is the number that a failure tells.
"""

import os
import secrets
from pathlib import Path

import pytest

from tests.fuzz.fuzzing import Finding, fuzz, keep, minimised
from tests.fuzz.parsers import PARSERS

SECONDS = float(os.environ.get("SOSA_GATEWAY_FUZZ_S", "300"))
START = int(os.environ.get("SOSA_GATEWAY_FUZZ_START", secrets.randbits(32)))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(SECONDS + 900)]


@pytest.mark.parametrize("name", PARSERS)
def test_damaged_input_does_no_harm(name: str, tmp_path: Path) -> None:
    found = fuzz(name, START, SECONDS, tmp_path)
    if isinstance(found, Finding):
        is_slow = found.what.startswith("took")  # each try would take as long
        place = keep(name, found.data if is_slow else minimised(name, found, tmp_path))
        pytest.fail(f"{name}: {found.what}; start {START}; {place}")
    assert found["cases"] > SECONDS
