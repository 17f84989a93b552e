"""Devices, from the page alone: put into rooms, read another way, connected."""

import json
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Route, expect

from tests.gateway.dashboard.opened import BOTH_EXTREMES, at_home, pictures, seat, send, url
from tests.gateway.dashboard.test_sign_in import sign_in
from tests.gateway.gates.admin.access.secured import open_house
from tests.kit.gateways import LOOPBACK, WAIT_S

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

SLOW_MS = WAIT_S * 1000
CLIMATE = {
    "ieee_address": "0x00158d0001a2b3c4",
    "friendly_name": "guest bath climate",
    "type": "EndDevice",
    "definition": {
        "model": "WSDCGQ11LM",
        "exposes": [
            {"type": "numeric", "property": "temperature", "unit": "°C", "access": 1},
            {"type": "numeric", "property": "battery", "unit": "%", "access": 1},
        ],
    },
}
FREEZER = {
    "name": "temperature",
    "unit_of_meas": "degrees",
    "stat_t": "cold/freezer",
    "uniq_id": "freezertemp",
    "dev": {"ids": "freezer1", "name": "freezer"},
}
READING = ("zigbee2mqtt/guest bath climate", b'{"temperature":21.5,"battery":97}')
PUMP = ("cellar/pump", b'{"t":50,"rpm":900,"note":"<b>\\u202e"}')


async def put(page: Page, device: str, room: str, *, new: bool) -> None:
    """Choose the room and put the device there."""
    card = page.get_by_role("article", name=device)
    await card.get_by_label("Room", exact=True).select_option(label="New room …" if new else room)
    if new:
        await card.get_by_label("Name of the new room").fill(room)
    await card.get_by_role("button", name="Put into room").click()


async def test_a_new_device_is_put_into_a_new_room_and_taken_back(
    browser: Browser, tmp_path: Path
) -> None:
    async with at_home(browser, tmp_path) as (gateway, one):
        page = await one.open(url(gateway, "devices"))
        in_use = page.get_by_role("region", name="In use")
        proposed = page.get_by_role("region", name="Proposed")
        await expect(in_use.get_by_text("kitchen").first).to_be_visible(timeout=SLOW_MS)
        announced = ("zigbee2mqtt/bridge/devices", json.dumps([CLIMATE]).encode())
        asked = ("homeassistant/sensor/freezer/temp/config", json.dumps(FREEZER).encode())
        await send(gateway, READING, ("cold/freezer", b"71.2"), announced, asked)
        card = page.get_by_role("article", name="guest bath climate")
        await expect(card).to_contain_text("21.5 °C", timeout=SLOW_MS)
        # What is asked is asked in place, with the last value.
        freezer = page.get_by_role("article", name="freezer")
        await expect(freezer).to_contain_text("The last value is 71.2", timeout=SLOW_MS)
        await expect(freezer.get_by_role("button", name="Put into room")).to_have_count(0)
        await pictures(page, "devices")
        await page.set_viewport_size({"width": 1280, "height": 800})

        await put(page, "guest bath climate", "Guest bath", new=True)
        await expect(page.get_by_text("guest bath climate is in Guest bath.")).to_be_visible()
        await expect(in_use).to_contain_text("Guest bath", timeout=SLOW_MS)
        await expect(card).to_have_count(0)
        await send(gateway, READING)
        await in_use.locator("summary", has_text="guest bath climate").click()
        value = in_use.get_by_role("link", name="21.5 °C")
        await expect(value).to_be_visible(timeout=SLOW_MS)
        assert "#/why/trail?iri=" in str(await value.get_attribute("href"))

        await freezer.get_by_role("button", name="°F").click()
        await put(page, "freezer", "kitchen", new=False)
        await expect(page.get_by_text("freezer is in kitchen.")).to_be_visible()
        await page.get_by_role("button", name="Undo").click()
        await expect(freezer).to_be_visible(timeout=SLOW_MS)
        await freezer.get_by_role("button", name="Reject").click()
        await expect(proposed.get_by_text("1 rejected device")).to_be_visible(timeout=SLOW_MS)
        await page.get_by_role("button", name="Undo").click()
        await expect(freezer).to_be_visible(timeout=SLOW_MS)

        await page.get_by_role("link", name="Now").click()
        await expect(page.get_by_role("heading", name="Guest bath", exact=True)).to_be_visible()
        await page.goto(url(gateway, "devices/history"))
        first = page.locator(".change", has_text="accepted").last
        await expect(first).to_contain_text("zigbee2mqtt/guest bath climate temperature")
        await first.get_by_role("button", name="Take back").click()
        await page.get_by_role("link", name="Back to the devices").click()
        await expect(card).to_be_visible(timeout=SLOW_MS)


async def test_what_is_heard_is_read_tried_rehearsed_and_changed_back(
    browser: Browser, tmp_path: Path
) -> None:
    async with at_home(browser, tmp_path) as (gateway, one):
        one.expected.append("400 (Bad Request)")
        await send(gateway, PUMP, *[(f"site/{n}/meter", b'{"power": 1.5}') for n in range(3)])
        page = await one.open(url(gateway, "devices"))
        heard = page.get_by_role("region", name="Heard")
        await expect(heard.get_by_role("heading", name="site/+/meter")).to_be_visible()
        await heard.locator("article", has_text="cellar/pump").get_by_text("Read it").click()
        outcome = page.get_by_role("region", name="What comes of it")
        await expect(outcome.locator(".big")).to_have_text("50 ", timeout=SLOW_MS)
        await page.get_by_label("Property").fill("temperature")
        await page.get_by_label("Room").fill("Cellar")
        await page.get_by_label("Unit", exact=True).fill("grob")
        await expect(page.get_by_role("alert")).to_contain_text("'grob' is no unit")
        await page.get_by_label("Unit", exact=True).fill("°C")
        await expect(outcome).to_contain_text("temperature of Cellar")
        await expect(outcome.locator(".big")).to_have_text("50 °C")
        # A member of the payload is chosen by pointing at it.
        await page.get_by_role("button", name="Read $.rpm: 900").click()
        await expect(outcome.locator(".big")).to_have_text("900 °C")
        await page.get_by_role("button", name="Read $.t: 50").click()
        await page.get_by_role("button", name="Take into use").click()
        await expect(page.get_by_text("The mapping is in force.")).to_be_visible()
        await send(gateway, PUMP)

        await expect(page.get_by_role("heading", name="Mapping", exact=True)).to_be_visible()
        apply = page.get_by_role("button", name="Apply")
        await expect(apply).to_be_disabled()
        await page.get_by_label("The device's own unit").fill("°F")
        await expect(outcome.locator(".big")).to_have_text("10 °C")
        await page.get_by_role("button", name="Rehearse").click()
        await expect(page.locator(".sum")).to_contain_text("2 differ.", timeout=SLOW_MS)
        await page.get_by_text("Observations that differ: 2").click()
        await expect(page.locator(".differences")).to_contain_text("50 °C → 10 °C")
        await pictures(page, "mapping", BOTH_EXTREMES)
        await page.set_viewport_size({"width": 1280, "height": 800})
        await apply.click()
        await expect(page.get_by_text("The mapping is in force.")).to_be_visible()
        await expect(apply).to_be_disabled()
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_label("The device's own unit")).to_have_value("")
        await page.get_by_role("button", name="Take out of use").click()
        await expect(heard.locator("article", has_text="cellar/pump")).to_be_visible()


async def test_the_first_minute_says_where_to_connect_and_counts_what_arrives(
    browser: Browser,
    tmp_path: Path,
) -> None:
    async with at_home(browser, tmp_path) as (gateway, one):
        page = await one.open(url(gateway, "devices/connect"))
        await expect(page.get_by_text("Only this machine reaches the broker")).to_be_visible()
        await expect(page.locator(".qr")).to_have_count(0)
        text = page.locator("pre[data-family]")
        for family, part in {
            "Zigbee2MQTT": f'server: "mqtt://{LOOPBACK}:{gateway.mqtt_port}"',
            "Tasmota": f"MqttHost {LOOPBACK}; MqttPort {gateway.mqtt_port}",
            "Shelly": f'"server":"{LOOPBACK}:{gateway.mqtt_port}"',
            "ESPHome": f"port: {gateway.mqtt_port}",
            "By hand": f"mosquitto_pub -h {LOOPBACK} -p {gateway.mqtt_port}",
        }.items():
            await page.get_by_role("button", name=family).click()
            await expect(text).to_contain_text(part)
        topics = page.locator('[data-count="topics"] dd')
        await expect(topics).to_have_text("0")
        await send(gateway, PUMP)
        await expect(topics).to_have_text("1", timeout=SLOW_MS)
        await expect(page.locator('[data-count="messages"] dd')).to_have_text("1")
        await expect(page.get_by_text("The last came on cellar/pump")).to_be_visible()

        async def elsewhere(route: Route) -> None:
            answer = await route.fetch()
            told = {**await answer.json(), "host": "gateway.lan", "local": False, "port": 1883}
            await route.fulfill(response=answer, json=told)

        await page.route("**/broker", elsewhere)
        await page.reload()
        await expect(page.get_by_role("img", name="as a QR code")).to_be_visible()
        await expect(page.get_by_text("mqtt://gateway.lan:1883").first).to_be_visible()
        await pictures(page, "connect")


async def test_a_login_for_a_device_is_made_and_shown_once(
    browser: Browser, tmp_path: Path
) -> None:
    # The browser ends first: a page whose gateway goes says so in its console.
    async with open_house(tmp_path, "boss", "operator") as house, seat(browser) as one:
        page = await one.open(url(house.gateway, "devices/connect"))
        await sign_in(page, "boss-id", "boss-secret")
        await expect(page.locator("pre[data-family]")).to_contain_text('password: "SECRET"')
        await page.get_by_label("Name of the device").fill("attic")
        await page.get_by_role("button", name="Make the login").click()
        secret = await page.locator(".login code").inner_text()
        await expect(page.locator("pre[data-family]")).to_contain_text(f'password: "{secret}"')
        clients = (await house.ask("boss", "GET", "/clients")).json()["clients"]
        made = next(each for each in clients if each["name"] == "attic")
        assert (made["kind"], made["policy"]) == (
            "device",
            {
                "publish": ["homeassistant/#", "zigbee2mqtt/#"],
                "receive": ["homeassistant/#", "zigbee2mqtt/#"],
            },
        )
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_label("Name of the device")).to_be_visible()
        left = (await house.ask("boss", "GET", "/clients")).json()["clients"]
        assert "attic" not in {each["name"] for each in left}
        # Who has not all rights is told whom to ask.
        await page.reload()
        await sign_in(page, "operator-id", "operator-secret")
        await expect(page.get_by_text("Ask who has all rights")).to_be_visible()
