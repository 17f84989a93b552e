"""From a gateway's journal through the archive to RDF: the triples of the gateway's own store."""

import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from pyoxigraph import DefaultGraph, NamedNode, QueryTriples, RdfFormat, Store
from pyspark.sql import SparkSession

from adapters.values.observation import Circumstances, Observation, TimeSource
from gateway.config.settings import Config
from gateway.engine import Engine
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Actuation, Journal, Origin, Outcome, Record
from gateway.profiles import Profiles
from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.jobs.derive import Rollup
from spark_batch.jobs.export_rdf import Export, export_rdf
from spark_batch.jobs.ingest import Ingest
from spark_batch.jobs.rdf_check import check_sample
from spark_batch.landing import landing_zone
from spark_batch.schema import WKT
from spark_batch.summary import Summary
from tests.spark_batch.truths import reading, write_segment

BASE, GATEWAY = "https://example.org/", "kitchen-1"
NOON = datetime(2026, 9, 1, 12, tzinfo=UTC)
XSD = "http://www.w3.org/2001/XMLSchema#"
UNIT = "http://qudt.org/vocab/unit/DEG_C"


def seen(lexical: str, kind: str, **members: object) -> Observation:
    fields = {"unit": None, "phenomenon_time": NOON, "device_sequence": None} | members
    return Observation("urn:s", "urn:p", "urn:ø/é", lexical, XSD + kind, **fields)  # type: ignore[arg-type]


OBSERVATIONS = [
    seen("21.50", "decimal", unit=UNIT),
    seen("-3", "integer"),
    seen("1E3", "double", unit=UNIT, phenomenon_time=None),
    seen("INF", "double"),
    seen("NaN", "double"),
    seen("true", "boolean"),
    seen("0", "boolean", phenomenon_time=NOON + timedelta(microseconds=120)),
    seen('a "quoted" \\ line\nand\ttab\r "', "string"),
    seen("", "string"),
    seen("2026-09-01T00:00:00Z", "dateTime"),
    replace(seen("POINT(4.9 52.40)", "string"), datatype=WKT),
    seen("7.0", "decimal", phenomenon_time=NOON + timedelta(days=400)),
    seen("8.0", "decimal", circumstances=Circumstances(TimeSource.NETWORK, True)),
]


def records(journal: Journal) -> list[Record]:
    found = []
    for number, observation in enumerate(OBSERVATIONS):
        position = journal.next_position()
        message = position.sequence - number % 2
        received = NOON + timedelta(seconds=number, milliseconds=250 * (number % 3))
        suspect = observation.phenomenon_time is not None and (
            observation.phenomenon_time > NOON + timedelta(days=1)
        )
        found.append(Record(position, message, observation, received, clock_suspect=suspect))
    return found


def journalled(landing: Path) -> list[Record]:
    """What the gateway's journal ships."""
    folder = landing.parent / "journal"
    with Journal(folder, Origin(GATEWAY, BASE)) as journal:
        written = records(journal)
        journal.append(written)
        journal.note(Actuation("urn:fan", "fan/set", "ON", XSD + "string", NOON))
        journal.sync()
    with Journal(folder, Origin(GATEWAY, BASE)) as journal:
        journal.seal()
    for path in folder.rglob("*.jsonl.gz"):
        (landing / path.name).write_bytes(path.read_bytes())
    return written


def in_the_gateway(written: list[Record]) -> set[str]:
    """The triples of the gateway's store."""
    templates = ObservationTemplates(Profiles.load(Config().jsap.profiles), Identity(BASE, GATEWAY))
    engine = Engine.open()
    for record in written:
        for update in templates.observed(record):
            engine.update([update])
    answer = engine.query("CONSTRUCT WHERE { ?s ?p ?o }")
    assert isinstance(answer, QueryTriples)
    triples = {str(triple) for triple in answer}
    engine.close()
    return triples


def loaded(folder: Path, ending: str, kind: RdfFormat) -> Store:
    store = Store()
    for part in sorted(folder.glob(f"*.{ending}.gz")):
        store.load(gzip.decompress(part.read_bytes()), kind)
    return store


@pytest.mark.parametrize("form", ["nquads", "ntriples"])
def test_round_trip_gives_the_triples_of_the_gateway(
    form: str, landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    written = journalled(landing)
    ingest()
    export = Export(archive.folder / "rdf", form)
    summary = export_rdf(archive, lambda _: spark, export)
    folder = Path(str(summary.details["folder"]))
    kind, ending = (RdfFormat.N_QUADS, "nq") if form == "nquads" else (RdfFormat.TURTLE, "nt")
    store = loaded(folder, ending, kind)
    assert {str(quad.triple) for quad in store} == in_the_gateway(written)
    graphs = {quad.graph_name for quad in store}
    day = NamedNode(f"{BASE}{GATEWAY}/archive/2026-09-01")
    assert graphs == {day if form == "nquads" else DefaultGraph()}
    assert summary.rows_out == len(written)
    assert summary.details["statements"] == sum(
        part.count(b"\n")
        for part in (gzip.decompress(path.read_bytes()) for path in folder.glob("*.gz"))
    )
    assert export_rdf(archive, lambda _: spark, export).status == "idle"


def test_large_export_is_spread_over_parts_and_is_the_same(
    landing: Path,
    archive: Archive,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = journalled(landing)
    Ingest(archive, landing_zone(str(landing)), lambda _: spark).run()
    monkeypatch.setattr("spark_batch.jobs.export_rdf._ROWS_OF_A_PART", 4)
    summary = export_rdf(archive, lambda _: spark, Export(archive.folder / "rdf", "ntriples"))
    assert int(str(summary.details["parts"])) > 1
    store = loaded(Path(str(summary.details["folder"])), "nt", RdfFormat.TURTLE)
    assert {str(quad.triple) for quad in store} == in_the_gateway(written)


def test_manifest_names_each_part_and_the_sample_conforms(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    journalled(landing)
    write_segment(landing, [reading(1, s="urn:b ad"), reading(2, f="relative"), reading(3)])
    ingest()
    out = archive.folder / "rdf"
    dry = export_rdf(archive, lambda _: spark, Export(out), dry_run=True)
    assert (dry.status, out.exists()) == ("dry-run", False)
    summary = export_rdf(archive, lambda _: spark, Export(out, since=date(2026, 9, 1)))
    folder = Path(str(summary.details["folder"]))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert sorted(path.name for path in folder.iterdir()) == [
        "manifest.json",
        *(part["name"] for part in manifest["parts"]),
    ]
    for part in manifest["parts"]:
        content = (folder / part["name"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (
            part["bytes"],
            part["sha256"],
        )
    assert manifest["sample"]["conforms"] is True
    assert manifest["observations"] == summary.rows_out == len(OBSERVATIONS) + 1
    wrong = manifest["left_out_for_their_iris"]
    assert {row["sensor"] for row in wrong} | {row["feature"] for row in wrong} >= {
        "urn:b ad",
        "relative",
    }
    nothing = export_rdf(archive, lambda _: spark, Export(out, until=date(2026, 9, 1)))
    assert nothing.status == "idle"


def test_commands_that_were_sent_are_actuations_in_the_terms_of_the_store(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    folder = landing.parent / "journal"
    stored = f"{BASE}{GATEWAY}/actuation/2f6c"
    with Journal(folder, Origin(GATEWAY, BASE)) as journal:
        written = records(journal)
        journal.append(written)
        journal.note(Actuation("urn:fan", "fan/set", 'O"N\n', XSD + "string", NOON, "urn:rule"))
        known = {"acts_on_property": "urn:on", "feature_of_interest": "urn:hall"}
        journal.note(
            Actuation("urn:lamp", "lamp/set", "1", XSD + "integer", NOON, "", stored, **known)
        )
        journal.sync()
    with Journal(folder, Origin(GATEWAY, BASE)) as journal:
        journal.seal()
    for path in folder.rglob("*.jsonl.gz"):
        (landing / path.name).write_bytes(path.read_bytes())
    assert ingest().details["unknown_members"] == 0
    export = Export(archive.folder / "rdf", of="actuations")
    summary = export_rdf(archive, lambda _: spark, export)
    store = loaded(Path(str(summary.details["folder"])), "nq", RdfFormat.N_QUADS)
    graphs = {quad.graph_name for quad in store}
    assert graphs == {NamedNode(f"{BASE}{GATEWAY}/archive/actuations/2026-09-01")}
    sosa, gw = "http://www.w3.org/ns/sosa/", "https://sosa-gateway.example/ns#"
    time = f'"2026-09-01T12:00:00Z"^^<{XSD}dateTime>'
    epoch = written[0].position.epoch
    fan = f"<{BASE}{GATEWAY}/actuation/{epoch}-{len(written) + 1}>"
    assert {str(quad.triple) for quad in store} == {
        *(
            f"{node} {predicate} {value}"
            for node in (fan, f"<{stored}>")
            for predicate, value in (
                ("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", f"<{sosa}Actuation>"),
                (f"<{gw}status>", f"<{gw}Sent>"),
                (f"<{gw}sentAt>", time),
            )
        ),
        f"{fan} <{sosa}madeByActuator> <urn:fan>",
        f'{fan} <{sosa}hasSimpleResult> "O\\"N\\n"',
        f"{fan} <{sosa}usedProcedure> <urn:rule>",
        f'{fan} <{gw}sentTopic> "fan/set"',
        f'<{stored}> <{gw}sentTopic> "lamp/set"',
        f"<{stored}> <{sosa}madeByActuator> <urn:lamp>",
        f'<{stored}> <{sosa}hasSimpleResult> "1"^^<{XSD}integer>',
        f"<{stored}> <{sosa}actsOnProperty> <urn:on>",
        f"<{stored}> <{sosa}hasFeatureOfInterest> <urn:hall>",
    }
    assert (summary.rows_out, summary.details["statements"]) == (2, len(store))
    assert summary.details["sample"] == {"observations": 2, "conforms": True, "report": ""}


def test_commands_are_exported_with_how_they_ended(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    sosa, gw = "http://www.w3.org/ns/sosa/", "https://sosa-gateway.example/ns#"
    later = NOON + timedelta(seconds=2)
    sent = [
        Actuation("urn:lamp", "lamp/set", str(n), XSD + "integer", NOON, "", f"urn:act:{n}")
        for n in range(4)
    ]
    ends = [
        Outcome(sent[0], "Confirmed", later, observation="urn:o:1"),
        Outcome(sent[1], "Failed", later, reason='no "yes"'),
        Outcome(sent[2], "Superseded", later),
    ]
    folder = landing.parent / "journal"
    with Journal(folder, Origin(GATEWAY, BASE)) as journal:
        told: list[Actuation | Outcome] = [*sent, *ends]
        for each in told:
            journal.note(each)
        journal.sync()
        assert journal.actuations == len(sent)
    with Journal(folder, Origin(GATEWAY, BASE)) as journal:
        journal.seal()
    for path in folder.rglob("*.jsonl.gz"):
        (landing / path.name).write_bytes(path.read_bytes())
    summary = ingest()
    assert (summary.details["actuations"], summary.details["unknown_members"]) == (4, 0)
    export = Export(archive.folder / "rdf", of="actuations")
    summary = export_rdf(archive, lambda _: spark, export)
    assert (summary.rows_out, summary.details["sample"]["conforms"]) == (4, True)  # type: ignore[index]
    store = loaded(Path(str(summary.details["folder"])), "nq", RdfFormat.N_QUADS)
    about = {f"{sosa}resultTime", f"{sosa}relatedObservation", f"{gw}status"}
    about |= {f"{gw}endedAt", f"{gw}failureReason"}
    found = {str(quad.triple) for quad in store if quad.predicate.value in about}
    time = f'"2026-09-01T12:00:02Z"^^<{XSD}dateTime>'
    status = {0: "Confirmed", 1: "Failed", 2: "Superseded", 3: "Sent"}
    assert found == {
        *(f"<urn:act:{n}> <{gw}status> <{gw}{each}>" for n, each in status.items()),
        *(f"<urn:act:{n}> <{gw}endedAt> {time}" for n in range(3)),
        f"<urn:act:0> <{sosa}resultTime> {time}",
        f"<urn:act:0> <{sosa}relatedObservation> <urn:o:1>",
        '<urn:act:1> <https://sosa-gateway.example/ns#failureReason> "no \\"yes\\""',
    }


def test_rollups_are_nodes_of_their_own_with_the_figures_of_the_table(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    write_segment(landing, [reading(1, u=UNIT), reading(2, u=UNIT), reading(3, s="urn:b ad")])
    ingest()
    export = Export(archive.folder / "rdf", "ntriples", of="rollups")
    with pytest.raises(ArchiveError, match="no rollups"):
        export_rdf(archive, lambda _: spark, export)
    Rollup(archive, lambda _: spark).run()
    summary = export_rdf(archive, lambda _: spark, export)
    assert summary.rows_out == 3
    assert summary.details["sample"]["conforms"] is True  # type: ignore[index]
    assert len(summary.details["left_out_for_their_iris"]) == 1  # type: ignore[arg-type]
    store = loaded(Path(str(summary.details["folder"])), "nt", RdfFormat.TURTLE)
    assert summary.details["statements"] == len(store)
    rows = store.query(
        "PREFIX gw: <https://sosa-gateway.example/ns#> SELECT ?grain ?start ?count ?mean ?greatest "
        "?increase { ?x a gw:Rollup ; gw:grain ?grain ; gw:start ?start ; gw:count ?count ; "
        "gw:mean ?mean ; gw:greatest ?greatest ; gw:increase ?increase ; gw:rollupOfSensor <urn:s> "
        f"; <http://qudt.org/schema/qudt/hasUnit> <{UNIT}> }} ORDER BY ?grain"
    )
    told = [[term.value for term in row] for row in rows]  # type: ignore[union-attr]
    day = "2026-09-01T00:00:00Z"
    assert told == [[grain, day, "2", "2", "2.5", "1"] for grain in ("day", "hour", "minute")]
    assert export_rdf(archive, lambda _: spark, export).status == "idle"


def test_sample_that_breaks_a_shape_is_told() -> None:
    told = check_sample(["<urn:o> <http://www.w3.org/ns/sosa/madeBySensor> <urn:s> ."])
    assert told["conforms"] is False
    assert "<urn:o>" in str(told["report"])


def test_profile_of_another_shape_is_followed(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    profile = archive.folder.parent / "mine.jsap"
    template = {
        "sparql": "INSERT { ?sensor <urn:saw> ?result ; <urn:at> ?resultTime } WHERE {}",
        "forcedBindings": {
            "sensor": {"type": "uri"},
            "result": {"type": "literal"},
            "resultTime": {"type": "literal", "datatype": "xsd:dateTime"},
        },
    }
    namespaces = {"xsd": XSD}
    updates = {"OBSERVE_QUANTITY": template, "OBSERVE_VALUE": template}
    endpoint = {"protocol": "http", "port": 8000}
    endpoint |= {
        "query": {"path": "/query", "method": "POST", "format": "JSON"},
        "update": {"path": "/update", "method": "POST", "format": "JSON"},
    }
    profile.write_text(
        json.dumps(
            {
                "host": "127.0.0.1",
                "sparql11protocol": endpoint,
                "namespaces": namespaces,
                "updates": updates,
                "queries": {},
            }
        )
    )
    write_segment(landing, [reading(1)])
    ingest()
    export = Export(archive.folder / "rdf", "ntriples", profile=profile)
    summary = export_rdf(archive, lambda _: spark, export)
    (part,) = Path(str(summary.details["folder"])).glob("*.nt.gz")
    assert gzip.decompress(part.read_bytes()).decode().splitlines() == [
        f'<urn:s> <urn:at> "2026-09-01T00:00:01Z"^^<{XSD}dateTime> .',
        f'<urn:s> <urn:saw> "1.5"^^<{XSD}decimal> .',
    ]
    profile.write_text("{}")
    with pytest.raises(ArchiveError, match="cannot be used"):
        export_rdf(archive, lambda _: spark, export)
