"""Quality: every kind of fault is found where it was put, and a sound fleet has none."""

import html.parser
import random
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.jobs.quality import Quality
from spark_batch.report import Curve, Report
from spark_batch.summary import Summary
from spark_batch.tools.fleet import Fleet
from tests.spark_batch.truths import reading, write_segment

T = 1_788_220_800_000_000
MINUTE = 60_000_000
Lines = list[dict[str, object]]


def minutely(name: str, values: list[str], **members: object) -> Lines:
    return [
        {"s": f"urn:{name}", "v": value, "t": T + n * MINUTE, "i": T + n * MINUTE, **members}
        for n, value in enumerate(values)
    ]


def faulty_house() -> Lines:
    """One stream for each kind of fault, two hours of minutes each."""
    chance = random.Random(1)
    noise = [f"{chance.gauss(20, 1):.2f}" for _ in range(120)]
    gap = minutely("gap", noise)
    del gap[50:60]
    silent = minutely("silent", noise)[:60]
    stuck = minutely("stuck", noise[:40] + ["19.99"] * 60 + noise[100:])
    spike = minutely("spike", [*noise[:70], "85", *noise[71:]])
    drift = minutely("drift", noise)
    for n, line in enumerate(drift):
        line["i"] = T + n * MINUTE + 5_000_000 - n * 30_000  # gains 0.5 ms a second
    jump = minutely("jump", noise)
    jump[5] |= {"t": T + 400 * 86_400_000_000, "c": 1}
    twice = minutely("twice", noise)
    twice.insert(30, twice[30] | {"i": T + 31 * MINUTE})
    counted = minutely("counted", noise)
    counted[30:30] = [counted[30] | {"n": "1"}, counted[30] | {"n": "2"}]
    door = minutely("door", ["false"] * 120, d="http://www.w3.org/2001/XMLSchema#boolean")
    door[31:31] = [door[30] | {"v": value} for value in ("true", "false", "true", "false")]
    unit = minutely("unit", noise, u="urn:celsius")
    for line in unit[80:]:
        line["u"] = "urn:kelvin"
    lines = gap + silent + stuck + spike + drift + jump + twice + counted + door + unit
    return [reading(n) | line for n, line in enumerate(lines, 1)]


def found(archive: Archive, spark: SparkSession) -> dict[str, set[str | None]]:
    kinds: dict[str, set[str | None]] = {}
    for row in archive.quality.read(spark).collect():
        kinds.setdefault(row["check"], set()).add(row["sensor"])
    return kinds


def test_each_fault_is_found_once_and_a_second_run_says_the_same(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    write_segment(landing, faulty_house())
    write_segment(landing, [reading(1), reading(2)], gateway="holes", epoch=3)
    write_segment(landing, [reading(9), reading(10)], gateway="holes", epoch=3)
    ingest()
    job = Quality(archive, lambda _: spark)
    page = archive.folder / "quality.html"
    summary = job.run(report=page)
    kinds = found(archive, spark)
    expected = {
        "gap": {"urn:gap"},
        "silence": {"urn:silent"},
        "stuck": {"urn:stuck"},
        "spike": {"urn:spike"},
        "clock_drift": {"urn:drift"},
        "clock_jump": {"urn:jump"},
        "duplicate": {"urn:twice"},
        "unit_change": {"urn:unit"},
        "missing": {None},
    }
    kinds["silence"] -= {"urn:unit"}  # the stream in the old unit is silent, rightly
    assert kinds == expected
    drift = archive.quality.read(spark).where("check = 'clock_drift'").collect()[0]
    assert 480 < drift["amount"] < 520
    details = summary.details["findings"]
    assert job.run().details["findings"] == details
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") >= 9
    for name in expected:
        assert f"<td>{name}</td>" in text


def test_sound_fleet_has_no_findings(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    Fleet(gateways=2, days=2, faults=False).write(landing)
    ingest()
    assert Quality(archive, lambda _: spark).run(dry_run=True).status == "dry-run"
    assert not archive.quality.exists
    summary = Quality(archive, lambda _: spark).run(report=archive.folder / "report.html")
    assert summary.details["findings"] == {}
    assert "as expected" in (archive.folder / "report.html").read_text(encoding="utf-8")


class Resources(html.parser.HTMLParser):
    """Everything that a browser would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "img", "link", "iframe"}:
            self.seen.append(tag)
        self.seen += [name for name, _ in attrs if name in {"src", "href"} or name[:2] == "on"]


def test_report_fetches_nothing_and_names_of_devices_are_text() -> None:
    evil = '<script src="//x"></script>"\'&'
    curve = Curve(evil, 3, [(0, 1.0, 0.5, 1.5), (2, 2.0, 2.0, 2.0)], [0.5, 7.0])
    report = Report(
        evil,
        datetime(2026, 9, 1),
        {evil: evil},
        {evil: 1},
        {evil: 3, "b": 0},
        (evil,),
        [[evil]],
        2,
        [curve, Curve("empty", 3, [])],
    )
    parser = Resources()
    parser.feed(report.html())
    assert parser.seen == []
    assert "&lt;script" in report.html()
