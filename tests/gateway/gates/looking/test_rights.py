"""Who may look at what: nothing without a token, the rest by capabilities and graphs."""

from pathlib import Path

from pyoxigraph import DefaultGraph, NamedNode

from gateway.rdf.namespaces import MAPPINGS_GRAPH
from gateway.security.policy import EVERYTHING, Capability, Policy
from tests.gateway.gates.looking.guarded import guarded
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.kit.gateways import mapping, settings, write_profile

PLAIN = Policy(query=frozenset({DefaultGraph()}))
POLICIES = {
    "boss": EVERYTHING,
    "plain": PLAIN,
    "blind": Policy(),
    "mapper": Policy(query=frozenset({DefaultGraph(), MAPPINGS_GRAPH})),
    "deaf": Policy(
        query=frozenset({DefaultGraph()}), capabilities=frozenset({Capability.OPERATIONS})
    ),
    "other": Policy(query=frozenset({NamedNode("urn:g")})),
}
POWER = mapping("power", "meter/1", selector="$.p", unit="unit:W")
QUERY = (
    "SELECT * { ?o <http://www.w3.org/ns/sosa/observedProperty> <urn:property:power> ;"
    " <http://www.w3.org/ns/sosa/hasSimpleResult> ?v FILTER(?v > 99) }"
)


async def test_why_quiet_tells_nobody_what_they_may_not_read(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path, [POWER]))
    async with guarded(config, tmp_path, POLICIES) as (gateway, ask):

        async def told(who: str) -> tuple[list[int], str]:
            answer = await ask(who, "POST", "/why/quiet", json={"query": QUERY})
            assert answer.status_code == 200, answer.text
            return [each["alone"] for each in answer.json()["patterns"]], answer.text

        assert (await ask("", "POST", "/why/quiet", json={"query": QUERY})).status_code == 401
        async with await RawClient.connect(
            gateway.mqtt_port, "device", "boss", "boss-secret"
        ) as device:
            await device.publish("meter/1", b"{")
            _, whole = await told("boss")
            assert "quarantine" in whole
            assert "urn:mapping:power" in whole
            for who in ("plain", "blind", "other", "mapper", "deaf"):
                assert "quarantine" not in (await told(who))[1], who
            assert "urn:mapping:power" in (await told("mapper"))[1]
            assert "urn:mapping:power" not in (await told("plain"))[1]
            await device.publish("meter/1", b'{"p":7}')
        for who, counts, value in (
            ("boss", [1, 1, 0], "7 is the largest"),
            ("plain", [1, 1, 0], "7 is the largest"),
            ("blind", [0, 0, 0], ""),
            ("other", [0, 0, 0], ""),
        ):
            alone, text = await told(who)
            assert alone == counts, who
            assert value in text, who
        assert "7 is" not in (await told("blind"))[1]
