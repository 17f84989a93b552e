"""Whatever is asked, and however often, is answered within the limits, and others are too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from urllib.parse import quote

import httpx
import pytest

from gateway.app.gateway import Gateway
from tests.gateway.gates.sensorthings.test_sensorthings import STA, served
from tests.kit.gateways import update

STREAMS = 1_500
QUERY_S = 1
PATIENCE_S = 20.0
"""A busy machine; without limits it would be minutes."""

REFUSED = {400, 413, 429, 503}


def nested(*names: str, options: str = "") -> str:
    """An expansion in an expansion in an expansion."""
    name, *others = names
    inner = [f"$expand={nested(*others, options=options)}"] if others else []
    return f"{name}({';'.join([*inner, options or '$top=1000'])})"


ROUND = ("Datastreams", "ObservedProperty") * 3
LONG = " add ".join(["length(concat(name,description))"] * 20)
WIDE = ",".join(
    f"Datastreams($expand={each})"
    for each in ("Thing", "Sensor", "ObservedProperty", "Observations")
)
ATTACKS = {
    "all behind all": f"ObservedProperties?$top=1000&$expand={nested(*ROUND)}",
    "sorted again and again": "ObservedProperties?$expand="
    + nested(*ROUND, options="$top=3;$orderby=id desc"),
    "sorted by the store again and again": "ObservedProperties?$expand="
    + nested(*ROUND[:4], options="$top=1000;$orderby=name"),
    "filtered at every depth": "ObservedProperties?$expand="
    + nested(*ROUND, options=f"$top=1000;$filter=({LONG}) gt 0"),
    "several of one name": f"Things?$top=1000&$expand={WIDE}",
    "a path around": "Things?$filter=Datastreams/ObservedProperty/Datastreams/Thing/Datastreams/"
    "Observations/result gt 5",
    "paths around, many": "Datastreams?$filter="
    + " or ".join(
        f"Thing/Datastreams/ObservedProperty/Datastreams/Observations/result eq {n}"
        for n in range(90)
    ),
    "arithmetic": f"Datastreams?$filter={' and '.join([f'({LONG}) gt 0'] * 3)}",
    "keys of an order": "Datastreams?$orderby="
    + ",".join(f"length(concat(name,'{n}')) mod {n + 2} desc" for n in range(8)),
    "too many keys": "Datastreams?$orderby=" + ",".join(["name desc"] * 2_000),
    "far behind": "Datastreams?$skip=1000000000&$top=1000&$count=true",
    "beyond far": "Datastreams?$skip=99999999999999999999999",
    "a long text": f"Things?$filter=substringof('{'a' * 9_000}',concat(name,'{'b' * 7_000}'))",
    "in quotes": "Things?$filter=name eq '" + "''" * 8_000 + "'",
    "in parentheses": "Things?$filter=" + "(" * 16_000,
    "minus": "Things?$filter=" + "-" * 16_000 + "1 eq 1",
    "not": "Things?$filter=" + "not " * 4_000 + "true",
    "as a map": f"Things?$resultFormat=GeoJSON&$top=1000&$expand={nested(*ROUND[:3])}",
    "a polygon": "Things?$filter=st_within(Locations/location,geography'POLYGON(("
    + ",".join(f"{n % 90} {n % 89}" for n in range(2_500))
    + "))')",
}


@asynccontextmanager
async def crowded(folder: Path) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    """All streams are of one property, and half of them at one Thing."""
    limits = {"query_s": QUERY_S, "queries": 2, "queries_waiting": 8, "client_queries": 6}
    async with served(folder, **limits) as (gateway, client):
        told = " ".join(
            f"<urn:o:{n}> a sosa:Observation ; sosa:madeBySensor <urn:s:{n}> ; "
            f"sosa:observedProperty <urn:p> ; sosa:hasFeatureOfInterest <urn:f:{n % 50}> ; "
            f'sosa:hasSimpleResult {n} ; sosa:resultTime "2026-03-02T07:00:00Z"^^xsd:dateTime . '
            + (f"<urn:s:{n}> sosa:isHostedBy <urn:thing> ." if n % 2 else "")
            for n in range(STREAMS)
        )
        await update(gateway, f"INSERT DATA {{ {told} }}")
        answer = await client.get(f"{STA}/Datastreams?$top=1&$count=true")
        assert answer.json()["@iot.count"] == STREAMS
        yield gateway, client


async def attacked(client: httpx.AsyncClient, url: str) -> tuple[int, float, int]:
    """Status, seconds and length of the answer."""
    name, _, query = url.partition("?")
    began = monotonic()
    answer = await client.get(f"{STA}/{name}?{quote(query, safe='$&=(),;/')}")
    return answer.status_code, monotonic() - began, len(answer.content)


@pytest.mark.alone
@pytest.mark.timeout(240)
async def test_no_request_takes_more_than_the_limits_allow(tmp_path: Path) -> None:
    async with crowded(tmp_path) as (gateway, client):
        threads = asyncio.Semaphore(2)

        async def answered(url: str) -> tuple[int, float, int]:
            async with threads:
                return await attacked(client, url)

        answers = await asyncio.gather(*map(answered, ATTACKS.values()))
        said = {}
        for name, (status, took_s, length) in zip(ATTACKS, answers, strict=True):
            said[name] = status
            assert status == 200 or status in REFUSED, name
            assert took_s < PATIENCE_S, (name, took_s)
            assert length < 64 * 1024 * 1024, name
        assert {said[name] for name in ("too many keys", "in parentheses", "minus", "not")} == {413}
        assert said["far behind"] == 200
        assert said["beyond far"] == 400
        statuses = await everything_at_once(client)
        assert len(statuses) == len(ATTACKS)
        assert 429 in statuses
        assert (await client.get(f"{STA}/Things?$top=1")).status_code == 200
        assert gateway.stages.indexing.is_kept


async def everything_at_once(client: httpx.AsyncClient) -> list[int]:
    """The statuses; meanwhile others are answered."""
    attacking = asyncio.gather(*(attacked(client, url) for url in ATTACKS.values()))
    began = monotonic()
    health = await client.get("/health")
    assert health.status_code == 200
    assert monotonic() - began < PATIENCE_S
    found = await attacking
    assert all(took_s < PATIENCE_S + QUERY_S for _, took_s, _ in found)
    return [status for status, _, _ in found]
