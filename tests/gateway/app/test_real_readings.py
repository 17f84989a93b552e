"""Recorded readings of real networks, from their files through a broker to who subscribed.

Data: a multi-hop sensor network of four motes (18,760 rows) and decoded LoRaWAN uplinks, which lie
beside the checkout. The oracle is the file itself.
"""

import asyncio
import csv
import json
import shutil
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import pytest
from websockets.asyncio.client import ClientConnection, connect

from gateway.app.gateway import Gateway
from gateway.journal import Record
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    VALUES,
    JsonObject,
    Publication,
    Watch,
    behind,
    journal_records,
    mapping,
    publish,
    rows_of,
    shared_file,
    text,
    watch,
    write_profile,
)

pytestmark = pytest.mark.end_to_end

UNITS = {
    "humidity": "http://qudt.org/vocab/unit/PERCENT_RH",
    "temperature": "http://qudt.org/vocab/unit/DEG_C",
    "label": None,
}
TOPIC = "wsn/+"
BROKERS = ["embedded", "mosquitto"]
MARKED = f"""{PREFIXES}
SELECT ?message ?temperature ?humidity {{
  ?a gw:message ?message ; sosa:observedProperty <urn:property:label> ; sosa:hasSimpleResult 1 .
  ?b gw:message ?message ; sosa:observedProperty <urn:property:temperature> ;
     sosa:hasSimpleResult ?temperature .
  ?c gw:message ?message ; sosa:observedProperty <urn:property:humidity> ;
     sosa:hasSimpleResult ?humidity .
}}"""
PRESENT = f"""{PREFIXES}
SELECT ?sensor ?property ?feature ?value ?unit {{
  ?o sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ; sosa:hasSimpleResult ?value ;
     sosa:hasFeatureOfInterest ?feature ; sosa:hasResult/qudt:hasUnit ?unit
}}"""

Rows = Sequence[dict[str, str]]


def recorded_rows() -> Rows:
    with shared_file("wsn-multi-hop/data.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def publications(rows: Rows) -> list[Publication]:
    """One JSON message per row, its numbers as the file has them."""
    return [
        (
            f"wsn/{row['mote_id']}",
            f"{{{','.join(f'{json.dumps(key)}:{value}' for key, value in row.items())}}}".encode(),
        )
        for row in rows
    ]


def network_profile(folder: Path) -> Path:
    mappings: list[JsonObject] = []
    for name, unit in UNITS.items():
        members = {} if unit is None else {"unit": unit}
        mappings.append(mapping(name, TOPIC, selector=f"$.{name}", sequence="$.reading", **members))
    return write_profile(folder, mappings)


async def publish_by_motes(port: int, rows: Rows) -> None:
    """Every mote is a client, all publish at once."""
    by_topic = defaultdict(list)
    for publication in publications(rows):
        by_topic[publication[0]].append(publication)
    async with asyncio.TaskGroup() as motes:
        for topic, sent in by_topic.items():
            motes.create_task(publish(port, sent, client_id=topic.replace("/", "-")))


def check_journal(records: Sequence[Record], rows: Rows) -> None:
    """The journal has each value of each row once, in the order of its mote, as it was sent."""
    found = defaultdict(list)
    for record in records:
        seen = record.observation
        found[seen.stream].append((seen.device_sequence, seen.lexical, seen.unit))
    expected = defaultdict(list)
    for row in rows:
        for name, unit in UNITS.items():
            mote = row["mote_id"]
            stream = (f"urn:sensor:{mote}", f"urn:property:{name}", f"urn:room:{mote}")
            unitless = "http://qudt.org/vocab/unit/UNITLESS"
            assert unit != unitless
            expected[stream].append((row["reading"], row[name], unit))
    assert found == expected
    times = [record.ingested_at for record in records]
    assert all(record.observation.phenomenon_time is None for record in records)
    by_stream = defaultdict(list)
    for record, time in zip(records, times, strict=True):
        by_stream[record.observation.stream].append(time)
    assert all(stamps == sorted(stamps) for stamps in by_stream.values())


def check_told(told: Watch, records: Sequence[Record]) -> None:
    """The subscriber was told each observation of the journal once, with its value."""
    values = {text(row[0]).rsplit("/", 1)[1]: Decimal(text(row[1])) for row in told.added}
    assert len(told.added) == len(values) == len(records)
    assert values == {
        str(record.position): Decimal(record.observation.lexical) for record in records
    }
    assert [each.sequence for each in told.notifications] == list(range(len(told.notifications)))


def check_marked(told: Watch, rows: Rows) -> None:
    """Who asked for labelled rows was told exactly these, joined with their other values."""
    found = sorted((Decimal(text(row[1])), Decimal(text(row[2]))) for row in told.added)
    marked = [row for row in rows if row["label"] == "1"]
    assert found == sorted(
        (Decimal(row["temperature"]), Decimal(row["humidity"])) for row in marked
    )
    assert len({row[0] for row in told.added}) == len(marked)


def check_present(gateway: Gateway, rows: Rows) -> None:
    """The store has the last value of each stream."""
    last = {row["mote_id"]: row for row in rows}
    expected = sorted(
        [f"urn:sensor:{mote}", f"urn:property:{name}", f"urn:room:{mote}", Decimal(row[name]), unit]
        for mote, row in last.items()
        for name, unit in (UNITS | {"label": "http://qudt.org/vocab/unit/UNITLESS"}).items()
    )
    found = [[*row[:3], Decimal(row[3]), row[4]] for row in rows_of(gateway, PRESENT)]
    assert sorted(found) == expected


class Socket:
    """A WebSocket subscriber that adds up what it reads."""

    def __init__(self, connection: ClientConnection) -> None:
        self.answer: dict[str, str] = {}
        self.sequences: list[int] = []
        self._connection = connection

    async def read(self) -> None:
        """One notification."""
        body = json.loads(await self._connection.recv())["notification"]
        self.sequences.append(body["sequence"])
        for row in body["removedResults"]["results"]["bindings"]:
            assert self.answer.pop(row["observation"]["value"]) == row["value"]["value"]
        for row in body["addedResults"]["results"]["bindings"]:
            assert self.answer.setdefault(row["observation"]["value"], row["value"]["value"])

    async def until(self, answer: dict[str, str]) -> None:
        async with asyncio.timeout(20):
            while self.answer != answer:
                await self.read()
        assert self.sequences == list(range(len(self.sequences)))


@asynccontextmanager
async def socket_of(gateway: Gateway, query: str) -> AsyncIterator[Socket]:
    async with connect(f"ws://{LOOPBACK}:{gateway.websocket_port}/subscribe") as connection:
        await connection.send(json.dumps({"subscribe": {"sparql": query}}))
        socket = Socket(connection)
        await socket.read()
        yield socket


async def read_for_ever(socket: Socket) -> None:
    while True:
        await socket.read()


@pytest.mark.parametrize(
    ("mode", "step"),
    [
        ("embedded", 1),
        ("mosquitto", 5),
        pytest.param("mosquitto", 1, marks=pytest.mark.slow),
    ],
)
async def test_every_row_is_told_and_kept(tmp_path: Path, mode: str, step: int) -> None:
    rows = recorded_rows()[::step]
    assert len(rows) == 18_760 // step
    async with (
        behind(mode, tmp_path, network_profile(tmp_path), TOPIC) as (gateway, port),
        socket_of(gateway, VALUES) as socket,
    ):
        told = await watch(gateway, VALUES)
        reading = asyncio.create_task(read_for_ever(socket))
        await publish_by_motes(port, rows)
        await told.until(lambda: told.count_added >= len(rows) * len(UNITS), timeout_s=90)
        reading.cancel()
        await asyncio.wait({reading})
        check_present(gateway, rows)
        await socket.until(dict(rows_of(gateway, VALUES)))
        assert gateway.statistics()["failed"] == gateway.statistics()["quarantined"] == 0
    records = journal_records(tmp_path)
    check_journal(records, rows)
    check_told(told, records)


@pytest.mark.parametrize("mode", BROKERS)
async def test_labelled_rows_are_told_joined_with_their_other_values(
    tmp_path: Path, mode: str
) -> None:
    """All 158 labelled rows are in these stretches; the join is evaluated anew for each row."""
    recorded = recorded_rows()
    rows = [*recorded[2_300:2_600], *recorded[11_700:12_000]]
    assert sum(row["label"] == "1" for row in rows) == 158
    async with behind(mode, tmp_path, network_profile(tmp_path), TOPIC) as (gateway, port):
        told, marked = await watch(gateway, VALUES), await watch(gateway, MARKED)
        await publish_by_motes(port, rows)
        await told.until(lambda: told.count_added >= len(rows) * len(UNITS))
    check_marked(marked, rows)


@pytest.mark.parametrize("mode", BROKERS)
async def test_lines_of_mosquitto_pub_arrive_in_order(tmp_path: Path, mode: str) -> None:
    program = shutil.which("mosquitto_pub")
    if program is None:
        pytest.skip("mosquitto_pub is not installed")
    rows = recorded_rows()[:1000]
    lines = b"".join(payload + b"\n" for _, payload in publications(rows))
    async with behind(mode, tmp_path, network_profile(tmp_path), TOPIC) as (gateway, port):
        told = await watch(gateway, VALUES)
        command = (program, "-p", str(port), "-q", "1", "-t", "wsn/1", "-l")
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
        await process.communicate(lines)
        assert process.returncode == 0
        await told.until(lambda: told.count_added >= len(rows) * len(UNITS))
    check_journal(journal_records(tmp_path), rows)


@pytest.mark.parametrize("mode", BROKERS)
async def test_every_field_of_every_lorawan_uplink_is_observed(tmp_path: Path, mode: str) -> None:
    uplinks = json.loads(
        shared_file("lorawan/uplink_examples.json").read_text(encoding="utf-8"), parse_float=str
    )
    names = sorted({name for uplink in uplinks for name in uplink["decoded"]})
    profile = write_profile(
        tmp_path,
        [
            mapping(name, "lora/+/+/up", selector=f"$.decoded.{name}", feature="urn:site:{2}")
            for name in names
        ],
    )
    lines = shared_file("lorawan/uplink_examples.json").read_text(encoding="utf-8").splitlines()
    payloads = [line.strip().removesuffix(",").encode() for line in lines[1:-1]]
    topics = [f"lora/{uplink['device']}/{index}/up" for index, uplink in enumerate(uplinks)]
    expected = {
        (quote(uplink["device"]), str(index), name, str(value))
        for index, uplink in enumerate(uplinks)
        for name, value in uplink["decoded"].items()
    }
    async with behind(mode, tmp_path, profile, "lora/+/+/up") as (gateway, port):
        told = await watch(gateway, VALUES)
        await publish(port, list(zip(topics, payloads, strict=True)))
        await told.until(lambda: told.count_added >= len(expected))
        present = rows_of(gateway, PRESENT)
    found = {
        (sensor.split(":")[2], feature.split(":")[2], observed.split(":")[2], value)
        for sensor, observed, feature, value, _ in present
    }
    assert found == expected
