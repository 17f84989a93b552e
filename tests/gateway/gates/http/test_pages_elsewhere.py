"""What pages of other origins learn and do in a real browser, and whose pages may."""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext

from gateway.app.gateway import Gateway
from gateway.config.settings import HttpSettings, WebSocketSettings
from tests.kit.chromium import chromium, pages_elsewhere
from tests.kit.gateways import (
    free_port,
    rows_of,
    running,
    settings,
    update,
    write_profile,
)
from tests.kit.metrics import metrics
from tests.paths import DATA

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.end_to_end]

Told: TypeAlias = dict[str, str]

WAYS = (DATA / "browser" / "ways_to_load.js").read_text(encoding="utf-8")
THERE, GONE = "rdf-graph-store?graph=urn:there", "rdf-graph-store?graph=urn:gone"
SUBSCRIBE = "subscribe?query=" + quote("SELECT * { ?s ?p ?o }")
INSERT = "update?update=" + quote("INSERT DATA { <urn:x> <urn:by> <urn:evil> }")

WRITTEN = "SELECT ?s { ?s <urn:by> <urn:evil> }"

WRITING, STREAMS = ("fetch POST", "form POST", "sandbox POST"), ("events", "WebSocket")

PLAIN = "gateway.test"
"""No name that browsers trust over http (W3C Secure Contexts), so they send no Sec-Fetch-Site."""

SITE = ("http://127.0.0.1:{elsewhere}/", "localhost")
PAGE = ("http://evil.test:{elsewhere}/", PLAIN)
HIDING_PAGE = ("http://evil.test:{elsewhere}/?policy=no-referrer", PLAIN)
ELSEWHERE = [
    SITE,
    ("http://localhost:{elsewhere}/", "localhost"),  # another port
    ("http://127.0.0.1:{elsewhere}/?policy=no-referrer", "localhost"),
    PAGE,
    HIDING_PAGE,
]
TELLING = ("object", "prefetch", "sandbox", "fetch no-cors", "frame")
"""Ways that tell where nobody refuses, and more: all take a second, so one page takes them."""

MAY = ["http://localhost:{http}/health", "http://dash.localhost:{elsewhere}/"]

REMAINS = {PAGE: {"sandbox"}, HIDING_PAGE: {"object", "prefetch", "sandbox"}}
"""Ways that tell all the same, since nothing in the request says that a page asks: THREATS.md."""


class Place(NamedTuple):
    """A gateway and a browser; pages of other origins are on the port `elsewhere`."""

    gateway: Gateway
    browser: BrowserContext
    elsewhere: int

    def url(self, path: str, host: str = "localhost") -> str:
        return f"http://{host}:{self.gateway.http_port}/{path}"

    async def told(self, page_url: str, *loads: tuple[str, Sequence[str]]) -> list[Told]:
        """What a page is told of each URL, which it loads in some ways, or in all for none."""
        page = await self.browser.new_page()
        try:
            await page.goto(page_url.format(elsewhere=self.elsewhere, http=self.gateway.http_port))
            return [await page.evaluate(WAYS, load) for load in loads]
        finally:
            await page.close()

    async def seen(self) -> dict[str, float]:
        """What the gateway has counted of queries, streams and UPDATEs."""
        counts = await metrics(self.gateway)
        wanted = ("queries", "subscriptions", "apart", "updates")
        return {name: value for name, value in counts.items() if name.startswith(wanted)}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    folder = tmp_path_factory.mktemp("pages")
    names = "--host-resolver-rules=MAP *.test 127.0.0.1"
    async with pages_elsewhere() as elsewhere:
        configured = f"http://dash.localhost:{elsewhere}"
        sections = {
            "http": HttpSettings(port=0, hosts=(PLAIN,), origins=(configured,)),
            "websocket": WebSocketSettings(port=free_port()),
        }
        config = settings(folder, write_profile(folder)).model_copy(update=sections)
        async with running(config) as gateway, chromium(folder / "profile", names) as browser:
            await update(gateway, "INSERT DATA { GRAPH <urn:there> { <urn:a> <urn:b> 1 } }")
            yield Place(gateway, browser, elsewhere)


@pytest.mark.parametrize("where", ELSEWHERE)
async def test_page_elsewhere_learns_nothing(place: Place, where: tuple[str, str]) -> None:
    """By no event, text or size that it is told; and the store is not asked."""
    (page, host), remains, before = where, REMAINS.get(where, set()), await place.seen()
    ways = () if where == SITE else TELLING
    there, gone = await place.told(
        page, (place.url(THERE, host), ways), (place.url(GONE, host), ways)
    )
    assert {way for way in there if there[way] != gone[way]} == remains
    assert not {way for way, told in there.items() if "urn:a" in told}
    assert remains or await place.seen() == before


@pytest.mark.parametrize("where", ELSEWHERE)
async def test_page_elsewhere_writes_and_follows_nothing(
    place: Place, where: tuple[str, str]
) -> None:
    (page, host), before = where, await place.seen()
    _, followed = await place.told(
        page, (place.url(INSERT, host), WRITING), (place.url(SUBSCRIBE, host), STREAMS)
    )
    assert followed == dict.fromkeys(STREAMS, "error")
    assert await place.seen() == before
    assert rows_of(place.gateway, WRITTEN) == []


async def test_address_that_a_person_types_is_answered(place: Place) -> None:
    page = await place.browser.new_page()
    answer = await page.goto(place.url(THERE))
    assert answer is not None
    assert (answer.status, "urn:a" in await answer.text()) == (200, True)
    await page.close()


@pytest.mark.parametrize("page", MAY)
async def test_own_pages_and_configured_ones_may(place: Place, page: str) -> None:
    """So the ways do tell and write where nobody refuses."""
    ways = ("object", "fetch cors")
    there, gone, *_ = await place.told(
        page,
        (place.url(THERE), ways),
        (place.url(GONE), ways),
        (place.url(INSERT), ("form POST",)),
    )
    assert (there["object"][:4], gone["object"][:5]) == ("load", "error")
    assert "<urn:a> <urn:b> 1" in there["fetch cors"]
    assert rows_of(place.gateway, WRITTEN) == [["urn:x"]]
    await update(place.gateway, "DELETE WHERE { <urn:x> ?p ?o }")


@pytest.mark.parametrize("page", MAY)
async def test_own_pages_and_configured_ones_follow_at_both_ports(place: Place, page: str) -> None:
    ports = (place.gateway.http_port, place.gateway.websocket_port)
    followed = await place.told(
        page,
        *((f"http://localhost:{port}/{SUBSCRIBE}", STREAMS) for port in ports),
    )
    assert followed == [dict.fromkeys(STREAMS, "open")] * 2
