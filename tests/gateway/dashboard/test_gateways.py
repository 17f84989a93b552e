"""Several gateways on the page of one: who is here, whom a question is asked of, whose a row is."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from gateway.app.gateway import Gateway
from tests.gateway.app.test_federated_gateways import NAMES, config
from tests.gateway.dashboard.opened import BOTH_EXTREMES, at_home, pictures, seat, url
from tests.gateway.dashboard.test_accessible import axe, violations
from tests.kit.gateways import free_port, running, update

pytest.importorskip("zenoh", reason="the extra federation is not installed")

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

WARM = "SELECT ?room { ?room <urn:warm> true }"
WARM_AND_EMPTY = "SELECT ?room { ?room <urn:warm> true ; <urn:empty> true }"


class House:
    """Gateways of one machine, each of which may be closed before the others."""

    def __init__(self, folder: Path) -> None:
        self._ports = {name: free_port() for name in NAMES}
        self._folder = folder
        self.opened: dict[str, Gateway] = {}
        self._stacks: dict[str, AsyncExitStack] = {}

    async def open(self, name: str) -> Gateway:
        stack = self._stacks[name] = AsyncExitStack()
        made = config(self._folder / name, name, self._ports)
        self.opened[name] = await stack.enter_async_context(running(made))
        return self.opened[name]

    async def close(self, name: str) -> None:
        stack = self._stacks.pop(name, None)
        if stack is not None:
            await stack.aclose()


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[House]:
    made = House(folder)
    try:
        for name in NAMES:
            await made.open(name)
        yield made
    finally:
        for name in NAMES:
            await made.close(name)


def member(page: Page, name: str) -> Locator:
    """A gateway's row of the table."""
    return page.locator(f"tr[data-gateway={name}]")


def stands(page: Page, name: str) -> Locator:
    """A gateway under an answer."""
    return page.locator(f".standing [data-gateway={name}]")


def chosen(page: Page, name: str) -> Locator:
    """A choice of the scope."""
    return page.locator(".scope label", has_text=name).locator("select")


async def all_here(page: Page) -> None:
    for name in ("attic", "cellar"):
        await expect(member(page, name)).to_have_attribute("data-state", "up", timeout=30_000)


async def test_who_is_here_and_who_is_away(browser: Browser, tmp_path: Path) -> None:
    async with house(tmp_path) as made, seat(browser) as one:
        page = await one.open(url(made.opened["hall"], "health"))
        tabs = page.get_by_role("navigation", name="Health")
        await tabs.get_by_role("link", name="Gateways").click()
        await all_here(page)
        await expect(page.get_by_text("This is hall, at ")).to_be_visible()
        await expect(page.get_by_text("All of them are here")).to_be_visible()
        await expect(page.locator("tr[data-gateway]")).to_have_count(2)
        await pictures(page, "health-gateways", BOTH_EXTREMES)
        assert await violations(one, page, axe()) == []
        await made.close("cellar")
        await expect(member(page, "cellar")).to_have_attribute("data-state", "away")
        await expect(page.locator("tr[data-gateway]").first).to_have_attribute(
            "data-gateway", "cellar"
        )
        await expect(page.get_by_text("1 of them is not here")).to_be_visible()
        await one.leave()


async def ask(page: Page, hall: Gateway, query: str, mode: str) -> None:
    """Watch a question that is asked of all."""
    await page.goto(url(hall, f"ask?query={quote(query)}&gateways=all&mode={mode}"))
    await page.get_by_role("button", name="Keep watching").click()
    await expect(page.locator(".counted .badge.good")).to_have_text("live")


async def test_whose_a_row_is_and_who_is_away_or_missing(browser: Browser, tmp_path: Path) -> None:
    async with house(tmp_path) as made, seat(browser) as one:
        hall = made.opened["hall"]
        page = await one.open(url(hall, "health/gateways"))
        await all_here(page)
        await ask(page, hall, WARM, "each")
        await update(made.opened["attic"], "INSERT DATA { <urn:room:1> <urn:warm> true }")
        await update(hall, "INSERT DATA { <urn:room:1> <urn:warm> true }")
        badges = page.locator(".rows td .badge")
        await expect(badges).to_have_count(2)
        assert sorted(await badges.all_inner_texts()) == ["attic", "hall"]
        await expect(chosen(page, "How")).to_have_value("each")
        await expect(stands(page, "cellar")).to_have_attribute("data-state", "there")
        await pictures(page, "ask-gateways", BOTH_EXTREMES)
        assert await violations(one, page, axe()) == []
        await made.close("attic")
        await expect(stands(page, "attic")).to_have_attribute("data-state", "stale")
        await expect(badges.filter(has_text="attic")).to_contain_text("away")
        await expect(badges.filter(has_text="hall")).to_have_text("hall")
        await pictures(page, "ask-gateways-away", BOTH_EXTREMES)
        assert await violations(one, page, axe()) == []
        await ask(page, hall, "SELECT ?x { ?x <urn:never:asked> true }", "union")
        await expect(stands(page, "attic")).to_have_attribute("data-state", "missing")
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(stands(page, "attic")).to_have_attribute("data-state", "missing")
        await expect(stands(page, "cellar")).to_have_attribute("data-state", "there")
        await one.leave()


async def test_scope_and_mode_are_chosen_in_the_editor(browser: Browser, tmp_path: Path) -> None:
    async with house(tmp_path) as made, seat(browser) as one:
        hall = made.opened["hall"]
        page = await one.open(url(hall, "health/gateways"))
        await all_here(page)
        await update(made.opened["attic"], "INSERT DATA { <urn:room:1> <urn:warm> true }")
        await update(made.opened["cellar"], "INSERT DATA { <urn:room:1> <urn:empty> true }")
        await page.goto(url(hall, f"ask?query={quote(WARM_AND_EMPTY)}"))
        await expect(page.get_by_text("No rows")).to_be_visible()
        await expect(page.locator(".standing")).to_have_count(0)
        await chosen(page, "Asked of").select_option("all")
        await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(page.locator(".rows tbody tr")).to_have_count(1)
        await chosen(page, "Asked of").select_option("some")
        await page.get_by_role("checkbox", name="cellar").uncheck()
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(page.get_by_text("No rows")).to_be_visible()
        await expect(page.locator(".standing li")).to_have_count(2)
        await chosen(page, "How").select_option("event")
        await expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
        await page.get_by_role("button", name="Keep watching").click()
        await expect(page.locator(".counted .badge.good")).to_have_text("live")
        both = "INSERT DATA { <urn:room:2> <urn:warm> true ; <urn:empty> true }"
        await update(made.opened["cellar"], both)
        await update(made.opened["attic"], both)
        badge = page.locator(".rows td .badge")
        await expect(badge).to_have_text(["attic"])
        await one.leave()


async def test_where_there_is_no_federation_nothing_of_it_is_offered(
    browser: Browser, tmp_path: Path
) -> None:
    async with at_home(browser, tmp_path) as (alone, one):
        page = await one.open(url(alone, "health/gateways"))
        tabs = page.get_by_role("navigation", name="Health")
        await expect(tabs.get_by_role("link", name="Overview")).to_be_visible()
        await expect(tabs.get_by_role("link", name="Gateways")).to_have_count(0)
        await page.goto(url(alone, "ask"))
        await expect(page.locator(".editor")).to_be_visible()
        await expect(chosen(page, "Asked of")).to_have_count(0)
