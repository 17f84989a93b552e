"""A query over time is answered as if all there ever was were in the store."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest
from deltalake import DeltaTable

from gateway.journal.past import archive as archive_module
from gateway.journal.past import gathering
from gateway.journal.past.gathering import TooManyRowsError
from gateway.journal.record import micros
from gateway.store.quad_store import QuadStore
from jsap.shapes.parse import parse
from jsap.shapes.plan import plan
from jsap.shapes.refusal import QueryError
from tests.gateway.journal.past.pasts import LIMITS, NAMESPACES, SHAPES, Past, solutions

TIMED = "?o sosa:madeBySensor ?s ; sosa:resultTime ?t ; sosa:hasSimpleResult ?v"


def query(chance: Random) -> str:
    """A text of the subset."""
    patterns = [
        "?o sosa:madeBySensor ?s",
        "?o sosa:resultTime ?t",
        "?o sosa:hasSimpleResult ?v",
        *chance.sample(
            (
                "?o sosa:observedProperty ?p",
                "?o sosa:hasFeatureOfInterest ?f",
                "?o sosa:hasResult/qudt:hasUnit ?u",
                "?o gw:timeSource ?c",
                "?o gw:message ?m . ?o2 gw:message ?m",
                "?o gw:ingestedAt ?i",
                "?o sosa:phenomenonTime/time:inXSDDateTimeStamp ?stamp",
                "?s rdfs:label ?label",
                "?s <urn:at> ?room . ?room rdfs:label ?floor",
                "?s sosa:observes ?any",
                "?f rdfs:label ?place",
                "?o gw:clockSuspect true",
            ),
            chance.randrange(4),
        ),
    ]
    chance.shuffle(patterns)
    where = " . ".join(patterns)
    for optional in chance.sample(
        (
            "OPTIONAL { ?o sosa:hasResult/qudt:hasUnit ?unit }",
            "OPTIONAL { ?s rdfs:label ?name }",
            "OPTIONAL { ?o gw:clockSuspect ?wrong }",
        ),
        chance.randrange(3),
    ):
        where += f" {optional}"
    after = chance.choice(("<", "<=", ">", ">=", "!="))
    times = ("2026-03-02T09:00:00Z", "2026-03-02T20:00:00.000001Z", "2026-03-01T12:00:00Z")
    for condition in chance.sample(
        (
            f'?t {after} "{chance.choice(times)}"^^xsd:dateTime',
            "?s = <urn:s:1>",
            "?s IN (<urn:s:0>, <urn:s:2>)",
            "?v > 5 || isLiteral(?v)",
            "datatype(?v) != xsd:string",
            "STRSTARTS(STR(?s), 'urn:s')",
        ),
        chance.randrange(3),
    ):
        where += f" FILTER({condition})"
    kind = chance.randrange(4)
    if kind == 0:
        return f"SELECT ?s (COUNT(*) AS ?n) (MAX(?t) AS ?last) {{ {where} }} GROUP BY ?s"
    if kind == 1:
        return f"SELECT DISTINCT ?s {{ {where} }}"
    if kind == 2:
        return f"SELECT ?o ?t ?v {{ {{ {where} }} UNION {{ {TIMED} FILTER(?s = <urn:s:2>) }} }}"
    return f"SELECT * {{ {where} }}"


@pytest.fixture(scope="module", params=[1, 2, 3])
def past(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Past:
    """Three lives; some segments were ingested, of these some are gone, one came twice."""
    chance = Random(request.param)
    made = Past(tmp_path_factory.mktemp("past"))
    for seal in (True, True, False):
        made.live(chance, 40, seal=seal)
    sealed = made.sealed()
    taken = chance.sample(sealed, len(sealed) // 2)
    made.ingest(taken[:3])
    made.ingest(taken[3:])
    for path in taken[::2]:
        path.unlink()
    return made


@pytest.fixture(scope="module")
def truth(past: Past) -> QuadStore:
    return past.truth()


@pytest.mark.property
@pytest.mark.parametrize("seed", range(40))
def test_any_query_has_the_answer_of_a_store_with_all(
    past: Past, truth: QuadStore, seed: int
) -> None:
    text = query(Random(seed))
    found = past.gathered(text)
    assert found.missing == {}
    assert found.gaps == []
    assert solutions(QuadStore(found.store), text) == solutions(truth, text)


def test_lines_that_nobody_has_are_named(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 35)
    past.live(Random(5), 14)
    sealed = past.sealed()
    past.ingest([sealed[0], sealed[2]])
    for path in (sealed[0], sealed[1], sealed[2], sealed[6]):
        past.remove(path)
    first, second = past.records[0].position.epoch, past.records[-1].position.epoch
    found = past.gathered(f"SELECT * {{ {TIMED} }}")
    told = [(gap.reason, gap.epoch, gap.first, gap.last) for gap in found.gaps]
    assert told == [("missing", first, 8, 14), ("missing", second, 8, 14)]
    assert found.rows == 49 - 14
    came = [micros(record.ingested_at) for record in past.records]
    assert [(gap.begin, gap.end) for gap in found.gaps] == [
        (came[7], came[13]),
        (came[42], came[48]),
    ]


def test_a_damaged_segment_gives_what_it_has_and_is_named(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 21)
    damaged = past.sealed()[1]
    damaged.write_bytes(damaged.read_bytes()[:-60])
    found = past.gathered(f"SELECT * {{ {TIMED} }}")
    assert [(gap.reason, gap.first, gap.last) for gap in found.gaps] == [("unreadable", 8, 14)]
    assert 14 <= found.rows < 21


def test_an_archive_that_is_away_is_named_and_the_journal_answers(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 20)
    found = past.gathered(f"SELECT * {{ {TIMED} }}")
    assert list(found.missing) == ["archive"]
    assert "is not there" in found.missing["archive"]
    assert found.rows == 20


def test_a_journal_that_is_away_is_named_and_the_archive_answers(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 20)
    past.ingest(past.sealed()[:2])
    found = past.gathered(f"SELECT * {{ {TIMED} }}", replace(past.sources, journal=None))
    assert list(found.missing) == ["journal"]
    assert found.rows == 14


def test_files_that_vacuum_removed_are_looked_for_in_a_newer_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 21)
    for path in past.sealed():
        past.ingest([path])
    text = f"SELECT * {{ {TIMED} }}"
    whole = solutions(QuadStore(past.gathered(text).store), text)
    table_folder = past.archive / "observations"
    table = DeltaTable(str(table_folder))
    files = archive_module._files
    looks = 0

    def compacted(log: DeltaTable) -> list[Any]:
        """The files as they are; before they are read, others stand for them."""
        nonlocal looks
        looks += 1
        known = files(log)
        if looks == 1:
            table.optimize.compact(min_commit_interval=None)
            table.vacuum(0, dry_run=False, enforce_retention_duration=False)
            assert not all((table_folder / each.path).exists() for each in known)
        return known

    monkeypatch.setattr(archive_module, "_files", compacted)
    found = past.gathered(text)
    assert looks > 1
    assert found.missing == {}
    assert solutions(QuadStore(found.store), text) == whole


def test_an_archive_whose_files_are_gone_is_missing(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 14)
    past.ingest(past.sealed()[:1])
    for path in (past.archive / "observations").glob("day=*/*.parquet"):
        path.unlink()
    found = past.gathered(f"SELECT * {{ {TIMED} }}")
    assert list(found.missing) == ["archive"]
    assert found.rows == 7


def test_days_that_the_archive_dropped_are_named_where_they_are_asked_for(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 14)
    past.ingest(past.sealed())
    (past.archive / "retained.json").write_text('{"since": "2026-03-01"}')
    found = past.gathered(f"SELECT * {{ {TIMED} }}")
    assert [str(gap) for gap in found.gaps] == ["retained until 2026-03-01T00:00:00Z"]
    later = f'SELECT * {{ {TIMED} FILTER(?t > "2026-03-01T00:00:00Z"^^xsd:dateTime) }}'
    assert past.gathered(later).gaps == []


def test_days_that_are_dropped_while_they_are_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 21)
    past.ingest(past.sealed())
    text = f"SELECT * {{ {TIMED} }}"
    whole = past.gathered(text)
    for path in past.sealed():
        past.remove(path)
    table = DeltaTable(str(past.archive / "observations"))
    files = archive_module._files
    dropped: list[int] = []

    def retained(log: DeltaTable) -> list[Any]:
        """The files as they are; before they are read, the days before one are dropped."""
        known = files(log)
        if not dropped:
            (past.archive / "retained.json").write_text('{"since": "2026-03-02"}')
            old = [each for each in known if each.day < date(2026, 3, 2)]
            dropped.append(sum(each.rows for each in old))
            table.delete("day < '2026-03-02'")
            table.vacuum(0, dry_run=False, enforce_retention_duration=False)
        return known

    monkeypatch.setattr(archive_module, "_files", retained)
    found = past.gathered(text)
    assert 0 < dropped[0] < whole.rows
    assert found.rows == whole.rows - dropped[0]
    assert found.missing == {}
    assert [str(gap) for gap in found.gaps] == ["retained until 2026-03-02T00:00:00Z"]


def test_too_many_observations_are_refused(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 14)
    past.ingest(past.sealed()[:1])
    limits = replace(LIMITS, rows=13)
    with pytest.raises(TooManyRowsError, match="more than 13 observations"):
        past.gathered(f"SELECT * {{ {TIMED} }}", limits=limits)
    assert past.gathered(f"SELECT * {{ {TIMED} }}", limits=replace(limits, rows=14)).rows == 14


def test_a_batch_of_rows_that_were_there_before_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "_AT_ONCE", 3)
    past = Past(tmp_path)
    past.live(Random(4), 35)
    past.ingest(past.sealed())
    text = f"SELECT * {{ {{ {TIMED} FILTER(?s = <urn:s:1>) }} UNION {{ {TIMED} }} }}"
    assert past.gathered(text).rows == 35


def test_what_the_store_says_of_a_sensor_narrows_what_is_read(tmp_path: Path) -> None:
    past = Past(tmp_path)
    past.live(Random(4), 60)
    past.ingest(past.sealed())
    found = past.gathered(f'SELECT * {{ {TIMED} . ?s rdfs:label "hall" }}')
    of_hall = [each for each in past.records if each.observation.sensor == "urn:s:0"]
    assert found.rows == len(of_hall) < 60


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SELECT * { ?o ?p ?v }", "as a predicate"),
        ("SELECT * { GRAPH <urn:g> { ?o sosa:hasSimpleResult ?v } }", "GRAPH"),
        ("SELECT * { ?o sosa:hasSimpleResult ?v MINUS { ?o gw:clockSuspect true } }", "MINUS"),
        ("SELECT * { ?o sosa:hasSimpleResult ?v FILTER(REGEX(?v, 'a')) }", "REGEX"),
        ("SELECT * { ?o sosa:hasSimpleResult ?v FILTER EXISTS { ?o a ?k } }", "EXISTS"),
        ("SELECT (SAMPLE(?v) AS ?x) { ?o sosa:hasSimpleResult ?v }", "beside aggregates"),
        ("SELECT * { ?s sosa:observes+ ?p }", "path"),
        ("ASK { ?o sosa:hasSimpleResult ?v }", "ASK"),
        ("SELECT * { ?x qudt:hasUnit ?u OPTIONAL { ?y gw:message ?m } }", "OPTIONAL"),
    ],
)
def test_what_is_outside_of_the_subset_is_refused(text: str, told: str) -> None:
    with pytest.raises(QueryError, match=told):
        plan(parse(text, NAMESPACES).algebra, SHAPES)
