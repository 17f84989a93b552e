"""What devices announce becomes proposals, and a proposal a mapping once somebody confirms it."""

import asyncio
from pathlib import Path
from typing import Any

from tests.gateway.admin.onboarding.devices import bridge_devices
from tests.gateway.admin.onboarding.house import a_house, config
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.kit.gateways import MAPPINGS, PREFIXES, publish, rows_of, update, watch

DEVICES = "zigbee2mqtt/bridge/devices"
VALUES = PREFIXES + "SELECT ?value { ?observation sosa:hasSimpleResult ?value }"
PROPOSED = (
    PREFIXES
    + """SELECT ?s { GRAPH <https://sosa-gateway.example/graph/proposals>
    { ?p a gw:Proposal ; gw:proposalStatus ?s } }"""
)


def by_label(found: list[dict[str, Any]], label: str) -> dict[str, Any]:
    return next(each for each in found if each["label"] == label)


async def test_from_an_announcement_to_a_reading(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen"))])
        found = await api.until(2)
        assert {each["status"] for each in found} == {"proposed"}
        await publish(gateway.mqtt_port, [("zigbee2mqtt/kitchen", b'{"temperature":20}')])
        assert rows_of(gateway, VALUES) == []
        warm = by_label(found, "kitchen temperature")
        assert warm["device"] == "kitchen"
        body = {"mapping": {"feature": "urn:room:kitchen"}}
        answer = await api.ask("POST", f"/mappings/proposals/{warm['id']}/confirm", body)
        assert answer["changed"]
        told = await watch(gateway, VALUES)
        await publish(
            gateway.mqtt_port, [("zigbee2mqtt/kitchen", b'{"temperature":21.5,"humidity":40}')]
        )
        await told.until(lambda: told.values() == ["21.5"])
        (listed,) = (await api.ask("GET", "/mappings"))["mappings"]
        assert listed["feature"] == "urn:room:kitchen"
        assert rows_of(gateway, PREFIXES + "SELECT ?f { ?o sosa:hasFeatureOfInterest ?f }") == [
            ["urn:room:kitchen"]
        ]
        statuses = sorted(each["status"] for each in await api.proposals())
        assert statuses == ["confirmed", "proposed"]
        again = await api.ask("POST", f"/mappings/proposals/{warm['id']}/confirm", body)
        assert not again["changed"]


async def test_a_device_is_described_by_sosa(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("plug"))])
        (plug,) = await api.until(1)
        assert plug["command"] == {
            "topic": "zigbee2mqtt/plug/set",
            "payload": '{"state":{value}}',
            "values": ["OFF", "ON"],
        }
        await api.ask("POST", "/mappings/proposals/confirm", {"ids": [plug["id"]]})
        text = """
            SELECT ?topic ?label ?device { ?sensor a sosa:Sensor ; sosa:observes ?property ;
                <http://www.w3.org/2000/01/rdf-schema#label> ?label ; sosa:isHostedBy ?platform .
              ?platform <http://www.w3.org/2000/01/rdf-schema#label> ?device .
              GRAPH <https://sosa-gateway.example/graph/mappings> {
                ?actuator a sosa:Actuator ; gw:commandTopic ?topic ; gw:confirmedBy ?sensor ;
                  <http://www.w3.org/ns/ssn/forProperty> ?property .
                ?mapping gw:actuator ?actuator ; gw:sensor ?sensor } }"""
        assert rows_of(gateway, PREFIXES + text) == [["zigbee2mqtt/plug/set", "plug state", "plug"]]
        (listed,) = (await api.ask("GET", "/mappings"))["mappings"]
        assert listed["actuator"].endswith("/actuator/zigbee2mqtt/0x00158d0000000000/state")
        names = (
            f"SELECT ?n {{ GRAPH <{MAPPINGS}> {{ ?a <https://sosa-gateway.example/ns#name> ?n }} }}"
        )
        assert rows_of(gateway, names) == [["plug-state"]]
        # Another one that would be called so has no name: by two nobody could be called.
        other = bridge_devices("hall", "plug")
        await publish(gateway.mqtt_port, [("upstairs/bridge/devices", other)])
        found = by_label(await api.until(4), "plug state")
        ids = [each["id"] for each in await api.proposals() if each["label"] == "plug state"]
        assert found["id"] in ids
        await api.ask("POST", "/mappings/proposals/confirm", {"ids": ids})
        assert rows_of(gateway, names) == [["plug-state"]]
        assert "error" not in listed


async def test_only_named_families_are_accepted_and_questions_never(tmp_path: Path) -> None:
    async with a_house(config(tmp_path, auto_accept=["zigbee2mqtt"])) as (gateway, api):
        devices = bridge_devices("kitchen", unit="bananas")
        await publish(gateway.mqtt_port, [(DEVICES, devices)])
        found = await api.until(2)
        assert by_label(found, "kitchen humidity")["status"] == "confirmed"
        warm = by_label(found, "kitchen temperature")
        assert (warm["status"], "bananas" in warm["question"]) == ("proposed", True)
        (change,) = (await api.ask("GET", "/mappings/history"))["changes"]
        assert (change["kind"], change["by"], len(change["after"])) == ("accept", "", 1)
        # What somebody has taken back is not accepted again when it is announced again.
        await api.ask("POST", "/mappings/undo", {"id": change["id"]})
        await publish(gateway.mqtt_port, [(DEVICES, devices)])
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen", "hall"))])
        found = await api.until(4)
        assert by_label(found, "kitchen humidity")["status"] == "proposed"
        assert by_label(found, "hall temperature")["status"] == "confirmed"


async def test_an_accepted_mapping_follows_its_device_and_keeps_what_somebody_set(
    tmp_path: Path,
) -> None:
    async with a_house(config(tmp_path, auto_accept=["zigbee2mqtt"])) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen"))])
        await api.until(2, status="confirmed")
        mine = next(
            each
            for each in (await api.ask("GET", "/mappings"))["mappings"]
            if each["selector"] == "humidity"
        )
        await api.ask("POST", "/mappings/apply", {"replace": [{**mine, "feature": "urn:mine"}]})
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("pantry"))])  # renamed
        async with asyncio.timeout(20):
            topics: dict[str, str] = {}
            while topics.get("temperature") != "zigbee2mqtt/pantry":
                listed = (await api.ask("GET", "/mappings"))["mappings"]
                topics = {each["selector"]: each["topic"] for each in listed}
        assert topics["humidity"] == "zigbee2mqtt/pantry"
        features = {each["selector"]: each["feature"] for each in listed}
        assert features["humidity"] == "urn:mine"


async def test_withdrawn_and_rejected_proposals(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen", "hall"))])
        found = await api.until(4)
        kept = by_label(found, "hall humidity")
        unwanted = by_label(found, "kitchen humidity")
        await api.ask("POST", f"/mappings/proposals/{kept['id']}/confirm")
        await api.ask("POST", f"/mappings/proposals/{unwanted['id']}/reject")
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen"))])
        found = await api.until(2, status="withdrawn")
        assert {each["label"] for each in found} == {"hall temperature", "hall humidity"}
        assert [each["selector"] for each in (await api.ask("GET", "/mappings"))["mappings"]] == [
            "humidity"
        ]
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen", "hall"))])
        await api.until(0, status="withdrawn")
        assert [each["label"] for each in await api.proposals(status="rejected")] == [
            "kitchen humidity"
        ]
        assert [each["label"] for each in await api.proposals(status="confirmed")] == [
            "hall humidity"
        ]
        # A rejection is taken back; what was not rejected stays as it is.
        await api.ask("POST", "/mappings/proposals/reopen", {"ids": [unwanted["id"], kept["id"]]})
        assert await api.proposals(status="rejected") == []
        assert [each["label"] for each in await api.proposals(status="confirmed")] == [
            "hall humidity"
        ]


async def test_proposals_survive_a_restart_and_are_data_to_subscribe_to(tmp_path: Path) -> None:
    given = config(tmp_path)
    async with a_house(given) as (gateway, api):
        told = await watch(gateway, PROPOSED)
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen"))])
        await told.until(lambda: told.count_added == 2)
        (first, second) = await api.proposals()
        await api.ask("POST", f"/mappings/proposals/{first['id']}/confirm")
    async with a_house(given) as (gateway, api):
        found = {each["id"]: each["status"] for each in await api.proposals()}
        assert found == {first["id"]: "confirmed", second["id"]: "proposed"}
        # What the list leaves out after a restart is withdrawn as well.
        await publish(gateway.mqtt_port, [(DEVICES, b"[]")])
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen")), (DEVICES, b"")])
        await api.until(2, status="withdrawn")


async def test_a_family_that_is_not_wanted_is_not_heard(tmp_path: Path) -> None:
    async with a_house(config(tmp_path, families=["tasmota"])) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen"))])
        await publish(gateway.mqtt_port, [("x/y", b"21.5")])
        async with asyncio.timeout(20):
            while len(topics := (await api.ask("GET", "/mappings/unknown"))["topics"]) != 2:
                await asyncio.sleep(0.02)
        assert await api.proposals() == []
        assert {each["topic"] for each in topics} == {DEVICES, "x/y"}


async def test_confirming_with_what_does_not_compile_changes_nothing(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen"))])
        first, second = await api.until(2)
        for ids, mapping, status, words in (
            ([first["id"]], {"topic": "a/#/b"}, 400, "topic_filter"),
            ([first["id"]], {"feature": "no iri"}, 400, "feature"),
            ([first["id"]], {"colour": "red"}, 400, "colour"),
            ([first["id"]], {"id": "urn:x"}, 400, "id"),
            ([first["id"], second["id"]], {"unit": "K"}, 400, "cannot be the same"),
            (["000000000000"], {}, 404, "000000000000"),
        ):
            body = {"ids": ids, "mapping": mapping}
            answer = await api.post("/mappings/proposals/confirm", json=body)
            assert (answer.status_code, words in answer.text) == (status, True), answer.text
        assert (await api.ask("GET", "/mappings"))["mappings"] == []
        assert (await api.ask("GET", "/mappings/history"))["changes"] == []
        both = {"ids": [first["id"], second["id"]], "mapping": {"feature": "urn:room"}}
        await api.ask("POST", "/mappings/proposals/confirm", both)
        listed = (await api.ask("GET", "/mappings"))["mappings"]
        assert [each["feature"] for each in listed] == ["urn:room"] * 2


async def test_a_long_list_of_devices_reaches_us_and_a_long_reading_does_not(
    tmp_path: Path,
) -> None:
    names = [f"thermometer {number}" for number in range(400)]
    devices = bridge_devices(*names)
    assert len(devices) > 65_536
    async with a_house(config(tmp_path)) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, devices)])
        await api.until(800)
        async with await RawClient.connect(gateway.mqtt_port, "lamp") as lamp:
            await lamp.publish("zigbee2mqtt/lamp", devices)
        (entry,) = gateway.stages.reception.quarantine
        assert entry.message.topic == "zigbee2mqtt/lamp"
        assert entry.payload_bytes == len(devices)


async def test_dropping_everything_is_survived(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen"))])
        await api.until(2)
        await update(gateway, "DROP ALL")
        assert await api.proposals() == []
        await publish(gateway.mqtt_port, [(DEVICES, bridge_devices("kitchen"))])
        await api.until(2)
