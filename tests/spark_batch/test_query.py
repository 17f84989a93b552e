"""SPARQL over the archive against the gateway's own engine of queries over the exported RDF."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions, RdfFormat, Store
from pyspark.sql import SparkSession

from gateway.journal.past.gathering import gather
from gateway.journal.past.sources import GatherLimits, Sources
from jsap.shapes.parse import parse
from jsap.shapes.plan import plan
from spark_batch.archive import Archive
from spark_batch.cli import main
from spark_batch.errors import ArchiveError
from spark_batch.jobs.export_rdf import Export, export_rdf
from spark_batch.jobs.ingest import Ingest
from spark_batch.jobs.query import Question, query
from spark_batch.landing import landing_zone
from spark_batch.sparql.refusal import QueryError
from spark_batch.transforms.shape import load_shapes
from tests.spark_batch.random_expressions import expression
from tests.spark_batch.truths import reading, write_segment

XSD = "http://www.w3.org/2001/XMLSchema#"
UNIT = "http://qudt.org/vocab/unit/"
DAY_US = 86_400_000_000
PREFIXES = """\
PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX qudt: <http://qudt.org/schema/qudt/>
PREFIX unit: <http://qudt.org/vocab/unit/>
PREFIX time: <http://www.w3.org/2006/time#>
PREFIX gw: <https://sosa-gateway.example/ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""


def typed(sequence: int, lexical: str, kind: str, **members: object) -> dict[str, object]:
    return reading(sequence, v=lexical, d=kind if ":" in kind else XSD + kind, **members)


def lines() -> list[dict[str, object]]:
    """Two rooms for three days: numbers, states, texts, and what nobody can compare."""
    start = reading(0)["t"]
    assert isinstance(start, int)
    found: list[dict[str, object]] = []
    celsius, percent = UNIT + "DEG_C", UNIT + "PERCENT"
    for number in range(24):
        t = start + (number // 2) * DAY_US // 4
        room = f"urn:room:{number % 2}"
        kinds = {"s": f"urn:t{number % 2}", "p": "urn:temperature", "f": room, "u": celsius}
        found.append(typed(0, f"{20 + number / 4:.2f}", "decimal", t=t, i=t + 1_500, **kinds))
        kinds = {"s": f"urn:h{number % 2}", "p": "urn:humidity", "f": room, "u": percent}
        found.append(typed(0, str(40 + number % 5), "integer", t=t, i=t + 2_000_000, **kinds))
    odd = {"s": "urn:odd", "p": "urn:odd:p", "f": "urn:room:0"}
    for lexical, kind in (
        *(("true", "boolean"), ("0", "boolean"), ("on", "string"), ("", "string")),
        *(('a "quoted" \\ øß😀', "string"), ("1E3", "double"), ("2.5", "double")),
        *(("21.50", "decimal"), ("-0.0", "decimal"), ("7", "decimal"), ("007", "integer")),
        *(("99999999999999999999", "integer"), ("0.000000000000000001", "decimal")),
        *(
            ("POINT(1 2)", "http://www.opengis.net/ont/geosparql#wktLiteral"),
            ("x", "urn:a:datatype"),
        ),
    ):
        found.append(typed(0, lexical, kind, **odd))
    found.append(typed(0, "5", "integer", s="urn:clock", t=start + 400 * DAY_US, c=1))
    found.append(typed(0, "6", "integer", s="urn:clock", t=None, i=start + 77, z="BrokerClock"))
    found.append(typed(0, "7", "integer", s="urn:clock", z="BrokerClock", i=start + 123_456))
    found.append(typed(0, "8", "integer", s="urn:not an iri"))
    found.append({"a": 1, "s": "urn:fan", "v": "ON", "d": XSD + "string", "i": start, "o": "fan"})
    return [{**line, "q": number} for number, line in enumerate(found, start=1)]


@contextmanager
def _interpreted(session: SparkSession) -> Iterator[None]:
    """Rows are few and queries many: compiling each would be most of the time."""
    settings = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
    }
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name in settings:
            session.conf.unset(name)


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession) -> Iterator[None]:
    with _interpreted(spark):
        yield


@pytest.fixture(scope="module")
def asked(
    shared_session: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Archive, Store]:
    """An archive, and a store that has its export."""
    folder = tmp_path_factory.mktemp("query")
    landing = folder / "landing"
    landing.mkdir()
    rows = lines()
    write_segment(landing, rows[:30], schema="1.1")
    write_segment(landing, rows[30:], schema="1.1")
    archive = Archive(folder / "archive")
    with _interpreted(shared_session):
        Ingest(archive, landing_zone(str(landing)), lambda _: shared_session).run()
        export = Export(folder / "rdf", "ntriples")
        summary = export_rdf(archive, lambda _: shared_session, export)
    store = Store()
    for part in Path(str(summary.details["folder"])).glob("*.nt.gz"):
        store.load(gzip.decompress(part.read_bytes()), RdfFormat.N_TRIPLES)
    return archive, store


def value(term: Any) -> object:
    """A term to compare: numbers by value and whether they are exact."""
    if term is None or isinstance(term, NamedNode):
        return term
    assert isinstance(term, Literal)
    datatype = term.datatype.value
    if datatype in (XSD + "integer", XSD + "decimal"):
        try:
            return (Decimal(term.value), datatype)
        except ArithmeticError:
            return term
    return (float(term.value), datatype) if datatype == XSD + "double" else term


def of_store(store: Store, text: str) -> list[tuple[object, ...]]:
    found = store.query(PREFIXES + text)
    assert isinstance(found, QuerySolutions)
    names = sorted(each.value for each in found.variables)
    return [tuple(value(row[name]) for name in names) for row in found]


def of_archive(archive: Archive, spark: SparkSession, text: str) -> list[tuple[object, ...]]:
    out = archive.folder.parent / "answer.json"
    query(archive, lambda _: spark, Question(PREFIXES + text, "json", out))
    document = json.loads(out.read_text())
    return [
        tuple(value(_term(row.get(name))) for name in sorted(document["head"]["vars"]))
        for row in document["results"]["bindings"]
    ]


def _term(cell: dict[str, str] | None) -> NamedNode | Literal | None:
    if cell is None:
        return None
    if cell["type"] == "uri":
        return NamedNode(cell["value"])
    return Literal(cell["value"], datatype=NamedNode(cell.get("datatype", XSD + "string")))


QUERIES = {
    name: text
    for name, _, text in (
        block.partition("\n")
        for block in (Path(__file__).parent / "queries.rq").read_text("utf-8").split("\n## ")[1:]
    )
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name.startswith("slow") else name
        for name in QUERIES
    ],
)
def test_answer_is_that_of_the_exported_triples(
    name: str, asked: tuple[Archive, Store], spark: SparkSession
) -> None:
    archive, store = asked
    expected = of_store(store, QUERIES[name])
    found = of_archive(archive, spark, QUERIES[name])
    if "ordered" in name:
        assert found == expected
    assert Counter(found) == Counter(expected)


@pytest.mark.parametrize("name", QUERIES)
def test_a_gateway_gives_the_same_answer_of_the_same_archive(
    name: str, asked: tuple[Archive, Store]
) -> None:
    """In process, without Spark, by the same plan over the same rows."""
    archive, store = asked
    wanted = plan(parse(PREFIXES + QUERIES[name], {}).algebra, load_shapes())
    found = gather(
        wanted, load_shapes(), lambda _: (), Sources(archive.folder, None), GatherLimits()
    )
    assert list(found.missing) == (["journal"] if wanted.needs else [])
    assert Counter(of_store(found.store, QUERIES[name])) == Counter(of_store(store, QUERIES[name]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT * { ?o ?p ?v }", "predicate"),
        ("SELECT * { ?s sosa:isHostedBy ?p }", "isHostedBy"),
        ("SELECT * { ?s a ?t }", "which may be"),
        ("ASK { ?o sosa:madeBySensor ?s }", "ASK"),
        ("SELECT * FROM <urn:g> { ?o sosa:madeBySensor ?s }", "FROM"),
        ("SELECT * { GRAPH <urn:g> { ?o sosa:madeBySensor ?s } }", "GRAPH"),
        ("SELECT * { ?o sosa:madeBySensor ?s MINUS { ?o sosa:resultTime ?t } }", "MINUS"),
        (
            "SELECT * { ?o gw:message ?m FILTER NOT EXISTS { ?o a ?t } }",
            "NOTEXISTS",
        ),
        ("SELECT * { ?o sosa:madeBySensor ?s OPTIONAL { ?x sosa:madeBySensor ?s } }", "OPTIONAL"),
        ("SELECT * { ?o sosa:hasResult/qudt:hasUnit* ?u }", "path"),
        ('SELECT * { ?o sosa:hasSimpleResult ?v FILTER REGEX(?v, "a") }', "REGEX"),
        ("SELECT * { ?o sosa:resultTime ?t FILTER(?t < NOW()) }", "NOW"),
        ('SELECT * { ?o sosa:resultTime ?t FILTER(?t < "2026-09-01"^^xsd:date) }', "2026-09-01"),
        ('SELECT * { ?o sosa:resultTime "2026-09-01T00:00:00"^^xsd:dateTime }', "zone"),
        ("SELECT (MAX(?t) - MIN(?t) AS ?x) { ?o sosa:resultTime ?t }", "with a time"),
        ("SELECT (SAMPLE(?v) AS ?x) { ?o sosa:hasSimpleResult ?v }", "?v beside"),
        ("SELECT ?o (COUNT(*) AS ?n) { ?o sosa:hasSimpleResult ?v }", "?o beside"),
        ("SELECT (SUM(DISTINCT ?v) AS ?x) { ?o sosa:hasSimpleResult ?v }", "SUM"),
        ("SELECT (GROUP_CONCAT(?v) AS ?x) { ?o sosa:hasSimpleResult ?v }", "GROUPCONCAT"),
        ("SELECT * { ?o sosa:madeBySensor }", "line"),
        ("SELECT * { ?o nobody:madeBySensor ?s }", "nobody"),
    ],
)
def test_query_outside_of_the_subset_is_refused_with_its_place(
    text: str, words: str, asked: tuple[Archive, Store], spark: SparkSession
) -> None:
    with pytest.raises(QueryError) as refusal:
        query(asked[0], lambda _: spark, Question(PREFIXES + text))
    assert words in f"{refusal.value.description} {refusal.value.hint}"
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT (MIN(?v) AS ?x) { ?o sosa:hasSimpleResult ?v }", "without a common order"),
        ("SELECT (?v * 0.0000000001 AS ?x) { ?o sosa:hasSimpleResult ?v }", "fewer digits"),
        ("SELECT (STR(?v) AS ?x) { ?o sosa:hasSimpleResult ?v }", "xsd:double"),
    ],
)
def test_row_that_cannot_be_computed_exactly_fails_the_query(
    text: str, words: str, asked: tuple[Archive, Store], spark: SparkSession
) -> None:
    out = asked[0].folder / "never"
    with pytest.raises(ArchiveError, match=words):
        query(asked[0], lambda _: spark, Question(PREFIXES + text, "json", out))
    assert not out.exists()


def test_filters_leave_out_files_by_day_and_by_name(
    asked: tuple[Archive, Store], spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, _ = asked

    def read(text: str) -> Any:
        question = Question(PREFIXES + f"SELECT * {{ ?o sosa:resultTime ?t ; {text} }}")
        summary = query(archive, lambda _: spark, question, dry_run=True)
        return summary.details["scans"]

    (everything,) = read("sosa:madeBySensor ?s")
    assert everything["files"] == everything["of_files"]
    (day,) = read(
        'sosa:madeBySensor ?s FILTER(?t > "2026-09-02T01:00:00+01:00"^^xsd:dateTime '
        '&& "2026-09-03T00:00:00Z"^^xsd:dateTime > ?t)'
    )
    assert day["days"] == "2026-09-02 to 2026-09-03"
    assert day["files"] < everything["files"]
    for nobody in ("<urn:zz>", "?s FILTER(?s IN (<urn:zz>, <urn:a>))", "?s FILTER(?s = <urn:zz>)"):
        assert read(f"sosa:madeBySensor {nobody}")[0]["files"] == 0
    question = Question(PREFIXES + "SELECT * { ?o sosa:madeBySensor <urn:t0> }")
    assert query(archive, lambda _: spark, question, explain=True).rows_out == 0
    assert "PushedFilters: [" in (plan := capsys.readouterr().out)
    assert "EqualTo(sensor,urn:t0)" in plan


def test_command_writes_table_json_and_csv(
    asked: tuple[Archive, Store], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, _ = asked
    file = tmp_path / "query.rq"
    file.write_text(
        "SELECT ?s ?v ?nothing { ?o sosa:madeBySensor ?s ; sosa:hasSimpleResult ?v "
        '; sosa:resultTime "2026-09-01T06:00:00Z"^^xsd:dateTime } ORDER BY ?s LIMIT 2'
    )
    common = ["query", "--archive", str(archive.folder), "--quiet", str(file)]
    assert main(common) == 0
    told = capsys.readouterr()
    assert told.out.split() == ["s", "v", "nothing", "urn:h0", "42", "urn:h1", "43"]
    assert json.loads(told.err)["rows_out"] == 2
    assert main([*common, "--csv"]) == 0
    assert capsys.readouterr().out == "s,v,nothing\r\nurn:h0,42,\r\nurn:h1,43,\r\n"
    out = tmp_path / "answer.json"
    assert main([*common, "--json", "--out", str(out)]) == 0
    document = json.loads(out.read_text())
    assert document["head"] == {"vars": ["s", "v", "nothing"]}
    assert document["results"]["bindings"][0] == {
        "s": {"type": "uri", "value": "urn:h0"},
        "v": {"type": "literal", "value": "42", "datatype": XSD + "integer"},
    }
    assert main([*common[:-1], "SELECT * { ?o ?p ?v }"]) == 2
    assert "what to do" in capsys.readouterr().err
    assert main([*common[:-1], str(tmp_path / "nowhere.rq")]) == 1


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 60))]
)
def test_random_expressions_mean_what_they_mean_in_the_store(
    seed: int, asked: tuple[Archive, Store], spark: SparkSession
) -> None:
    chance = Random(seed)
    archive, store = asked
    columns = " ".join(f"({expression(chance, 3)} AS ?x{number:02})" for number in range(20))
    text = (
        f"SELECT ?o {columns} {{ ?o sosa:hasSimpleResult ?v ; sosa:madeBySensor ?s ; "
        "sosa:resultTime ?t OPTIONAL { ?o sosa:hasResult ?r . ?r qudt:hasUnit ?u } "
        f"OPTIONAL {{ ?o gw:clockSuspect ?n }} FILTER(BOUND(?o) || {expression(chance, 3)}) }}"
    )
    assert Counter(of_archive(archive, spark, text)) == Counter(of_store(store, text))
