"""Who may see what: the claim, signing in and out, tokens that end, clients that are put out."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.gateway.dashboard.opened import BOTH_EXTREMES, pictures, seat, url
from tests.gateway.gates.admin.access.secured import House, open_house
from tests.gateway.gates.admin.access.test_claim import printed

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

KITCHEN = """PREFIX sosa: <http://www.w3.org/ns/sosa/> INSERT DATA { <urn:o:%s> a sosa:Observation ;
  sosa:madeBySensor <urn:thermometer> ; sosa:hasSimpleResult %s ;
  sosa:observedProperty <https://sosa-gateway.example/property/temperature> ;
  sosa:hasFeatureOfInterest <urn:kitchen> ;
  sosa:resultTime "2026-03-02T07:22:4%sZ"^^<http://www.w3.org/2001/XMLSchema#dateTime> ;
  <https://sosa-gateway.example/ns#ingestedAt>
    "2026-03-02T07:22:4%sZ"^^<http://www.w3.org/2001/XMLSchema#dateTime> }"""


async def reading(house: House, number: int, value: str) -> None:
    text = KITCHEN % (number, value, number, number)
    answer = await house.ask("boss", "POST", "/update", data={"update": text})
    assert answer.status_code == 200, answer.text


async def sign_in(page: Page, name: str, secret: str) -> None:
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Secret").fill(secret)
    await page.get_by_role("button", name="Sign in").click()


async def kept_in_storage(page: Page) -> object:
    return await page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")


async def test_a_gateway_of_nobody_is_claimed_and_signed_in_to(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_house(tmp_path) as house, seat(browser) as one:
        one.expected.append("401 (Unauthorized)")
        page = await one.open(url(house.gateway))
        await expect(page.get_by_role("heading", name="belongs to nobody yet")).to_be_visible()
        await pictures(page, "claim", BOTH_EXTREMES)
        code = await asyncio.to_thread(printed, tmp_path, capsys)
        await page.get_by_label("Code").fill("ABCDE-FGHJK")
        await page.get_by_label("Your name").fill("me")
        await page.get_by_role("button", name="Make it mine").click()
        await expect(page.get_by_role("alert")).to_contain_text("the code is wrong")
        await page.get_by_label("Code").fill(code.lower())
        await page.get_by_role("button", name="Make it mine").click()
        await expect(page.get_by_role("heading", name="It is yours")).to_be_visible()
        name = await page.get_by_label("Name").input_value()
        secret = await page.get_by_label("Secret").input_value()
        await page.get_by_role("button", name="I have kept it").click()
        await expect(page.get_by_role("link", name="Health")).to_be_visible()
        await page.get_by_role("button", name="Sign out").click()
        await sign_in(page, name, "something else")
        await expect(page.get_by_role("alert")).to_contain_text("is not right")
        await pictures(page, "sign-in")
        await sign_in(page, name, secret)
        await expect(page.get_by_role("link", name="Devices")).to_be_visible()
        assert await kept_in_storage(page) == [0, 0, ""]
        await page.reload()
        await expect(page.get_by_role("button", name="Sign in")).to_be_visible()


async def test_what_somebody_may_not_do_is_not_offered_and_tokens_are_renewed(
    browser: Browser,
    tmp_path: Path,
) -> None:
    async with (
        open_house(tmp_path, "reader", "boss", user_token_s=2) as house,
        seat(browser) as one,
    ):
        one.expected.append("401 (Unauthorized)")
        page = await one.open(url(house.gateway))
        await sign_in(page, "reader-id", "reader-secret")
        await expect(page.get_by_text("Nothing has been heard yet")).to_be_visible()
        for offered in ("Now", "Ask", "Control"):
            await expect(page.get_by_role("link", name=offered, exact=True)).to_be_visible()
        for withheld in ("Devices", "Health", "Connect a device"):
            await expect(page.get_by_role("link", name=withheld)).to_have_count(0)
        await reading(house, 1, "21.5")
        value = page.locator(".line .value")
        await expect(value).to_have_text("21.5 ")
        # The first token ends; what is subscribed goes on with the next one.
        await page.wait_for_timeout(2_500)
        await reading(house, 2, "22.5")
        await expect(value).to_have_text("22.5 ")
        await page.goto(url(house.gateway, "devices"))
        await expect(page.get_by_text("You are not allowed to see this")).to_be_visible()
        house.store.revoke("reader")
        await expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        await expect(page.locator(".line")).to_have_count(0)
