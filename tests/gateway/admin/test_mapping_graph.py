"""Nodes of the graph of mappings as somebody may write them, and what is said of each."""

import pytest
from pyoxigraph import NamedNode, RdfFormat, parse

from gateway.admin.mapping_graph import EVERYTHING, MappingGraph, node_conditions
from gateway.engine import Engine, SubscribeRequest
from tests.kit.gateways import MAPPINGS, PREFIXES

_GOOD = (
    'gw:topicFilter "a/+" ; gw:format "scalar" ; gw:sensor <urn:s> ; gw:observedProperty <urn:p> ;'
    " gw:featureOfInterest <urn:f>"
)
_RULE = 'gw:topicTemplate "t" ; gw:payloadTemplate "p" ; gw:on gw:Added'
_ACTUATOR = 'gw:commandTopic "t" ; ssn:forProperty <urn:p> ; gw:featureOfInterest <urn:f>'

CASES = {
    "good mapping": (f"a gw:Mapping ; {_GOOD}", []),
    "good rule": (f'a gw:RepublishRule ; {_RULE} ; gw:sparql "SELECT * {{ ?s ?p ?o }}"', []),
    "good actuator": (f"a sosa:Actuator ; {_ACTUATOR}", []),
    "somebody's own words": ('<urn:my:note> "x" ; a <urn:my:Thing>', []),
    "misspelt term": (
        f"a gw:Mapping ; {_GOOD.replace('topicFilter', 'topicFiltr')}",
        [
            "broken_mapping there is no term gw:topicFiltr; did you mean gw:topicFilter?;"
            " gw:topicFilter is missing"
        ],
    ),
    "no type": (_GOOD, ["broken_mapping it is not said to be a gw:Mapping"]),
    "misspelt type": (
        f"a gw:Maping ; {_GOOD}",
        ["broken_mapping it is not said to be a gw:Mapping"],
    ),
    "nothing but its type": (
        "a gw:Mapping",
        [
            "broken_mapping gw:topicFilter, gw:format, gw:sensor, gw:observedProperty,"
            " gw:featureOfInterest are missing"
        ],
    ),
    "two formats": (
        f'a gw:Mapping ; {_GOOD} ; gw:format "json"',
        ["broken_mapping format has several values"],
    ),
    "no number of seconds": (
        f'a gw:Mapping ; {_GOOD} ; gw:expiresAfter "soon"',
        ["broken_mapping expires_after is no number of seconds above 0"],
    ),
    "a unit that QUDT has not": (
        f"a gw:Mapping ; {_GOOD} ; gw:unit unit:DEGC",
        ["unknown_unit QUDT has no unit DEGC; did you mean DEG_C?"],
    ),
    "rule without a query": (
        f"a gw:RepublishRule ; {_RULE}",
        ["broken_rule gw:sparql or gw:query is missing"],
    ),
    "rule with a query that is none": (
        f'a gw:RepublishRule ; {_RULE} ; gw:sparql "SELECT WHERE"',
        ["broken_rule gw:sparql: "],
    ),
    "rule without a topic": (
        'a gw:RepublishRule ; gw:payloadTemplate "p" ; gw:on gw:Added ; gw:query "Q"',
        ["broken_rule gw:topicTemplate is missing"],
    ),
    "actuator without a property": (
        'a sosa:Actuator ; gw:commandTopic "t"',
        ["broken_actuator ssn:forProperty, gw:featureOfInterest are missing"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_of_a_node(case: str) -> None:
    body, expected = CASES[case]
    quads = list(parse(_turtle(f"<urn:n> {body}"), format=RdfFormat.TURTLE))
    found = list(node_conditions(NamedNode("urn:n"), quads))
    assert all(each.where == "urn:n" and each.what_to_do for each in found)
    told = [f"{each.kind} {each.what}" for each in found]
    assert len(told) == len(expected)
    assert all(each.startswith(start) for each, start in zip(told, expected, strict=True)), told


def test_a_blank_node_is_told_to_need_a_name() -> None:
    quads = list(parse(_turtle(f"[] a gw:Mapping ; {_GOOD}"), format=RdfFormat.TURTLE))
    (found,) = node_conditions(quads[0].subject, quads)
    assert found.what == "a blank node has no name: give it an IRI"


def test_each_update_is_followed_and_known_by_its_time() -> None:
    engine = Engine.open()
    graph = MappingGraph(engine.store)
    graph.learn(engine.subscribe(SubscribeRequest(EVERYTHING, is_prompt=True)))

    def update(text: str) -> frozenset[str]:
        outcome = engine.update(PREFIXES + text)
        for notification in outcome.notifications:
            graph.learn(notification)
        return graph.written(outcome.time)

    at = f"GRAPH <{MAPPINGS}>"
    broken = _GOOD.replace("gw:format", "gw:fromat")
    assert update(f"INSERT DATA {{ {at} {{ <urn:n> a gw:Mapping ; {broken} }} }}") == {"urn:n"}
    assert [each.where for each in graph.conditions] == ["urn:n"]
    assert update("INSERT DATA { <urn:other> <urn:p> 1 }") == frozenset()
    update(f"DELETE DATA {{ {at} {{ <urn:n> gw:fromat 'scalar' }} }}")
    assert [each.what for each in graph.conditions] == ["gw:format is missing"]
    update(f"INSERT DATA {{ {at} {{ <urn:n> gw:format 'scalar' }} }}")
    assert not graph.conditions
    update(f"INSERT DATA {{ {at} {{ <urn:n> gw:unit unit:NOPE }} }}")
    assert [each.kind for each in graph.conditions] == ["unknown_unit"]
    update(f"DROP GRAPH <{MAPPINGS}>")
    assert not graph.conditions


def _turtle(text: str) -> bytes:
    prefixes = f"{PREFIXES}\nPREFIX ssn: <http://www.w3.org/ns/ssn/>"
    return f"{prefixes}\n{text} .".encode()
