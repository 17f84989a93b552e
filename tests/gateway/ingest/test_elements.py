"""Observations as elements of streams: what the store would have of them, whoever has a window."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from adapters.values.mapping import Mapping
from adapters.values.observation import XSD, Circumstances, Observation
from gateway.config.settings import SHIPPED_PROFILES
from gateway.engine import Engine, SubscribeRequest
from gateway.errors import ForbiddenError
from gateway.ingest.sosa import Identity, ObservationTemplates, Said
from gateway.ingest.windows.elements import ObservationElements
from gateway.ingest.windows.stream_names import MappedStreams
from gateway.ingest.windows.template_triples import TemplateTriples
from gateway.journal import Position, Record
from gateway.profiles import Profiles
from gateway.rdf.canonical import canonical
from gateway.rdf.namespaces import OBSERVATIONS, SOSA
from gateway.rdf.rights import Rights
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.store.bundles.bundle import Bundle, Entering
from gateway.store.quad_store import QuadStore
from gateway.store.update import evaluate
from gateway.windows import Window
from gateway.windows.parted import Parted

NOW = datetime(2026, 3, 2, 10, 0, 0, 120_000, tzinfo=UTC)
TEMPLATES = ObservationTemplates(
    Profiles.load((SHIPPED_PROFILES / "observations.jsap",)),
    Identity("https://gateway.example/", "test"),
)


def record(lexical: str = "21.50", kind: str = "decimal", **others: object) -> Record:
    seen = Observation("urn:s:a", "urn:p", "urn:room:a", lexical, XSD + kind, **others)  # type: ignore[arg-type]
    return Record(Position(7, 1), 1, seen, NOW, clock_suspect=bool(others.get("device_sequence")))


@pytest.mark.parametrize(
    "told",
    [
        record(),
        record("1e3", "double", unit="http://qudt.org/vocab/unit/DEG_C"),
        record("open", "string", phenomenon_time=NOW - timedelta(seconds=3)),
        record("1", "boolean", device_sequence="4"),
    ],
)
def test_its_triples_are_those_that_the_store_would_have(told: Record) -> None:
    element = ObservationElements().element(told, TEMPLATES)
    delta = evaluate(QuadStore.open(None), list(TEMPLATES.observed(told)))
    stored = {Triple(quad.subject, quad.predicate, quad.object) for quad in delta.added}
    assert set(element.triples) == stored
    assert len(element.triples) == len(stored)
    assert element.key == ("urn:s:a", "urn:p", "urn:room:a")
    assert isinstance(element.triples, Parted) != told.clock_suspect
    if isinstance(element.triples, Parted):
        are_parts_of_a_whole(element.triples)
    else:
        assert element.size is not None
        written = sum(len(str(triple)) for triple in element.triples)
        assert abs(element.size - written) < 0.1 * written


@pytest.mark.parametrize(
    "told",
    [
        record("21.50"),
        record("1e3", "double", unit="http://qudt.org/vocab/unit/DEG_C"),
        record("open", "string", phenomenon_time=NOW - timedelta(seconds=3)),
        record("01", "boolean"),
    ],
)
@pytest.mark.parametrize("asked", [(), ("result", "observation", "sensor")])
def test_terms_that_the_store_is_told_are_those_of_its_triples(
    told: Record, asked: Sequence[str]
) -> None:
    records = [told, replace(told, position=Position(7, 9), message=9)]
    written = [each for one in records for each in TEMPLATES.observed(one)]
    for _, terms in written:
        assert isinstance(terms, Entering)
        bundle = Bundle(terms)
        assert [bundle.term(name) for name in asked] == [canonical(terms[name]) for name in asked]
    elements, alone = ObservationElements(), ObservationElements()
    (found,) = elements.entering(records, TEMPLATES, lambda _: True, written).values()
    for element, one in zip(found, records, strict=True):
        expected = alone.element(one, TEMPLATES)
        assert isinstance(element.triples, Parted)
        assert isinstance(expected.triples, Parted)
        assert element.triples == expected.triples
        for wanted in (None, frozenset({NamedNode(f"{SOSA}hasSimpleResult")})):
            assert element.triples.unique(wanted) == expected.triples.unique(wanted)
        assert (element.key, element.time, element.unit) == (
            expected.key,
            expected.time,
            expected.unit,
        )


def are_parts_of_a_whole(triples: Parted) -> None:
    unique, shared = triples.unique(None), triples.shared
    assert len(unique) == triples.unique_of(None)
    assert set(unique) | set(shared) == set(triples)
    assert len(unique) + len(shared) == len(triples)
    predicates = {triple.predicate for triple in triples}
    for wanted in (set(), *({each} for each in predicates), predicates):
        of_these = triples.unique(frozenset(wanted))
        assert list(of_these) == [each for each in unique if each.predicate in wanted]
        assert len(of_these) == triples.unique_of(frozenset(wanted))


def test_no_two_observations_have_what_is_called_unique() -> None:
    elements = ObservationElements()
    told = [record(), replace(record(), position=Position(7, 2)), record("open", "string")]
    told[2] = replace(told[2], position=Position(8, 1))
    made = [elements.element(each, TEMPLATES).triples for each in told]
    parted = [each for each in made if isinstance(each, Parted)]
    assert len(parted) == len(told)
    for one, other in permutations(parted, 2):
        assert set(one.unique(None)).isdisjoint(other)
        assert one != other
    assert parted[0] == ObservationElements().element(told[0], TEMPLATES).triples


def test_a_template_whose_triples_cannot_be_made_twice_is_made_at_once() -> None:
    class WithBlanks(ObservationTemplates):
        def text(self, told: Said) -> str:
            return f"{super().text(told)} ; INSERT {{ ?observation <urn:of> [] }} WHERE {{}}"

    profiles = Profiles.load((SHIPPED_PROFILES / "observations.jsap",))
    templates = WithBlanks(profiles, Identity("https://gateway.example/", "test"))
    element = ObservationElements().element(record(), templates)
    assert isinstance(element.triples, tuple)


def test_nobody_pays_while_nobody_has_a_window() -> None:
    elements = ObservationElements()
    assert elements.entering([record()], TEMPLATES, lambda _: False) == {}
    assert elements.entered == Position(7, 1)


def test_a_state_of_unknown_age_is_none() -> None:
    seed = record(circumstances=Circumstances(seed=True))
    assert ObservationElements().by_stream([seed], TEMPLATES, lambda _: True) == {}
    assert Record.decode(7, seed.encode()).observation.circumstances.seed


def test_streams_are_those_of_the_mappings_that_name_the_sensor() -> None:
    streams = MappedStreams(
        [
            Mapping("urn:m:all", "+/t", "json", "urn:s:{1}", "urn:p", "urn:room:{1}"),
            Mapping("urn:m:other", "+/t", "json", "urn:s:{1}", "urn:q", "urn:room:{1}"),
            Mapping("urn:m:one", "a/t", "json", "urn:s:a", "urn:p", "urn:room:a"),
            Mapping("urn:m:wrong", "#/t", "json", "urn:s:a", "urn:p", "urn:room:a"),
        ]
    )
    assert streams.of(("urn:s:a", "urn:p", "urn:room:a")) == (
        OBSERVATIONS,
        "urn:m:all",
        "urn:m:one",
    )
    assert streams.of(("urn:s:b", "urn:p", "urn:room:b")) == (OBSERVATIONS, "urn:m:all")
    assert streams.of(("urn:s:b", "urn:p", "urn:room:a")) == (OBSERVATIONS,)
    assert "urn:m:other" in streams
    assert "urn:building" not in streams


def test_templates_of_any_form() -> None:
    text = "INSERT { GRAPH <urn:g> { ?a <urn:p> ?b, ?c } ?a <urn:q> ?missing } WHERE {}"
    template = TemplateTriples.parse(text)
    one, two = NamedNode("urn:1"), Literal("01", datatype=NamedNode(XSD + "integer"))
    made = template.of({"a": one, "b": two, "c": two})
    assert made == (Triple(one, NamedNode("urn:p"), Literal(1)),)
    assert template.of({"a": two, "b": one, "c": one}) == ()
    assert template.graphs == {NamedNode("urn:g"), DEFAULT_GRAPH}


def test_who_may_read_a_stream_reads_all_graphs_where_a_template_names_none() -> None:
    elements = ObservationElements()
    named = elements.written(OBSERVATIONS, TEMPLATES)
    assert named
    assert elements.written("urn:other", TEMPLATES) is None

    class ByRoom:
        texts = (*TEMPLATES.texts, "INSERT { GRAPH ?feature { ?sensor ?property 1 } } WHERE {}")

    graphs = elements.written(OBSERVATIONS, ByRoom())  # type: ignore[arg-type]
    assert graphs == frozenset()
    engine = Engine.open()
    engine.windowed.written = lambda _: graphs
    windows = (("urn:w", Window(OBSERVATIONS, elements=1)),)
    text = "SELECT * { GRAPH <urn:w> { ?s ?p ?o } }"
    with pytest.raises(ForbiddenError, match="may not be read"):
        engine.subscribe(SubscribeRequest(text, rights=Rights(read=named), windows=windows))
    assert engine.subscribe(SubscribeRequest(text, windows=windows)).sequence == 0
    engine.close()
