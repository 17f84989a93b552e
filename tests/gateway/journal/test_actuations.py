"""Commands in the journal: who was told what, when, by which rule; sealed beside observations."""

from pathlib import Path

from gateway.journal import Journal, Origin
from gateway.journal.sealing import inspect
from tests.gateway.shipping.journals import lines_of
from tests.kit.gateways import (
    PREFIXES,
    JsonObject,
    mapping,
    publish,
    running,
    settings,
    write_profile,
)
from tests.kit.metrics import until_metric

HOT = f"""{PREFIXES}
SELECT ?sensor {{ ?o sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ?t FILTER(?t > 26) }}"""
RULE: JsonObject = {
    "id": "urn:rule:fan",
    "query": "HOT",
    "on": "added",
    "topic": "fan/hall 1/set",
    "payload": '{"state":"ON"}',
}


async def test_a_command_is_journalled_with_its_topic_and_rule(tmp_path: Path) -> None:
    profile = write_profile(
        tmp_path, [mapping("t", "room/+", selector="$.t")], [RULE], {"HOT": HOT}
    )
    async with running(settings(tmp_path, profile)) as gateway:
        await publish(gateway.mqtt_port, [("room/a", b'{"t":27}')])
        await until_metric(gateway, "journal_actuations_total", 1)
    folder = tmp_path / "data" / "journal"
    with Journal(folder, Origin("test")) as journal:
        journal.seal()
        assert len(list(journal.after(None))) == 1  # a command is not replayed into the store
    (path,) = folder.glob("*.jsonl.gz")
    assert inspect(path).count == 2
    observation, command = lines_of(path)
    assert (observation["q"], observation["v"], "a" in observation) == (1, "27", False)
    assert isinstance(command.pop("i"), int)
    assert command == {
        "q": 2,
        "a": 1,
        "s": "https://sosa-gateway.example/id/test/actuator/fan%2Fhall%201%2Fset",
        "v": '{"state":"ON"}',
        "d": "http://www.w3.org/2001/XMLSchema#string",
        "o": "fan/hall 1/set",
        "r": "urn:rule:fan",
    }
