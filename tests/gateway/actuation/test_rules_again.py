"""Rules that cannot start yet: they do once what they ask of is there, without being changed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pyoxigraph import Literal, NamedNode

from gateway.actuation.rules import Republisher
from gateway.engine import Notification, SubscribeRequest
from gateway.errors import BadRequestError, GatewayError
from gateway.rdf.namespaces import GW
from gateway.rdf.solutions import ResultsDelta, Row
from gateway.runtime.loop_calls import LoopCalls

VARIABLES = ("rule", "queryText", "topicTemplate", "payloadTemplate", "on")
EARLY, LATE = "urn:early", "urn:late"


class Members:
    """Subscriptions, refused while who is asked is no member; `begun` are the texts in force."""

    def __init__(self) -> None:
        self.are_known = False
        self.begun: dict[str, str] = {}
        self.ended: Callable[[GatewayError], None] = lambda _: None

    async def subscribe(
        self,
        query: SubscribeRequest,
        /,
        *,
        sink: Callable[[Notification], None],
        ended: Callable[[GatewayError], None],
    ) -> str:
        del sink
        if LATE in query.text and not self.are_known:
            raise BadRequestError("no gateway of the federation is called attic", "")
        spuid = f"urn:spuid:{len(self.begun)}"
        self.begun[spuid], self.ended = query.text, ended
        return spuid

    async def unsubscribe(self, spuid: str) -> None:
        del self.begun[spuid]


class Silent:
    def publish(self, topic: str, payload: bytes, qos: int, retain: bool) -> None:
        """Nobody listens."""


def rule(name: str) -> Row:
    text = f"SELECT ?o {{ <{name}> <urn:p> ?o }}"
    templates = Literal(text), Literal("t"), Literal("x")
    return (NamedNode(f"{name}-rule"), *templates, NamedNode(GW + "Added"))


@asynccontextmanager
async def republishing(members: Members) -> AsyncIterator[Republisher]:
    republisher = Republisher(members, Silent(), {}, LoopCalls(asyncio.get_running_loop()))
    running = asyncio.create_task(republisher.run())
    try:
        yield republisher
    finally:
        running.cancel()


def learn(republisher: Republisher, added: tuple[Row, ...], removed: tuple[Row, ...] = ()) -> None:
    republisher.learn(
        Notification("urn:rules", 0, None, 0, ResultsDelta(VARIABLES, added, removed))
    )


async def test_a_rule_starts_when_the_gateway_that_it_names_joins() -> None:
    members = Members()
    async with republishing(members) as republisher:
        learn(republisher, (rule(EARLY), rule(LATE)))
        await republisher.settled()
        assert list(republisher.errors) == [f"{LATE}-rule"]
        republisher.again()
        await republisher.settled()
        assert list(republisher.errors) == [f"{LATE}-rule"], "nobody has joined"
        members.are_known = True
        republisher.again()
        await republisher.settled()
        assert not republisher.errors
        assert sorted(republisher.standing.values()) == [f"{EARLY}-rule", f"{LATE}-rule"]
        assert len(members.begun) == 2, "what stands is not begun again"


async def test_what_is_tried_again_is_what_is_wanted_by_then() -> None:
    members = Members()
    async with republishing(members) as republisher:
        learn(republisher, (rule(EARLY),))
        await republisher.settled()
        learn(republisher, (), (rule(EARLY),))
        members.ended(GatewayError("it cannot be served", ""))
        learn(republisher, (rule(LATE),))
        members.are_known = True
        await republisher.settled()
        assert list(republisher.standing.values()) == [f"{LATE}-rule"]
        assert len(members.begun) == 1
