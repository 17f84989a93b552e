"""Chromium as the system has it, driven by Playwright; and pages of other origins than a gateway's.

A fixture for a whole module needs tests with `@pytest.mark.asyncio(loop_scope="module")`.
"""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, async_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from gateway.gates.http.operations import serve
from tests.kit.gateways import LOOPBACK, WAIT_S

PAGE = "<!doctype html><title>elsewhere</title><link rel=icon href=data:,>"


@asynccontextmanager
async def chromium(profile: Path, *arguments: str) -> AsyncIterator[BrowserContext]:
    """A browser without a window, with a profile in an empty folder; it ends with the context.

    Without it the test is skipped. `arguments` are some of its command line.
    """
    program, sandbox = _program()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch_persistent_context(
            profile, executable_path=program, args=[*sandbox, *arguments]
        )
        try:
            browser.set_default_timeout(WAIT_S * 1000)
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def browsers() -> AsyncIterator[Browser]:
    """A Chromium for many tests: each has a context of its own, and nothing of another's."""
    program, sandbox = _program()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=sandbox)
        try:
            yield browser
        finally:
            await browser.close()


def _program() -> tuple[str, list[str]]:
    """Where it is and what it must be told here; without it the test is skipped."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    return program, [] if os.geteuid() else ["--no-sandbox"]


@asynccontextmanager
async def pages_elsewhere() -> AsyncIterator[int]:
    """An empty page at `/` of a port of its own; `?policy=` is its Referrer-Policy."""
    async with serve(Starlette(routes=[Route("/", _page)]), LOOPBACK, 0) as address:
        yield address.port


async def _page(request: Request) -> HTMLResponse:
    policy = request.query_params.get("policy", "")
    return HTMLResponse(PAGE, headers={"Referrer-Policy": policy} if policy else None)
