"""What follows from an observation as the gateway writes it, by the axioms of the SOSA profile."""

from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import RDF, SOSA, TIME
from gateway.reasoning.domains import Domains
from gateway.reasoning.naive import NaiveReasoner
from gateway.reasoning.ontologies import load_ontology, shipped
from gateway.store.quad_store import QuadStore

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


def derived(text: str) -> set[str]:
    """What follows of a text, as N-Triples without the graph, prefixes short."""
    store = QuadStore.open(None)
    quads = [
        Quad(quad.subject, quad.predicate, quad.object, GRAPH)
        for quad in parse(text, RdfFormat.TURTLE)
    ]
    store.apply(Delta(added=(*quads, *load_ontology(shipped()["sosa-profile"]))))
    reasoner = NaiveReasoner(store, Domains(frozenset({GRAPH})), bound=1000)
    reasoner.start()
    assert not reasoner.suspended
    names = {"urn:x:": ":", SOSA: "sosa:", RDF: "rdf:", TIME: "time:"}
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
