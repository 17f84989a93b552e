"""Actuations and actuators as data: the shapes, the document, the journal."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Store

from gateway.actuation.actuators import Actuators
from gateway.cli.command import main
from gateway.engine import Engine
from gateway.journal import Journal, Origin
from gateway.sparql.parser import parse_query, parse_update
from jsap.extended.quads import mapping_quads
from jsap.profile import Profile
from tests.gateway.actuation.lamps import LAMP, command, lamp_profile
from tests.gateway.shipping.journals import lines_of
from tests.kit.gateways import running, settings
from tests.kit.metrics import until_metric
from tests.ontologies.test_shapes import PROFILE, ZONED, report, typed
from tests.paths import ROOT

DOCUMENT = (ROOT / "docs" / "actuators.md").read_text(encoding="utf-8")
ACTUATION = NamedNode("urn:actuation:1")
TIME = typed(ZONED, "dateTime")
STEPS: dict[str, dict[str, NamedNode | Literal]] = {
    "REQUEST": {"actuator": NamedNode("urn:lamp"), "value": Literal("ON")},
    "SEND": {"property": NamedNode("urn:p"), "feature": NamedNode("urn:f"), "sentAt": TIME},
    "CONFIRM": {"observation": NamedNode("urn:observation:1"), "endedAt": TIME},
    "FAIL": {"reason": Literal("no reading"), "endedAt": TIME},
    "SUPERSEDE": {"endedAt": TIME},
    "FORGET": {},
}


def after(*steps: str) -> Store:
    """The graph of actuations after templates of the profile."""
    store = Store()
    for step in steps:
        template = PROFILE.updates[f"{step}_ACTUATION"]
        terms: dict[str, NamedNode | Literal] = {"actuation": ACTUATION, **STEPS[step]}
        store.update(template.render(template.bind(terms)))
    return store


def statuses(store: Store) -> list[str]:
    return [
        str(quad.object).rpartition("#")[2][:-1]
        for quad in store
        if quad.predicate.value.endswith("#status")
    ]


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ("REQUEST", "Requested"),
        ("REQUEST SEND", "Sent"),
        ("REQUEST SEND CONFIRM", "Confirmed"),
        ("REQUEST SEND FAIL", "Failed"),
        ("REQUEST SEND SUPERSEDE", "Superseded"),
        ("REQUEST FAIL", "Failed"),
        ("REQUEST SUPERSEDE", "Superseded"),
        ("REQUEST REQUEST", "Requested"),
        ("REQUEST SEND SEND", "Sent"),
        ("REQUEST CONFIRM", "Requested"),
        ("REQUEST SEND CONFIRM FAIL", "Confirmed"),
        ("REQUEST SEND FAIL CONFIRM", "Failed"),
        ("REQUEST SEND SUPERSEDE FAIL", "Superseded"),
        ("REQUEST FAIL SEND", "Failed"),
        ("REQUEST SEND CONFIRM REQUEST", "Confirmed"),
    ],
)
def test_status_after_templates_in_any_order_conforms(steps: str, status: str) -> None:
    store = after(*steps.split())
    assert (statuses(store), report(store)) == ([status], "")


@pytest.mark.parametrize("steps", ["SEND", "CONFIRM", "FAIL", "SUPERSEDE", "REQUEST SEND FORGET"])
def test_what_is_not_there_does_not_come_back(steps: str) -> None:
    assert list(after(*steps.split())) == []


@pytest.mark.parametrize("predicate", ["type", "madeByActuator", "hasSimpleResult", "status"])
def test_actuation_without_what_it_needs_is_refused(predicate: str) -> None:
    store = after("REQUEST", "SEND")
    [gone] = [quad for quad in store if re.search(f"[/#]{predicate}$", quad.predicate.value)]
    store.remove(gone)
    assert report(store)


def test_actuator_of_a_profile_conforms() -> None:
    store = Store()
    store.extend(mapping_quads(Profile.parse({"extended": {"actuators": [LAMP]}})))
    assert report(store) == ""
    store.extend(
        mapping_quads(Profile.parse({"extended": {"actuators": [{**LAMP, "topic": "a/+"}]}}))
    )
    assert report(store)


def test_what_the_document_says_to_type_is_understood() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
    quads = mapping_quads(Profile.parse(json.loads(text)))
    engine = Engine.open()
    triples = " . ".join(f"{quad.subject} {quad.predicate} {quad.object}" for quad in quads)
    engine.update(f"INSERT DATA {{ GRAPH {quads[0].graph_name} {{ {triples} }} }}")
    actuators = Actuators()
    actuators.learn(engine.subscribe(PROFILE.queries["ACTUATORS"].text))
    engine.close()
    assert (list(actuators.by_name), dict(actuators.errors)) == (["lamp"], {})
    query, update = re.findall(r"```sparql\n(.*?)```", DOCUMENT, re.DOTALL)
    parse_query(query)
    parse_update(update)


def test_document_has_every_member_and_metric() -> None:
    from gateway.actuation.statistics import ActuationStatistics
    from jsap.extended.items import ActuatorItem

    for name, member in ActuatorItem.model_fields.items():
        assert f"`{member.validation_alias or name}`" in DOCUMENT or name == "id"
    for name in ActuationStatistics.__slots__:
        assert f"`{name}`" in DOCUMENT


async def test_journal_has_what_was_sent_and_what_for(tmp_path: Path) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        answer = await command(gateway, "ON")
        await until_metric(gateway, "journal_actuations_total", 1)
    folder = tmp_path / "data" / "journal"
    await asyncio.to_thread(_seal, folder)
    (path,) = folder.glob("*.jsonl.gz")
    (line,) = lines_of(path)
    assert isinstance(line.pop("i"), int)
    assert line == {
        "q": 1,
        "a": 1,
        "s": "urn:lamp",
        "v": "ON",
        "d": "http://www.w3.org/2001/XMLSchema#string",
        "o": "lamp/set",
        "p": "urn:property:state",
        "f": "urn:room:1",
        "x": f"https://sosa-gateway.example/id/test/actuation/{answer.json()['id']}",
    }


def _seal(folder: Path) -> None:
    with Journal(folder, Origin("test")) as journal:
        journal.seal()


def test_check_tells_of_a_wrong_actuator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lamp_profile(tmp_path, topic="lamp/+")
    (tmp_path / "gateway.toml").write_text('[jsap]\nprofiles = ["observations", "test.jsap"]\n')
    assert main(["check", "--config", str(tmp_path / "gateway.toml")]) == 1
    out = capsys.readouterr().out
    assert "test.jsap" in out
    assert "actuator <urn:lamp>: topic 'lamp/+' is none to publish to" in out
