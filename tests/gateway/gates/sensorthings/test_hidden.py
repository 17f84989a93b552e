"""Nothing of a graph that a client may not read is told, nor counted, nor found by a filter."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from paho.mqtt.enums import MQTTProtocolVersion
from pyoxigraph import NamedNode

from gateway.app.gateway import Gateway
from gateway.config.settings import SecuritySettings
from gateway.engine import UpdateRequest
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.security.identity import Kind
from gateway.security.policy import Policy
from tests.gateway.gates.admin.access.secured import identities
from tests.gateway.gates.mqtt.mosquitto.beside import Person
from tests.gateway.gates.sensorthings.test_sensorthings import STA, told
from tests.gateway.security.clients import identity
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    mapping,
    running,
    settings,
    write_profile,
)

HIDDEN = NamedNode("urn:hidden")
READER = Policy(query=frozenset({DEFAULT_GRAPH}))
POLICIES = {
    "reader": READER,
    "insider": Policy(query=frozenset({HIDDEN})),
    "both": Policy(query=frozenset({DEFAULT_GRAPH, HIDDEN})),
    "sensor": Policy(publish=frozenset({"room/+"})),
}

SECRET = """
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX geo: <http://www.opengis.net/ont/geosparql#>
INSERT DATA { GRAPH <urn:hidden> {
  <urn:o> a sosa:Observation ; sosa:madeBySensor <urn:sensor:hall> ;
    sosa:observedProperty <urn:property:temperature> ; sosa:hasFeatureOfInterest <urn:room:hall> ;
    sosa:hasSimpleResult 99 ; sosa:resultTime "2026-03-02T09:00:00Z"^^xsd:dateTime ;
    sosa:hasResult <urn:result> .
  <urn:result> <http://qudt.org/schema/qudt/hasUnit> <http://qudt.org/vocab/unit/KiloGM> .
  <urn:o2> a sosa:Observation ; sosa:madeBySensor <urn:s> ; sosa:observedProperty <urn:p> ;
    sosa:hasFeatureOfInterest <urn:f> ; sosa:hasSimpleResult 99 ;
    sosa:resultTime "2026-03-02T09:00:00Z"^^xsd:dateTime .
  <urn:sensor:hall> sosa:isHostedBy <urn:thing> ; rdfs:label "Aardvark" ; rdfs:comment "Aardvark" .
  <urn:room:hall> rdfs:label "Aardvark" ; geo:hasGeometry <urn:place> .
  <urn:place> geo:asWKT "POINT(8 49)"^^geo:wktLiteral .
  <urn:t> a sosa:Platform . <urn:s> a sosa:Sensor . <urn:p> a sosa:ObservableProperty .
  <urn:f> a sosa:FeatureOfInterest .
  <urn:node> gw:ofSensor <urn:s> ; gw:ofProperty <urn:p> ; gw:ofFeature <urn:f> } }"""

SETS = {
    "Things": "Locations,HistoricalLocations,Datastreams($expand=Observations($count=true))",
    "Locations": "Things,HistoricalLocations",
    "HistoricalLocations": "Thing,Locations",
    "Datastreams": "Thing($expand=Locations),Sensor,ObservedProperty,Observations($count=true)",
    "Sensors": "Datastreams($count=true;$expand=Observations($count=true;$top=1))",
    "ObservedProperties": "Datastreams($count=true)",
    "Observations": "Datastream($expand=Thing),FeatureOfInterest",
    "FeaturesOfInterest": "Observations($count=true;$filter=result gt 0)",
}
CONDITIONS = {
    "Things": "Datastreams/Observations/result gt 50 or Datastreams/Sensor/name eq 'Aardvark'",
    "Locations": "st_within(location,geography'POLYGON((7 48,9 48,9 50,7 50,7 48))')",
    "HistoricalLocations": "Thing/name ne 'x'",
    "Datastreams": "Observations/result gt 50 or unitOfMeasurement/name eq 'KiloGM'"
    " or Thing/name eq 'Aardvark' or not (Sensor/name ne 'Aardvark')",
    "Sensors": "startswith(name,'A') or Datastreams/Observations/result eq 99",
    "ObservedProperties": "Datastreams/Thing/Locations/name ne null or length(name) gt 0",
    "Observations": "result gt 50 or Datastream/Thing/name eq 'Aardvark' or not (result lt 50)",
    "FeaturesOfInterest": "Observations/result gt 50 or name eq 'Aardvark'",
}


def urls() -> list[str]:
    """Each set in every way that could tell of more."""
    found = [""]
    for name, expansion in SETS.items():
        found += [
            f"/{name}?$count=true&$orderby=id",
            f"/{name}?$count=true&$top=1&$skip=1&$orderby=id",
            f"/{name}?$top=1&$expand={expansion}",
            f"/{name}?$count=true&$top=0&$filter={CONDITIONS[name]}",
            f"/{name}?$filter={CONDITIONS[name]}&$expand={expansion}",
            f"/{name}?$filter=not ({CONDITIONS[name]})&$count=true&$orderby=id",
        ]
    found += [
        "/Things?$orderby=name desc&$resultFormat=GeoJSON",
        "/Observations?$resultFormat=dataArray&$count=true&$orderby=result desc",
        "/Datastreams?$orderby=Thing/name,unitOfMeasurement/symbol&$select=name",
    ]
    return found


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    """A gateway that asks who comes."""
    store = identities(folder)
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.USER))
    mappings = [mapping("temperature", "room/+", selector="$.t", time="$.at", unit="Cel")]
    config = settings(folder, write_profile(folder, mappings), kind="disk", latest=3)
    security = SecuritySettings(enabled=True)
    async with running(config.model_copy(update={"security": security})) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            yield gateway, client


async def token(client: httpx.AsyncClient, name: str) -> dict[str, str]:
    form, auth = {"grant_type": "client_credentials"}, (f"{name}-id", f"{name}-secret")
    answer = await client.post("/oauth/token", data=form, auth=auth)
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


async def everything(client: httpx.AsyncClient, headers: dict[str, str]) -> dict[str, str]:
    """What is told at every address, and wherever a next page leads."""
    texts: dict[str, str] = {}
    for url in urls():
        answer = await client.get(STA + url, headers=headers)
        assert answer.status_code == 200, (url, answer.text)
        texts[url] = answer.text
        page = answer.json()
        while following := page.get("@iot.nextLink"):
            answer = await client.get(following, headers=headers)
            assert answer.status_code == 200, (following, answer.text)
            texts[following] = answer.text
            page = answer.json()
    streams = (await client.get(f"{STA}/Datastreams", headers=headers)).json()["value"]
    for stream in streams:
        past = f"{stream['@iot.selfLink']}/Observations?$count=true"
        texts[past] = (await client.get(past, headers=headers)).text
    return texts


def publish(port: int) -> None:
    """As a device that the gateway knows."""
    protocol = MQTTProtocolVersion.MQTTv311
    with Person(port, "sensor", "sensor-secret", protocol=protocol) as device:
        for topic, payload in [*told("hall", 1, 2, 3), *told("attic", 4)]:
            device.publish(topic, payload.decode())


async def test_what_a_hidden_graph_says_changes_no_answer_by_a_byte(tmp_path: Path) -> None:
    async with house(tmp_path) as (gateway, client):
        await asyncio.to_thread(publish, gateway.mqtt_port)
        headers = await token(client, "reader")
        before = await everything(client, headers)
        assert '"@iot.count":4' in before["/Observations?$count=true&$orderby=id"]
        await gateway.scheduler.update(UpdateRequest(PREFIXES + SECRET))
        assert await everything(client, headers) == before
        # It is about the default graph for whoever may read the other one too.
        both = await token(client, "both")
        for url in urls()[1::6]:
            assert (await client.get(STA + url, headers=both)).text == before[url]
        insider = await token(client, "insider")
        for url in urls()[1:]:
            answer = await client.get(STA + url, headers=insider)
            assert answer.status_code == 403, url
        # What is hidden is seen once it is said where it may be read, so it would have been told.
        await gateway.scheduler.update(UpdateRequest(PREFIXES + "ADD <urn:hidden> TO DEFAULT"))
        after = await everything(client, headers)
        assert all("Aardvark" not in text for text in before.values())
        assert any("Aardvark" in text for text in after.values())
