"""`Subscriber`: one client at one transport (socket, stream, MQTT), and what it holds.

Place on the way of the data: transport → **subscriber** → scheduler's SRQ, and outboxes →
**subscriber** → transport. It knows the protocol's requests and answers and nothing of how they
travel; what all subscribers share is in subscribers.py.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from gateway.errors import GatewayError, NotFoundError, TooManyRequestsError
from gateway.gates.protocol.messages import (
    BadMessageError,
    Message,
    Resume,
    Subscribe,
    Unsubscribe,
    decode_message,
)
from gateway.gates.protocol.wire import encode_error, encode_unsubscribed
from gateway.gates.subscriptions.outbox import Outbox
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import Ended, Outgoing, Resumed, Subscription
from gateway.security.principal import Principal

Authenticate = Callable[[str | None], Principal]
"""Who shows this `authorization` member; raises an UnauthorizedError."""


EVERY = "*"
"""In the place of a spuid: every subscription of the client, to unsubscribe."""


@dataclass(frozen=True, slots=True)
class Client:
    """Who is at the other end: `address` is what limits count by where nobody has a name.

    Where the connection itself proves nothing, the client `shows_always` who asks, not only when it
    subscribes. After it was told of changes it is told of no others for `pause_s`, then of all.
    """

    address: str
    authenticate: Authenticate
    shows_always: bool = False
    pause_s: float = 0.0


class Subscriber:
    """Answers one client's requests, one after another, and gives out what it has to be told.

    All methods but those of `Consumer` are for the event loop. `close` must be called at the end.
    `tells` may send what there is at once, in the place of who waits for it and has no pause;
    False: something is left for that one.
    """

    def __init__(self, subscribers: Subscribers, client: Client) -> None:
        self.rows = 0
        self.overflowed = False
        self.subscriptions: dict[str, Subscription] = {}
        self.client = client
        self.tells: Callable[[], bool] | None = None
        self._all = subscribers
        self._ready: deque[Outbox] = deque()
        self._notices: deque[Ended | Resumed] = deque()
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        self._woken = False
        self._hurries = False
        self._told_at = -math.inf
        self._is_waking = False

    @property
    def address(self) -> str:
        """Where the client is, for limits."""
        return self.client.address

    async def answer(self, text: str | None) -> str | None:
        """Do what a message asks for; the answer, or None where the answer is to be taken.

        None in the place of the text is a message that is no text.
        """
        alias = None
        try:
            if text is None:
                raise BadMessageError("the message is no text", "send JSON, encoded as UTF-8")
            message = decode_message(text, bare_token=self._all.limits.bare_token)
            alias = message.alias
            return await self.do(message)
        except GatewayError as error:
            self._all.statistics.errors += 1
            known = error.alias if isinstance(error, BadMessageError) else alias
            return encode_error(error, known)

    async def do(self, message: Message) -> str | None:
        """As `answer`; raises a GatewayError."""
        match message:
            case Subscribe():
                await self._subscribe(message)
                self.wake()  # nobody waits for a first answer as long as for changes
                return None
            case Resume():
                self._resume(message)
                return None
            case Unsubscribe():
                return await self._unsubscribe(message)

    async def _subscribe(self, message: Subscribe) -> None:
        principal = self.client.authenticate(message.authorization)
        limit = self._all.limits.held
        if len(self.subscriptions) >= limit:
            raise TooManyRequestsError(f"this connection has {limit} subscriptions already", 60)
        await self._all.subscribe(message, principal, self)

    def _resume(self, message: Resume) -> None:
        principal = self.client.authenticate(message.authorization)
        subscription = self._all.resume(message.spuid, message.sequence, principal, self)
        alias = message.alias if message.alias is not None else subscription.alias
        self._notices.append(Resumed(message.spuid, alias, message.sequence))
        self.wake()

    async def _unsubscribe(self, message: Unsubscribe) -> str:
        mine = self._owned_by_who_asks(message)
        if message.spuid != EVERY and not mine:
            raise NotFoundError(
                f"you have no subscription {message.spuid} here", "it may have ended already"
            )
        for subscription in mine:
            await self._all.unsubscribe(subscription)
        return encode_unsubscribed(message.spuid)

    def _owned_by_who_asks(self, message: Unsubscribe) -> list[Subscription]:
        held = list(self.subscriptions.values())
        if self.client.shows_always:
            asking = self.client.authenticate(message.authorization).identity
            held = [each for each in held if each.principal.identity == asking]
        return [each for each in held if message.spuid in {each.spuid, EVERY}]

    async def wait(self) -> None:
        """Wait until there is something to take, or the subscriber has overflowed; for one task."""
        if not self._woken:
            await self._until_rung()
        if self.client.pause_s:
            await self._pause()
        self._woken = self._hurries = False
        self._is_waking = False

    async def _pause(self) -> None:
        """Have changes gather; meanwhile no other thread wakes the loop for them."""
        rest = self._told_at + self.client.pause_s - self._loop.time()
        if rest > 0 and not self._hurries:
            timer = self._loop.call_later(rest, self._ring)
            try:
                await self._until_rung()
            finally:
                timer.cancel()
        self._told_at = self._loop.time()

    async def _until_rung(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _ring(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def wake(self) -> None:
        """End a `wait`, and its pause."""
        self._hurries = True
        self._changed()

    def _changed(self) -> None:
        if self._is_told_at_once():
            return
        self._woken = True
        self._ring()

    def _is_told_at_once(self) -> bool:
        """Whether nothing is left to wake anybody for: a task's turn costs as much as a message."""
        if self.tells is None or self._waiter is None or self._woken or self.client.pause_s:
            return False
        self._is_waking = False  # what comes from now on may be missed here
        return self.tells()

    @property
    def has_more(self) -> bool:
        """Whether there may be something to take."""
        return bool(self._ready or self._notices)

    def take(self) -> Outgoing | None:
        """The next thing to tell, in the order of the engine; None when there is nothing now."""
        if self._notices:
            return self._notices.popleft()
        while self._ready:
            outbox = self._ready.popleft()
            message = outbox.take() if outbox.consumer is self else None
            if message is not None:
                return message
        return None

    def encode(self, message: Outgoing) -> str:
        """What was taken, as JSON; to be sent next."""
        return self._all.encode(message)

    def hold(self, subscription: Subscription) -> None:
        """Have a subscription from now on."""
        self.subscriptions[subscription.spuid] = subscription

    def release(self, subscription: Subscription) -> None:
        """Have it no longer."""
        self.subscriptions.pop(subscription.spuid, None)
        self.wake()

    def end(self, ended: Ended) -> None:
        """Have the client told that a subscription has ended."""
        self._notices.append(ended)
        self.wake()

    def close(self, *, is_lost: bool = False) -> None:
        """End what it holds; where the connection was lost, keep it for who comes back in time."""
        for subscription in list(self.subscriptions.values()):
            if is_lost and not self.overflowed:
                self._all.detach(subscription)
            else:
                self._all.drop(subscription)

    def ready(self, outbox: Outbox) -> None:
        """Know of one message more to take; called in any thread."""
        self._ready.append(outbox)
        self._wake_from_any_thread()

    def overflow(self, outbox: Outbox) -> None:
        """Give everything up; called in any thread."""
        del outbox
        self.overflowed = True
        self._wake_from_any_thread()

    def _wake_from_any_thread(self) -> None:
        if not self._is_waking:
            self._is_waking = True
            self._all.loop_calls.call(self._changed)
