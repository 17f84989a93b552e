"""The standing queries: whose they are, how they are served, what they cost so far."""

from pathlib import Path

import httpx

from gateway.security.policy import EVERYTHING, Policy
from tests.gateway.gates.looking.guarded import guarded
from tests.kit.gateways import (
    LOOPBACK,
    OWN_SUBSCRIPTIONS,
    WAIT_S,
    JsonObject,
    running,
    settings,
    until_subscribed,
    update,
    write_profile,
)

ASKED = "SELECT ?room { ?room <urn:warm> true }"
RULE: JsonObject = {
    "id": "urn:rule:fan",
    "query": "WARM",
    "topic": "fan/set",
    "payload": "ON",
    "on": "added",
}


async def test_each_is_told_with_whose_it_is_and_what_it_costs(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, rules=[RULE], queries={"WARM": ASKED})
    async with running(settings(tmp_path, profile)) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=WAIT_S) as client:
            async with client.stream("GET", "/subscribe", params={"query": ASKED}):
                await until_subscribed(gateway, OWN_SUBSCRIPTIONS + 2)
                await update(gateway, "INSERT DATA { <urn:hall> <urn:warm> true , false }")
                told = (await client.get("/subscriptions")).json()
            assert told["total"] == len(told["subscriptions"]) == OWN_SUBSCRIPTIONS + 2
            kinds = [each["kind"] for each in told["subscriptions"]]
            assert kinds.count("gateway") == OWN_SUBSCRIPTIONS
            (rule,) = (each for each in told["subscriptions"] if each["kind"] == "rule")
            (mine,) = (each for each in told["subscriptions"] if each["kind"] == "client")
            assert rule["owner"] == "urn:rule:fan"
            assert (mine["owner"], mine["query"], mine["tier"]) == (
                LOOPBACK,
                ASKED,
                "single pattern",
            )
            assert (mine["hits"], mine["notifications"], mine["updates"]) == (1, 1, 1)
            assert (mine["lutt"], mine["rows"], mine["worker"]) == (1, 1, False)
            assert mine["cost_us"] >= 0
            assert mine["spuid"].startswith("sepa://")


async def test_only_operators_are_told(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    policies = {"boss": EVERYTHING, "plain": Policy(query=None, subscribe=None)}
    async with guarded(config, tmp_path, policies) as (_, ask):
        for who, status in (("", 401), ("plain", 403), ("boss", 200)):
            assert (await ask(who, "GET", "/subscriptions")).status_code == status, who
