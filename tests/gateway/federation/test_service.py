"""Three gateways that run, each with its scheduler's thread, over Zenoh: one question over all."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random

import pytest
from pyoxigraph import Literal

from gateway.engine import Engine, SubscribeRequest
from gateway.engine.spu import EVENT
from gateway.errors import NotFoundError
from gateway.federation.limits import ServiceLimits
from gateway.federation.loopback import LoopbackNet
from gateway.federation.service import FederationService
from gateway.federation.zenoh_carrier import Endpoints, ZenohCarrier
from gateway.journal.record import Origin
from gateway.scheduler.scheduler import Scheduler
from tests.kit.gateways import WAIT_S, Watch, free_port

pytest.importorskip("zenoh", reason="the extra federation is not installed")

NAMES = ("attic", "cellar", "hall")
WARM_AND_EMPTY = (
    "SELECT ?room ?t { ?room <urn:warm> ?t FILTER NOT EXISTS { ?room <urn:occupied> true } }"
)


@dataclass
class House:
    """Gateways by their names; `away` can be stopped and come again."""

    ports: dict[str, int] = field(default_factory=lambda: {each: free_port() for each in NAMES})
    schedulers: dict[str, Scheduler] = field(default_factory=dict)
    services: dict[str, FederationService] = field(default_factory=dict)
    rounds: int = 0

    def service(self, name: str) -> FederationService:
        at = {each: f"127.0.0.1:{port}" for each, port in self.ports.items()}
        others = [each for each in NAMES if each != name]
        endpoints = Endpoints((at[name],), tuple(at[each] for each in others))
        carrier = ZenohCarrier(name, others, endpoints)
        limits = ServiceLimits(wait_s=WAIT_S, tick_s=0.1)
        made = FederationService(name, others, self.schedulers[name], carrier, limits=limits)
        self.services[name] = made
        return made

    async def update(self, name: str, text: str) -> None:
        await self.schedulers[name].update(text)


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    """Three gateways that hear each other."""
    made = House()
    async with AsyncExitStack() as stack:
        for name in NAMES:
            engine = Engine.open()
            engine.events.places.follow(Origin(name), 1, lambda: None)
            made.schedulers[name] = stack.enter_context(Scheduler(engine))
        for name in NAMES:
            await stack.enter_async_context(made.service(name).running())
        for service in made.services.values():
            await until(service, lambda known: len(known) == len(NAMES) - 1)
        yield made


async def until(service: FederationService, is_so: Callable[[frozenset[str]], bool]) -> None:
    """Wait until the members that tell of what they have are such."""
    async with asyncio.timeout(WAIT_S):
        while not is_so(await service.heard()):
            await asyncio.sleep(0.02)


def rows(told: Watch) -> list[tuple[str, ...]]:
    return sorted(tuple(str(term) for term in row) for row in told.answer)


async def test_a_question_joins_what_three_gateways_hear() -> None:
    async with house() as made:
        await made.update("attic", "INSERT DATA { <urn:a> <urn:warm> 31 . <urn:b> <urn:warm> 32 }")
        await made.update("cellar", "INSERT DATA { <urn:b> <urn:occupied> true }")
        told = Watch()
        service = made.services["hall"]
        spuid = await service.subscribe(SubscribeRequest(WARM_AND_EMPTY), told)
        first = told.notifications[0]
        assert first.federation is not None
        assert set(first.federation.positions) == set(NAMES)
        assert not first.federation.missing
        assert [str(row[0]) for row in told.answer] == ["<urn:a>"]
        await made.update("cellar", "DELETE DATA { <urn:b> <urn:occupied> true }")
        await told.until(lambda: len(told.answer) == 2)
        await made.update("hall", "INSERT DATA { <urn:a> <urn:occupied> true }")
        await told.until(lambda: [str(row[0]) for row in told.answer] == ["<urn:b>"])
        await service.unsubscribe(spuid)
        with pytest.raises(NotFoundError):
            await service.unsubscribe(spuid)


async def test_events_of_all_gateways_come_once() -> None:
    async with house() as made:
        told = Watch()
        service = made.services["hall"]
        query = "SELECT ?o { ?s <urn:p> ?o FILTER(?o > 1) }"
        spuid = await service.subscribe(SubscribeRequest(query, mode=EVENT), told)
        first = told.notifications[0]
        assert first.federation is not None
        assert set(first.federation.positions) == set(NAMES)
        for number in range(4):
            for name in NAMES:
                await made.update(name, f"INSERT DATA {{ <urn:s> <urn:p> {number} }}")
        await told.until(lambda: told.count_added == 6)
        values = sorted(str(row[0]) for row in told.added)
        assert values == sorted([str(Literal(2))] * 3 + [str(Literal(3))] * 3)
        whose = [each.events[0].gateway for each in told.notifications[1:] if each.events]
        assert sorted(whose) == sorted([*NAMES, *NAMES])
        await service.unsubscribe(spuid)


async def test_what_a_gateway_said_while_another_was_away_comes() -> None:
    async with house() as made:
        told = Watch()
        hall = made.services["hall"]
        await hall.subscribe(SubscribeRequest("SELECT ?o { ?s <urn:p> ?o }"), told)
        gone = made.services["attic"]
        await gone.stop()
        await until(hall, lambda known: known == {"cellar"})
        await made.update("attic", "INSERT DATA { <urn:s> <urn:p> 1 }")
        await made.update("cellar", "INSERT DATA { <urn:s> <urn:p> 2 }")
        await told.until(lambda: rows(told) == [(str(Literal(2)),)])
        async with made.service("attic").running():
            await told.until(lambda: len(told.answer) == 2)
            await made.update("attic", "DELETE DATA { <urn:s> <urn:p> 1 }")
            await told.until(lambda: rows(told) == [(str(Literal(2)),)])


async def test_who_waits_for_a_gateway_is_told_when_it_is_a_member() -> None:
    joined: list[frozenset[str]] = []
    engine = Engine.open()
    with Scheduler(engine) as scheduler:
        net = LoopbackNet(Random(1))
        service = FederationService("hall", (), scheduler, net.carrier("hall"))
        service.joined = lambda: joined.append(service.names)
        for names in ({"hall"}, {"hall", "attic"}, {"attic", "hall"}, {"hall"}, {"hall", "attic"}):
            service.members_are(frozenset(names))
        assert joined == [frozenset({"hall", "attic"})] * 2
