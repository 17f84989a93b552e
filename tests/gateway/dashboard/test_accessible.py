"""axe-core on every page, light and dark: no violation that is serious or critical."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Page, expect

from tests.gateway.dashboard.opened import Seat, at_home, url
from tests.paths import ROOT

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

AXE = ROOT / "gateway" / "dashboard" / "web" / "node_modules" / "axe-core" / "axe.min.js"
OVER = "SELECT ?o { GRAPH <urn:w> { ?o ?p ?v } }"
WINDOWS = '{"urn:w": {"stream": "https://sosa-gateway.example/ns#observations", "range": "PT1M"}}'
PAGES = (
    "now",
    "devices",
    "devices/edit?mapping=urn:mapping:temperature",
    "devices/connect",
    "devices/history",
    "ask",
    f"ask?query={quote(OVER)}&windows={quote(WINDOWS)}",
    "control",
    "health",
    "why",
)
GRAVE = {"serious", "critical"}


def axe() -> str:
    """The sources of axe-core; without them the test is skipped."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: make dashboard")
    return AXE.read_text(encoding="utf-8")


async def violations(seat: Seat, page: Page, source: str) -> list[str]:
    """What is grave, with the elements that it is of; in the dark only colours are others."""
    # By the tools' protocol: the page's policy lets no script of ours in.
    tools = await seat.browser.new_cdp_session(page)
    await tools.send("Runtime.evaluate", {"expression": f"window.axe || (() => {{{source}}})()"})
    found: list[str] = []
    for theme, only in (("light", ""), ("dark", "runOnly: ['color-contrast'], ")):
        # Without motion colours are the theme's at once.
        await page.emulate_media(
            color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce"
        )
        told: Any = await tools.send(
            "Runtime.evaluate",
            {
                "expression": f"axe.run(document, {{{only}resultTypes: ['violations']}})"
                ".then(({violations}) => violations.map(({id, impact, nodes}) =>"
                " ({id, impact, nodes: nodes.map((each) => each.html.slice(0, 200))})))",
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        found += [
            f"{theme}: {each['id']} ({each['impact']}): {each['nodes'][:3]}"
            for each in told["result"]["value"]
            if each["impact"] in GRAVE
        ]
    await tools.detach()
    return found


async def test_every_page_is_accessible(browser: Browser, tmp_path: Path) -> None:
    source = axe()
    found: dict[str, list[str]] = {}
    async with at_home(browser, tmp_path) as (gateway, seat):
        page = await seat.open(url(gateway))
        await expect(page.locator(".line")).to_have_count(5)
        found["now"] = await violations(seat, page, source)
        await page.locator(".line .what").first.click()
        await expect(page.locator("aside.detail canvas")).to_be_visible()
        found["a stream"] = await violations(seat, page, source)
        for name in PAGES[1:]:
            await page.goto(url(gateway, name))
            await expect(page.locator("main")).not_to_be_empty()
            await expect(page.locator("main .skeleton")).to_have_count(0)
            found[name] = await violations(seat, page, source)
        await page.close()
    assert {name: each for name, each in found.items() if each} == {}
