"""Mappings as data: changed by UPDATE while messages come, kept or renewed at a start."""

from pathlib import Path

import pytest

from gateway.app.gateway import Gateway
from tests.kit.gateways import (
    MAPPINGS,
    PREFIXES,
    VALUES,
    JsonObject,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    update,
    watch,
    write_profile,
)

HUMIDITY = mapping("humidity", "room/+", selector="$.h", unit="unit:PERCENT")
TEMPERATURE = mapping("temperature", "room/+", selector="$.t", unit="unit:DEG_C")
BOTH = b'{"t":21.5,"h":40}'
PROPERTIES = f"{PREFIXES} SELECT ?property {{ ?o sosa:observedProperty ?property }}"
UNITS = f"""{PREFIXES}
SELECT ?property ?unit {{ ?o sosa:observedProperty ?property ; sosa:hasResult/qudt:hasUnit ?unit }}
"""


def insert(name: str, **members: str) -> str:
    """An UPDATE that adds a mapping; `members` are terms, in place of good ones."""
    terms = {
        "topicFilter": '"room/+"',
        "format": '"json"',
        "selector": f'"$.{name[0]}"',
        "sensor": '"urn:sensor:{1}"',
        "observedProperty": f"<urn:property:{name}>",
        "featureOfInterest": '"urn:room:{1}"',
        **members,
    }
    triples = " ; ".join(f"gw:{key} {term}" for key, term in terms.items() if term)
    return (
        f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <urn:mapping:{name}> a gw:Mapping ; {triples} }} }}"
    )


def delete(name: str) -> str:
    return f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <urn:mapping:{name}> ?p ?o }} }}"


def properties(gateway: Gateway) -> list[str]:
    return [name.rsplit(":", 1)[1] for (name,) in rows_of(gateway, PROPERTIES)]


async def test_a_mapping_is_used_from_its_update_to_its_deletion(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [("room/a", b'{"t":1}')])
        assert told.values() == []
        await update(gateway, insert("temperature", unit="unit:DEG_C"))
        await publish(gateway.mqtt_port, [("room/a", b'{"t":2}'), ("room/b", b'{"t":3}')])
        assert told.values() == ["2", "3"]
        await update(gateway, delete("temperature"))
        await publish(gateway.mqtt_port, [("room/a", b'{"t":4}')])
        assert told.values() == ["2", "3"]
        assert gateway.statistics()["unmapped"] == 2
        assert (
            rows_of(gateway, UNITS)
            == [["urn:property:temperature", "http://qudt.org/vocab/unit/DEG_C"]] * 2
        )


async def test_a_changed_selector_holds_for_the_next_message(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [("room/a", BOTH)])
        await update(
            gateway,
            f"""WITH <{MAPPINGS}> DELETE {{ ?m gw:selector ?s }} INSERT {{ ?m gw:selector "$.h" }}
                WHERE {{ ?m gw:selector ?s }}""",
        )
        await publish(gateway.mqtt_port, [("room/a", BOTH)])
        assert told.values() == ["21.5", "40"]


BAD: list[dict[str, str]] = [
    {"topicFilter": '"room/#/x"'},
    {"topicFilter": '""'},
    {"topicFilter": "7"},
    {"format": '"xml"'},
    {"selector": '"no path"'},
    {"selector": "<urn:x>"},
    {"sensor": '"no iri {1}"'},
    {"sensor": '"urn:sensor:{7}"'},
    {"sensor": "_:blank"},
    {"observedProperty": '"temperature"'},
    {"observedProperty": "_:blank"},
    {"featureOfInterest": '""'},
    {"featureOfInterest": "_:blank"},
    {"unit": '"furlong"'},
    {"unit": "_:blank"},
    {"timeSelector": '"$..x"'},
    {"sequenceSelector": '"["'},
    {"format": '"text"', "selector": '"("'},
    {"format": '"senml"', "selector": '"**"'},
    {"sensor": ""},
]


@pytest.mark.parametrize("members", BAD, ids=str)
async def test_a_bad_mapping_costs_itself(tmp_path: Path, members: dict[str, str]) -> None:
    profile = write_profile(tmp_path, [HUMIDITY])
    async with running(settings(tmp_path, profile)) as gateway:
        await update(gateway, insert("bad", **members))
        await publish(gateway.mqtt_port, [("room/a", b'{"b":1,"h":2}'), ("x", b"1")])
        assert "humidity" in properties(gateway)
        await update(gateway, delete("bad"))
        await update(gateway, insert("temperature"))
        await publish(gateway.mqtt_port, [("room/b", b'{"b":1,"t":2}')])
        assert "temperature" in properties(gateway)


@pytest.mark.parametrize("repeated", ["gw:unit unit:DEG_F", 'gw:selector "$.h"'])
async def test_a_mapping_with_two_values_of_a_member_is_refused(
    tmp_path: Path, repeated: str
) -> None:
    """Two values would make two observations of one value, by chance in an order."""
    profile = write_profile(tmp_path, [TEMPERATURE, HUMIDITY])
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, VALUES)
        twice = f"GRAPH <{MAPPINGS}> {{ <urn:mapping:temperature> {repeated} }}"
        await update(gateway, f"INSERT DATA {{ {twice} }}")
        await publish(gateway.mqtt_port, [("room/a", BOTH)])
        assert told.values() == ["40"]
        await update(gateway, f"DELETE DATA {{ {twice} }}")
        await publish(gateway.mqtt_port, [("room/a", BOTH)])
        assert sorted(told.values()) == ["21.5", "40", "40"]


async def test_an_update_of_a_profile_s_mapping_survives_a_restart(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE, HUMIDITY]), kind="disk")
    async with running(config) as gateway:
        await update(gateway, delete("humidity"))
        await update(gateway, insert("pressure"))
    for _ in range(2):
        async with running(config) as gateway:
            await publish(gateway.mqtt_port, [("room/a", b'{"t":1,"h":2,"p":3}')])
            assert properties(gateway) == ["pressure", "temperature"]


async def changed(tmp_path: Path, mappings: list[JsonObject]) -> list[str]:
    """What is observed once the profile has these mappings, after it had both."""
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE, HUMIDITY]), kind="disk")
    async with running(config) as gateway:
        await update(gateway, insert("pressure"))
    config = settings(tmp_path, write_profile(tmp_path, mappings), kind="disk")
    for _ in range(2):
        async with running(config) as gateway:
            await publish(gateway.mqtt_port, [("room/a", b'{"t":1,"h":2,"p":3,"x":4}')])
            found = properties(gateway)
    return found


async def test_a_changed_profile_is_taken_up(tmp_path: Path) -> None:
    warmer = {**TEMPERATURE, "selector": "$.x", "property": "urn:property:warmth"}
    assert await changed(tmp_path, [warmer, HUMIDITY]) == ["humidity", "pressure", "warmth"]


async def test_a_mapping_that_left_the_profile_is_gone(tmp_path: Path) -> None:
    assert await changed(tmp_path, [TEMPERATURE]) == ["pressure", "temperature"]
