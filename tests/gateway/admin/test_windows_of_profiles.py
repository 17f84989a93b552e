"""What is said of windows in a profile before anybody subscribes."""

from typing import Any

import pytest

from gateway.admin.profile_checks import template_findings
from gateway.engine.windowed.over import over_of
from gateway.errors import WindowError
from gateway.profiles import Profiles
from gateway.windows import Window
from jsap import Profile

Json = dict[str, Any]

NAMED = "SELECT ?v { GRAPH <urn:w> { ?s <urn:p> ?v } }"
GOOD = {"stream": "urn:s", "triples": 3}


def profile(sparql: str = NAMED, **query: object) -> Profile:
    return Profile.parse({"queries": {"WARM": {"sparql": sparql, **query}}}, source="my.jsap")


def test_windows_are_as_the_engine_takes_them() -> None:
    template = profile(windows={"urn:w": GOOD}, output="whole").queries["WARM"]
    over = over_of(template)
    assert over.windows == (("urn:w", Window("urn:s", triples=3)),)
    assert over.output == "whole"


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"stream": "urn:s"}, "windows: urn:w: range: how much does it see?"),
        ({"stream": "urn:s", "triples": 3, "rang": "PT1M"}, "windows: urn:w: rang: no such member"),
        ({"stream": "gw:observations", "range": "PT1M"}, "name with a prefix"),
        ({"stream": "urn:s", "gap": "PT1M"}, "gaps are not offered yet"),
    ],
)
def test_malformed_declaration_names_member_and_reason(members: Json, said: str) -> None:
    (finding,) = template_findings(profile(windows={"urn:w": members}))
    assert finding.is_error
    assert finding.place == "my.jsap: queries.WARM"
    assert said in finding.reason
    with pytest.raises(WindowError):
        over_of(profile(windows={"urn:w": members}).queries["WARM"])


def test_window_that_the_text_does_not_name_is_warned_of() -> None:
    windows = {"urn:w": GOOD, "urn:other": GOOD}
    (finding,) = template_findings(profile(windows=windows))
    assert not finding.is_error
    assert "no graph <urn:other>" in finding.reason
    graphs = {"named-graph-uri": ["urn:w", "urn:other"]}
    assert not list(
        template_findings(profile("ASK { GRAPH ?g {} }", windows=windows, graphs=graphs))
    )


def test_changed_window_is_a_changed_query() -> None:
    before, after = (
        Profiles.of([profile(windows={"urn:w": {**GOOD, "triples": count}})]) for count in (3, 4)
    )
    assert before.changes(after).queries == ("WARM",)
