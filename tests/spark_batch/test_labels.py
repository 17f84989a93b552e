"""What gateways call their things goes with their segments: newest first, and costs no row."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from gateway.app.gateway import Gateway
from gateway.config.journal import ShippingSettings
from spark_batch.archive import Archive, Labels
from spark_batch.jobs.rounds import Rounds, Wanted
from spark_batch.jobs.survey import survey
from spark_batch.landing import landing_zone
from spark_batch.names import Names
from spark_batch.plan import Checked, Ledger
from spark_batch.quarantine import Quarantine
from spark_batch.segment import SegmentName
from tests.kit.gateways import mapping, publish, running, settings, update, write_profile
from tests.spark_batch.truths import reading, write_segment

_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


@pytest.fixture
def labels(tmp_path: Path) -> Labels:
    return Labels(tmp_path / "labels")


def checked(gateway: str, first: int, **told: str) -> Checked:
    name = f"{gateway}-00000007-{first:012d}-4-0123456789ab.jsonl.gz"
    return Checked(SegmentName.parse(name), name, 4, "urn:", told)


def orders() -> Iterator[list[list[Checked]]]:
    old, new = checked("a", 1, s="lamp", t="hall"), checked("a", 5, s="the lamp")
    yield [[old, new]]
    yield [[old], [new]]
    yield [[new], [old]]
    yield [[new, checked("a", 9)], [old], [old]]


@pytest.mark.parametrize("batches", list(orders()))
def test_the_newest_segment_names_a_thing_in_whatever_order_they_come(
    labels: Labels, batches: list[list[Checked]]
) -> None:
    for batch in batches:
        labels.take(batch)
    labels.take([checked("b", 1, u="hum")])
    assert labels.known() == {"s": "the lamp", "t": "hall", "u": "hum"}


def test_labels_are_in_the_header_and_what_are_none_costs_no_segment(tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    landing.mkdir()
    told: list[object] = [{"urn:s": "die Lampe", "urn:p": 7}, "no labels", ["urn:s"], {}]
    for number, each in enumerate(told):
        write_segment(landing, [reading(1 + number)], labels=each)
    found = survey(landing_zone(str(landing)), Ledger(), Quarantine(tmp_path / "quarantine"))
    assert not found.faults
    good = sorted(found.good, key=lambda each: each.segment)
    assert [each.labels for each in good] == [{"urn:s": "die Lampe"}, {}, {}, {}]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('"b"@en-GB, "a"@de', "b"),
        ('"b", "a"@de', "b"),
        ('"b"@EN, "c"', "b"),
        ('"b"@de, "a"@fr', "a"),
    ],
)
def test_a_label_in_english_goes_before_others(tmp_path: Path, said: str, expected: str) -> None:
    """As the gateway chooses among its own."""
    path = tmp_path / "labels.ttl"
    path.write_text(f"<urn:s> {_LABEL} {said} .")
    assert Names.read(path).of("urn:s") == expected


async def test_what_a_gateway_calls_its_things_heads_the_report(
    landing: Path, archive: Archive, spark: SparkSession, tmp_path: Path
) -> None:
    """From an UPDATE over journal, segment and landing zone to the page; a new name wins."""
    report = tmp_path / "report.html"
    rounds = Rounds(archive, landing_zone(str(landing)), lambda _: spark, Wanted(report=report))
    profile = write_profile(tmp_path, [mapping("t", "t/1", selector="$.t")])
    shipping = ShippingSettings(to=str(landing), retry_s=0.1)
    config = settings(tmp_path, profile).model_copy(update={"shipping": shipping})
    async with running(config) as gateway:
        for name, was in (("hall lamp", ""), ("lamp in the hall", "hall lamp")):
            await publish(gateway.mqtt_port, [("t/1", b'{"t": %d}' % n) for n in range(12)])
            if was:
                await update(gateway, f"DELETE DATA {{ <urn:sensor:1> {_LABEL} '{was}' }}")
            await update(gateway, f"INSERT DATA {{ <urn:sensor:1> {_LABEL} '{name}' }}")
            await update(gateway, f"INSERT DATA {{ <urn:property:t> {_LABEL} 'warm & <dry>' }}")
            await _shipped(gateway, landing)
            assert rounds.run().rows_out > 0
            text = report.read_text(encoding="utf-8")
            assert name in text
            assert "1: warm &amp; &lt;dry&gt;" in text
            assert not was or was not in text
            assert "urn:sensor:1" not in text
    assert archive.labels.known()["urn:property:t"] == "warm & <dry>"


async def _shipped(gateway: Gateway, landing: Path) -> None:
    """A segment that was begun when the journal had asked the store for labels as they are."""
    journal = gateway.stages.storage.journal
    journal.labels.ask()
    journal.rotate()
    await publish(gateway.mqtt_port, [("t/1", b'{"t": 99}')])
    journal.rotate()
    before = len(list(landing.rglob("*.gz")))
    async with asyncio.timeout(120):
        while len(list(landing.rglob("*.gz"))) < before + 2:
            await asyncio.sleep(0.05)
