"""A mapping names the class of its sensor, which is of it, and of the next one as that changes."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from adapters.values.mapping import Mapping
from gateway.app.gateway import Gateway
from gateway.ingest.sensor_classes import classified, corrected, restored
from gateway.rdf.delta import Delta
from gateway.store.quad_store import QuadStore
from tests.kit.gateways import (
    MAPPINGS,
    WAIT_S,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    update,
    watch,
    write_profile,
)

ACME, BOLT = NamedNode("urn:make:Acme"), NamedNode("urn:make:Bolt")
CLASSES = "SELECT ?s ?c { ?s a ?c FILTER(STRSTARTS(STR(?c), 'urn:make:')) }"
TERM = "https://sosa-gateway.example/ns#sensorClass"


def made(iri: str, sensor: str, kind: NamedNode | None) -> Mapping:
    return Mapping(iri, "t/+", "scalar", sensor, "urn:p", "urn:f", sensor_class=kind and kind.value)


def marked(*sensors: tuple[str, NamedNode]) -> QuadStore:
    store = QuadStore.open(None)
    quads = [quad for iri, kind in sensors for quad in classified(NamedNode(iri), kind)]
    store.apply(Delta(tuple(quads)))
    return store


def left(store: QuadStore, delta: Delta) -> set[tuple[str, str]]:
    store.apply(delta)
    rows = store.match(None, NamedNode(TERM), None, None)
    assert all(
        classified(quad.subject, quad.object)[0] in store
        for quad in store.match(None, NamedNode(TERM), None, None)
        if isinstance(quad.subject, NamedNode) and isinstance(quad.object, NamedNode)
    )
    return {(str(quad.subject)[1:-1], str(quad.object)[1:-1]) for quad in rows}


OLD = made("urn:m", "urn:s:{1}", ACME)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ([OLD], {("urn:s:a", ACME.value), ("urn:t:a", BOLT.value)}),
        ([made("urn:m", "urn:s:{1}", BOLT)], {("urn:s:a", BOLT.value), ("urn:t:a", BOLT.value)}),
        ([made("urn:m", "urn:s:{1}", None)], {("urn:t:a", BOLT.value)}),
        ([], {("urn:t:a", BOLT.value)}),
        ([made("urn:n", "urn:s:a", ACME)], {("urn:s:a", ACME.value), ("urn:t:a", BOLT.value)}),
        ([made("urn:n", "urn:s:{1}:x", ACME)], {("urn:t:a", BOLT.value)}),
    ],
    ids=["same", "another", "none", "gone", "by-another-mapping", "by-no-mapping"],
)
def test_what_no_mapping_says_any_more_is_taken_back(
    now: list[Mapping], expected: set[tuple[str, str]]
) -> None:
    store = marked(("urn:s:a", ACME), ("urn:t:a", BOLT))
    other = made("urn:other", "urn:t:{1}", BOLT)
    assert left(store, corrected(store, [OLD, other], [*now, other])) == expected


def test_at_a_start_classes_that_no_mapping_names_go() -> None:
    store = marked(("urn:s:a", ACME), ("urn:t:a", BOLT))
    assert left(store, corrected(store, [], [OLD])) == {("urn:s:a", ACME.value)}
    assert corrected(QuadStore.open(None), [], [OLD]).is_empty


@pytest.mark.parametrize(
    ("mappings", "expected"),
    [
        ([OLD], {("urn:s:a", ACME.value)}),
        ([made("urn:m", "urn:s:{1}:x", ACME)], set()),
        ([replace(OLD, observed_property="urn:q")], set()),
        ([replace(OLD, feature_of_interest="urn:{1}")], {("urn:s:a", ACME.value)}),
        ([OLD, made("urn:n", "urn:s:a", BOLT)], set()),
        ([OLD, made("urn:n", "urn:s:a", None)], set()),
        ([made("urn:m", "urn:s:{1}", None)], set()),
    ],
    ids=["named", "other-sensor", "other-property", "by-template", "two", "one-and-none", "none"],
)
def test_a_sensor_without_class_has_the_one_that_all_its_mappings_may_name(
    mappings: list[Mapping], expected: set[tuple[str, str]]
) -> None:
    store = marked()
    streams = [("urn:s:a", "urn:p", "urn:f"), ("urn:t:a", "urn:p", "urn:f")]
    assert left(store, restored(store, streams, mappings)) == expected


def test_a_sensor_that_has_a_class_keeps_it_alone() -> None:
    store = marked(("urn:s:a", BOLT))
    assert restored(store, [("urn:s:a", "urn:p", "urn:f")], [OLD]).is_empty


async def until_classes(gateway: Gateway, expected: list[list[str]]) -> None:
    async with asyncio.timeout(WAIT_S):
        while rows_of(gateway, CLASSES) != expected:
            await asyncio.sleep(0.01)


async def test_a_sensor_is_of_the_class_of_its_mapping(tmp_path: Path) -> None:
    one = mapping("t", "room/+", selector="$.t", sensorClass=ACME.value)
    profile = write_profile(tmp_path, [one])
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, CLASSES)
        await publish(gateway.mqtt_port, [("room/a", b'{"t":1}'), ("room/a", b'{"t":2}')])
        await publish(gateway.mqtt_port, [("room/b", b'{"t":1}')])
        assert rows_of(gateway, CLASSES) == [
            ["urn:sensor:a", ACME.value],
            ["urn:sensor:b", ACME.value],
        ]
        assert [len(each.results.added) for each in told.notifications] == [0, 1, 1]
        await update(
            gateway,
            f"DELETE {{ GRAPH <{MAPPINGS}> {{ ?m <{TERM}> ?c }} }} "
            f"INSERT {{ GRAPH <{MAPPINGS}> {{ ?m <{TERM}> {BOLT} }} }} "
            f"WHERE {{ GRAPH <{MAPPINGS}> {{ ?m <{TERM}> ?c }} }}",
        )
        await until_classes(gateway, [["urn:sensor:a", BOLT.value], ["urn:sensor:b", BOLT.value]])
        assert len(told.notifications) == 4
        await publish(gateway.mqtt_port, [("room/a", b'{"t":3}')])
        await update(gateway, f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ ?m <{TERM}> ?c }} }}")
        await until_classes(gateway, [])


async def test_a_sensor_has_its_class_again_before_its_next_reading(tmp_path: Path) -> None:
    """What a store in memory has after a restart is from the journal, as after a kill."""
    one = mapping("t", "room/+", selector="$.t", sensorClass=ACME.value)
    config = settings(tmp_path, write_profile(tmp_path, [one]))
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [("room/a", b'{"t":1}')])
    async with running(config) as gateway:
        await until_classes(gateway, [["urn:sensor:a", ACME.value]])


async def test_a_class_that_is_no_iri_is_refused_as_other_members_are(tmp_path: Path) -> None:
    one = mapping("t", "room/+", selector="$.t")
    async with running(settings(tmp_path, write_profile(tmp_path, [one]))) as gateway:
        await update(
            gateway,
            f"INSERT {{ GRAPH <{MAPPINGS}> {{ ?m <{TERM}> 'Thermometer' }} }} "
            f"WHERE {{ GRAPH <{MAPPINGS}> {{ ?m a gw:Mapping }} }}",
        )
        [error] = gateway.stages.reception.mappings.errors
        assert "sensor_class: an absolute IRI begins with a scheme" in str(error)
