"""ontologies/shapes.ttl accepts what the default profile writes and refuses each mutilation of it.

The data are those of the rendered templates, evaluated by a store.
"""

import re
from pathlib import Path

import pytest
from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    Store,
    serialize,
)
from pyshacl import validate
from rdflib import Graph

import jsap
import ontologies
from jsap.profile import load_profile

pytestmark = pytest.mark.conformance

GEO = "http://www.opengis.net/ont/geosparql#"
GW = "https://sosa-gateway.example/ns#"
QUDT = "http://qudt.org/schema/qudt/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SOSA = "http://www.w3.org/ns/sosa/"
TIME = "http://www.w3.org/2006/time#"
XSD = "http://www.w3.org/2001/XMLSchema#"

PROFILE = load_profile(Path(jsap.__path__[0]) / "profiles" / "observations.jsap")
SHAPES = Graph().parse(Path(ontologies.__path__[0]) / "shapes.ttl")

OBSERVATION = NamedNode("urn:gateway/observation/1-1")
RESULT = NamedNode("urn:gateway/observation/1-1/result")
INSTANT = NamedNode("urn:gateway/observation/1-1/time")
SENSOR = NamedNode("urn:device:board-1")
TEMPERATURE = NamedNode("urn:property:temperature")
ZONED = "2026-03-02T07:22:40.310000Z"


def typed(lexical: str, datatype: str) -> Literal:
    return Literal(lexical, datatype=NamedNode(XSD + datatype))


Bindings = dict[str, NamedNode | Literal]

VALUE: Bindings = {
    "observation": OBSERVATION,
    "message": NamedNode("urn:gateway/message/1-1"),
    "sensor": SENSOR,
    "property": TEMPERATURE,
    "feature": NamedNode("urn:room:north"),
    "instant": INSTANT,
    "phenomenonStamp": typed(ZONED, "dateTimeStamp"),
    "resultTime": typed(ZONED, "dateTime"),
    "ingestedAt": typed(ZONED, "dateTime"),
    "timeSource": NamedNode(GW + "DeviceClock"),
}
QUANTITY: Bindings = {
    **VALUE,
    "result": typed("21.5", "decimal"),
    "resultNode": RESULT,
    "unit": NamedNode("http://qudt.org/vocab/unit/DEG_C"),
}


def written(update: str, values: Bindings) -> Store:
    template = PROFILE.updates[update]
    store = Store()
    store.update(template.render(template.bind(values)))
    return store


def quantity() -> Store:
    return written("OBSERVE_QUANTITY", QUANTITY)


def report(store: Store) -> str:
    """What SHACL finds wrong; empty when the data conform."""
    turtle = serialize((quad.triple for quad in store), format=RdfFormat.N_TRIPLES)
    assert turtle is not None
    data = Graph().parse(data=turtle, format="nt")
    conforms, _, text = validate(data, shacl_graph=SHAPES, meta_shacl=False)
    return "" if conforms else str(text)


def quad(subject: NamedNode | BlankNode, predicate: str, node: object) -> Quad:
    assert isinstance(node, NamedNode | BlankNode | Literal)
    return Quad(subject, NamedNode(predicate), node, DefaultGraph())


def matching(store: Store, subject: NamedNode, predicate: str) -> list[Quad]:
    return list(store.quads_for_pattern(subject, NamedNode(predicate), None))


@pytest.mark.parametrize(
    "result",
    [typed("21.5", "decimal"), typed("-3", "integer"), typed("1.0E-3", "double")],
    ids=str,
)
def test_quantity_as_the_profile_writes_it_conforms(result: Literal) -> None:
    assert report(written("OBSERVE_QUANTITY", {**QUANTITY, "result": result})) == ""


@pytest.mark.parametrize("result", [typed("true", "boolean"), Literal('open "wide"')], ids=str)
def test_value_as_the_profile_writes_it_conforms(result: Literal) -> None:
    assert report(written("OBSERVE_VALUE", {**VALUE, "result": result})) == ""


def position(result: Literal) -> Store:
    store = written("OBSERVE_VALUE", {**VALUE, "result": result})
    template = PROFILE.updates["STATE_GEOMETRY"]
    told: Bindings = {"observation": OBSERVATION, "resultNode": RESULT, "result": result}
    store.update(template.render(template.bind(told)))
    return store


def test_position_as_the_profile_writes_it_conforms_and_needs_its_geometry() -> None:
    where = Literal("POINT(4.9 52.4)", datatype=NamedNode(GEO + "wktLiteral"))
    assert report(position(where)) == ""
    assert report(written("OBSERVE_VALUE", {**VALUE, "result": where}))
    assert report(position(Literal("here")))
    two = position(where)
    two.add(quad(RESULT, GEO + "asWKT", Literal("POINT(5 52)", datatype=where.datatype)))
    assert report(two)


@pytest.mark.parametrize("clock", ["DeviceClock", "NetworkClock", "BrokerClock", "GatewayClock"])
def test_every_time_source_conforms(clock: str) -> None:
    source: Bindings = {"timeSource": NamedNode(GW + clock)}
    assert report(written("OBSERVE_QUANTITY", QUANTITY | source)) == ""


def test_two_observations_of_one_sensor_conform() -> None:
    store = quantity()
    later: Bindings = {
        "observation": NamedNode("urn:gateway/observation/1-2"),
        "resultNode": NamedNode("urn:gateway/observation/1-2/result"),
        "instant": NamedNode("urn:gateway/observation/1-2/time"),
    }
    for each in written("OBSERVE_QUANTITY", QUANTITY | later):
        store.add(each)
    assert report(store) == ""


def test_further_statements_conform() -> None:
    store = quantity()
    store.add(quad(OBSERVATION, GW + "clockSuspect", typed("true", "boolean")))
    store.add(quad(SENSOR, "http://www.w3.org/2000/01/rdf-schema#label", Literal("board")))
    assert report(store) == ""


def test_forgotten_observation_leaves_its_sensor_only_and_conforms() -> None:
    store = quantity()
    template = PROFILE.updates["FORGET_OBSERVATION"]
    terms: Bindings = {"observation": OBSERVATION, "resultNode": RESULT, "instant": INSTANT}
    store.update(template.render(template.bind(terms)))
    assert {each.subject for each in store} == {SENSOR}
    assert report(store) == ""


def series() -> Store:
    changed: Bindings = {
        "stream": NamedNode("urn:gateway/stream/1"),
        "sensor": SENSOR,
        "property": TEMPERATURE,
        "feature": NamedNode("urn:room:north"),
        "before": NamedNode("urn:gateway/series/1"),
        "unitBefore": NamedNode("http://qudt.org/vocab/unit/DEG_C"),
        "after": NamedNode("urn:gateway/series/2"),
        "unitAfter": NamedNode("http://qudt.org/vocab/unit/DEG_F"),
        "at": typed(ZONED, "dateTime"),
    }
    return written("END_SERIES", changed)


def test_series_as_the_profile_writes_them_conform() -> None:
    assert report(series()) == ""


@pytest.mark.parametrize("name", ["ofStream", "hasUnit", "type"])
def test_series_without_stream_unit_or_class_is_refused(name: str) -> None:
    store = series()
    [gone] = [
        each
        for each in store
        if each.subject == NamedNode("urn:gateway/series/1") and each.predicate.value.endswith(name)
    ]
    store.remove(gone)
    assert report(store)


STATEMENTS = [
    (OBSERVATION, RDF + "type"),
    (OBSERVATION, SOSA + "madeBySensor"),
    (OBSERVATION, SOSA + "observedProperty"),
    (OBSERVATION, SOSA + "hasFeatureOfInterest"),
    (OBSERVATION, SOSA + "hasSimpleResult"),
    (OBSERVATION, SOSA + "hasResult"),
    (OBSERVATION, SOSA + "phenomenonTime"),
    (OBSERVATION, SOSA + "resultTime"),
    (OBSERVATION, GW + "message"),
    (OBSERVATION, GW + "ingestedAt"),
    (OBSERVATION, GW + "timeSource"),
    (RESULT, RDF + "type"),
    (RESULT, QUDT + "numericValue"),
    (RESULT, QUDT + "hasUnit"),
    (INSTANT, RDF + "type"),
    (INSTANT, TIME + "inXSDDateTimeStamp"),
    (SENSOR, RDF + "type"),
    (SENSOR, SOSA + "observes"),
]
IDS = [re.sub(r".*[/#]", "", f"{s.value}-{p}") for s, p in STATEMENTS]


def test_profile_writes_these_statements_and_no_others() -> None:
    found = [(each.subject, each.predicate.value) for each in quantity()]
    assert sorted(found, key=str) == sorted(STATEMENTS, key=str)


@pytest.mark.parametrize(("subject", "predicate"), STATEMENTS, ids=IDS)
def test_missing_statement_is_refused(subject: NamedNode, predicate: str) -> None:
    store = quantity()
    [gone] = matching(store, subject, predicate)
    store.remove(gone)
    assert report(store)


@pytest.mark.parametrize(
    ("subject", "predicate"),
    [
        (subject, predicate)
        for subject, predicate in STATEMENTS
        if predicate not in {RDF + "type", SOSA + "observes"}
    ],
)
def test_second_object_is_refused(subject: NamedNode, predicate: str) -> None:
    store = quantity()
    [stated] = matching(store, subject, predicate)
    other = {
        GW + "timeSource": NamedNode(GW + "GatewayClock"),
        SOSA + "hasSimpleResult": typed("22.5", "decimal"),
        QUDT + "numericValue": typed("22.5", "decimal"),
        TIME + "inXSDDateTimeStamp": typed("2027-01-01T00:00:00Z", "dateTimeStamp"),
    }
    second: NamedNode | Literal = NamedNode("urn:other")
    if isinstance(stated.object, Literal):
        second = typed("2027-01-01T00:00:00Z", "dateTime")
    store.add(quad(subject, predicate, other.get(predicate, second)))
    text = report(store)
    assert "MaxCount" in text


@pytest.mark.parametrize("node", [OBSERVATION, RESULT, INSTANT, SENSOR], ids=str)
def test_blank_node_is_refused(node: NamedNode) -> None:
    blank = BlankNode()
    store = Store()
    for each in quantity():
        subject = blank if each.subject == node else each.subject
        stated = blank if each.object == node else each.object
        assert isinstance(subject, NamedNode | BlankNode)
        store.add(quad(subject, each.predicate.value, stated))
    assert "NodeKind" in report(store)


@pytest.mark.parametrize(
    ("subject", "predicate", "wrong"),
    [
        (OBSERVATION, SOSA + "resultTime", typed("2026-03-02T07:22:40", "dateTime")),
        (OBSERVATION, SOSA + "resultTime", Literal(ZONED)),
        (OBSERVATION, SOSA + "resultTime", typed("yesterdayZ", "dateTime")),
        (OBSERVATION, GW + "ingestedAt", typed("2026-03-02T07:22:40", "dateTime")),
        (OBSERVATION, GW + "ingestedAt", typed("2026-03-02", "date")),
        (OBSERVATION, GW + "timeSource", NamedNode(GW + "SunDial")),
        (OBSERVATION, GW + "message", Literal("1-1")),
        (OBSERVATION, SOSA + "observedProperty", Literal("temperature")),
        (OBSERVATION, SOSA + "hasFeatureOfInterest", Literal("north")),
        (OBSERVATION, SOSA + "madeBySensor", NamedNode("urn:nobody")),
        (OBSERVATION, SOSA + "hasSimpleResult", Literal("21.5 °C")),
        (OBSERVATION, SOSA + "hasSimpleResult", typed("22.5", "decimal")),
        (OBSERVATION, SOSA + "hasSimpleResult", NamedNode("urn:warm")),
        (OBSERVATION, SOSA + "hasResult", NamedNode("urn:nothing")),
        (OBSERVATION, SOSA + "phenomenonTime", typed(ZONED, "dateTime")),
        (RESULT, QUDT + "numericValue", Literal("21.5")),
        (RESULT, QUDT + "numericValue", typed("warm", "decimal")),
        (RESULT, QUDT + "hasUnit", Literal("°C")),
        (INSTANT, TIME + "inXSDDateTimeStamp", Literal(ZONED)),
        (INSTANT, TIME + "inXSDDateTimeStamp", typed("2026-03-02T07:22:40", "dateTime")),
        (INSTANT, TIME + "inXSDDateTimeStamp", typed("2026-03-02T07:22:40", "dateTimeStamp")),
        (SENSOR, SOSA + "observes", Literal("temperature")),
    ],
)
def test_wrong_object_is_refused(subject: NamedNode, predicate: str, wrong: object) -> None:
    store = quantity()
    [stated] = matching(store, subject, predicate)
    store.remove(stated)
    store.add(quad(subject, predicate, wrong))
    assert report(store)


def test_text_with_a_result_node_is_refused() -> None:
    store = written("OBSERVE_VALUE", {**VALUE, "result": Literal("open")})
    store.add(quad(OBSERVATION, SOSA + "hasResult", RESULT))
    for each in quantity():
        if each.subject == RESULT:
            store.add(each)
    assert "Xone" in report(store)


def test_number_without_a_unit_is_refused() -> None:
    store = written("OBSERVE_VALUE", {**VALUE, "result": typed("21.5", "decimal")})
    assert "Xone" in report(store)


def test_result_that_two_observations_share_is_refused() -> None:
    store = quantity()
    other: Bindings = {
        "observation": NamedNode("urn:gateway/observation/1-2"),
        "instant": NamedNode("urn:gateway/observation/1-2/time"),
    }
    for each in written("OBSERVE_QUANTITY", QUANTITY | other):
        store.add(each)
    assert "MaxCount" in report(store)


def test_clock_suspect_that_is_no_truth_value_is_refused() -> None:
    store = quantity()
    store.add(quad(OBSERVATION, GW + "clockSuspect", Literal("perhaps")))
    assert report(store)
