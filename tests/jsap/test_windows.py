"""Windows of a query: names with a prefix, what cannot be, what an update may not have."""

from typing import Any

import pytest

from jsap import JsapError, Profile
from jsap.schema import json_schema

Json = dict[str, Any]

NAMESPACES = {"gw": "https://sosa-gateway.example/ns#", "room": "urn:room:", "my": "urn:my:"}
TEXT = "SELECT ?v { GRAPH ?w { ?s <urn:p> ?v } }"


def profile(**query: object) -> Profile:
    members: Json = {"namespaces": NAMESPACES, "queries": {"WARM": {"sparql": TEXT, **query}}}
    return Profile.parse(members)


def test_prefixes_of_windows_are_expanded() -> None:
    windows = {
        "my:last": {
            "stream": "gw:observations",
            "range": "PT10M",
            "feature": ["room:1", "urn:other"],
            "sensor": "http://example.org/s",
            "limit": 10,
        }
    }
    template = profile(windows=windows, output="added").queries["WARM"]
    assert template.over == {
        "windows": {
            "urn:my:last": {
                "stream": "https://sosa-gateway.example/ns#observations",
                "range": "PT10M",
                "feature": ["urn:room:1", "urn:other"],
                "sensor": "http://example.org/s",
                "limit": 10,
            }
        },
        "output": "added",
    }


def test_query_without_windows_has_none() -> None:
    assert profile().queries["WARM"].over == {}


def test_forced_bindings_stand_beside_windows() -> None:
    bindings = {"s": {"type": "uri"}}
    windows = {"my:last": {"stream": "urn:s", "triples": 3}}
    template = profile(windows=windows, forcedBindings=bindings).queries["WARM"]
    text = template.render(template.bind({"s": "my:device"}))
    assert "<urn:my:device> <urn:p> ?v" in text
    assert template.over["windows"] == {"urn:my:last": {"stream": "urn:s", "triples": 3}}


def test_numbers_with_a_fraction_can_be_sent_on() -> None:
    text = """{"queries": {"Q": {"sparql": "ASK {}", "windows": {"urn:w": {"triples": 1.5}}}}}"""
    assert Profile.parse(text).queries["Q"].over == {"windows": {"urn:w": {"triples": 1.5}}}


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"windows": ["urn:w"]}, "queries.WARM.windows"),
        ({"windows": {"urn:w": "urn:s"}}, "queries.WARM.windows.urn:w"),
        ({"output": "all"}, "queries.WARM.output"),
        ({"windows": {"my:w": {}, "urn:my:w": {}}}, "queries.WARM.windows"),
    ],
)
def test_what_cannot_be_is_told_with_its_place(query: Json, path: str) -> None:
    with pytest.raises(JsapError) as caught:
        profile(**query)
    assert caught.value.path == path


def test_update_has_no_windows() -> None:
    update = {"sparql": "CLEAR ALL", "windows": {"urn:w": {"stream": "urn:s"}}}
    read = Profile.parse({"updates": {"U": update}})
    assert read.updates["U"].over == {}
    assert "updates.U: only a query has `windows`" in read.warnings[0]


def test_schema_knows_the_members() -> None:
    entry = json_schema()["$defs"]["EntryPart"]["properties"]
    assert {"windows", "output"} <= entry.keys()
