"""A stream that is opened: its value, chart, messages and mapping, by pointer and by keys."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.gateway.dashboard.opened import BOTH_EXTREMES, at_home, pictures, send, url

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

ROOM = [("home/office/temperature", f"2{number % 6}.{number}".encode()) for number in range(10)]
BOXES = """
() => [...document.querySelectorAll('.line > *:not(.offers)')].map((part) => {
  const { x, y, width, height } = part.getBoundingClientRect();
  return [x, y, width, height];
})
"""


async def test_a_stream_is_opened_looked_at_and_closed(browser: Browser, tmp_path: Path) -> None:
    async with at_home(browser, tmp_path) as (gateway, seat):
        await send(gateway, *ROOM)
        page = await seat.open(url(gateway))
        office = page.locator(".group", has=page.get_by_role("heading", name="office"))
        warm = office.locator(".line", has_text="temperature")
        await expect(warm.locator(".value")).to_have_text("23.9 °C")
        await expect(warm.locator("polyline")).to_have_count(1)
        await _assert_offers_move_nothing(page)
        await warm.locator(".what").click()
        detail = page.get_by_role("complementary", name="temperature")
        await expect(detail).to_be_focused()
        await expect(detail.locator(".latest")).to_contain_text("23.9 °C")
        await expect(detail.locator("figure.chart canvas")).to_be_visible()
        await expect(_chart(page, "temperature", r"[12] points?")).to_be_visible()
        await expect(detail.locator(".messages li")).to_have_count(11)
        await expect(detail.locator(".messages li").first).to_contain_text("23.9")
        await expect(detail.get_by_role("link", name="open")).to_have_attribute(
            "href", "#/devices/edit/urn%3Amapping%3Atemperature"
        )
        await send(gateway, ("home/office/temperature", b"24.25"))
        await expect(detail.locator(".latest")).to_contain_text("24.25 °C")
        await pictures(page, "now-stream", BOTH_EXTREMES)
        await page.set_viewport_size({"width": 1280, "height": 800})
        await _zoom(page)
        await detail.get_by_role("button", name="all").click()
        await expect(detail.get_by_role("button", name="all")).to_have_attribute(
            "aria-pressed", "true"
        )
        await expect(_chart(page, "temperature", r"\d points?")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(detail).to_have_count(0)
        await expect(page).to_have_url(url(gateway, "now"))
        await office.locator(".line", has_text="occupancy").locator(".what").click()
        await expect(_chart(page, "occupancy", "1 point")).to_be_visible()
        await page.set_viewport_size({"width": 390, "height": 844})
        await page.get_by_role("link", name="Back to the list").click()
        await expect(page.locator("aside.detail")).to_have_count(0)


async def _assert_offers_move_nothing(page: Page) -> None:
    """Why and ask are there for the pointer and for the keyboard, over what stood there."""
    line = page.locator(".line").first
    before = await page.evaluate(BOXES)
    await line.hover()
    why = line.get_by_role("link", name="why")
    await expect(why).to_be_visible()
    assert await page.evaluate(BOXES) == before
    await page.mouse.move(0, 0)
    await expect(why).to_be_hidden()
    await line.locator(".what").focus()
    await page.keyboard.press("Tab")
    await expect(why).to_be_focused()
    await expect(why).to_have_attribute("href", re.compile("^#/why/trail[?]observation=http"))
    await page.keyboard.press("Tab")
    await expect(line.get_by_role("link", name="ask about this")).to_be_focused()
    assert await page.evaluate(BOXES) == before


def _chart(page: Page, what: str, points: str) -> Locator:
    return page.get_by_role("group", name=re.compile(rf"^Chart of {what}, {points}\."))


async def _zoom(page: Page) -> None:
    """By dragging over the last minutes, where single readings have room; out again; by keys."""
    chart = page.locator("figure.chart")
    box = await chart.locator(".u-over").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    await page.mouse.move(box["x"] + box["width"] * 0.96, middle)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] - 1, middle, steps=4)
    await page.mouse.up()
    # A pixel is seconds: the newest reading may stand beyond the last one that is dragged over.
    await expect(_chart(page, "temperature", "1[12] points")).to_be_visible()
    out = page.get_by_role("button", name="Zoom out")
    await out.click()
    await expect(out).to_have_count(0)
    await chart.focus()
    await page.keyboard.press("+")
    await expect(out).to_be_visible()
    await page.keyboard.press("ArrowLeft")
    await out.click()
