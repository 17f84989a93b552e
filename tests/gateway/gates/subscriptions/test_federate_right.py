"""Who may ask other gateways: asked before anybody looks at the query."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway.engine import Notification, SubscribeRequest
from gateway.engine.request import ALL_GATEWAYS
from gateway.engine.windowed.over import OVER_NOTHING
from gateway.errors import BadRequestError, ForbiddenError, GatewayError
from gateway.gates.protocol.messages import Subscribe
from gateway.gates.subscriptions.outbox import Outbox
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import Ended, Subscription
from gateway.runtime.loop_calls import LoopCalls
from gateway.security.policy import EVERYTHING, Capability
from gateway.security.principal import Principal


class Nobody:
    """An owner who holds nothing."""

    address = "192.0.2.1"
    rows = 0

    def hold(self, subscription: Subscription) -> None: ...

    def release(self, subscription: Subscription) -> None: ...

    def end(self, ended: Ended) -> None: ...

    def ready(self, outbox: Outbox) -> None: ...

    def overflow(self, outbox: Outbox) -> None: ...


class Refusing:
    """Subscriptions that say which they were asked for."""

    def __init__(self) -> None:
        self.asked: list[SubscribeRequest] = []

    async def subscribe(
        self,
        query: SubscribeRequest,
        /,
        *,
        sink: Callable[[Notification], None],
        ended: Callable[[GatewayError], None],
    ) -> str:
        self.asked.append(query)
        raise BadRequestError("asked")

    async def unsubscribe(self, spuid: str) -> None: ...


WITHOUT = replace(EVERYTHING, capabilities=frozenset(Capability) - {Capability.FEDERATE})


@pytest.mark.parametrize("gateways", [ALL_GATEWAYS, ("attic",)])
async def test_who_may_not_ask_others_is_refused_before_the_query_is_read(gateways: object) -> None:
    engine = Refusing()
    over = replace(OVER_NOTHING, gateways=gateways)  # type: ignore[arg-type]
    message = Subscribe("this is no SPARQL", over=over)
    async with Subscribers(engine, LoopCalls(asyncio.get_running_loop())) as subscribers:
        with pytest.raises(ForbiddenError, match="federate"):
            await subscribers.subscribe(message, Principal("lamp", WITHOUT), Nobody())
        assert not engine.asked
        with pytest.raises(BadRequestError, match="asked"):
            await subscribers.subscribe(message, Principal("page", EVERYTHING), Nobody())
        with pytest.raises(BadRequestError, match="asked"):
            await subscribers.subscribe(
                Subscribe("this is no SPARQL"), Principal("lamp", WITHOUT), Nobody()
            )
        assert [each.gateways for each in engine.asked] == [gateways, None]
