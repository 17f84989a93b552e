"""The profile that ships: exactly these triples, and queries that find them again."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions, RdfFormat, Store, parse

import jsap
from adapters.values.observation import Observation
from gateway.config.settings import Config
from gateway.ingest.sosa import WKT, Identity, ObservationTemplates
from gateway.journal import Position, Record
from gateway.profiles import Profiles
from jsap import load_profile
from jsap.forced_bindings import Term
from jsap.namespaces import XSD

PROFILE = load_profile(Path(jsap.__path__[0]) / "profiles" / "observations.jsap")
PREFIXES = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PROFILE.namespaces.items())


def dated(name: str) -> Literal:
    return Literal("2026-03-02T07:22:40Z", datatype=NamedNode(XSD + name))


VALUE: dict[str, Term] = {
    "observation": NamedNode("urn:o"),
    "message": NamedNode("urn:message"),
    "sensor": NamedNode("urn:sensor"),
    "property": NamedNode("urn:property"),
    "feature": NamedNode("urn:feature"),
    "result": Literal(True),
    "instant": NamedNode("urn:o/time"),
    "phenomenonStamp": dated("dateTimeStamp"),
    "resultTime": dated("dateTime"),
    "ingestedAt": dated("dateTime"),
    "timeSource": NamedNode("https://sosa-gateway.example/ns#DeviceClock"),
}
QUANTITY: dict[str, Term] = {
    **VALUE,
    "result": Literal("21.5", datatype=NamedNode(XSD + "decimal")),
    "resultNode": NamedNode("urn:o/result"),
    "unit": NamedNode("http://qudt.org/vocab/unit/DEG_C"),
}
ENDED: dict[str, Term] = {
    "stream": NamedNode("urn:stream"),
    "sensor": NamedNode("urn:sensor"),
    "property": NamedNode("urn:property"),
    "feature": NamedNode("urn:feature"),
    "before": NamedNode("urn:c"),
    "unitBefore": NamedNode("http://qudt.org/vocab/unit/DEG_C"),
    "after": NamedNode("urn:f"),
    "unitAfter": NamedNode("http://qudt.org/vocab/unit/DEG_F"),
    "at": dated("dateTime"),
}
OBSERVED = """
<urn:o> a sosa:Observation ; sosa:madeBySensor <urn:sensor> ; sosa:observedProperty <urn:property> ;
    sosa:hasFeatureOfInterest <urn:feature> ; sosa:phenomenonTime <urn:o/time> ;
    sosa:resultTime "2026-03-02T07:22:40Z"^^xsd:dateTime ; gw:message <urn:message> ;
    gw:ingestedAt "2026-03-02T07:22:40Z"^^xsd:dateTime ; gw:timeSource gw:DeviceClock .
<urn:o/time> a time:Instant ; time:inXSDDateTimeStamp "2026-03-02T07:22:40Z"^^xsd:dateTimeStamp .
<urn:sensor> a sosa:Sensor ; sosa:observes <urn:property> .
"""
SIMPLE = OBSERVED + "<urn:o> sosa:hasSimpleResult true ."
NUMBER = (
    OBSERVED
    + """
<urn:o> sosa:hasSimpleResult 21.5 ; sosa:hasResult <urn:o/result> .
<urn:o/result> a qudt:QuantityValue ; qudt:numericValue 21.5 ; qudt:hasUnit unit:DEG_C .
"""
)


def updated(name: str, values: dict[str, Term], store: Store | None = None) -> Store:
    store = Store() if store is None else store
    template = PROFILE.updates[name]
    store.update(template.render(template.bind(values)))
    return store


def of_turtle(text: str) -> Store:
    store = Store()
    store.extend(parse(PREFIXES + text, format=RdfFormat.TURTLE))
    return store


def rows(name: str, store: Store) -> list[dict[str, object]]:
    solutions = store.query(PROFILE.queries[name].text)
    assert isinstance(solutions, QuerySolutions)
    names = [variable.value for variable in solutions.variables]
    return [dict(zip(names, row, strict=True)) for row in solutions]


def test_profile_has_no_warning() -> None:
    assert PROFILE.warnings == ()
    assert [*PROFILE.updates] == [
        "OBSERVE_QUANTITY",
        "OBSERVE_VALUE",
        "STATE_GEOMETRY",
        "SUSPECT_CLOCK",
        "CLASSIFY_SENSOR",
        "FORGET_OBSERVATION",
        "END_SERIES",
        "WATCH_STREAM",
        "RAISE_ABSENCE",
        "CLEAR_ABSENCE",
        "REQUEST_ACTUATION",
        "SEND_ACTUATION",
        "CONFIRM_ACTUATION",
        "FAIL_ACTUATION",
        "SUPERSEDE_ACTUATION",
        "FORGET_ACTUATION",
    ]
    assert [*PROFILE.queries] == [
        "OBSERVATIONS",
        "STREAMS",
        "SERIES",
        "WATCHED",
        "ABSENT",
        "CAPABILITIES",
        "MAPPINGS",
        "RULES",
        "ACTUATORS",
        "REQUESTED",
        "ACTUATIONS",
    ]


@pytest.mark.parametrize(
    ("name", "values", "turtle"),
    [("OBSERVE_QUANTITY", QUANTITY, NUMBER), ("OBSERVE_VALUE", VALUE, SIMPLE)],
)
def test_observation_is_exactly_these_triples(
    name: str, values: dict[str, Term], turtle: str
) -> None:
    assert set(updated(name, values)) == set(of_turtle(turtle))


@pytest.mark.parametrize(
    ("name", "values"), [("OBSERVE_QUANTITY", QUANTITY), ("OBSERVE_VALUE", VALUE)]
)
def test_every_declared_variable_is_used_and_bound(name: str, values: dict[str, Term]) -> None:
    template = PROFILE.updates[name]
    assert set(template.variables) == set(template.forced_bindings) == set(values)
    assert all(binding.default is None for binding in template.forced_bindings.values())


def test_forgotten_observation_leaves_only_its_sensor() -> None:
    store = updated("OBSERVE_QUANTITY", QUANTITY)
    forgotten = ("observation", "resultNode", "instant")
    updated("FORGET_OBSERVATION", {name: QUANTITY[name] for name in forgotten}, store)
    left = "<urn:sensor> a sosa:Sensor ; sosa:observes <urn:property> ."
    assert set(store) == set(of_turtle(left))


def test_position_is_a_geometry_that_is_forgotten_with_its_observation() -> None:
    where = Literal("POINT(4.9 52.40)", datatype=NamedNode(WKT))
    store = updated("OBSERVE_VALUE", {**VALUE, "result": where})
    told: dict[str, Term] = {name: QUANTITY[name] for name in ("observation", "resultNode")}
    updated("STATE_GEOMETRY", told | {"result": where}, store)
    written = """
    <urn:o> sosa:hasSimpleResult "POINT(4.9 52.40)"^^geo:wktLiteral ;
        sosa:hasResult <urn:o/result> .
    <urn:o/result> a geo:Geometry ; geo:asWKT "POINT(4.9 52.40)"^^geo:wktLiteral .
    """
    assert set(store) == set(of_turtle(OBSERVED + written))
    forgotten = ("observation", "resultNode", "instant")
    updated("FORGET_OBSERVATION", {name: QUANTITY[name] for name in forgotten}, store)
    assert set(store) == set(
        of_turtle("<urn:sensor> a sosa:Sensor ; sosa:observes <urn:property> .")
    )


def test_gateway_states_the_geometry_of_positions_alone() -> None:
    templates = ObservationTemplates(
        Profiles.load(Config().jsap.profiles), Identity("https://example.org/", "g")
    )
    kinds = {WKT: "POINT(4.9 52.40)", XSD + "string": "POINT(4.9 52.40)", XSD + "integer": "5"}
    found = []
    for datatype, lexical in kinds.items():
        seen = Observation("urn:s", "urn:p", "urn:f", lexical, datatype)
        record = Record(Position(7, 1), 1, seen, datetime(2026, 3, 2, tzinfo=UTC))
        found.append(["asWKT" in plan.text for plan, _ in templates.observed(record)])
    assert found == [[False, True], [False], [False]]


def test_observations_tells_quantities_with_and_values_without_unit() -> None:
    names = ("observation", "sensor", "property", "feature", "result", "resultTime", "ingestedAt")
    for update, values in (("OBSERVE_QUANTITY", QUANTITY), ("OBSERVE_VALUE", VALUE)):
        [row] = rows("OBSERVATIONS", updated(update, values))
        assert row == {"unit": values.get("unit"), **{name: values[name] for name in names}}


def test_streams_tells_what_retention_needs() -> None:
    names = ("observation", "sensor", "property", "feature", "timeSource")
    for update, values in (("OBSERVE_QUANTITY", QUANTITY), ("OBSERVE_VALUE", VALUE)):
        [row] = rows("STREAMS", updated(update, values))
        stamp = row.pop("phenomenonStamp")
        assert isinstance(stamp, Literal)
        assert stamp.value == "2026-03-02T07:22:40Z"
        told = {"unit": values.get("unit"), "result": values["result"]}
        assert row == told | {name: values[name] for name in names}


def test_ended_series_says_when_and_what_follows_and_may_come_back() -> None:
    store = updated("END_SERIES", ENDED)
    ended = """
    <urn:stream> a gw:Stream ; gw:ofSensor <urn:sensor> ; gw:ofProperty <urn:property> ;
        gw:ofFeature <urn:feature> .
    <urn:c> a gw:Series ; gw:ofStream <urn:stream> ; qudt:hasUnit unit:DEG_C ;
        gw:seriesEnded "2026-03-02T07:22:40Z"^^xsd:dateTime ; gw:nextSeries <urn:f> .
    <urn:f> a gw:Series ; gw:ofStream <urn:stream> ; qudt:hasUnit unit:DEG_F ;
        gw:seriesBegan "2026-03-02T07:22:40Z"^^xsd:dateTime .
    """
    assert set(store) == set(of_turtle(ended))
    later = Literal("2026-03-03T00:00:00Z", datatype=NamedNode(XSD + "dateTime"))
    names = {"before": "after", "after": "before", "unitBefore": "unitAfter"}
    back = {name: ENDED[names.get(name, name)] for name in ENDED} | {"at": later}
    updated("END_SERIES", back | {"unitAfter": ENDED["unitBefore"]}, store)
    told = {str(row["unit"])[-6:-1]: row for row in rows("SERIES", store)}
    assert told["DEG_F"]["endedAt"] == told["DEG_C"]["beganAt"] == later
    assert told["DEG_C"]["endedAt"] is told["DEG_C"]["nextUnit"] is None
    assert told["DEG_F"]["nextUnit"] == ENDED["unitBefore"]
