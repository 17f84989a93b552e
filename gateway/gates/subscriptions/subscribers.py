"""`Subscribers`: everybody who subscribes, over whatever transport, and who is to come back.

Place on the way of the data: between the transports' `Subscriber`s and the scheduler. Here are the
limits, who owns which subscription, what ends one from our side (a token, an SPU that cannot be
served any more), and the subscriptions whose client was lost: they wait `resume_s` for it, and
their outboxes go on filling, merging, and overflow as those of a slow reader do.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from types import TracebackType
from typing import Self

from gateway.engine import SubscribeRequest
from gateway.errors import (
    CannotResumeError,
    GatewayError,
    OverloadedError,
    TooManyRequestsError,
)
from gateway.gates.protocol.messages import Subscribe
from gateway.gates.protocol.wire import NotificationEncoder, encode_error, encode_resumed
from gateway.gates.subscriptions.kept import KeptBytes
from gateway.gates.subscriptions.outbox import Outbox
from gateway.gates.subscriptions.subscription import (
    Ended,
    Outgoing,
    Owner,
    Resumed,
    SubscriberLimits,
    SubscriberStatistics,
    Subscription,
)
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.subscriptions import Subscriptions
from gateway.security.guard import Guard, OpenGuard
from gateway.security.policy import Capability
from gateway.security.principal import Principal

log = logging.getLogger(__name__)

_RETRY_S = 10.0
_PATIENCE_S = 0.1
_TOGETHER = 64
"""So many subscriptions are ended with one wait for the scheduler."""


class _Detached:
    """The consumer of outboxes whose client is away: nobody takes, and the rows have a limit."""

    def __init__(self, overflowed: Callable[[Outbox], None]) -> None:
        self.rows = 0
        self._overflowed = overflowed

    def ready(self, outbox: Outbox) -> None:
        """Nobody is there to take it."""

    def overflow(self, outbox: Outbox) -> None:
        """Have its subscription dropped."""
        self._overflowed(outbox)


class Subscribers:
    """All subscribers of a gateway; an async context manager, in which its transports serve.

    Every method is for the event loop. Whatever a subscription ends by, its SPU is freed by a task
    of our own, so that a connection that is gone waits for nothing.
    """

    def __init__(
        self,
        subscriptions: Subscriptions,
        loop_calls: LoopCalls,
        limits: SubscriberLimits | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.loop_calls = loop_calls
        self.limits = limits or SubscriberLimits()
        self.guard: Guard = guard or OpenGuard()
        self.statistics = SubscriberStatistics()
        self.kept = KeptBytes()
        self._engine = subscriptions
        self._encoder = NotificationEncoder()
        self._lock = Lock()
        self._connections: Counter[str] = Counter()
        self._by_spuid: dict[str, Subscription] = {}
        self._clients: Counter[str] = Counter()
        self._living = 0
        self._nobody = _Detached(lambda outbox: loop_calls.call(self._overflowed, outbox))
        self._detached: dict[str, tuple[float, Subscription]] = {}
        self._expiring: asyncio.TimerHandle | None = None
        self._to_end: deque[str] = deque()
        self._gone = asyncio.Event()
        self._closing = False
        self._ending: asyncio.Task[None]

    async def __aenter__(self) -> Self:
        self._ending = asyncio.create_task(self._end_them(), name="subscriptions ending")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every subscription, also of clients that are away."""
        for subscription in list(self._by_spuid.values()):
            self.drop(subscription)
        if self._expiring is not None:
            self._expiring.cancel()
        self._closing = True
        self._gone.set()
        await self._ending

    def __len__(self) -> int:
        """How many subscriptions there are, those of clients that are away among them."""
        return len(self._by_spuid)

    @property
    def clients(self) -> dict[str, str]:
        """Who has which subscription: an identity or address by spuid, as it is now."""
        return {spuid: each.client for spuid, each in self._by_spuid.items()}

    @property
    def addresses(self) -> Mapping[str, int]:
        """How many connections an address has open now."""
        return dict(self._connections)

    @contextmanager
    def connected(self, transport: str, address: str) -> Iterator[None]:
        """Count a connection. Raises OverloadedError or TooManyRequestsError beyond the limits."""
        limits, connections = self.limits, self._connections
        if connections.total() >= limits.connections:
            raise OverloadedError(f"{limits.connections} connections are open", _RETRY_S)
        if connections[address] >= limits.client_connections:
            raise TooManyRequestsError(
                f"{address} has {limits.client_connections} connections open", _RETRY_S
            )
        connections[address] += 1
        self.statistics.connections[transport] += 1
        try:
            yield
        finally:
            _less(connections, address)
            self.statistics.connections[transport] -= 1

    async def subscribe(self, message: Subscribe, principal: Principal, owner: Owner) -> None:
        """A new subscription for an owner. Raises a GatewayError."""
        client = principal.identity or owner.address
        if message.over.gateways is not None:
            principal.require(Capability.FEDERATE)
        self._require_room(client)
        outbox = Outbox(
            self._lock, owner, self.limits.outbox, self.kept, output=message.over.output
        )
        subscription = Subscription(principal, client, message.alias, outbox, owner)
        self._clients[client] += 1
        self._living += 1
        try:
            subscription.spuid = await self._engine.subscribe(
                self._request(message, subscription),
                sink=outbox.put,
                ended=lambda error: self.loop_calls.call(self.end, subscription, error),
            )
        except GatewayError:
            outbox.close()
            _less(self._clients, client)
            self._living -= 1
            raise
        self._by_spuid[subscription.spuid] = subscription
        owner.hold(subscription)
        self._watch(subscription)
        if subscription.refused is not None:
            self.end(subscription, subscription.refused)

    def _request(self, message: Subscribe, subscription: Subscription) -> SubscribeRequest:
        """What the engine is asked for, with the rights of who asks."""
        request = SubscribeRequest(
            message.sparql,
            message.dataset,
            subscription.principal.policy.subscribe_rights,
            message.alias,
            owner=subscription.client,
            infer=message.infers(self.limits.infer),
            takes=subscription.outbox.takes,
        )
        return message.over.asked(request)

    def resume(self, spuid: str, sequence: int, principal: Principal, owner: Owner) -> Subscription:
        """Let an owner go on with a subscription of theirs, also one that another still has.

        Raises CannotResumeError, which tells no difference between what there is not and what is
        somebody else's.
        """
        subscription = self._by_spuid.get(spuid)
        if subscription is None or subscription.principal.identity != principal.identity:
            raise CannotResumeError
        if not subscription.outbox.rewind(sequence):
            if subscription.owner is None:
                self.drop(subscription)
            raise CannotResumeError
        self._return(subscription)
        if subscription.owner is not None:
            subscription.owner.release(subscription)
        subscription.unwatch()
        subscription.principal, subscription.owner = principal, owner
        owner.hold(subscription)
        subscription.outbox.move(owner)
        self._watch(subscription)
        self.statistics.resumed += 1
        return subscription

    def detach(self, subscription: Subscription) -> None:
        """Keep a subscription whose client was lost for a while."""
        if not self.limits.resume_s:
            self.drop(subscription)
            return
        if len(self._detached) >= self.limits.away:
            _, oldest = next(iter(self._detached.values()))
            self.drop(oldest)
        if subscription.owner is not None:
            subscription.owner.release(subscription)
        subscription.owner = None
        until = asyncio.get_running_loop().time() + self.limits.resume_s
        self._detached[subscription.spuid] = (until, subscription)
        self.statistics.away = len(self._detached)
        subscription.outbox.move(self._nobody)
        if self._expiring is None:
            self._expire()

    def end(self, subscription: Subscription, error: GatewayError) -> None:
        """End it from our side and tell its client why."""
        if not subscription.spuid:  # not even its client knows of it
            subscription.refused = error
            return
        if self._by_spuid.get(subscription.spuid) is not subscription:
            return
        self.statistics.ended += 1
        owner = subscription.owner
        self.drop(subscription)
        if owner is not None:
            owner.end(Ended(subscription.spuid, subscription.alias, error))

    def drop(self, subscription: Subscription) -> None:
        """End it; nobody is told."""
        if self._forget(subscription):
            self._to_end.append(subscription.spuid)
            self._gone.set()

    async def unsubscribe(self, subscription: Subscription) -> None:
        """End it; its SPU is free on return."""
        if self._forget(subscription):
            await self._unsubscribe_surely(subscription.spuid)

    def _forget(self, subscription: Subscription) -> bool:
        """Have it told nothing any more; False where it has ended before."""
        self._return(subscription)
        subscription.unwatch()
        subscription.outbox.close()
        if subscription.owner is not None:
            subscription.owner.release(subscription)
        if self._by_spuid.pop(subscription.spuid, None) is None:
            return False
        _less(self._clients, subscription.client)
        return True

    def encode(self, message: Outgoing) -> str:
        """A message to a subscriber as JSON; it counts as sent."""
        self.statistics.messages += 1
        if isinstance(message, Ended):
            return encode_error(message.error, message.alias, message.spuid)
        if isinstance(message, Resumed):
            return encode_resumed(message.spuid, message.alias, message.sequence)
        self.statistics.merged += message.merged - 1
        return self._encoder.encode(message.notification, message.merged)

    def _require_room(self, client: str) -> None:
        limits = self.limits
        if self._living >= limits.subscriptions:
            raise OverloadedError(f"there are {limits.subscriptions} subscriptions", _RETRY_S)
        if self._clients[client] >= limits.client_subscriptions:
            raise TooManyRequestsError(
                f"you have {limits.client_subscriptions} subscriptions", _RETRY_S
            )

    def _watch(self, subscription: Subscription) -> None:
        subscription.unwatch = self.guard.watch(
            subscription.principal, lambda error: self.end(subscription, error)
        )

    def _return(self, subscription: Subscription) -> None:
        self._detached.pop(subscription.spuid, None)
        self.statistics.away = len(self._detached)

    def _expire(self) -> None:
        """Drop those whose time is over; then wait for that of the next one."""
        loop = asyncio.get_running_loop()
        self._expiring = None
        while self._detached:
            until, subscription = next(iter(self._detached.values()))
            if until > loop.time():
                self._expiring = loop.call_at(until, self._expire)
                return
            self.drop(subscription)

    def _overflowed(self, outbox: Outbox) -> None:
        self.statistics.overflows += 1
        for _, subscription in list(self._detached.values()):
            if subscription.outbox is outbox:
                self.drop(subscription)

    async def _end_them(self) -> None:
        while self._to_end or not self._closing:
            await self._gone.wait()
            self._gone.clear()
            while self._to_end:
                together = [
                    self._to_end.popleft() for _ in range(min(_TOGETHER, len(self._to_end)))
                ]
                await asyncio.gather(*(self._unsubscribe_surely(spuid) for spuid in together))

    async def _unsubscribe_surely(self, spuid: str) -> None:
        """Nobody else would end it: where the SRQ is full, wait for it."""
        try:
            while True:
                try:
                    return await self._engine.unsubscribe(spuid)
                except TooManyRequestsError as error:
                    await asyncio.sleep(min(error.retry_after_s, _PATIENCE_S))
        except GatewayError as error:
            log.warning("unsubscribe_failed", extra={"spuid": spuid, "reason": str(error)})
        finally:
            self._living -= 1


def _less(counts: Counter[str], key: str) -> None:
    """One less; nothing is kept of whom nothing is counted."""
    counts[key] -= 1
    if counts[key] <= 0:
        del counts[key]
