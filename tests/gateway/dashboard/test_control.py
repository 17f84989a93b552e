"""Control, as a person uses it: what can be set, what became of it, what waits."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from gateway.app.gateway import Gateway
from gateway.config.settings import Config
from tests.gateway.dashboard.opened import (
    BOTH_EXTREMES,
    DEG_C,
    PROPERTY,
    at_home,
    pictures,
    seat,
    send,
    url,
)
from tests.gateway.dashboard.test_accessible import axe, violations
from tests.gateway.dashboard.test_sign_in import sign_in
from tests.gateway.gates.admin.access.secured import open_house
from tests.kit import gateways
from tests.kit.gateways import Device, JsonObject, mapping

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

OFFICE = "urn:room:office"
LAMP: JsonObject = {
    "id": "urn:actuator:lamp",
    "name": "lamp",
    "topic": "lamp/set",
    "property": PROPERTY + "power_state",
    "feature": OFFICE,
    "sensor": "urn:lamp",
    "values": ["ON", "OFF"],
    "timeLimit": 10,
}
HEATER: JsonObject = {
    "id": "urn:actuator:heater",
    "name": "heater",
    "topic": "heater/set",
    "property": PROPERTY + "set_point",
    "feature": OFFICE,
    "minimum": 5,
    "maximum": 30,
    "step": 0.5,
    "unit": DEG_C,
    "timeLimit": 0.3,
}
BLIND: JsonObject = {
    "id": "urn:actuator:blind",
    "name": "blind",
    "topic": "blind/set",
    "property": PROPERTY + "cover_state",
    "feature": "urn:room:kitchen",
    "values": ["OPEN", "CLOSE", "STOP"],
}
STRIP: JsonObject = {
    "id": "urn:actuator:strip",
    "name": "strip",
    "topic": "strip/set",
    "property": PROPERTY + "color",
    "feature": "urn:room:kitchen",
}
RULE: JsonObject = {
    "id": "urn:rule:light-up",
    "sparql": "SELECT ?x { ?x <urn:dark> true }",
    "topic": "actuators/lamp/set",
    "on": "added",
    "payload": "true",
}
STATE = mapping(
    "lamp",
    "lamp/state",
    format="scalar",
    sensor="urn:lamp",
    property=PROPERTY + "power_state",
    feature=OFFICE,
)


def settings(folder: Path) -> Config:
    path = gateways.write_profile(folder, [STATE], [RULE])
    profile = json.loads(path.read_text())
    profile["extended"]["actuators"] = [LAMP, HEATER, BLIND, STRIP]
    path.write_text(json.dumps(profile))
    return gateways.settings(folder, path)


async def test_what_can_be_set_what_became_of_it_and_what_waits(
    browser: Browser, tmp_path: Path
) -> None:
    async with at_home(browser, tmp_path, settings(tmp_path)) as (gateway, one):
        page = await one.open(url(gateway, "control"))
        await confirmed_by_a_reading(gateway, page)
        await failed_with_its_reason(gateway, page)
        await found_by_place(page)
        await pictures(page, "control")
        await page.locator("[data-actuator=lamp] .name").click()
        await expect(page).to_have_url(url(gateway, "control/lamp"))
        await done_later_or_not(gateway, page)
        assert await violations(one, page, axe()) == []


async def confirmed_by_a_reading(gateway: Gateway, page: Page) -> None:
    lamp = page.locator("[data-actuator=lamp]")
    await expect(lamp.locator(".state")).to_contain_text("not heard yet")
    await send(gateway, ("lamp/state", b"OFF"))
    await expect(lamp.locator(".state")).to_contain_text("off")
    switch = lamp.get_by_role("switch")
    await expect(switch).not_to_be_checked()
    with Device(gateway.mqtt_port, "lamp") as device:
        await asyncio.to_thread(device.subscribe, "lamp/set")
        await switch.focus()
        await page.keyboard.press("Space")
        await expect(lamp.locator(".became")).to_contain_text("pending")
        assert await asyncio.to_thread(device.receive) == ("lamp/set", b"ON")
        device.send("lamp/state", "ON")
        await expect(lamp.locator(".became")).to_contain_text("✓ confirmed by its reading")
    await expect(switch).to_be_checked()
    observation = (await asked(gateway, "/actuators/lamp"))["last"]["observation"]
    await expect(lamp.locator(".became").get_by_role("link")).to_have_attribute(
        "href", "#/why/trail?iri=" + await encoded(page, observation)
    )


async def failed_with_its_reason(gateway: Gateway, page: Page) -> None:
    heater = page.locator("[data-actuator=heater]")
    await heater.get_by_role("slider").focus()
    await page.keyboard.press("ArrowRight")
    await expect(heater.locator(".became")).to_contain_text("failed no reading confirmed it")
    sent = (await asked(gateway, "/actuators/heater"))["last"]
    assert (sent["value"], sent["status"]) == (5.5, "failed")
    blind = page.locator("[data-actuator=blind]")
    await blind.get_by_role("button", name="Stop").click()
    await expect(blind.locator(".became")).to_contain_text("STOP")
    colour = page.locator("[data-actuator=strip] input[type=color]")
    await colour.fill("#ff8000")
    await expect(page.locator("[data-actuator=strip] .became")).to_contain_text("#ff8000")


async def found_by_place(page: Page) -> None:
    await page.get_by_role("searchbox").fill("kitchen")
    await expect(page.locator(".actuator")).to_have_count(2)
    await page.get_by_role("searchbox").fill("nowhere")
    await expect(page.get_by_text("Nothing that can be set is called")).to_be_visible()
    await page.get_by_role("searchbox").fill("")


async def done_later_or_not(gateway: Gateway, page: Page) -> None:
    lamp = page.locator("[data-actuator=lamp]")
    await expect(lamp.locator(".rules")).to_contain_text("light-up")
    await expect(lamp.locator(".rules")).to_contain_text("when a row comes")
    await expect(lamp.locator(".last-commands")).to_contain_text("you, from this page")
    await expect(page.get_by_text("Nothing waits to be done later")).to_be_visible()
    await lamp.locator("select[name=value]").select_option("off")
    await lamp.get_by_label("in minutes").fill("5")
    await lamp.get_by_role("button", name="Set it then").click()
    waiting = page.locator("[data-delayed]")
    await expect(waiting).to_contain_text("lamp → off")
    await pictures(page, "control-lamp", BOTH_EXTREMES)
    await waiting.get_by_role("button", name="Cancel").click()
    await expect(waiting).to_have_count(0)
    assert await asked(gateway, "/update/delayed") == {"delayed": []}
    await page.get_by_role("button", name="Undo").click()
    await expect(waiting).to_contain_text("lamp → off")
    (again,) = (await asked(gateway, "/update/delayed"))["delayed"]
    assert "urn:actuator:lamp" in again["sparql"]


LET_IN = """PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX ssn: <http://www.w3.org/ns/ssn/>
PREFIX gw: <https://sosa-gateway.example/ns#>
INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> { <urn:a> a sosa:Actuator ;
  gw:name "lamp" ; gw:commandTopic "lamp/set" ; ssn:forProperty <urn:on> ;
  gw:featureOfInterest <urn:hall> ; gw:allowedValue "ON", "OFF" } }"""


async def test_who_may_not_command_only_sees(browser: Browser, tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss", "reader") as house, seat(browser) as one:
        answer = await house.ask("boss", "POST", "/update", data={"update": LET_IN})
        assert answer.status_code == 200, answer.text
        page = await one.open(url(house.gateway, "control"))
        await sign_in(page, "reader-id", "reader-secret")
        await expect(page.locator("[data-actuator=lamp]")).to_be_visible()
        await expect(page.get_by_text("Commanding needs the right")).to_be_visible()
        await expect(page.get_by_role("switch")).to_have_count(0)
        await one.leave()


async def asked(gateway: Gateway, path: str) -> Any:
    async with httpx.AsyncClient() as client:
        return (await client.get(url(gateway).rstrip("/") + path)).json()


async def encoded(page: Page, text: str) -> str:
    """As the browser writes it in an address."""
    return str(await page.evaluate("(text) => new URLSearchParams({a: text}).toString()", text))[2:]
