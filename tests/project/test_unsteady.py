"""What fails beside others has a second look, and only that: see tests/unsteady.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

CASES = """
import os

import pytest


@pytest.mark.xdist_group("beside")
@pytest.mark.parametrize("number", [1, 2, 3, 4], ids="a@{}".format)
def test_unsteady(number):
    if number <= int(os.environ["UNSTEADY"]):
        assert "PYTEST_XDIST_WORKER" not in os.environ, "beside others"


def test_wrong():
    assert os.environ["WRONG"] == "no"
"""


def run(folder: Path, unsteady: int, wrong: str = "no") -> subprocess.CompletedProcess[str]:
    """The cases in two workers, of which so many fail there, with a second look."""
    (folder / "test_cases.py").write_text(CASES)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.unsteady", "-n", "2"]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        "PYTHONPATH": str(ROOT),
        "UNSTEADY": str(unsteady),
        "WRONG": wrong,
    }
    return subprocess.run(
        [*command, "--dist", "loadgroup", str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_what_passes_by_itself_is_named_and_kept(tmp_path: Path) -> None:
    done = run(tmp_path, 3)
    assert done.returncode == 0, done.stdout
    told = done.stdout.split("passed by themselves")[1]
    for number in (1, 2, 3):
        assert f"test_cases.py::test_unsteady[a@{number}]\n" in told
    assert "test_cases.py::test_unsteady[a@4]" not in told
    kept = (tmp_path / "build" / "unsteady.txt").read_text()
    assert kept.count("AssertionError: beside others") == 3


@pytest.mark.parametrize(("unsteady", "wrong"), [(1, "yes"), (4, "no")])
def test_what_fails_by_itself_or_often_has_failed(
    tmp_path: Path, unsteady: int, wrong: str
) -> None:
    done = run(tmp_path, unsteady, wrong)
    assert done.returncode == 1, done.stdout
    assert "passed by themselves" not in done.stdout
    assert not (tmp_path / "build").exists()
