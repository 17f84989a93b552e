"""A device is renamed, removed, or means something else than was taken: what its mappings do."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import QuerySolutions

from adapters.discovery import Discovered
from adapters.values.mapping import Mapping
from adapters.values.meaning import Meaning
from adapters.values.properties import Kind
from adapters.values.proposal import Command, Proposal
from gateway.admin.onboarding.announcements import Acceptance, Announcement, ProposalUpdater
from gateway.admin.onboarding.mentions import Mentions
from gateway.admin.onboarding.onboarding import Onboarding
from gateway.engine import Engine
from gateway.engine.request import SubscribeRequest
from gateway.rdf.namespaces import MAPPINGS_GRAPH
from gateway.store.update import change
from tests.gateway.admin.onboarding.house import Api, a_house, config
from tests.gateway.admin.onboarding.test_hostile import NOW
from tests.kit.gateways import PREFIXES, publish, rows_of, watch

DEVICES = "zigbee2mqtt/bridge/devices"
OLD = "https://sosa-gateway.example/id/property/"
NEW = "https://sosa-gateway.example/property/"
NODE = "https://sosa-gateway.example/id/test/mapping/zigbee2mqtt/0x1/contact"
ABSENT = PREFIXES + "SELECT ?sensor { ?stream gw:ofSensor ?sensor ; gw:absentSince ?t }"


def window(name: str) -> dict[str, Any]:
    """A window contact, as Zigbee2MQTT lists it."""
    exposes = [
        {"type": "binary", "name": "contact", "property": "contact", "access": 1}
        | {"value_on": False, "value_off": True},
        {"type": "numeric", "name": "battery", "property": "battery", "access": 1, "unit": "%"}
        | {"category": "diagnostic"},
        {"type": "numeric", "name": "odd", "property": "odd", "access": 1, "unit": "furlong"},
    ]
    return {
        "ieee_address": "0x1",
        "friendly_name": name,
        "type": "EndDevice",
        "power_source": "Battery",
        "definition": {"model": "MCCGQ11LM", "exposes": exposes},
    }


def listed(*devices: dict[str, Any]) -> bytes:
    return json.dumps(devices).encode()


async def mappings(api: Api) -> dict[str, dict[str, Any]]:
    return {each["selector"]: each for each in (await api.ask("GET", "/mappings"))["mappings"]}


async def test_a_renamed_device_keeps_its_room(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, listed(window("left")))])
        found = {each["mapping"]["selector"]: each["id"] for each in await api.until(3)}
        body = {"ids": [found["contact"]], "mapping": {"feature": "urn:hall"}}
        await api.ask("POST", "/mappings/proposals/confirm", body)
        await publish(gateway.mqtt_port, [(DEVICES, listed(window("right")))])
        (moved,) = await api.until(1, status="moved")
        assert moved["mapping"]["topic"] == "zigbee2mqtt/right"
        assert (await mappings(api))["contact"]["topic"] == "zigbee2mqtt/left"
        await api.ask("POST", f"/mappings/proposals/{moved['id']}/confirm")
        now = (await mappings(api))["contact"]
        assert (now["topic"], now["feature"]) == ("zigbee2mqtt/right", "urn:hall")
        await publish(gateway.mqtt_port, [(DEVICES, listed(window("left")))])
        await api.until(1, status="moved")
        await publish(gateway.mqtt_port, [(DEVICES, listed(window("right")))])  # back again
        await api.until(0, status="moved")
        await api.until(1, status="confirmed")


async def test_a_removed_device_is_absent_and_there_again_when_it_is_heard(tmp_path: Path) -> None:
    async with a_house(config(tmp_path, auto_accept=["zigbee2mqtt"])) as (gateway, api):
        told = await watch(gateway, ABSENT)
        await publish(gateway.mqtt_port, [(DEVICES, listed(window("left")))])
        await api.until(2, status="confirmed")
        await publish(gateway.mqtt_port, [(DEVICES, b"[]")])
        await told.until(lambda: len(told.values()) == 2)
        assert all("0x1" in each for each in told.values())
        await api.until(3, status="withdrawn")
        await publish(gateway.mqtt_port, [(DEVICES, listed(window("left")))])
        await api.until(2, status="confirmed")
        reading = b'{"contact":true,"battery":90}'
        await publish(gateway.mqtt_port, [("zigbee2mqtt/left", reading)])
        await told.until(lambda: not +told.answer)


async def test_all_is_confirmed_but_questions_and_the_battery_stays_with_its_device(
    tmp_path: Path,
) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        await publish(gateway.mqtt_port, [(DEVICES, listed(window("left")))])
        found = await api.until(3)
        body = {"ids": [each["id"] for each in found], "mapping": {"feature": "urn:hall"}}
        trial = {"all": True, **body}
        assert (await api.post("/mappings/proposals/confirm", json=trial)).status_code == 400
        answer = await api.ask("POST", "/mappings/proposals/confirm", {"all": True})
        assert [each["label"] for each in answer["left"]] == ["left odd"]
        assert "furlong" in answer["left"][0]["reason"]
        assert set(await mappings(api)) == {"contact", "battery"}
        await api.ask("POST", "/mappings/undo", {"id": answer["change"]["id"]})
        assert not await mappings(api)
        await api.ask("POST", "/mappings/proposals/confirm", body)
        features = {name: each["feature"] for name, each in (await mappings(api)).items()}
        assert features["contact"] == "urn:hall"
        assert features["battery"].endswith("/feature/zigbee2mqtt/0x1")
        await publish(gateway.mqtt_port, [("zigbee2mqtt/left", b'{"contact":true}')])
        query = PREFIXES + "SELECT ?v { ?o sosa:hasSimpleResult ?v }"
        told = await watch(gateway, query)
        await told.until(lambda: told.values() == ["false"])  # closed: not open
        assert rows_of(
            gateway,
            f"SELECT ?l {{ <{NEW}opening> <http://www.w3.org/2000/01/rdf-schema#label> ?l }}",
        ) == [["opening"]]


async def test_one_that_does_not_compile_does_not_fail_its_batch(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        devices = listed(window("left"), {**window("c#"), "ieee_address": "0x2"})
        await publish(gateway.mqtt_port, [(DEVICES, devices)])
        found = await api.until(6)
        ids = [each["id"] for each in found if each["mapping"]["selector"] == "contact"]
        answer = await api.ask("POST", "/mappings/proposals/confirm", {"ids": ids})
        assert [each["label"] for each in answer["left"]] == ["c# contact"]
        assert list(await mappings(api)) == ["contact"]


def contact(property_: str, true_value: str = "") -> Proposal:
    """What an earlier version, or this one, proposes of a contact."""
    is_known = property_.startswith(NEW)
    words = {"true_value": true_value, "false_value": "true" if true_value else ""}
    return Proposal(
        Mapping(
            *(NODE, "zigbee2mqtt/left", "zigbee2mqtt", "urn:s", property_, "urn:f", "contact"),
            **words,  # type: ignore[arg-type]
        ),
        "zigbee2mqtt",
        "left",
        "left contact",
        Meaning("opening", Kind.STATE, is_known=is_known or not true_value),
        Command("zigbee2mqtt/left/set"),
    )


class Desk:
    """Announcements taken up by an engine, with texts that may name properties."""

    def __init__(self, *texts: str, auto: bool = True) -> None:
        self.engine = Engine.open(None)
        named = {f"text {number}": text for number, text in enumerate(texts)}
        self._acceptance = Acceptance(
            frozenset({"zigbee2mqtt"} if auto else ()), Mentions(OLD, lambda: named)
        )

    def announce(self, proposal: Proposal) -> None:
        found = Discovered("zigbee2mqtt", (proposal,))
        updater = ProposalUpdater(self.engine, self._acceptance)
        delta = updater.take(Announcement(found, DEVICES, NOW, is_whole=True))
        self.engine.update([change(delta)])

    @property
    def observed(self) -> str:
        rows = self.engine.query(
            f"SELECT ?p {{ GRAPH {MAPPINGS_GRAPH} {{ <{NODE}> "
            "<https://sosa-gateway.example/ns#observedProperty> ?p } }"
        )
        assert isinstance(rows, QuerySolutions)
        return str(next(rows)["p"].value)


INVERTED, RIGHT = contact(OLD + "opening"), contact(NEW + "opening", "false")


def test_an_untouched_mapping_takes_up_its_new_meaning_where_nobody_misses_the_old() -> None:
    desk = Desk("SELECT ?s { ?s a <urn:other> }")
    desk.announce(INVERTED)
    assert desk.observed == OLD + "opening"
    desk.announce(RIGHT)
    assert desk.observed == NEW + "opening"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?o {{ ?o sosa:observedProperty <{OLD}opening> }}",
        f"PREFIX p: <{OLD}> SELECT ?o {{ ?o sosa:observedProperty p:opening }}",
        "PREFIX g: <https://sosa-gateway.example/id/> SELECT ?o { ?o ?p g:property\\/opening }",
    ],
)
@pytest.mark.parametrize("way", ["profile", "subscription"])
def test_a_query_that_names_the_old_property_keeps_it(text: str, way: str) -> None:
    desk = Desk(*([text] if way == "profile" else []))
    if way == "subscription":
        plain = text.replace("sosa:observedProperty", "?q")
        desk.engine.subscribe(SubscribeRequest(plain))
    desk.announce(INVERTED)
    desk.announce(RIGHT)
    assert desk.observed == OLD + "opening"


def test_an_actuator_of_somebody_else_and_a_change_of_somebody_keep_it() -> None:
    desk = Desk()
    desk.announce(INVERTED)
    desk.engine.update(
        f"INSERT DATA {{ GRAPH {MAPPINGS_GRAPH} {{ <urn:mine> <urn:acts> <{OLD}opening> }} }}"
    )
    desk.announce(RIGHT)
    assert desk.observed == OLD + "opening"
    desk = Desk()
    desk.announce(INVERTED)
    term = "<https://sosa-gateway.example/ns#expiresAfter>"
    desk.engine.update(f"INSERT DATA {{ GRAPH {MAPPINGS_GRAPH} {{ <{NODE}> {term} 9.0 }} }}")
    desk.announce(RIGHT)
    assert desk.observed == OLD + "opening"


async def test_a_mapping_that_says_the_contrary_is_told_and_migrated(tmp_path: Path) -> None:
    given = config(tmp_path, families=["zigbee2mqtt"])
    async with a_house(given) as (gateway, api):
        onboarding: Onboarding = gateway.stages.onboarding
        await asyncio.to_thread(
            onboarding._take_up,
            Announcement(Discovered("zigbee2mqtt", (INVERTED,)), DEVICES, NOW, is_whole=False),
        )
        (proposed,) = await api.until(1)
        body = {"mapping": {"feature": "urn:hall"}}
        await api.ask("POST", f"/mappings/proposals/{proposed['id']}/confirm", body)
        query = f"SELECT ?o {{ ?o sosa:observedProperty <{OLD}opening> }}"
        await watch(gateway, PREFIXES + query)
        await publish(gateway.mqtt_port, [(DEVICES, listed(window("left")))])
        (changed,) = await api.until(1, status="changed")
        assert changed["mapping"]["property"] == NEW + "opening"
        assert changed["before"]["property"] == OLD + "opening"
        assert (await api.get("/health")).json()["inverted"] == [NODE]
    async with a_house(given) as (gateway, api):
        await watch(gateway, PREFIXES + query)
        answer = await api.ask("POST", "/mappings/proposals/confirm", {"all": True})
        assert any("migrate" in each["reason"] for each in answer["left"])
        trial = await api.ask("POST", "/mappings/migrate", {"dryRun": True})
        (outdated,) = trial["outdated"]
        assert not trial["changed"]
        assert outdated["inverted"]
        assert (outdated["before"], outdated["after"]) == (OLD + "opening", NEW + "opening")
        assert any("subscription" in each["where"] for each in trial["mentions"])
        assert (await mappings(api))["contact"]["property"] == OLD + "opening"
        done = await api.ask("POST", "/mappings/migrate", {})
        assert done["change"]["kind"] == "migrate"
        now = (await mappings(api))["contact"]
        assert (now["property"], now["trueValue"], now["feature"]) == (
            *(NEW + "opening", "false", "urn:hall"),
        )
        assert "inverted" not in (await api.get("/health")).json()
        await api.ask("POST", "/mappings/undo", {"id": done["change"]["id"]})
        assert (await mappings(api))["contact"]["property"] == OLD + "opening"


async def test_groups_that_are_listed_before_their_devices_are_devices_of_their_own(
    tmp_path: Path,
) -> None:
    feature = {"type": "binary", "name": "state", "property": "state", "access": 7}
    switch = {"type": "switch", "features": [{**feature, "value_on": "ON", "value_off": "OFF"}]}
    lamp = {**window("lamp"), "definition": {"model": "x", "exposes": [switch]}}
    group = {"id": 3, "friendly_name": "all", "members": [{"ieee_address": "0x1", "endpoint": 1}]}
    async with a_house(config(tmp_path)) as (gateway, api):
        announcements = [("zigbee2mqtt/bridge/groups", json.dumps([group]).encode())]
        await publish(gateway.mqtt_port, [*announcements, (DEVICES, listed(lamp))])
        found = await api.until(2)
        assert {each["device"] for each in found} == {"lamp", "all"}
        await publish(gateway.mqtt_port, [("zigbee2mqtt/bridge/groups", b"[]")])
        (gone,) = await api.until(1, status="withdrawn")
        assert gone["device"] == "all"


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("SELECT * { ?o ?p <urn:my:open> }", True),
        ("PREFIX my: <urn:my:> SELECT * { ?o ?p my:open }", True),
        ("PREFIX my: <urn:my:> SELECT * { ?o ?p my:opened }", False),
        ("PREFIX my: <urn:your:> SELECT * { ?o ?p my:open }", False),
    ],
)
def test_texts_that_name_a_property_of_a_persons_own(text: str, is_named: bool) -> None:
    mentions = Mentions(OLD, lambda: {"queries.X": text})
    assert bool(list(mentions.in_texts(Engine.open(None), "urn:my:open"))) is is_named
