"""The report on the W3C query cases, at the end of a run that has judged some.

With worker processes each hands over what it has judged when it ends.
"""

from dataclasses import astuple
from typing import Any

import pytest

from tests.gateway.engine.report import REPORT, Report, Verdict

_JUDGED = "judged_query_cases"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REPORT] = Report()


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Report:
    return pytestconfig.stash[REPORT]


def pytest_sessionfinish(session: pytest.Session) -> None:
    handed_over = getattr(session.config, "workeroutput", None)
    if handed_over is not None:
        verdicts = session.config.stash[REPORT].verdicts
        handed_over[_JUDGED] = [(*case, *astuple(verdict)) for case, verdict in verdicts.items()]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    verdicts = node.config.stash[REPORT].verdicts
    handed_over = getattr(node, "workeroutput", {})  # none where the worker has died
    for mode, name, kind, reason in handed_over.get(_JUDGED, ()):
        verdicts[mode, name] = Verdict(kind, reason)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    report = config.stash[REPORT]
    if report.verdicts:
        terminalreporter.section("W3C SPARQL query cases as subscriptions")
        for line in report.lines():
            terminalreporter.write_line(line)
