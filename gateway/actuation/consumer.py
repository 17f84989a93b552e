"""`Consumer`: takes requested actuations, sends commands, and sees how they end.

Place on the way of the data: a task of the event loop. The subscription REQUESTED and ingest tell
it what there is; it writes by UPDATEs of the scheduler, and publishes.

At most once: that an actuation is sent is on the store's disk before its command is published, and
what is marked so is never published again, whatever happens in between. What was marked and not
published, because the process was killed, ends by its time limit.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from math import inf
from types import MappingProxyType
from typing import Protocol

from gateway.actuation.actuators import Actuators
from gateway.actuation.history import History
from gateway.actuation.orders import (
    ActuationRequest,
    Confirmation,
    End,
    Order,
    Orders,
    Pending,
    Refusal,
)
from gateway.actuation.statistics import ActuationStatistics
from gateway.actuation.templates import ActuationTemplates, sent_mark
from gateway.engine import Outcome
from gateway.errors import GatewayError, StorageError
from gateway.runtime.clocks import SYSTEM_CLOCKS, Clocks
from gateway.store.update import BoundUpdate

log = logging.getLogger(__name__)

_PAUSE_S = 0.5
"""A disk that does not take an UPDATE is tried again after this."""

_LOOK_S = 1.0
"""While something is pending the clock is looked at so often: it may not be the loop's."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Who is told of each command that goes out, and how each that went out ended."""

    sent: Callable[[Order, datetime], None] = lambda *_: None
    ended: Callable[[Pending, End], None] = lambda *_: None


_NO_NOTES = Notes()


class Sender(Protocol):
    """Where commands go out."""

    def publish(
        self, topic: str, payload: bytes, qos: int, retain: bool, within_s: float = inf
    ) -> None:
        """Send a message; does not wait. What comes later than `within_s` is not to come."""


class Asking(Protocol):
    """Where commands of a format go that are answered, and to no broker."""

    def send(
        self, topic: str, payload: bytes, within_s: float, refused: Callable[[str], None]
    ) -> None:
        """Have a command done; does not wait. `refused` is told why it surely was not.

        It is called in the event loop. What comes later than `within_s` is not to come.
        """


class Updating(Protocol):
    """Where UPDATEs go, a few at a time; raises a GatewayError."""

    async def update_own(self, updates: Sequence[BoundUpdate], /) -> Outcome:
        """Run one."""
        ...

    async def settled(self) -> None:
        """Return when everybody has been told of the UPDATEs so far."""
        ...


class Consumer:
    """`run` is a task of the event loop, in which `take` and `observe` are called.

    `senders` are for actuators of these formats, whose commands go to no broker.
    """

    def __init__(
        self,
        scheduler: Updating,
        publisher: Sender,
        templates: ActuationTemplates,
        actuators: Actuators,
        *,
        orders: Orders,
        history: History,
        notes: Notes = _NO_NOTES,
        clocks: Clocks = SYSTEM_CLOCKS,
    ) -> None:
        self.statistics = ActuationStatistics()
        self.left_over: Sequence[BoundUpdate] = ()
        self.orders = orders
        self._scheduler = scheduler
        self._publisher = publisher
        self.senders: Mapping[str, Asking] = MappingProxyType({})
        self.templates = templates
        self._actuators = actuators
        self._history = history
        self._notes = notes
        self._clocks = clocks
        self._requests: list[ActuationRequest] = []
        self._confirmations: deque[Confirmation] = deque()
        self._refusals: deque[tuple[str, str]] = deque()
        self._woken = asyncio.Event()
        self._waiting: dict[str, asyncio.Event] = {}

    def take(self, requests: Iterable[ActuationRequest]) -> None:
        """Actuations are requested."""
        self._requests += requests
        self._woken.set()

    def observe(self, confirmation: Confirmation) -> None:
        """A reading came that may confirm something."""
        if confirmation.stream[1:] in self.orders.subjects:
            self._confirmations.append(confirmation)
            self._woken.set()

    def refuse(self, actuation: str, reason: str) -> None:
        """An actuation that the device did not take ends at once."""
        self._refusals.append((actuation, reason))
        self._woken.set()

    def ending(self, actuation: str) -> asyncio.Event:
        """Set when the actuation ends; to be asked for before it is requested."""
        return self._waiting.setdefault(actuation, asyncio.Event())

    def forget(self, actuation: str) -> None:
        """Nobody waits for its end any more."""
        self._waiting.pop(actuation, None)

    async def run(self) -> None:
        """Serve until cancelled; first of all write what `left_over` says of an earlier life."""
        await self._write(self.left_over)
        while True:
            await self._wait()
            self._woken.clear()
            await self.work()

    async def work(self) -> None:
        """Do all that there is to do now."""
        while self._confirmations:
            await self._confirm(self._confirmations.popleft())
        while self._refusals:
            await self._fail_refused(*self._refusals.popleft())
        await self._fail_late()
        requests, self._requests = self._requests, []
        if requests:
            await self._serve(requests)

    async def _wait(self) -> None:
        wait_s = self.orders.wait_s(self._clocks.steady())
        try:
            async with asyncio.timeout(None if wait_s is None else min(wait_s, _LOOK_S)):
                await self._woken.wait()
        except TimeoutError:
            pass

    async def _serve(self, requests: Sequence[ActuationRequest]) -> None:
        if any(request.actuator not in self._actuators.by_iri for request in requests):
            await self._scheduler.settled()  # the UPDATE that asks may declare the actuator too
        refusals, orders = self.orders.decide(requests, self._actuators.by_iri.get, self._now())
        await self._refuse(refusals)
        for order in orders:
            await self._send(order)

    async def _refuse(self, refusals: Sequence[Refusal]) -> None:
        for refusal in refusals:
            request = refusal.request
            await self._end(
                request.actuator,
                request.iri,
                self._failed(request.iri, refusal.reason, self._now()),
            )

    async def _send(self, order: Order) -> None:
        """Mark it, supersede those before it, and publish, in this order."""
        now = self._now()
        older = [self.templates.supersede(iri, now) for iri in order.older]
        try:
            outcome = await self._scheduler.update_own([*older, self.templates.send(order, now)])
        except StorageError as error:
            log.error("actuation_not_sent", extra={"reason": str(error)})
            await asyncio.sleep(_PAUSE_S)
            self._requests.insert(0, order.request)  # decided again: meanwhile it may be too late
            self._woken.set()
            return
        for pending in self.orders.given_up(order.actuator.iri):
            self._notes.ended(pending, End("Superseded", now))
        if sent_mark(order.request.iri) in outcome.delta.added:
            self._publish(order, now)
        else:  # taken back meanwhile, or sent before
            reason = "it was sent before: ask for a new actuation"
            iri = order.request.iri
            await self._end(order.actuator.iri, iri, self._failed(iri, reason, now))
        for iri in order.older:
            self.statistics.superseded += 1
            await self._end(order.actuator.iri, iri)

    def _publish(self, order: Order, now: datetime) -> None:
        self.orders.sent(order, now, self._clocks.steady())
        self.statistics.sent += 1
        self._notes.sent(order, now)
        message = order.message
        within_s = self.orders.time_limit_s(order.actuator)
        if (asked := self.senders.get(order.actuator.family)) is not None:
            refused = partial(self.refuse, order.request.iri)
            asked.send(message.topic, message.payload, within_s, refused)
        else:
            self._publisher.publish(
                message.topic, message.payload, message.qos, message.retain, within_s
            )
        extra = {"actuation": order.request.iri, "topic": message.topic}
        log.info("actuation_sent", extra=extra)

    async def _confirm(self, confirmation: Confirmation) -> None:
        for pending in self.orders.observed(confirmation):
            self.statistics.confirmed += 1
            end = End("Confirmed", confirmation.received_at, confirmation.observation)
            await self._end_pending(pending, end, self.templates.confirm(pending, confirmation))

    async def _fail_refused(self, actuation: str, reason: str) -> None:
        for pending in self.orders.refused(actuation):
            await self._fail_pending(pending, reason)

    async def _fail_late(self) -> None:
        for pending in self.orders.due(self._clocks.steady()):
            limit_s = self.orders.time_limit_s(pending.actuator)
            reason = f"no reading confirmed it in {limit_s:g} s"
            await self._fail_pending(pending, reason)

    async def _fail_pending(self, pending: Pending, reason: str) -> None:
        end = End("Failed", self._now(), reason=reason)
        await self._end_pending(pending, end, self._failed(pending.iri, reason, end.at))

    def _failed(self, iri: str, reason: str, now: datetime) -> BoundUpdate:
        self.statistics.failed += 1
        log.warning("actuation_failed", extra={"actuation": iri, "reason": reason})
        return self.templates.fail(iri, reason, now)

    async def _end_pending(self, pending: Pending, end: End, update: BoundUpdate) -> None:
        """The store has it first: what is in the journal ended."""
        await self._end(pending.actuator.iri, pending.iri, update)
        self._notes.ended(pending, end)

    async def _end(self, actuator: str, actuation: str, *updates: BoundUpdate) -> None:
        """Write how it ended, let the oldest go, and tell who waits for it."""
        is_known = actuator in self._actuators.by_iri
        gone = self._history.add(actuator, actuation, is_known=is_known)
        await self._write([*updates, *map(self.templates.forget, gone)])
        if (waiting := self._waiting.get(actuation)) is not None:
            waiting.set()

    async def _write(self, updates: Sequence[BoundUpdate]) -> None:
        """As often as it takes: until it is written nothing else can be either."""
        while updates:
            try:
                await self._scheduler.update_own(updates)
                return
            except StorageError as error:
                log.error("actuation_not_written", extra={"reason": str(error)})
                await asyncio.sleep(_PAUSE_S)
            except GatewayError as error:
                log.error("actuation_not_written", extra={"reason": str(error)})
                return

    def _now(self) -> datetime:
        return self._clocks.now()
