"""`bench windows`: its ways tell the same, and its objects have the members that are promised."""

import json
from dataclasses import replace

import pytest

from bench.command import run
from bench.report import digest
from bench.windows import windows
from bench.windows.case import Case
from bench.windows.child import measured

_SMALL = Case("aggregates", sensors=20, range_s=60, readings=30, checked=210)
_CASES = (
    _SMALL,
    replace(_SMALL, query="example"),
    replace(_SMALL, query="sub-select"),
    replace(_SMALL, query="example", subscriptions=20),
    replace(_SMALL, query="mean", ranges=3),
    replace(_SMALL, step_s=10),
    replace(_SMALL, step_s=60),
)
_MEMBERS = {
    *("experiment", "case", "sensors", "subscriptions", "range_s", "step_s", "readings"),
    *("us_per_reading", "before_us_per_reading", "bytewax_us_per_reading", "notifications"),
    *("elements", "bytes_per_element", "fill_ms", "digest", "reference", "versions"),
    *("bytes_per_element_of_aggregates", "bytes_per_triple"),
}


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_the_ways_tell_the_same(case: Case) -> None:
    found = measured(case)
    assert found["digest"] == measured(replace(case, way="asked"))["digest"] != digest([])
    assert found["us_per_reading"] > 0
    if case.step_s is None and case.ranges == case.subscriptions == 1:
        assert measured(replace(case, way="before"))["digest"] == found["digest"]


def test_a_case_is_one_object(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(windows, "CASES", (replace(_SMALL, checked=20),))
    assert run(["windows", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.keys() >= _MEMBERS
    assert told["matches"]
