"""The page as a person has it: a real gateway with a house behind it, and a browser before it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from gateway.app.gateway import Gateway
from gateway.config.settings import Config
from tests.kit import gateways
from tests.kit.gateways import LOOPBACK, WAIT_S, Device, JsonObject, mapping
from tests.kit.screens import PICTURES

expect.set_options(timeout=WAIT_S * 1000)

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
Look = tuple[str, str]
EVERY_LOOK = [(size, theme) for size in SIZES for theme in ("light", "dark")]
BOTH_EXTREMES = [("desktop", "light"), ("phone", "dark")]
"""For what stands within a part of the page whose four looks are kept."""

NAME = "house"
PROPERTY = "https://sosa-gateway.example/property/"
DEG_C = "http://qudt.org/vocab/unit/DEG_C"
SAMPLES = [
    ("home/office/temperature", b"25.8"),
    ("home/office/occupancy", b"false"),
    ("home/office/opening", b"true"),
    ("home/kitchen/temperature", b"21.10"),
    ("home/kitchen/occupancy", b"true"),
]
"""One reading of each stream of the house."""


def house() -> list[JsonObject]:
    """Mappings of two rooms: temperature, occupancy, a window."""
    return [
        mapping(
            name,
            f"home/+/{name}",
            format="scalar",
            sensor=f"urn:sensor:{{1}}-{name}",
            feature="urn:room:{1}",
            property=PROPERTY + name,
            **({"unit": DEG_C} if name == "temperature" else {}),
        )
        for name in ("temperature", "occupancy", "opening")
    ]


def settings(folder: Path) -> Config:
    """The settings of the house's gateway."""
    return gateways.settings(folder, gateways.write_profile(folder, house()))


def publish(gateway: Gateway, *publications: tuple[str, bytes]) -> None:
    """Send, and wait until all is acknowledged; to be called in a thread of its own."""
    with Device(gateway.mqtt_port) as device:
        device.publish(publications)


async def send(gateway: Gateway, *publications: tuple[str, bytes]) -> None:
    """As `publish`, beside the loop."""
    await asyncio.to_thread(publish, gateway, *publications)


def url(gateway: Gateway, place: str = "") -> str:
    """The page's address; `place` is what stands behind `#/`."""
    return f"http://{LOOPBACK}:{gateway.http_port}/" + (f"#/{place}" if place else "")


@dataclass
class Seat:
    """A browser that somebody sits before. What its console says is kept, and may not be errors."""

    browser: BrowserContext
    told: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    async def open(self, address: str, size: str = "desktop", theme: str = "light") -> Page:
        """A new window of the page."""
        page = await self.browser.new_page()
        width, height = SIZES[size]
        await page.set_viewport_size({"width": width, "height": height})
        await page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.told.append(str(error)))
        await page.goto(address)
        return page

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.told.append(message.text)

    @contextmanager
    def may_say(self, *parts: str) -> Iterator[None]:
        """Errors with one of these texts in them are what this part of a test is about."""
        self.expected.extend(parts)
        yield

    async def leave(self) -> None:
        """Close every window, before the gateway goes away behind them."""
        for page in list(self.browser.pages):
            await page.close()

    def assert_quiet(self) -> None:
        """No script failed, and the Content-Security-Policy was not touched."""
        unexpected = [each for each in self.told if not any(part in each for part in self.expected)]
        assert unexpected == [], unexpected


@asynccontextmanager
async def seat(browser: Browser) -> AsyncIterator[Seat]:
    """A place before a browser, with nothing in it of who sat there before."""
    context = await browser.new_context()
    try:
        context.set_default_timeout(WAIT_S * 1000)
        one = Seat(context)
        yield one
        one.assert_quiet()
    finally:
        await context.close()


@asynccontextmanager
async def at_home(
    browser: Browser, folder: Path, config: Config | None = None
) -> AsyncIterator[tuple[Gateway, Seat]]:
    """A gateway whose house has told everything once, and somebody before the browser.

    It is called as no machine that makes pictures is.
    """
    # Who sits there leaves first: a page whose gateway goes says so in its console.
    with patch("gateway.app.access.gethostname", return_value=NAME):
        async with gateways.running(config or settings(folder)) as own, seat(browser) as one:
            await send(own, *SAMPLES)
            yield own, one
            await one.leave()


async def pictures(page: Page, name: str, looks: Sequence[Look] = EVERY_LOOK) -> None:
    """What it looks like, in both themes on a desk and on a phone or so: build/screenshots."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for size, theme in looks:
        width, height = SIZES[size]
        await page.set_viewport_size({"width": width, "height": height})
        await page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        await page.screenshot(path=PICTURES / f"{name}-{size}-{theme}.png")


async def until(condition: Callable[[], object], timeout_s: float = WAIT_S) -> None:
    """Look again and again, where nobody tells."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.02)
