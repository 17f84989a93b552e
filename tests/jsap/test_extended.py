"""Mappings and rules of `extended` as quads of the graph of mappings."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store

import jsap
from jsap import JsapError, Profile, load_profile
from jsap.extended.quads import GW, MAPPINGS_GRAPH, mapping_quads, ontologies_of

OBSERVATIONS = load_profile(Path(jsap.__path__[0]) / "profiles" / "observations.jsap")
XSD = "http://www.w3.org/2001/XMLSchema#"
MAPPING = {
    "id": "m:temperature",
    "topic": "home/+/temperature",
    "format": "json",
    "sensor": "d:board-{1}",
    "property": "p:temperature",
    "feature": "urn:room:1",
}
RULE = {"id": "m:rule", "query": "ALL", "topic": "fan/set", "payload": "{}", "on": "added"}
NAMESPACES = {"m": "urn:mapping:", "d": "urn:device:", "p": "urn:property:"}


def profile(**extended: object) -> Profile:
    return Profile.parse({"namespaces": NAMESPACES, "extended": extended}, source="own.jsap")


def told(of: Profile) -> dict[str, object]:
    """Objects by local name of their predicate, of a profile with one mapping or rule."""
    quads = mapping_quads(of)
    assert {quad.graph_name for quad in quads} == {MAPPINGS_GRAPH}
    assert len({quad.subject for quad in quads}) == 1
    return {quad.predicate.value.replace("#", "/").rsplit("/")[-1]: quad.object for quad in quads}


def answer(name: str, of: Profile) -> list[dict[str, object]]:
    store = Store()
    store.extend(mapping_quads(of))
    solutions = store.query(OBSERVATIONS.queries[name].text)
    assert isinstance(solutions, QuerySolutions)
    names = [variable.value for variable in solutions.variables]
    return [dict(zip(names, row, strict=True)) for row in solutions]


def test_profile_without_mappings_gives_no_quad() -> None:
    assert mapping_quads(Profile.parse({})) == []
    assert mapping_quads(Profile.parse({"extended": ["free"]})) == []
    assert mapping_quads(profile(adapters={"mqtt": 1}, mappings=[], rules=[])) == []
    assert mapping_quads(OBSERVATIONS) == []


def test_mapping_with_what_it_needs() -> None:
    assert told(profile(mappings=[MAPPING])) == {
        "type": NamedNode(GW + "Mapping"),
        "topicFilter": Literal("home/+/temperature"),
        "format": Literal("json"),
        "sensor": Literal("urn:device:board-{1}"),
        "observedProperty": NamedNode("urn:property:temperature"),
        "featureOfInterest": NamedNode("urn:room:1"),
    }


def test_mapping_with_everything_is_a_row_of_mappings() -> None:
    more = {"selector": "$.t", "unit": "p:C", "time": "$.time", "sequence": "$.seq"}
    more |= {"deviceUnit": "°F", "trueValue": "LOCK", "falseValue": "UNLOCK"}
    [row] = answer(
        "MAPPINGS",
        profile(
            mappings=[
                MAPPING
                | more
                | {"expiresAfter": 600, "availability": "home/+/status", "retained": "drop"}
                | {"scale": 0.1, "offset": -40, "condition": "@.id == 7", "decimalSign": ","}
                | {"availabilities": {"mode": "all", "topics": [{"topic": "home/bridge"}]}}
                | {"sensorClass": "p:Thermometer"}
            ]
        ),
    )
    assert row == {
        "mapping": NamedNode("urn:mapping:temperature"),
        "topicFilter": Literal("home/+/temperature"),
        "format": Literal("json"),
        "sensor": Literal("urn:device:board-{1}"),
        "property": NamedNode("urn:property:temperature"),
        "feature": Literal("urn:room:1"),
        "selector": Literal("$.t"),
        "unit": NamedNode("urn:property:C"),
        "timeSelector": Literal("$.time"),
        "sequenceSelector": Literal("$.seq"),
        "deviceUnit": Literal("°F"),
        "trueValue": Literal("LOCK"),
        "falseValue": Literal("UNLOCK"),
        "expiresAfter": Literal(600),
        "availabilityTopic": Literal("home/+/status"),
        "retained": Literal("drop"),
        "availabilities": Literal('{"mode": "all", "topics": [{"topic": "home/bridge"}]}'),
        "sensorClass": NamedNode("urn:property:Thermometer"),
        "scale": Literal("0.1", datatype=NamedNode(f"{XSD}decimal")),
        "offset": Literal("-40", datatype=NamedNode(f"{XSD}decimal")),
        "condition": Literal("@.id == 7"),
        "decimalSign": Literal(","),
    }


def test_unit_of_a_mapping_may_be_a_symbol() -> None:
    [row] = answer("MAPPINGS", profile(mappings=[MAPPING | {"unit": "°C"}]))
    assert row["unit"] == Literal("°C")


def test_mapping_without_the_optional_is_a_row_too() -> None:
    [row] = answer("MAPPINGS", profile(mappings=[MAPPING]))
    optional = ("selector", "unit", "timeSelector", "sequenceSelector")
    assert [row[name] for name in optional] == [None] * 4


def test_rule_that_names_a_query_is_a_row_of_rules() -> None:
    rule = {**RULE, "qos": 1, "retain": True, "onStart": False, "infer": True}
    [row] = answer("RULES", profile(rules=[rule]))
    assert row == {
        "rule": NamedNode("urn:mapping:rule"),
        "queryText": None,
        "queryId": Literal("ALL"),
        "topicTemplate": Literal("fan/set"),
        "payloadTemplate": Literal("{}"),
        "on": NamedNode(GW + "Added"),
        "qos": Literal(1),
        "retain": Literal(True),
        "onStart": Literal(False),
        "infer": Literal(True),
    }


def test_rule_with_a_query_takes_its_prologue_along() -> None:
    rule = {key: value for key, value in RULE.items() if key != "query"}
    rule |= {"sparql": "SELECT * { ?s p:on ?o }", "on": "removed"}
    [row] = answer("RULES", profile(rules=[rule]))
    text = "PREFIX p: <urn:property:>\nSELECT * { ?s p:on ?o }"
    assert (row["queryText"], row["queryId"]) == (Literal(text), None)
    assert row["on"] == NamedNode(GW + "Removed")
    assert (row["qos"], row["retain"], row["onStart"], row["infer"]) == (None,) * 4


@pytest.mark.parametrize(
    ("extended", "message"),
    [
        ({"mappings": {}}, "extended.mappings: not a list; write [...]"),
        ({"mappings": [MAPPING, 3]}, "extended.mappings[1]: not an object"),
        ({"mappings": [{"id": "urn:m"}]}, "extended.mappings[0].topic: missing"),
        ({"mappings": [MAPPING | {"topics": "x"}]}, "extended.mappings[0].topics: unknown"),
        ({"mappings": [MAPPING | {"format": 3}]}, "extended.mappings[0].format: not a text"),
        ({"mappings": [MAPPING | {"id": "m"}]}, "extended.mappings[0].id: 'm' is neither"),
        ({"mappings": [MAPPING | {"unit": "urn:a b"}]}, "extended.mappings[0].unit: "),
        ({"mappings": [MAPPING | {"sensor": "x"}]}, "extended.mappings[0].sensor: 'x' is neither"),
        ({"mappings": [MAPPING, MAPPING]}, "extended.mappings[1].id: m:temperature is the id of"),
        ({"rules": [RULE | {"sparql": "ASK {}"}]}, "extended.rules[0]: neither or both of query"),
        ({"rules": [RULE | {"query": None}]}, "extended.rules[0]: neither or both of query"),
        ({"rules": [RULE | {"on": "changed"}]}, "extended.rules[0].on: input should be 'added'"),
        ({"rules": [RULE | {"qos": 3}]}, "extended.rules[0].qos: input should be less"),
        ({"rules": [RULE | {"qos": "1"}]}, "extended.rules[0].qos: input should be a valid int"),
        ({"rules": [RULE | {"retain": "yes"}]}, "extended.rules[0].retain: neither true nor false"),
        (
            {"rules": [RULE | {"query": None, "sparql": "'"}]},
            "extended.rules[0].sparql: a string that does not end",
        ),
    ],
)
def test_wrong_extended_tells_its_json_path(extended: Mapping[str, object], message: str) -> None:
    with pytest.raises(JsapError) as caught:
        mapping_quads(profile(**extended))
    assert str(caught.value).startswith(f"own.jsap: {message}")


def test_actuator_with_everything() -> None:
    lamp = {
        "id": "d:lamp",
        "topic": "lamp/set",
        "property": "p:brightness",
        "feature": "urn:room:1",
        "payload": '{"brightness":{value}}',
        "format": "zigbee2mqtt",
        "values": ["ON", "OFF"],
        "minimum": 0,
        "maximum": 254.5,
        "unit": "%",
        "sensor": "d:lamp",
        "timeLimit": 5,
        "name": "lamp",
        "retain": False,
    }
    quads = mapping_quads(profile(actuators=[lamp]))
    said = {(quad.predicate.value.replace("#", "/").rsplit("/")[-1], quad.object) for quad in quads}
    decimal = NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
    assert said == {
        ("type", NamedNode("http://www.w3.org/ns/sosa/Actuator")),
        ("forProperty", NamedNode("urn:property:brightness")),
        ("featureOfInterest", NamedNode("urn:room:1")),
        ("commandTopic", Literal("lamp/set")),
        ("commandPayload", Literal('{"brightness":{value}}')),
        ("format", Literal("zigbee2mqtt")),
        ("allowedValue", Literal("ON")),
        ("allowedValue", Literal("OFF")),
        ("minimum", Literal("0", datatype=decimal)),
        ("maximum", Literal("254.5", datatype=decimal)),
        ("unit", Literal("%")),
        ("confirmedBy", NamedNode("urn:device:lamp")),
        ("timeLimit", Literal("5", datatype=decimal)),
        ("name", Literal("lamp")),
        ("retain", Literal(False)),
    }


@pytest.mark.parametrize(
    "wrong", [{"topic": None}, {"step": 0}, {"timeLimit": 0}, {"values": "ON"}, {"colour": 1}]
)
def test_actuator_that_is_none(wrong: dict[str, object]) -> None:
    lamp = {"id": "d:lamp", "topic": "t", "property": "p:x", "feature": "urn:f", **wrong}
    with pytest.raises(JsapError, match=r"extended\.actuators\[0\]"):
        mapping_quads(profile(actuators=[lamp]))


def test_ontologies_of_files_stand_beside_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    main = tmp_path / "main.jsap"
    main.write_text('{"include": ["more/more.jsap"], "extended": {"ontologies": ["building"]}}')
    more = '{"extended": {"ontologies": ["own.ttl", "building"]}}'
    (tmp_path / "more" / "more.jsap").write_text(more)
    named = ontologies_of(load_profile(main))
    assert named == ("building", str(tmp_path / "more" / "own.ttl"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [('{"ontologies": "building"}', "not a list"), ('{"ontologies": [7]}', "neither a name")],
    ids=["text", "number"],
)
def test_ontologies_that_are_none_are_refused_with_their_path(text: str, reason: str) -> None:
    told = Profile.parse(f'{{"extended": {text}}}', source="own.jsap")
    with pytest.raises(JsapError, match=rf"own\.jsap: extended\.ontologies.*{reason}"):
        ontologies_of(told)


def test_a_profile_from_the_network_names_no_file_of_this_machine(tmp_path: Path) -> None:
    main = tmp_path / "main.jsap"
    main.write_text('{"include": ["http://far/more.jsap"]}')

    def loaded(named: str) -> Profile:
        text = f'{{"extended": {{"ontologies": ["{named}"]}}}}'
        return load_profile(main, fetch=lambda _: text, hosts=frozenset({"far"}))

    assert ontologies_of(loaded("building")) == ("building",)
    for named in ("/etc/secret.ttl", "secret.ttl", "../secret"):
        with pytest.raises(JsapError, match="nothing from the network may name"):
            loaded(named)


def test_windows_and_streams_are_nodes_of_the_graph_of_mappings() -> None:
    window = {
        "id": "m:last10",
        "stream": "https://sosa-gateway.example/ns#observations",
        "property": ["p:temperature", "p:humidity"],
        "range": "PT10M",
        "bounds": False,
        "limit": 1000,
    }
    quads = mapping_quads(profile(windows=[window], elementStreams=[{"id": "m:building"}]))
    said = {
        (str(quad.subject)[1:-1], quad.predicate.value.split("#")[1], str(quad.object))
        for quad in quads
    }
    of = "urn:mapping:last10"
    assert said == {
        (of, "type", f"<{GW}Window>"),
        (of, "windowStream", f"<{GW}observations>"),
        (of, "windowProperty", "<urn:property:temperature>"),
        (of, "windowProperty", "<urn:property:humidity>"),
        (of, "windowRange", '"PT10M"'),
        (of, "windowBounds", str(Literal(value=False))),
        (of, "windowLimit", str(Literal(1000))),
        ("urn:mapping:building", "type", f"<{GW}ElementStream>"),
    }


def test_a_window_with_a_member_that_there_is_not_is_refused_by_its_path() -> None:
    with pytest.raises(JsapError, match=r"extended.windows\[0\].rnage"):
        mapping_quads(profile(windows=[{"id": "m:w", "stream": "urn:s", "rnage": "PT1M"}]))
