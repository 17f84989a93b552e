"""/health, /ready, /metrics: what they tell, and to whom; limits on requests under way."""

import asyncio
from pathlib import Path

import httpx

from gateway.gates.http.request_load import LoadLimits
from gateway.gates.sparql.query_pool import QueryLimits
from gateway.security.policy import Capability, Policy
from tests.gateway.gates.sparql.test_protocol import HeldQuery
from tests.kit.fake_guard import FakeGuard
from tests.kit.gateways import mapping, publish, running, settings, write_profile
from tests.kit.http_client import FakeHealth, check_error, open_gate


async def test_alarm_is_told_and_the_gateway_is_not_ready() -> None:
    async with open_gate(health=FakeHealth("the disk is full")) as client:
        response = await client.get("/health")
        assert (response.status_code, response.json()["status"]) == (503, "alarm")
        assert response.json()["alarms"] == ["disk: the disk is full; do it"]
        assert int(response.headers["retry-after"]) > 0
        ready = await client.get("/ready")
        assert (ready.status_code, ready.json()) == (503, {"ready": False})


async def test_gateway_with_a_full_queue_is_healthy_and_not_ready() -> None:
    async with open_gate(health=FakeHealth(is_full=True)) as client:
        assert (await client.get("/health")).status_code == 200
        assert (await client.get("/ready")).status_code == 503


async def test_numbers_are_for_those_who_may_see_operations() -> None:
    operator = Policy(capabilities=frozenset({Capability.OPERATIONS}))
    guard = FakeGuard(eve=Policy(query=None), olga=operator)
    async with open_gate(guard=guard) as client:
        check_error(await client.get("/metrics"), 401, "invalid_request")
        assert (await client.get("/health")).json() == {"status": "ok"}
        assert (await client.get("/ready")).json() == {"ready": True}
        client.headers["Authorization"] = "Bearer eve"
        check_error(await client.get("/metrics"), 403, "forbidden")
        assert (await client.get("/health")).json() == {"status": "ok"}
        client.headers["Authorization"] = "Bearer olga"
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/health")).json()["counters"] == {"updates": 3}


async def test_requests_beyond_the_limits_are_refused_until_others_are_answered() -> None:
    held = HeldQuery()
    for limits, status, code in (
        (LoadLimits(requests=1), 503, "overloaded"),
        (LoadLimits(client_requests=1), 429, "too_many_requests"),
    ):
        held.go.clear()
        held.started.clear()
        async with open_gate(evaluate=held, limits=QueryLimits(), load=limits) as client:
            first = asyncio.create_task(client.get("/query", params={"query": "ASK {}"}))
            await asyncio.to_thread(held.started.wait, 5)
            refused = await client.get("/health")
            check_error(refused, status, code)
            assert int(refused.headers["retry-after"]) >= 1
            held.go.set()
            assert (await first).status_code == 200
            assert (await client.get("/health")).status_code == 200


async def test_health_shows_the_flow_from_message_to_notification(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [mapping("t", "room/+/t", selector="$.t")])
    async with (
        running(settings(tmp_path, profile)) as gateway,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{gateway.http_port}") as client,
    ):
        await gateway.scheduler.subscribe("SELECT * { ?s ?p ?o }", sink=lambda _: None)
        await publish(gateway.mqtt_port, [("room/1/t", b'{"t": 1}')])
        health = (await client.get("/health")).json()
        assert (health["status"], health["alarms"]) == ("ok", [])
        flow = health["flow"]
        assert flow["messages_in"]["passed"] == 1
        assert all(flow[name]["passed"] > 0 for name in ("updates", "triples_out"))
        assert flow["notifications_out"]["passed"] > 0
        await client.get("/nowhere/at/all")
        metrics = (await client.get("/metrics")).text
        assert 'sosa_gateway_http_request_seconds_bucket{le="+Inf",path="health"} 1.0' in metrics
        assert 'sosa_gateway_http_responses_total{status="404"} 1.0' in metrics
        assert "nowhere" not in metrics
        assert (await client.get("/ready")).json() == {"ready": True}
