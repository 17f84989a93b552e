"""A device that means ill: markup, quotes, right-to-left overrides, a megabyte of text.

It changes its own text and nothing else: no script runs, the policy is not even touched, and what
other devices tell stands where it stood.
"""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from gateway.app.gateway import Gateway
from gateway.config.settings import Config
from tests.gateway.dashboard.opened import at_home, house, send, url
from tests.kit import gateways
from tests.kit.gateways import mapping, update

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

MARKUP = 'zz <img src=x onerror="window.hit=1"><script>window.hit=1</script></script></title>'
OVERRIDE = "\u202e\u2067\u200fabc\u0000-\u2066"
LONGEST = 1_000_000
"""Characters of a value: more than a device may send, so that an UPDATE writes it."""
PAYLOADS = {
    "markup": MARKUP,
    "quotes": "\"'`${window.hit=1}{{hit}}javascript:window.hit=1//",
    "override": f"{OVERRIDE.replace(chr(0), '')}שלום 12 °C",
    "long": "W" * 10_000,
    "combined": "Z" + "\u0338\u0489" * 500,
}
WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (each) =>
  window.violations.push(`${each.violatedDirective} ${each.blockedURI} ${each.sample}`));
"""
FRIENDS = """
() => [...document.querySelectorAll('.line')]
  .filter((line) => line.dataset.stream.includes('urn:room:'))
  .map((line) => [...line.querySelectorAll('.what, .value, .digits, .unit, .age')].map((part) => {
    const { x, width, height } = part.getBoundingClientRect();
    return [line.dataset.stream, part.className, x, width, height,
      part.className === 'age quiet small' ? '' : part.textContent];
  }))
"""
FOREIGN = """
() => ['img', 'script', 'iframe', 'object', 'style', 'base']
  .flatMap((name) => [...document.querySelectorAll(`#page ${name}`)]).map((each) => each.outerHTML)
"""


def hostile(folder: Path) -> Config:
    """The house, and a device that tells texts of its own; names are in its topics."""
    words = [
        mapping(
            f"hostile-{name}",
            f"zz/+/{name}",
            format="scalar",
            selector="string",
            sensor="urn:sensor:zz-{1}",
            feature="urn:zz:{1}",
            property=f"urn:property:{name}",
        )
        for name in PAYLOADS
    ]
    profile = gateways.write_profile(folder, [*house(), *words])
    return gateways.settings(folder, profile)


async def _arm(gateway: Gateway) -> None:
    """Names and units that mean ill as well."""
    label = MARKUP.replace("\\", "\\\\").replace('"', '\\"')
    await update(
        gateway,
        f"""INSERT DATA {{ <urn:zz:dev> <http://www.w3.org/2000/01/rdf-schema#label> "{label}" .
        <urn:property:override> <http://www.w3.org/2000/01/rdf-schema#label> "\u202eevil" .
        <urn:property:long> <http://www.w3.org/2000/01/rdf-schema#label> "{"N" * 5000}" }}""",
    )
    await update(
        gateway,
        f"""DELETE {{ ?o sosa:hasSimpleResult ?v }}
        INSERT {{ ?o sosa:hasSimpleResult "{"W" * LONGEST}" }}
        WHERE {{ ?o sosa:observedProperty <urn:property:long> ; sosa:hasSimpleResult ?v }}""",
    )
    await update(
        gateway,
        """INSERT { ?o sosa:hasResult <urn:zz:r> . <urn:zz:r> qudt:hasUnit
        <urn:unit:%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E> }
        WHERE { ?o sosa:observedProperty <urn:property:quotes> }""",
    )


async def _assert_harmless(page: Page) -> None:
    assert await page.evaluate("window.hit") is None
    assert await page.evaluate("window.violations") == []
    assert await page.evaluate(FOREIGN) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.slow)])
async def test_it_changes_its_own_text_alone(browser: Browser, tmp_path: Path, size: str) -> None:
    async with at_home(browser, tmp_path, hostile(tmp_path)) as (gateway, seat):
        page = await seat.open("about:blank", size)
        await page.add_init_script(WATCH)
        await page.goto(url(gateway))
        await expect(page.locator(".line")).to_have_count(5)
        await expect(page.locator("[data-connection]").first).to_have_attribute(
            "data-connection", "live"
        )
        before = await page.evaluate(FRIENDS)
        await send(gateway, *((f"zz/dev/{name}", text.encode()) for name, text in PAYLOADS.items()))
        await _arm(gateway)
        await expect(page.locator(".line")).to_have_count(5 + len(PAYLOADS))
        evil = page.locator(".group").last
        await expect(evil.get_by_role("heading")).to_have_text(MARKUP)
        await expect(evil.locator(".digits", has_text="zz <img src=x")).to_have_count(1)
        await expect(evil.locator(".unit", has_text="<img src=x")).to_have_count(1)
        assert await page.evaluate(FRIENDS) == before
        await _assert_harmless(page)
        for name in PAYLOADS:
            await _open(page, name)
        for other in ("devices", "ask", "control", "health", "why", "now"):
            await page.goto(url(gateway, other))
            await expect(page.locator("main")).not_to_be_empty()
            await _assert_harmless(page)


async def _open(page: Page, name: str) -> None:
    """Open a stream of the device: history, messages and mapping."""
    await page.locator(f'.line[data-stream*="urn:property:{name}"] .what').click()
    detail = page.locator("aside.detail")
    await expect(detail.locator(".messages li")).to_have_count(1)
    await expect(detail.get_by_role("heading", name="Mapping")).to_be_visible()
    await _assert_harmless(page)
    await page.keyboard.press("Escape")
    await expect(detail).to_have_count(0)
