"""What a start makes of the journal and of a store that others have written to."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.config.settings import SHIPPED_PROFILES, JsapSettings
from tests.kit.gateways import (
    PREFIXES,
    VALUES,
    Publication,
    journal_records,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    update_url,
    watch,
    write_profile,
)
from tests.kit.metrics import metrics

TEMPERATURE = mapping(
    "temperature", "room/+", selector="$.t", time="$.at", sequence="$.n", unit="unit:DEG_C"
)
START = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
OBSERVATIONS = f"""{PREFIXES}
PREFIX time: <http://www.w3.org/2006/time#>
SELECT ?observation ?feature ?value ?at {{
  ?observation sosa:hasFeatureOfInterest ?feature ; sosa:hasSimpleResult ?value ;
    sosa:phenomenonTime/time:inXSDDateTimeStamp ?at
}}"""
POSITION = "SELECT ?p { GRAPH ?g { ?gateway <https://sosa-gateway.example/ns#appliedJournal> ?p } }"


def reading(number: int, room: str = "a", minutes: int | None = None) -> Publication:
    """Reading `number` of a room, measured so many minutes (its number) after START."""
    at = START + timedelta(minutes=number if minutes is None else minutes)
    return f"room/{room}", json.dumps({"t": number, "n": number, "at": at.isoformat()}).encode()


def values(gateway: Gateway) -> list[tuple[str, str]]:
    """(room, value) of each observation in the store."""
    return sorted(
        (feature.removeprefix("urn:room:"), value)
        for _, feature, value, _ in rows_of(gateway, OBSERVATIONS)
    )


def check_store_in_journal(gateway: Gateway, folder: Path) -> None:
    """Each observation in the store is a record of the journal with the same value."""
    records = {str(each.position): each.observation for each in journal_records(folder)}
    for observation, feature, value, _ in rows_of(gateway, OBSERVATIONS):
        seen = records[observation.rsplit("/", 1)[1]]
        assert (seen.feature_of_interest, seen.lexical) == (feature, value)


def refusing(folder: Path) -> Path:
    """The shipped profile, but OBSERVE_QUANTITY works once only: then the graph exists."""
    profile = json.loads((SHIPPED_PROFILES / "observations.jsap").read_text(encoding="utf-8"))
    profile["updates"]["OBSERVE_QUANTITY"]["sparql"] += " ; CREATE GRAPH <urn:once>"
    path = folder / "refusing.jsap"
    path.write_text(json.dumps(profile), encoding="utf-8")
    return path


async def test_an_update_that_fails_for_good_moves_the_journal_position(tmp_path: Path) -> None:
    """The message is acknowledged, counted, and is in the way of neither the next nor a start."""
    good = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]), kind="disk")
    profiles = (refusing(tmp_path), *good.jsap.profiles[1:])
    bad = good.model_copy(update={"jsap": JsapSettings(profiles=profiles)})
    async with running(bad) as gateway:
        await publish(gateway.mqtt_port, [reading(n) for n in range(1, 4)])
        assert gateway.statistics()["failed"] == 2
        assert values(gateway) == []  # the latest could not enter, the one before has left
        assert [position.split("-")[1] for (position,) in rows_of(gateway, POSITION)] == ["3"]
    async with running(good) as gateway:
        assert (await metrics(gateway))["observations_replayed_total"] == 0
        await publish(gateway.mqtt_port, [reading(4)])
        assert values(gateway) == [("a", "4")]
        assert len(rows_of(gateway, POSITION)) == 1


async def test_a_journal_with_a_record_that_the_profile_refuses_is_replayed(tmp_path: Path) -> None:
    good = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]), kind="disk")
    profiles = (refusing(tmp_path), *good.jsap.profiles[1:])
    async with running(good) as gateway:
        await publish(gateway.mqtt_port, [reading(1, room) for room in "abc"])
    shutil.rmtree(tmp_path / "data" / "store")
    bad = good.model_copy(update={"jsap": JsapSettings(profiles=profiles)})
    async with running(bad) as gateway:
        assert values(gateway) == [("a", "1")]
        assert gateway.statistics()["failed"] == 2
        assert [position.split("-")[1] for (position,) in rows_of(gateway, POSITION)] == ["3"]


@pytest.mark.parametrize(
    ("latest", "left"), [(1, ["9"]), (3, ["7", "8", "9"])], ids=["latest", "latest three"]
)
async def test_a_store_from_before_catches_up(tmp_path: Path, latest: int, left: list[str]) -> None:
    """The store of an earlier stop is put back: the journal has what it lacks."""
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]), kind="disk", latest=latest)
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [reading(n) for n in range(1, 4)])
    store, before = tmp_path / "data" / "store", tmp_path / "before"
    shutil.copytree(store, before)
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [reading(n) for n in range(4, 10)])
        await publish(gateway.mqtt_port, [reading(5, room="b")])
        position = rows_of(gateway, POSITION)
    shutil.rmtree(store)
    before.rename(store)
    async with running(config) as gateway:
        assert values(gateway) == [*(("a", value) for value in left), ("b", "5")]
        assert rows_of(gateway, POSITION) == position
        check_store_in_journal(gateway, tmp_path)
        # What comes now pushes out what came then.
        await publish(gateway.mqtt_port, [reading(10)])
        assert values(gateway) == [
            *sorted(("a", value) for value in [*left[1:], "10"]),
            ("b", "5"),
        ]
        assert gateway.statistics()["duplicates"] == 0


@pytest.mark.parametrize("latest", [1, 3])
async def test_a_store_in_memory_starts_from_the_journal(tmp_path: Path, latest: int) -> None:
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]), latest=latest)
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [reading(n) for n in range(20)])
        before = rows_of(gateway, OBSERVATIONS)
        assert len(before) == latest
    for _ in range(2):
        async with running(config) as gateway:
            assert rows_of(gateway, OBSERVATIONS) == before
            await publish(gateway.mqtt_port, [reading(19)])
            assert gateway.statistics()["duplicates"] == 1


async def test_late_observations_are_kept_in_the_journal_only(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]), latest=3)
    arriving = [5, 9, 1, 7, 2, 8]
    async with running(config) as gateway:
        told = await watch(gateway, VALUES)
        for number in arriving:
            await publish(gateway.mqtt_port, [reading(number)])
        assert values(gateway) == [("a", "7"), ("a", "8"), ("a", "9")]
        assert told.values() == ["5", "9", "1", "7", "8"]
        assert gateway.statistics()["late"] == 1
    assert [int(each.observation.lexical) for each in journal_records(tmp_path)] == arriving
    async with running(config) as gateway:
        assert values(gateway) == [("a", "7"), ("a", "8"), ("a", "9")]


async def test_a_smaller_latest_holds_from_the_next_observation(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile, kind="disk", latest=4)) as gateway:
        await publish(gateway.mqtt_port, [reading(n) for n in range(1, 6)])
    async with running(settings(tmp_path, profile, kind="disk", latest=2)) as gateway:
        await publish(gateway.mqtt_port, [reading(6)])
        assert values(gateway) == [("a", "5"), ("a", "6")]


async def test_a_reading_sent_again_after_a_restart_is_one_observation(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]), kind="disk")
    for _ in range(3):
        async with running(config) as gateway:
            await publish(gateway.mqtt_port, [reading(n) for n in range(5)])
    assert len(journal_records(tmp_path)) == 5


STAMP = '"2026-03-02T07:00:00Z"^^xsd:dateTimeStamp'
OURS = "https://sosa-gateway.example/id/test/observation"


@pytest.mark.parametrize(
    ("observation", "stamp"),
    [
        ("<urn:mine>", STAMP),
        ("_:mine", STAMP),
        ("<https://other.example/observation/9-9>", STAMP),
        (f"<{OURS}/mine>", STAMP),
        (f"<{OURS}/77-1>", '"yesterday"'),
        (f"<{OURS}/77-1>", "7"),
    ],
)
async def test_observations_that_others_wrote_are_left_alone(
    tmp_path: Path, observation: str, stamp: str
) -> None:
    """They keep the gateway neither from starting nor from forgetting its own observations."""
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]), kind="disk")
    insert = f"""{PREFIXES} PREFIX time: <http://www.w3.org/2006/time#>
        INSERT DATA {{ {observation} a sosa:Observation ; sosa:madeBySensor <urn:sensor:a> ;
            sosa:observedProperty <urn:property:temperature> ; sosa:hasSimpleResult 1 ;
            sosa:hasFeatureOfInterest <urn:room:a> ; sosa:phenomenonTime <urn:t> .
            <urn:t> time:inXSDDateTimeStamp {stamp} }}"""
    async with running(config) as gateway, httpx.AsyncClient() as client:
        answer = await client.post(update_url(gateway), data={"update": insert})
        assert answer.status_code == 200
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [reading(2), reading(3)])
        assert values(gateway) == [("a", "1"), ("a", "3")]


async def test_an_observation_without_a_zone_is_recalled(tmp_path: Path) -> None:
    """Someone wrote our observation's time anew, without a zone: times stay comparable."""
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]), kind="disk")
    update = """PREFIX time: <http://www.w3.org/2006/time#>
        DELETE { ?i time:inXSDDateTimeStamp ?t }
        INSERT { ?i time:inXSDDateTimeStamp "2020-01-01T00:00:00" }
        WHERE { ?i time:inXSDDateTimeStamp ?t }"""
    async with running(config) as gateway, httpx.AsyncClient() as client:
        await publish(gateway.mqtt_port, [reading(1)])
        answer = await client.post(update_url(gateway), data={"update": update})
        assert answer.status_code == 200
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [reading(2)])
        assert values(gateway) == [("a", "2")]
