"""Mappings are listed as a profile has them, by HTTP and by the command line, with their errors."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from gateway.cli.command import main
from tests.kit.gateways import LOOPBACK, mapping, running, settings, update, write_profile

BAD = """
    INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> {
      <urn:mapping:half> a gw:Mapping ; gw:topicFilter "half/+" .
      <urn:mapping:two> a gw:Mapping ; gw:topicFilter "a" , "b" ; gw:format "json" ;
        gw:sensor <urn:s> ; gw:observedProperty <urn:p> ; gw:featureOfInterest <urn:f> .
      <urn:mapping:odd> a gw:Mapping ; gw:topicFilter "a" ; gw:format "morse" ;
        gw:sensor <urn:s> ; gw:observedProperty <urn:p> ; gw:featureOfInterest <urn:f> } }"""


async def test_all_mappings_with_what_is_wrong_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = mapping("t", "lab/+", selector="$.t", expiresAfter=60, unit="unit:DEG_C")
    async with running(settings(tmp_path, write_profile(tmp_path, [good]))) as gateway:
        await update(gateway, BAD)
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url) as client:
            listed = (await client.get("/mappings")).json()["mappings"]
        found = {each["id"]: each for each in listed}
        assert found["urn:mapping:t"] == {
            **good,
            "unit": "http://qudt.org/vocab/unit/DEG_C",
        }
        assert found["urn:mapping:half"]["error"].endswith("is missing")
        assert found["urn:mapping:two"]["error"] == "topicFilter: has several values"
        assert found["urn:mapping:odd"]["error"].startswith("format: is none of")
        arguments = ["mapping", "list", "--url", url]
        assert await asyncio.to_thread(main, arguments) == 0
        assert "urn:mapping:half" in capsys.readouterr().out
        assert await asyncio.to_thread(main, [*arguments, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["mappings"] == listed


def test_a_gateway_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mapping", "list", "--url", "http://127.0.0.1:1"]) == 1
    assert "is the gateway running there?" in capsys.readouterr().err
