"""The report on the W3C query cases, at the end of a run that has judged some."""

import pytest

from tests.gateway.engine.report import REPORT, Report


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REPORT] = Report()


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Report:
    return pytestconfig.stash[REPORT]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    report = config.stash[REPORT]
    if report.verdicts:
        terminalreporter.section("W3C SPARQL query cases as subscriptions")
        for line in report.lines():
            terminalreporter.write_line(line)
