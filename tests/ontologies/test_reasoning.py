"""What follows by the axioms that ship: of observations and actuations, and of where things are."""

import pytest
from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import GW, RDF, SOSA, TIME
from gateway.reasoning.domains import Domains
from gateway.reasoning.ontologies import load_ontology, shipped
from gateway.store.quad_store import QuadStore
from tests.kit.reasoning.naive import NaiveReasoner

READING = """
@prefix : <urn:x:> . @prefix sosa: <http://www.w3.org/ns/sosa/> .
@prefix time: <http://www.w3.org/2006/time#> . @prefix qudt: <http://qudt.org/schema/qudt/> .
@prefix unit: <http://qudt.org/vocab/unit/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:o a sosa:Observation ; sosa:madeBySensor :s ; sosa:observedProperty :p ;
    sosa:hasFeatureOfInterest :room ; sosa:hasSimpleResult 21.5 ; sosa:hasResult :r ;
    sosa:phenomenonTime :t ; sosa:resultTime "2026-03-02T07:22:40Z"^^xsd:dateTime .
:r a qudt:QuantityValue ; qudt:numericValue 21.5 ; qudt:hasUnit unit:DEG_C .
:t a time:Instant ; time:inXSDDateTimeStamp "2026-03-02T07:22:40Z"^^xsd:dateTimeStamp .
:s sosa:isHostedBy :board .
"""
GRAPH = NamedNode("urn:g")
PLACES = {
    "https://brickschema.org/schema/Brick#": "brick:",
    "https://w3id.org/bot#": "bot:",
    "https://w3id.org/rec#": "rec:",
    "http://www.w3.org/2004/02/skos/core#": "skos:",
}
PREFIXES = "@prefix : <urn:x:> . @prefix sosa: <http://www.w3.org/ns/sosa/> . " + " ".join(
    f"@prefix {short} <{iri}> ." for iri, short in PLACES.items()
)


def derived(text: str, ontology: str = "sosa-profile") -> set[str]:
    """What follows of a text by an ontology that ships, without the graph, prefixes short."""
    store = QuadStore.open(None)
    quads = [
        Quad(quad.subject, quad.predicate, quad.object, GRAPH)
        for quad in parse(text, RdfFormat.TURTLE)
    ]
    store.apply(Delta(added=(*quads, *load_ontology(shipped()[ontology]))))
    reasoner = NaiveReasoner(store, Domains(frozenset({GRAPH})), bound=1000)
    reasoner.start()
    assert not reasoner.suspended
    names = {"urn:x:": ":", SOSA: "sosa:", RDF: "rdf:", TIME: "time:", GW: "gw:", **PLACES}
    found: set[str] = set()
    for quad in reasoner.derived.match(None, None, None, GRAPH):
        line = f"{quad.subject} {quad.predicate} {quad.object}".replace("<", "").replace(">", "")
        for iri, short in names.items():
            line = line.replace(iri, short)
        found.add(line.replace("rdf:type", "a"))
    return found


def test_an_observation_types_what_it_names_and_is_found_from_there() -> None:
    assert derived(READING) == {
        ":s a sosa:Sensor",
        ":p a sosa:ObservableProperty",
        ":room a sosa:FeatureOfInterest",
        ":t a time:TemporalEntity",
        ":board a sosa:Platform",
        ":s sosa:madeObservation :o",
        ":s sosa:observes :p",
        ":p sosa:isObservedBy :s",
        ":room sosa:isFeatureOfInterestOf :o",
        ":r sosa:isResultOf :o",
        ":board sosa:hosts :s",
        "http://qudt.org/vocab/unit/DEG_C a http://qudt.org/schema/qudt/Unit",
    }


def test_an_actuation_types_what_it_names() -> None:
    text = READING[: READING.index(":o a")] + (
        ":a a sosa:Actuation ; sosa:madeByActuator :relay ; sosa:hasFeatureOfInterest :room ."
    )
    assert derived(text) == {
        ":relay a sosa:Actuator",
        ":relay sosa:madeActuation :a",
        ":room a sosa:FeatureOfInterest",
        ":room sosa:isFeatureOfInterestOf :a",
    }


@pytest.mark.parametrize(
    ("text", "direct"),
    [
        (":s brick:isPointOf :room . :room brick:isPartOf :floor .", "brick:isPartOf"),
        (":room brick:hasPoint :s . :floor brick:hasPart :room .", "brick:hasPart"),
        (":s brick:hasLocation :room . :floor brick:isLocationOf :room .", "brick:hasLocation"),
        (":room bot:containsElement :s . :floor bot:hasSpace :room .", "bot:hasSpace"),
        (":s rec:locatedIn :room . :room rec:isPartOf :floor .", "rec:isPartOf"),
        (":room rec:hasPoint :s . :floor rec:hasPart :room .", "rec:hasPart"),
        (":s sosa:isHostedBy :room . :room brick:isPartOf :floor .", "sosa:isHostedBy"),
        (":room sosa:hosts :s . :floor bot:hasSpace :room .", "sosa:hosts"),
    ],
)
def test_what_is_in_a_room_is_on_its_floor_in_each_vocabulary(text: str, direct: str) -> None:
    """The direct properties lead no further than they are written."""
    found = derived(PREFIXES + text, "building")
    assert {":s gw:within :room", ":room gw:within :floor", ":s gw:within :floor"} <= found
    assert not {f":s {direct} :floor", f":floor {direct} :s"} & found


def test_an_observation_is_made_where_its_sensor_is() -> None:
    text = ":o sosa:madeBySensor :s . :s brick:isPointOf :room . :room brick:isPartOf :floor ."
    found = derived(PREFIXES + text, "building")
    assert {":o gw:observedWithin :room", ":o gw:observedWithin :floor"} <= found
    assert not any(line.startswith(":o gw:within") for line in found)


def test_a_broader_kind_is_transitive_beside_what_is_written() -> None:
    found = derived(PREFIXES + ":a skos:broader :b . :c skos:narrower :b .", "building")
    assert ":a skos:broaderTransitive :c" in found
    assert ":b skos:broader :c" in found
    assert ":a skos:broader :c" not in found
