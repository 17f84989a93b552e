"""A second look at the few tests that failed beside others: each of them once more, by itself.

Loaded by name (`python -m pytest -p tests.unsteady`), as `make test` does. Thousands of tests share
two cores with the processes that they start, and a wait of one of them may end too early there.
What failed and then passes by itself is unsteady: the run has passed, its name is told last, and
what it said stands above and in build/unsteady.txt, to be mended. More than `MOST` are no chance,
and nothing is run again then.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

MOST = 3
"""So many tests may have failed, or not been set up, for a second look."""

_SECONDS = 900
_GROUP = re.compile(r"@[^\[\]]+$")
"""What pytest-xdist appends to the name of a test that is of a group."""

_UNSTEADY = pytest.StashKey[list[str]]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> object:
    """Run again what failed; where all of it passes the session has passed."""
    config = session.config
    failed = [] if hasattr(config, "workerinput") else _failed(config)
    is_looked_at = session.exitstatus == pytest.ExitCode.TESTS_FAILED and 1 <= len(failed) <= MOST
    if is_looked_at and _again(failed, config.rootpath):
        config.stash[_UNSTEADY] = failed
        session.exitstatus = pytest.ExitCode.OK
    return (yield)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name what passed only by itself, and keep what it said."""
    unsteady = config.stash.get(_UNSTEADY, [])
    if not unsteady:
        return
    terminalreporter.section("unsteady: failed above, passed by themselves", yellow=True)
    for name in unsteady:
        terminalreporter.line(name)
    reports = [
        report for kind in ("failed", "error") for report in terminalreporter.getreports(kind)
    ]
    kept = config.rootpath / "build" / "unsteady.txt"
    kept.parent.mkdir(exist_ok=True)
    with kept.open("a") as file:  # `make test` has two runs
        file.writelines(f"{each.nodeid}\n{each.longreprtext}\n\n" for each in reports)


def _failed(config: pytest.Config) -> list[str]:
    """The names of tests that failed, by which they can be run."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    assert isinstance(reporter, pytest.TerminalReporter)
    reports = [report for kind in ("failed", "error") for report in reporter.getreports(kind)]
    return sorted({_GROUP.sub("", report.nodeid) for report in reports})


def _again(failed: list[str], root: Path) -> bool:
    """Whether all of them pass in a process of their own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *failed]
    try:
        return subprocess.run(command, cwd=root, timeout=_SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
