"""What the page's modules say of themselves, without a browser: vitest, as `npm test` runs it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.paths import ROOT

WEB = ROOT / "gateway" / "dashboard" / "web"


def test_the_modules_of_the_page_pass_their_own_tests(tmp_path: Path) -> None:
    if shutil.which("npm") is None or not (WEB / "node_modules" / ".ready").exists():
        pytest.skip("the page's packages are not there: make dashboard")
    report = tmp_path / "report.json"
    done = subprocess.run(
        ("npm", "test", "--silent", "--", "--reporter=json", f"--outputFile={report}"),
        cwd=WEB,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(report.read_text(encoding="utf-8"))
    assert told["numPassedTests"] == told["numTotalTests"] > 100


def test_every_text_is_in_one_file() -> None:
    """No page writes words of its own between tags: `texts.ts` has them all."""
    written = {
        path.relative_to(WEB).as_posix(): line.strip()
        for path in sorted((WEB / "src").rglob("*.tsx"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if _is_prose(line.strip())
    }
    assert written == {}


def _is_prose(line: str) -> bool:
    """Whether a line is words between tags, and neither code nor a comment."""
    words = line.split()
    return (
        len(words) >= 3
        and line[0].isupper()
        and all(each.strip(".,!?’'").isalpha() for each in words)
    )
