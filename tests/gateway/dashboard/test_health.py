"""Health, as an operator uses it: what passes, what is wrong, what it costs, who is there."""

import logging
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from gateway.admin.keeping.replacement import is_waiting
from gateway.app.gateway import Gateway
from tests.gateway.dashboard.opened import BOTH_EXTREMES, at_home, pictures, seat, send, url
from tests.gateway.dashboard.test_accessible import axe, violations
from tests.gateway.dashboard.test_sign_in import sign_in
from tests.gateway.gates.admin.access.secured import open_house

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

HIDDEN = "urn:nobody:has:this"


async def test_what_passes_what_is_wrong_and_what_it_costs(
    browser: Browser, tmp_path: Path
) -> None:
    async with at_home(browser, tmp_path) as (gateway, one):
        page = await one.open(url(gateway, "health"))
        await passes(gateway, page)
        await pictures(page, "health")
        await part(page, "Questions")
        await costs(page)
        await pictures(page, "health-questions", BOTH_EXTREMES)
        assert await violations(one, page, axe()) == []
        await part(page, "Quarantine")
        await held(gateway, page)
        assert await violations(one, page, axe()) == []
        await part(page, "Connected")
        await expect(page.get_by_role("heading", name="WebSocket")).to_contain_text("1")
        await part(page, "Configuration")
        await expect(page.get_by_role("heading", name="[http]")).to_be_visible()
        logging.getLogger("gateway.test").warning("the_roof_leaks")
        await part(page, "Log")
        await expect(page.locator(".log li.warning")).to_contain_text("the_roof_leaks")
        await page.get_by_role("searchbox").fill(HIDDEN)
        await expect(page.get_by_text("The log says nothing like that")).to_be_visible()


async def part(page: Page, name: str) -> None:
    tabs = page.get_by_role("navigation", name="Health")
    await tabs.get_by_role("link", name=name).click()
    await expect(tabs.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")


async def passes(gateway: Gateway, page: Page) -> None:
    stages = page.locator("[data-stage]")
    await expect(stages).to_have_count(4)
    messages = page.locator("[data-stage=messages]")
    await expect(messages).to_contain_text("5 since the start")
    await send(gateway, ("home/office/temperature", b"26.0"))
    await expect(messages).to_contain_text("6 since the start")
    await expect(page.get_by_text("Nothing needs a person")).to_be_visible()
    await expect(page.locator(".facts")).to_contain_text("Journal")
    await expect(page.locator(".facts")).to_contain_text("writes")


async def costs(page: Page) -> None:
    question = page.locator("[data-question]", has_text="SELECT ?o ?sensor").first
    await expect(question).to_contain_text("client")
    await question.get_by_role("button", name="Explain").click()
    await expect(page.locator(".explained pre")).to_contain_text("LUTT")


async def held(gateway: Gateway, page: Page) -> None:
    await expect(page.get_by_text("No message is held")).to_be_visible()
    markup = b"<img src=x onerror=alert(1)>"
    await send(gateway, ("home/office/temperature", markup), ("home/kitchen/temperature", b"nan"))
    entries = page.locator("[data-quarantined]")
    await expect(entries).to_have_count(2, timeout=30_000)
    office = page.locator("[data-quarantined]", has_text="home/office")
    await office.get_by_role("button", name="Payload").click()
    await expect(office.locator("pre")).to_have_text(markup.decode())
    await pictures(page, "health-quarantine", BOTH_EXTREMES)
    await office.get_by_role("button", name="Send through again").click()
    await expect(office.get_by_role("status")).to_contain_text("It stays")
    await office.get_by_role("button", name="Drop", exact=True).click()
    await office.get_by_role("button", name="Drop it for ever").click()
    await expect(entries).to_have_count(1)
    await expect(page.get_by_text("Dropped: home/office/temperature")).to_be_visible()
    await entries.get_by_role("link", name="not finite").click()
    await expect(page.get_by_role("link", name="Show all")).to_be_visible()


async def test_clients_are_let_in_and_put_out(browser: Browser, tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss", "operator") as house, seat(browser) as one:
        page = await one.open(url(house.gateway, "health/clients"))
        await sign_in(page, "boss-id", "boss-secret")
        await expect(page.locator("[data-client=boss]")).to_contain_text("you")
        await page.get_by_label("Name").fill("lamp")
        await page.get_by_label("who").select_option("device")
        await page.get_by_label("Its topics").fill("home/lamp/#")
        await page.get_by_role("button", name="Let in").click()
        secret = await page.locator(".secret code").inner_text()
        await expect(page.locator("[data-client=lamp]")).to_contain_text("publishes home/lamp/#")
        assert await house.token("lamp", secret)
        await page.get_by_role("button", name="I have kept it").click()
        await expect(page.locator(".secret")).to_have_count(0)
        await pictures(page, "health-clients", BOTH_EXTREMES)
        lamp = page.locator("[data-client=lamp]")
        await lamp.get_by_role("button", name="Remove", exact=True).click()
        await lamp.get_by_role("button", name="Remove lamp").click()
        await expect(lamp).to_have_count(0)
        answer = await house.ask("boss", "GET", "/clients")
        assert [each["name"] for each in answer.json()["clients"]] == ["boss", "operator"]
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        await sign_in(page, "operator-id", "operator-secret")
        await expect(page.get_by_role("link", name="Quarantine").first).to_be_visible()
        await expect(page.get_by_role("link", name="Clients")).to_have_count(0)
        await one.leave()


async def test_everything_is_put_away_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    async with at_home(browser, tmp_path) as (gateway, one):
        page = await one.open(url(gateway, "health/backup"))
        make = page.locator("section", has_text="Put everything away")
        await make.get_by_label("Passphrase").fill("open sesame")
        await make.get_by_role("button", name="Download").click()
        await expect(make.get_by_text("The two passphrases differ")).to_be_visible()
        await make.get_by_label("The same again").fill("open sesame")
        async with page.expect_download() as coming:
            await make.get_by_role("button", name="Download").click()
        download = await coming.value
        assert download.suggested_filename.startswith("test-")
        await download.save_as(tmp_path / "a.backup")
        assert await violations(one, page, axe()) == []
        await pictures(page, "health-backup", BOTH_EXTREMES)
        take = page.locator("section", has_text="Go back to a file")
        await take.get_by_label("The file").set_input_files(tmp_path / "a.backup")
        await take.get_by_label("Its passphrase").fill("open sesame")
        await take.get_by_role("button", name="Restore", exact=True).click()
        await take.get_by_role("button", name="Restore it now").click()
        await expect(take.get_by_role("status")).to_contain_text("is as test was")
    assert is_waiting(tmp_path / "data")
