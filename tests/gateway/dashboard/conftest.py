"""One browser and one loop for all tests of the page: starting both costs more than most tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from gateway.dashboard import STATIC
from tests.kit.chromium import browsers

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests here share the loop that the browser lives in."""
    for item in items:
        if _HERE in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Chromium; skipped where the page was not built, or where there is none."""
    if not (STATIC / "index.html").is_file():
        pytest.skip("the page is not built: make dashboard")
    async with browsers() as own:
        yield own
