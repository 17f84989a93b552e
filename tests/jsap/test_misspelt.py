"""jsap.file_format: members are free, and one that is nearly one of JSAP's is warned of."""

import pytest

from jsap.profile import Profile
from tests.paths import ROOT


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"updats": {}}, "updats: no member of JSAP, so it says nothing; did you mean updates?"),
        (
            {"queries": {"A": {"sparql": "ASK {}", "forcedBinding": {}}}},
            "queries.A.forcedBinding: no member of JSAP, so it says nothing;"
            " did you mean forcedBindings?",
        ),
        ({"#include": [], "include": []}, ""),
        ({"default-graph": 1, "note": "free", "query": {}, "author": "x"}, ""),
        ({"queries": {"A": {"sparql": "ASK {}", "comment": "free"}}}, ""),
    ],
)
def test_a_member_that_is_nearly_one(members: dict[str, object], told: str) -> None:
    assert "; ".join(map(str, Profile.parse(members).warnings)) == told


def test_profiles_that_ship_have_none() -> None:
    for path in (ROOT / "jsap" / "profiles").glob("*.jsap"):
        assert "no member of JSAP" not in str(Profile.parse(path.read_text()).warnings)
