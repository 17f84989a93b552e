"""From the archive back into gateways: by UPDATE with the same IRIs, by MQTT the same facts."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import pytest
from pyoxigraph import QueryTriples
from pyspark.sql import SparkSession

from adapters.values.units import unit_iri
from gateway.app.gateway import Gateway
from spark_batch.archive import Archive
from spark_batch.cli import main
from spark_batch.errors import ArchiveError, BusyError
from spark_batch.files import lock
from spark_batch.jobs.replay import Replay, replay, write_mappings
from spark_batch.replay.mqtt import Broker, MqttReceiver
from spark_batch.replay.pace import Pace
from spark_batch.replay.receiver import Sent
from spark_batch.replay.selection import Row, Selection
from spark_batch.replay.senml import SYMBOLS, pack
from spark_batch.replay.updates import Endpoint, UpdateReceiver
from spark_batch.summary import Summary
from spark_batch.transforms.shape import load_shapes
from tests.kit.gateways import running, settings, write_profile
from tests.kit.tcp_proxy import TcpProxy
from tests.spark_batch.truths import reading, write_segment

XSD = "http://www.w3.org/2001/XMLSchema#"
UNIT = "http://qudt.org/vocab/unit/"
SHAPES = load_shapes()
NOON = 1_788_264_000_000_000
Sending = Callable[[int], Awaitable[Sent]]
FACTS = """
PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX qudt: <http://qudt.org/schema/qudt/>
SELECT ?s ?p ?f ?v (DATATYPE(?v) AS ?d) ?t ?u {
  ?o sosa:madeBySensor ?s ; sosa:observedProperty ?p ; sosa:hasFeatureOfInterest ?f ;
     sosa:hasSimpleResult ?v ; sosa:resultTime ?t OPTIONAL { ?o sosa:hasResult/qudt:hasUnit ?u } }
"""


def observed(sequence: int, lexical: str, kind: str, **members: object) -> dict[str, object]:
    return reading(sequence, v=lexical, d=XSD + kind, **members)


LINES = [
    observed(1, "21.50", "decimal", u=UNIT + "DEG_C", s="https://a.example/sensor/ø#1"),
    observed(2, "7", "decimal", u=UNIT + "DEG_C", s="https://b.example/sensor/ø#1"),
    observed(3, "-3", "integer", u=UNIT + "KiloGM", p="urn:weight"),
    observed(4, "1000.0", "double", u=UNIT + "W", p="urn:power"),
    observed(5, "1", "boolean", p="urn:open"),
    observed(6, 'a "quoted" \\ line\n', "string", p="urn:text"),
    observed(7, "AAE=", "base64Binary", p="urn:bytes"),
    observed(8, "2.5", "decimal", t=None, i=1_788_220_700_000_123),
    observed(9, "1.25", "decimal", t=1_788_307_300_000_001, i=1_788_307_300_000_002),
    {"q": 10, "a": 1, "s": "urn:fan", "v": "ON", "d": XSD + "string", "i": 1, "o": "fan/set"},
]
UNSAYABLE = [
    observed(11, "INF", "double"),
    observed(12, "2026-09-01T00:00:00Z", "dateTime"),
    observed(13, "5", "integer", t=1_000_000),
]


@pytest.fixture
def filled(landing: Path, archive: Archive, ingest: Callable[[], Summary]) -> Archive:
    """Thirteen lines of two days, of which SenML can say nine."""
    write_segment(landing, [*LINES, *UNSAYABLE])
    assert ingest().rows_out == 13
    return archive


class Kept:
    """A receiver that keeps what it gets, and fails at a batch."""

    def __init__(self, fails_at: int = -1) -> None:
        self.batches: list[Sequence[Row]] = []
        self._fails_at = fails_at

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def send(self, rows: Sequence[Row]) -> Sent:
        if len(self.batches) == self._fails_at:
            raise ArchiveError("the receiver is gone")
        self.batches.append(rows)
        return Sent(len(rows), 1)

    @property
    def sequences(self) -> list[int]:
        return [row.sequence for batch in self.batches for row in batch]


def facts(gateway: Gateway) -> list[list[str]]:
    return sorted([str(term) for term in row] for row in gateway.scheduler.engine.query(FACTS))  # type: ignore[union-attr]


def triples(gateway: Gateway) -> set[str]:
    answer = gateway.scheduler.engine.query("CONSTRUCT WHERE { ?s ?p ?o }")
    assert isinstance(answer, QueryTriples)
    return {str(triple) for triple in answer}


async def test_gateway_has_the_archive_after_updates_and_mqtt(
    filled: Archive, spark: SparkSession, tmp_path: Path
) -> None:
    shapes = Replay(shapes=SHAPES, batch=4)
    async with running(settings(tmp_path / "first", write_profile(tmp_path))) as gateway:
        endpoint = Endpoint(f"http://127.0.0.1:{gateway.http_port}/update")
        for _ in range(2):  # the second time nothing changes: observations keep their IRIs
            summary = await asyncio.to_thread(
                replay, filled, lambda _: spark, lambda: UpdateReceiver(endpoint), shapes
            )
            there = triples(gateway)
            assert (summary.rows_out, summary.details["messages"]) == (12, 3)
            expected = facts(gateway)
        assert there == exported(filled, spark)
        assert len(expected) == 12
    profile = tmp_path / "replay.jsap"
    streams = write_mappings(filled, lambda _: spark, Selection(), profile, "r/{gateway}/{sensor}")
    assert streams == 8
    config = settings(tmp_path / "second", profile, latest=100)
    async with running(config) as gateway:
        broker = Broker.parse(f"mqtt://127.0.0.1:{gateway.mqtt_port}")
        summary = await asyncio.to_thread(
            replay,
            filled,
            lambda _: spark,
            lambda: MqttReceiver(broker, "r/{gateway}/{sensor}"),
            Replay(),
        )
        assert summary.rows_out == len(LINES) - 1
        assert summary.details["left_out"] == {
            "JSON has no number that is not finite": 1,
            f"no SenML value is a {XSD}dateTime": 1,
            "a time before July 1978 is relative in SenML": 1,
        }
        unsayable = ("INF", "2026-09-01T00:00:00Z", "1970-01-01T00:00:01Z")
        assert facts(gateway) == [
            row
            for row in expected
            if not any(f'"{text}"' in each for each in row for text in unsayable)
        ]


@asynccontextmanager
async def connected(tmp_path: Path, timeout_s: float) -> AsyncIterator[tuple[TcpProxy, Sending]]:
    """A way to a gateway's broker, and how to send one observation on it."""
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        with TcpProxy(gateway.mqtt_port) as way:
            broker = Broker("127.0.0.1", way.port)
            receiver = MqttReceiver(broker, "r/{sensor}", timeout_s)
            await asyncio.to_thread(receiver.__enter__)
            try:
                yield way, lambda us: asyncio.to_thread(receiver.send, [row(NOON + us)])
            finally:
                await asyncio.to_thread(receiver.__exit__)


async def test_a_broker_that_dies_and_comes_again_is_waited_for(tmp_path: Path) -> None:
    """What it did not acknowledge is sent again, also what was published while it was away."""
    async with connected(tmp_path, 30) as (way, send):
        assert (await send(1)).messages == 1
        way.cut()
        sending = asyncio.ensure_future(send(2))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(sending), 0.5)
        way.mend()
        assert (await sending).messages == 1


async def test_a_broker_that_stays_away_ends_the_replay(tmp_path: Path) -> None:
    async with connected(tmp_path, 3) as (way, send):
        way.cut()
        with pytest.raises(ArchiveError, match="acknowledged nothing for 3 s"):
            await send(2)


def exported(archive: Archive, spark: SparkSession) -> set[str]:
    """What an export would have, as triples."""
    kept = Kept()
    replay(archive, lambda _: spark, lambda: kept, Replay(shapes=SHAPES))
    from pyoxigraph import RdfFormat, Store

    store = Store()
    for batch in kept.batches:
        store.load("\n".join(row.statements for row in batch).encode(), RdfFormat.N_TRIPLES)
    return {str(quad.triple) for quad in store}


def test_replay_goes_on_where_it_was_interrupted(
    filled: Archive, spark: SparkSession, tmp_path: Path
) -> None:
    wanted = Replay(batch=2, position=tmp_path / "position.json")
    first, second = Kept(fails_at=3), Kept()
    with pytest.raises(ArchiveError, match="gone"):
        replay(filled, lambda _: spark, lambda: first, wanted)
    summary = replay(filled, lambda _: spark, lambda: second, wanted)
    everything = [13, 8, 1, 2, 3, 4, 5, 6, 7, 11, 12, 9]
    assert first.sequences == everything[:6]
    assert second.sequences == everything[6:]
    assert summary.details["position"] == "2026-09-02T00:01:40Z kitchen 7-9"
    again = replay(filled, lambda _: spark, Kept, wanted)
    assert (again.status, again.rows_out) == ("idle", 0)
    other = Replay(Selection(sensors=("urn:s",)), position=wanted.position)
    with pytest.raises(ArchiveError, match="another selection"):
        replay(filled, lambda _: spark, Kept, other)
    with lock(tmp_path / ".position.json.lock", "replay"), pytest.raises(BusyError):
        replay(filled, lambda _: spark, Kept, wanted)
    (tmp_path / "position.json").write_text('{"selection": 1}')
    with pytest.raises(ArchiveError, match="no position"):
        replay(filled, lambda _: spark, Kept, wanted)


def test_selection_is_by_time_and_by_names(filled: Archive, spark: SparkSession) -> None:
    def sent(**members: object) -> list[int]:
        kept = Kept()
        replay(filled, lambda _: spark, lambda: kept, Replay(Selection(**members)))  # type: ignore[arg-type]
        return kept.sequences

    assert sent(since=datetime(2026, 9, 2, tzinfo=UTC)) == [9]
    until = datetime(2026, 9, 1, 0, 0, 3, tzinfo=UTC)
    assert sent(until=until, since=datetime(2026, 9, 1, tzinfo=UTC)) == [1, 2]
    assert sent(properties=("urn:open", "urn:text")) == [5, 6]
    assert sent(sensors=("https://a.example/sensor/ø#1",)) == [1]
    assert sent(gateways=("nobody",)) == []


def row(us: int, **members: object) -> Row:
    fields: dict[str, object] = {
        "result_us": us,
        "gateway": "g",
        "epoch": 1,
        "sequence": 1,
        "sensor": "urn:s",
        "observed_property": "urn:p",
        "feature": "urn:f",
        "unit": None,
        "lexical": "1",
        "datatype": XSD + "integer",
        "statements": "",
    }
    return Row(**(fields | members))  # type: ignore[arg-type]


def test_pace_waits_as_the_archive_did_but_faster() -> None:
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    times = [0, 1, 60_000_000, 60_000_001, 3_600_000_000]
    pace = Pace(60.0, lambda: now[0], sleep)
    sent = [(round(now[0] - 100, 1), len(batch)) for batch in pace.batches(map(row, times), 9)]
    assert sent == [(0, 2), (1, 2), (60, 1)]
    fastest = Pace(None, lambda: now[0], sleep)
    assert [len(batch) for batch in fastest.batches(map(row, times), 3)] == [3, 2]


def test_units_are_those_of_senml_and_a_pack_keeps_digits() -> None:
    assert {unit_iri(symbol): symbol for symbol in SYMBOLS.values()} == SYMBOLS
    time = 1_788_220_800_000_000
    payload, reasons = pack(
        [
            row(time + 120, lexical="21.50", datatype=XSD + "decimal", unit=UNIT + "DEG_C"),
            row(time, lexical="1e400", datatype=XSD + "double"),
        ]
    )
    assert b'"t":1788220800.00012,"u":"Cel","v":21.50}' in payload
    assert reasons == ["JSON has no number that is not finite"]
    assert json.loads(payload)


def test_receivers_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="broker"), MqttReceiver(Broker("127.0.0.1", 1)):
        pass
    for url in ("http://h", "mqtt://", "mqtt://h:x", "mqtt://h/topic"):
        with pytest.raises(ArchiveError, match="URL"):
            Broker.parse(url)
    assert "secret" not in repr(Broker.parse("mqtts://me:secret@h"))
    with pytest.raises(ArchiveError, match="no topic"):
        MqttReceiver(Broker("h", 1), "a/+/b")
    waits: list[float] = []
    endpoint = Endpoint("http://127.0.0.1:1/update", timeout_s=0.5)
    with (
        UpdateReceiver(endpoint, waits.append) as receiver,
        pytest.raises(ArchiveError, match="takes nothing"),
    ):
        receiver.send([row(1)])
    assert waits[:1] == [0.2]
    with pytest.raises(ArchiveError, match="no URL"):
        UpdateReceiver(Endpoint("ftp://h"))
    with pytest.raises(ArchiveError, match="no certificate"):
        UpdateReceiver(Endpoint("https://h", ca=tmp_path / "none.pem"))
    with (
        UpdateReceiver(Endpoint("http://127.0.0.1:1", token=tmp_path / "none")) as receiver,
        pytest.raises(ArchiveError, match="no token"),
    ):
        receiver.send([row(1)])


def test_command_says_what_it_would_send(
    filled: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["replay", "--archive", str(filled.folder), "--quiet"]
    for wrong in ([], ["--mqtt", "x", "--update", "y"], ["--mqtt", "x", "--speed", "0"]):
        with pytest.raises(SystemExit) as exit_:
            main([*command, *wrong])
        assert exit_.value.code == 2
    assert main([*command, "--mqtt", "mqtt://h", "--since", "2026-09-02", "--dry-run"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["status"], summary["rows_in"], summary["rows_out"]) == ("dry-run", 1, 0)
    mappings = tmp_path / "replay.jsap"
    options = ["--property", "urn:open", "--mappings", str(mappings), "--dry-run"]
    assert main([*command, "--mqtt", "mqtt://h", *options]) == 0
    (mapping,) = json.loads(mappings.read_text())["extended"]["mappings"]
    assert (mapping["property"], mapping["format"]) == ("urn:open", "senml")
