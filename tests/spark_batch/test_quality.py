"""Quality: every kind of fault is found where it was put, and a sound fleet has none."""

import html.parser
import random
import re
from collections.abc import Callable
from datetime import datetime
from html import escape
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.chart import Curve, Finding, chart
from spark_batch.errors import ArchiveError
from spark_batch.jobs.quality import Quality
from spark_batch.names import Names
from spark_batch.report import ADVICE, Report, Section
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
    revised = minutely("revised", noise)
    revised[30]["n"] = "7"
    revised.insert(31, revised[30] | {"v": "20.5"})
    lines = gap + silent + stuck + spike + drift + jump + twice + counted + door + unit + revised
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
        "revision": {"urn:revised"},
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
        assert escape(ADVICE[name].do) in text
    headings = text.split("<h3>")[1:]
    assert headings[0].startswith("gateway holes<")
    counts = [each.count("<b>") for each in headings[1:]]
    assert counts == sorted(counts, reverse=True)
    several = ("gap", "silence", "stuck", "spike", "clock_jump", "duplicate", "revision")
    for kind in (*several, "unit_change"):
        assert f'class="mark {kind}"' in text, kind


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
    found = [Finding(evil, 5, 5, evil), Finding("spike", 0, 0, evil)]
    curve = Curve(0, 9, 3, [(0, 1.0, 0.5, 1.5), (2, 2.0, 2.0, 2.0)], evil)
    report = Report(
        evil,
        datetime(2026, 9, 1),
        {evil: evil},
        {evil: 1},
        {evil: 3, "b": 0},
        [Section(evil, {evil: evil}, found, 2, curve), Section("empty", {})],
        2,
    )
    parser = Resources()
    parser.feed(report.html())
    assert parser.seen == []
    assert "&lt;script" in report.html()
    assert "<script" not in report.html()


@pytest.mark.parametrize(
    "points",
    [
        [],
        [(0, 20.0, 20.0, 20.0)],
        [(0, 0.0, 0.0, 0.0), (159, 0.0, 0.0, 0.0)],
        [(0, -1e-9, -1e-9, 1e-9), (1, 1e300, -1e300, 1e300)],
        [(3, 19.99, 19.98, 20.01), (4, 20.0, 19.9, 20.1), (90, 21.0, 20.9, 21.1)],
    ],
)
def test_a_curve_and_its_marks_lie_within_the_picture(
    points: list[tuple[int, float, float, float]],
) -> None:
    day = 86_400_000_000
    marks = [
        Finding(check, start, start + day, "words")
        for check in ADVICE
        for start in (-9 * day, day, 9 * day)
    ]
    drawn = chart(Curve(0, 2 * day, 160, points, "°C"), marks)
    drawn_at = [each.split(",") for each in " ".join(re.findall(r'points="(.+?)"', drawn)).split()]
    for axis, most, place in (("x", 720, 0), ("y", 200, 1)):
        told = re.findall(rf' {axis}[12]?="([^"]+)"', drawn) + [each[place] for each in drawn_at]
        assert told
        assert all(0 <= float(each) <= most for each in told)
    assert "nan" not in drawn


def test_things_are_called_what_the_graph_calls_them(tmp_path: Path) -> None:
    path = tmp_path / "labels.ttl"
    path.write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        '<urn:a> rdfs:label "der Dachboden"@de, "the attic"@en . <urn:b> rdfs:label "Flur"@de .\n',
        encoding="utf-8",
    )
    names = Names.read(path)
    assert [names.of(each) for each in ("urn:a", "urn:b", "urn:room:hall#", None)] == [
        "the attic",
        "Flur",
        "hall",
        "",
    ]
    path.write_text("<urn:a> <", encoding="utf-8")
    with pytest.raises(ArchiveError, match="is no Turtle"):
        Names.read(path)
    with pytest.raises(ArchiveError, match="cannot be read"):
        Names.read(tmp_path / "none.ttl")
