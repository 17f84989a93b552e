"""What holds for every test: where nothing may be missing, a skipped test has failed."""

import os
from collections.abc import Generator

import pytest

_NOTHING_MISSING = os.environ.get("SOSA_GATEWAY_REQUIRE_SHARED") == "1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Continuous integration has the data and the programs that tests ask for (.ci/run)."""
    report = yield
    if _NOTHING_MISSING and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped where nothing may be missing"
    return report
