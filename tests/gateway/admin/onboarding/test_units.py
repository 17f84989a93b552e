"""A unit that QUDT does not have is refused wherever a person writes one."""

from pathlib import Path

import pytest

from adapters.values.units import unit_defect
from gateway.cli.checking.mappings import profile_findings
from gateway.config.settings import Config
from tests.gateway.admin.onboarding.house import a_house, config
from tests.kit.gateways import mapping, write_profile

WRONG = "http://qudt.org/vocab/unit/DEGC"


@pytest.mark.parametrize("member", ["unit", "deviceUnit"])
async def test_apply_and_try_refuse_it_and_say_which_there_is(tmp_path: Path, member: str) -> None:
    units = {"unit": "°C", member: WRONG}
    async with a_house(config(tmp_path)) as (_, api):
        mine = mapping("t", "cellar/pump", selector="$.t", **units)
        bodies = {
            "/mappings/apply": {"add": [mine]},
            "/mappings/try": {"message": {"topic": "x", "payload": "1"}, "mappings": [mine]},
        }
        for path, body in bodies.items():
            answer = await api.post(path, json=body)
            assert answer.status_code == 400, (path, answer.text)
            assert "did you mean DEG_C?" in answer.json()["error_description"]
        assert (await api.ask("GET", "/mappings"))["mappings"] == []


def test_check_refuses_it_and_names_the_place(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [mapping("t", "t/+", selector="$.t", unit=WRONG)])
    given = Config.model_validate({"jsap": {"profiles": ["observations", str(profile)]}})
    findings, _ = profile_findings(given.at(tmp_path))
    (found,) = [each for each in findings if "DEG_C" in each.reason]
    assert found.is_error
    assert found.place.endswith("extended.mappings[0].unit")


def test_names_that_qudt_has_replaced_and_those_of_others_pass() -> None:
    for name in ("V-A", "DegreeCelsius", "KiloW-HR", "PERCENT_RH"):
        assert not unit_defect(f"http://qudt.org/vocab/unit/{name}")
    assert not unit_defect("urn:my:unit")
    assert unit_defect("http://qudt.org/vocab/unit/" + "x" * 10_000).count("x") < 100
