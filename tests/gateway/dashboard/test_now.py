"""Now, as a person sees it: every value with its unit, live, found by name."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Response, expect

from tests.gateway.dashboard.opened import NAME, at_home, pictures, send, url

MOST_BYTES = 300_000
"""Compressed, of all that the first view loads; what is loaded when it is used comes later."""

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]


async def test_a_house_is_seen_live_and_found_by_name(browser: Browser, tmp_path: Path) -> None:
    async with at_home(browser, tmp_path) as (gateway, seat):
        page = await seat.open(url(gateway))
        await expect(page).to_have_url(url(gateway, "now"))
        await expect(page.locator(".sidebar .name")).to_contain_text(NAME)
        office = page.locator(".group", has=page.get_by_role("heading", name="office"))
        warm = office.locator(".line", has_text="temperature")
        await expect(warm.locator(".value")).to_have_text("25.8 °C")
        await expect(office.locator(".line", has_text="occupancy")).to_contain_text("nobody")
        await expect(office.locator(".line", has_text="opening")).to_contain_text("open")
        connection = page.locator(".sidebar [data-connection]")
        await expect(connection).to_have_attribute("data-connection", "live")
        await expect(page.get_by_text("All is well")).to_be_visible()
        await expect(page.get_by_text("5 streams")).to_be_visible()
        await send(gateway, ("home/office/temperature", b"26.5"))
        await expect(warm.locator(".value")).to_have_text("26.5 °C")
        await page.keyboard.press("/")
        await page.keyboard.type("kitchen temp")
        await expect(page.locator(".line")).to_have_count(1)
        await expect(page.locator(".line")).to_contain_text("21.1")
        await page.get_by_role("searchbox").fill("")
        await page.get_by_role("button", name="property").click()
        await expect(page.locator(".group", has_text="temperature").locator(".line")).to_have_count(
            2
        )
        await page.get_by_role("button", name="place").click()
        await pictures(page, "now")


async def test_the_first_load_is_small_and_asks_nobody_else(
    browser: Browser, tmp_path: Path
) -> None:
    async with at_home(browser, tmp_path) as (gateway, seat):
        asked: list[Response] = []

        def hear(answer: Response) -> None:
            asked.append(answer)

        seat.browser.on("response", hear)
        page = await seat.open(url(gateway))
        await expect(page.locator(".line").first).to_be_visible()
        assert {each.url.split("/")[2] for each in asked} == {url(gateway).split("/")[2]}
        files = [each for each in asked if "/assets/" in each.url or each.url == url(gateway)]
        kinds = {each.url.partition("?")[0].rpartition("/")[2].rpartition(".")[2] for each in files}
        assert kinds == {"", "js", "css"}  # the document, scripts, styles: none is left unweighed
        assert sum([int(each.headers["content-length"]) for each in files]) <= MOST_BYTES


async def test_keys_lead_to_every_page(browser: Browser, tmp_path: Path) -> None:
    async with at_home(browser, tmp_path) as (gateway, seat):
        page = await seat.open(url(gateway))
        await expect(page.locator(".line").first).to_be_visible()
        for key, name in zip("dachn", ("devices", "ask", "control", "health", "now"), strict=True):
            await page.keyboard.press("g")
            await page.keyboard.press(key)
            await expect(page).to_have_url(url(gateway, name))
            await expect(page.locator("main")).to_be_focused()
        await page.keyboard.press("?")
        await expect(page.get_by_role("region", name="Keys")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("region", name="Keys")).to_have_count(0)
