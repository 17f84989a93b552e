"""A POST of entities is one change: all of it, or nothing."""

import asyncio
from pathlib import Path
from typing import Any

import httpx

from gateway.app.gateway import Gateway
from gateway.exchange.sensorthings.index import digest
from tests.gateway.gates.sensorthings.test_sensorthings import STA, datastream, served, values
from tests.kit.gateways import MAPPINGS, update

THING, PROPERTY = "urn:my:hall", "urn:property:air"


def named(sensor: str, **members: object) -> dict[str, Any]:
    """A Datastream of which every IRI is known before."""
    body = datastream()
    body["Thing"] = {"name": "hall", "properties": {"iri": THING}}
    body["Sensor"] = {"name": "thermometer", "properties": {"iri": sensor}}
    return {**body, **members}


async def taken(gateway: Gateway, sensor: str) -> None:
    """Something else stands where the mapping of this Datastream would."""
    identity = gateway.stages.storage.identity
    iri = f"{identity.node.value}/mapping/sensorthings/{digest(chr(10).join(key(sensor)))}"
    said = f'<{iri}> a gw:Mapping ; gw:topicFilter "mine" ; gw:format "scalar"'
    await update(gateway, f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ {said} }} }}")


def key(sensor: str) -> tuple[str, str, str]:
    return sensor, PROPERTY, THING


def size(gateway: Gateway) -> int:
    return len(gateway.scheduler.engine.store)


async def post(client: httpx.AsyncClient, path: str, body: object, status: int) -> Any:
    answer = await client.post(f"{STA}/{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_a_datastream_whose_mapping_is_refused_leaves_nothing_of_what_it_names(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as (gateway, client):
        await taken(gateway, "urn:my:second")
        before = size(gateway)
        refused = await post(client, "Datastreams", named("urn:my:second"), 409)
        assert "mapping" in refused["error"]["message"]
        streams = [
            {name: value for name, value in named(sensor).items() if name != "Thing"}
            for sensor in ("urn:my:first", "urn:my:second")
        ]
        thing = {"name": "hall", "properties": {"iri": THING}, "Datastreams": streams}
        await post(client, "Things", thing, 409)
        assert size(gateway) == before
        for each in ("Things", "Sensors", "ObservedProperties", "Locations", "Datastreams"):
            assert await values(client, each) == []
        await post(client, "Things", {**thing, "Datastreams": streams[:1]}, 201)
        (stream,) = await values(client, "Datastreams", expand="Thing,Sensor,ObservedProperty")
        assert stream["Sensor"]["properties"]["iri"] == "urn:my:first"
        assert stream["ObservedProperty"]["definition"] == PROPERTY
        assert stream["Thing"]["properties"]["iri"] == THING


async def test_of_two_who_post_the_same_datastream_at_once_one_has_made_it(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await values(client, "Things")  # the index is there before both
        bodies = [named("urn:my:first", name=name) for name in ("one", "other")]
        answers = await asyncio.gather(
            *(client.post(f"{STA}/Datastreams", json=body) for body in bodies)
        )
        assert sorted(each.status_code for each in answers) == [201, 409]
        (made,) = [each for each in answers if each.status_code == 201]
        (stream,) = await values(client, "Datastreams")
        assert stream["name"] == made.json()["name"]
        assert len(gateway.stages.reception.mappings.registry.topic_filters) == 3
