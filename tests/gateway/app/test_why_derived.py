"""Why something follows: the proof by HTTP and by command, down to message and mapping."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyoxigraph import NamedNode, Quad

from gateway.cli.command import main
from gateway.engine import Engine, Rights
from gateway.gates.looking.proofs import HIDDEN, Listed
from gateway.rdf.namespaces import ONTOLOGY_GRAPH
from gateway.reasoning.domains import Domain, Domains
from gateway.reasoning.reasoning import Reasoning
from tests.gateway.app.test_reasoning import address, reasoning, sent
from tests.kit.gateways import running

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SENSOR = ("urn:sensor:a", TYPE, "urn:x:Sensor")
OBSERVES = "http://www.w3.org/ns/sosa/observes"
TEXT = f":Thermometer rdfs:subClassOf :Sensor . <{OBSERVES}> rdfs:domain :Thermometer ."


async def why(url: str, subject: str, predicate: str, value: str) -> Any:
    asked = {"subject": subject, "predicate": predicate, "object": value}
    async with httpx.AsyncClient(timeout=20) as client:
        answer = await client.get(f"{url}/mappings/why", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_conclusion_is_led_back_to_its_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(reasoning(tmp_path, TEXT)) as gateway:
        await sent(gateway, "a")
        url = address(gateway)
        told = await why(url, *SENSOR)
        assert (told["stored"], told["reason"]) == (False, "nobody wrote this: it follows")
        first, *others = told["proof"]
        assert first["axiom"] == "a <urn:x:Thermometer> is a <urn:x:Sensor>"
        assert first["text"] == "<urn:sensor:a> a <urn:x:Sensor>"
        assert [each["axiom"] for each in others] == [
            "what has sosa:observes is a <urn:x:Thermometer>",
            "",
        ]
        leaf = others[-1]
        assert (leaf["asserted"], leaf["hidden"], leaf["premises"]) == (True, False, [])
        [origin] = told["observations"]
        assert leaf["source"] == f"observation {origin['iri']}"
        assert origin["message"]["topic"] == "room/a"
        assert origin["mappings"][0]["id"] == "urn:mapping:t"
        assert await asyncio.to_thread(main, ["mapping", "why", *SENSOR, "--url", url]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert "  because a <urn:x:Thermometer> is a <urn:x:Sensor>, and:" in lines
        assert any("room/a" in line for line in lines)
        async with httpx.AsyncClient(timeout=20) as client:
            asked = dict(zip(("subject", "predicate", "object"), SENSOR, strict=True))
            trail = (await client.get(f"{url}/why/trail", params=asked)).json()
        kinds = [each["kind"] for each in trail["stations"]]
        assert kinds[:2] == ["message", "mapping"]
        assert "derived" in kinds


async def test_a_class_is_led_back_to_the_mapping_that_names_it(tmp_path: Path) -> None:
    async with running(reasoning(tmp_path)) as gateway:
        await sent(gateway, "a")
        told = await why(address(gateway), *SENSOR)
        leaf = told["proof"][-1]
        assert leaf["text"] == "<urn:sensor:a> a <urn:x:Acme>"
        assert leaf["source"].startswith("mapping urn:mapping:t (")
        assert leaf["source"].endswith("extended.mappings[0]): its sensor is of this class")


async def test_what_does_not_follow_has_no_proof(tmp_path: Path) -> None:
    async with running(reasoning(tmp_path)) as gateway:
        await sent(gateway, "a")
        told = await why(address(gateway), "urn:sensor:a", TYPE, "urn:x:Room")
        assert (told["stored"], "proof" in told) == (False, False)
        told = await why(address(gateway), "urn:sensor:a", TYPE, "urn:x:Acme")
        assert (told["stored"], "proof" in told) == (True, False)


def test_premises_of_hidden_graphs_are_named_as_hidden() -> None:
    shown, secret, into = map(NamedNode, ("urn:shown", "urn:secret", "urn:all"))
    domains = Domains(joint=(Domain(frozenset({shown, secret}), into),))
    engine = Engine.open(reasoning=Reasoning(domains))
    chain = "<http://www.w3.org/2002/07/owl#propertyChainAxiom>"
    rest = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    engine.update(
        f"INSERT DATA {{ GRAPH {ONTOLOGY_GRAPH} {{ <urn:pq> {chain} _:l . "
        f"_:l {rest}first> <urn:p> ; {rest}rest> _:m . "
        f"_:m {rest}first> <urn:q> ; {rest}rest> {rest}nil> }} "
        "GRAPH <urn:shown> { <urn:a> <urn:p> <urn:b> } "
        "GRAPH <urn:secret> { <urn:b> <urn:q> <urn:c> } }"
    )
    quad = Quad(NamedNode("urn:a"), NamedNode("urn:pq"), NamedNode("urn:c"), into)
    rights = Rights(read=frozenset({shown, into}), write=frozenset())
    steps = Listed.of(engine.why(quad, rights)).told({})
    assert [each.text for each in steps if each.hidden] == [HIDDEN]
    assert "urn:secret" not in str(steps)
    assert [each.quad for each in steps if each.asserted] == [
        "<urn:a> <urn:p> <urn:b> <urn:shown> ."
    ]
    engine.close()
