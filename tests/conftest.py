"""What holds for every test: where nothing may be missing, a skipped test has failed; logging is
after a test as it was before; the tests of one file run in one worker process, in their order."""

import logging
import os
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache

import httpx
import pytest

from gateway.app.logs import OURS

pytest_plugins = ("tests.gateway.engine.report_plugin",)

# Half a minute of Java for an archive of its classes; test_class_data.py makes a small one.
os.environ.setdefault("SOSA_ARCHIVE_CLASSES", "")

# Each client of httpx would read the system's CAs, for 40 ms, and a gateway starts in 90.
pytest.MonkeyPatch().setattr(
    "httpx._transports.default.create_ssl_context", cache(httpx.create_ssl_context)
)

_NOTHING_MISSING = os.environ.get("SOSA_GATEWAY_REQUIRE_SHARED") == "1"

_SECONDS = {
    "tests/spark_batch/": 16,
    "tests/project/": 8,
    "tests/bench/": 8,
    "tests/deploy/": 4,
    "tests/gateway/demo/": 4,
    "tests/gateway/dashboard/": 4,
    "tests/gateway/app/": 2,
    "tests/gateway/cli/": 2,
    "tests/gateway/gates/http/test_openapi.py": 2,
}
"""How long a test takes there, at about; 1 elsewhere."""


def pytest_configure() -> None:
    """Give each worker process cores of its own: a gateway keeps its threads on one of them.

    Where there are more workers than cores each core has several: many a test waits for events.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None and hasattr(os, "sched_setaffinity"):
        cores, number = sorted(os.sched_getaffinity(0)), int(worker.removeprefix("gw"))
        own = cores[number :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]
        os.sched_setaffinity(0, own or {cores[number % len(cores)]})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files are what workers take, unless tests of several files say that they belong together.

    What takes long is taken first (--no-loadscope-reorder): else one worker would end alone.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))
    if "PYTEST_XDIST_WORKER" in os.environ:
        seconds: Counter[str] = Counter()
        for item in items:
            seconds[_group(item)] += _seconds(item)
        items.sort(key=lambda item: -seconds[_group(item)])


def _group(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    assert marker is not None
    return str(marker.args[0])


def _seconds(item: pytest.Item) -> int:
    return next((_SECONDS[part] for part in _SECONDS if item.location[0].startswith(part)), 1)


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


@pytest.fixture(autouse=True)
def _levels_as_they_were() -> Iterator[None]:
    """Commands that run in this process set them for all that comes."""
    loggers = [logging.getLogger(name) for name in ("", *OURS)]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
