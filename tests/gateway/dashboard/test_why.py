"""Why, as who was called uses it: why is this here, why is this quiet."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from gateway.config.settings import Config
from tests.gateway.dashboard.opened import BOTH_EXTREMES, at_home, house, pictures, send, url
from tests.gateway.dashboard.test_accessible import axe, violations
from tests.kit import gateways
from tests.kit.gateways import JsonObject

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

WARM_AND_EMPTY = """PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX property: <https://sosa-gateway.example/property/>
SELECT ?room ?temperature {
  ?o sosa:hasFeatureOfInterest ?room ; sosa:observedProperty property:temperature ;
     sosa:hasSimpleResult ?temperature .
  ?p sosa:hasFeatureOfInterest ?room ; sosa:observedProperty property:occupancy ;
     sosa:hasSimpleResult false
  FILTER(?temperature > 30) }"""
RULE: JsonObject = {
    "id": "urn:rule:cool-it",
    "query": "WARM_AND_EMPTY",
    "topic": "fan/{temperature}",
    "payload": "on",
    "on": "added",
}


def settings(folder: Path) -> Config:
    profile = gateways.write_profile(folder, house(), [RULE], {"WARM_AND_EMPTY": WARM_AND_EMPTY})
    return gateways.settings(folder, profile)


async def test_a_quiet_question_says_what_keeps_its_rows_away(
    browser: Browser, tmp_path: Path
) -> None:
    async with at_home(browser, tmp_path, settings(tmp_path)) as (gateway, one):
        page = await one.open(url(gateway, "why"))
        await expect(page.get_by_role("searchbox")).to_be_visible()
        await page.keyboard.press("/")
        await page.keyboard.type("cool-it")
        await page.get_by_role("link", name="cool-it").click()
        await expect(page.get_by_role("heading", name="WARM_AND_EMPTY")).to_be_visible()
        await expect(page.locator(".verdict")).to_contain_text("FILTER(?temperature > 30)")
        broken = page.locator("[data-status=broken]")
        await expect(broken).to_have_count(1)
        await expect(broken).to_contain_text("here nothing is left")
        await expect(page.locator(".near")).to_contain_text("25.8 is the largest")
        await pictures(page, "why-quiet")
        await expect(page.get_by_text("0 rows now")).to_be_visible()
        await send(gateway, ("home/office/temperature", b"31.5"))
        came = page.locator(".passing .came")
        await expect(came).to_contain_text("31.5")
        await expect(page.get_by_text("1 row now")).to_be_visible()
        await expect(page.locator(".verdict")).to_contain_text("It is not quiet", timeout=30_000)
        await expect(broken).to_have_count(0)
        await send(gateway, ("home/office/temperature", b"22.0"))
        await expect(page.locator(".passing .went")).to_contain_text("31.5")
        assert await violations(one, page, axe()) == []


async def test_a_value_has_a_trail_that_leads_on(browser: Browser, tmp_path: Path) -> None:
    async with at_home(browser, tmp_path, settings(tmp_path)) as (gateway, one):
        page = await one.open(url(gateway, "why"))
        await page.get_by_role("searchbox").fill("kitchen · temp")
        await page.get_by_role("link", name="kitchen").click()
        message = page.locator("[data-station=message]")
        await expect(message).to_contain_text("home/kitchen/temperature")
        await expect(message).to_contain_text("21.10")
        kinds = page.locator("[data-station]")
        shown = [await each.get_attribute("data-station") for each in await kinds.all()]
        assert shown[:4] == ["message", "mapping", "observation", "triples"]
        await pictures(page, "why-trail", BOTH_EXTREMES)
        assert await violations(one, page, axe()) == []
        observation = page.locator("[data-station=observation]")
        await expect(observation).to_contain_text("21.10")
        mapping = page.locator("[data-station=mapping]").get_by_role("link").first
        await expect(mapping).to_have_attribute(
            "href", "#/devices/edit?mapping=urn%3Amapping%3Atemperature"
        )
        await observation.get_by_role("link", name="temperature", exact=False).last.click()
        await expect(page).to_have_url(url(gateway, "now?find=temperature"))
