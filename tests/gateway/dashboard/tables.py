"""What the page's list shows, and what a fresh query says that it must show."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic

import httpx
from playwright.async_api import Page

from tests.kit.gateways import WAIT_S

WORDS = {
    "occupancy": {"true": "somebody", "false": "nobody"},
    "opening": {"true": "open", "false": "closed"},
}
SYMBOLS = {"": "", "http://qudt.org/vocab/unit/DEG_C": "°C"}
QUERY = """
PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX qudt: <http://qudt.org/schema/qudt/>
SELECT ?sensor ?property ?place ?value ?unit {
  ?o a sosa:Observation ; sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ;
     sosa:hasFeatureOfInterest ?place ; sosa:hasSimpleResult ?value
  OPTIONAL { ?o sosa:hasResult/qudt:hasUnit ?unit } }
"""
_LINES = """
() => Object.fromEntries([...document.querySelectorAll('.line')].map((line) =>
  [line.dataset.stream, line.querySelector('.value').textContent.trim()]))
"""


async def shown(page: Page) -> Mapping[str, str]:
    """A stream's key to its value with unit, of every line that is drawn."""
    found: Mapping[str, str] = await page.evaluate(_LINES)
    return found


async def fresh(address: str) -> Mapping[str, str]:
    """The same of what the store has now, by a query at `address`."""
    accept = {"Accept": "application/sparql-results+json"}
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{address}/query", data={"query": QUERY}, headers=accept)
    rows = [
        {name: term["value"] for name, term in row.items()}
        for row in json.loads(answer.text)["results"]["bindings"]
    ]
    return {
        "\n".join(row[name] for name in ("sensor", "property", "place")): _told(row) for row in rows
    }


def _told(row: Mapping[str, str]) -> str:
    words = WORDS.get(row["property"].rpartition("/")[2], {})
    return f"{words.get(row['value'], row['value'])} {SYMBOLS[row.get('unit', '')]}".strip()


async def until_exact(page: Page, address: str, timeout_s: float = WAIT_S) -> Mapping[str, str]:
    """Wait until the page shows what a fresh query says; the assertion tells how they differ."""
    end = monotonic() + timeout_s
    while monotonic() < end:
        with suppress(httpx.HTTPError):
            if (told := await shown(page)) and told == await fresh(address):
                return told
        await asyncio.sleep(0.1)
    assert await shown(page) == await fresh(address)
    return {}
