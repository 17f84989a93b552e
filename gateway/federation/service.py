"""`FederationService`: a member in a gateway that runs: its thread is the scheduler's.

    carrier's threads -> posted, bounded -> scheduler -> Member -> sinks of federated subscriptions
    scheduler's steps -> Member -> carrier

Place: between the scheduler and whoever subscribes; for the event loop. A SUBSCRIBE waits until all
members that are up have told what the query needs, at most `wait_s`; the others are missing, and in
the answer as soon as they have.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import NamedTuple

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.lutt import LuttEntry, matches
from gateway.engine.spu import EVENT
from gateway.errors import BadRequestError, GatewayError
from gateway.federation.asking.asking import Asked
from gateway.federation.asking.mirror import Share
from gateway.federation.carrier import Carrier, Received
from gateway.federation.events.event_home import EventSubscription
from gateway.federation.guard import Guard
from gateway.federation.limits import ServiceLimits
from gateway.federation.member import Member, MemberSettings
from gateway.federation.needs import Scope
from gateway.federation.watching.status import MemberStatus
from gateway.rdf.delta import Delta
from gateway.scheduler.scheduler import Ended, Scheduler, Sink

log = logging.getLogger(__name__)

_TURN = 64
"""Messages that are taken in one turn of the scheduler."""


class _Presence(NamedTuple):
    """A member came or went."""

    member: str
    is_up: bool


@dataclass(frozen=True, slots=True)
class Gathered:
    """What members have, by their names, and who of those that were asked is missing."""

    shares: Mapping[str, Share]
    missing: tuple[str, ...]


class FederationService:
    """Subscribes over members; `lost_bytes` were not taken, since too much waited.

    `joined` is called, in any thread, when there is a member that was none.
    """

    def __init__(
        self,
        name: str,
        others: Iterable[str],
        scheduler: Scheduler,
        carrier: Carrier,
        *,
        settings: MemberSettings | None = None,
        limits: ServiceLimits | None = None,
    ) -> None:
        self.lost_bytes = 0
        self.joined: Callable[[], None] = lambda: None
        self._name = name
        self._names = frozenset((name, *others))
        self._scheduler = scheduler
        self._carrier = carrier
        self._limits = limits or ServiceLimits()
        self._member = Member(name, scheduler.engine, carrier, settings)
        self._member.attendance.expect(self._names - {name})
        self._lock = Lock()
        self._inbox: list[Received | _Presence] = []
        self._waiting = 0
        self._is_flushed_soon = False
        self._status: tuple[MemberStatus, ...] = self._member.status()
        self._told = asyncio.Event()
        self._awaited = 0
        self._loop: asyncio.AbstractEventLoop
        self._ticking: asyncio.Task[None]
        self._events: dict[str, EventSubscription] = {}
        self._ended: dict[str, Ended] = {}
        self._member.events.ended = self._end

    @property
    def guard(self) -> Guard:
        """What keeps this gateway from other members."""
        return self._member.guard

    def members_are(self, names: frozenset[str]) -> None:
        """Know who the others are from now on; who is one no longer leaves. For any thread."""
        gone, are_new = self._names - names - {self._name}, not names <= self._names
        self._names = names | {self._name}
        self._scheduler.post(partial(self._member.attendance.expect, names - {self._name}))
        for name in gone:
            self._scheduler.post(partial(self._member.leave, name))
        if are_new:
            self.joined()

    def close_link(self, member: str, reason: str) -> None:
        """Read nothing of a member for a while. For any thread."""
        self._scheduler.post(partial(self._member.close_link, member, reason))

    @property
    def place(self) -> str:
        """`<gateway>=<position>` now, behind all that was answered; for any thread."""
        return f"{self._name}={self._scheduler.engine.events.places.last}"

    @property
    def status(self) -> tuple[MemberStatus, ...]:
        """How each other member is, as it was at the last tick; for any thread."""
        return self._status

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be up; the scheduler runs. Raises ConfigurationError."""
        self._loop = asyncio.get_running_loop()
        await self._scheduler.look(self._watch)
        await asyncio.to_thread(self._carrier.listen, self._received, self._presence)
        ticking = asyncio.create_task(self._tick(), name="federation")
        self._ticking = ticking
        try:
            yield
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Be gone; what was subscribed is told no more."""
        self._ticking.cancel()
        with suppress(asyncio.CancelledError):
            await self._ticking
        await asyncio.to_thread(self._carrier.close)
        await self._scheduler.look(self._unwatch)

    async def heard(self) -> frozenset[str]:
        """The members that are up and tell of what they have."""
        return await self._scheduler.look(lambda _: self._member.heard)

    async def subscribe(
        self,
        request: SubscribeRequest,
        sink: Sink,
        scope: Scope = None,
        ended: Ended | None = None,
    ) -> str:
        """Subscribe over the members of a scope, None is all; the spuid.

        `ended` is told, in any thread, why it can no longer be served. Raises SparqlSyntaxError,
        UnsupportedQueryError.
        """
        if request.mode == EVENT:
            return await self._subscribe_events(request, sink, scope, ended)
        look, member = self._scheduler.look, self._member
        asked = await look(lambda _: member.ask(request, scope))
        try:
            await self._until(lambda: not self._waited_for(member.missing(asked)))
            return await look(lambda _: self._begun(asked, sink))
        except BaseException:
            self._scheduler.post(lambda: member.give_up(asked))
            raise

    async def gather(self, request: SubscribeRequest, scope: Scope) -> Gathered:
        """What the members of a scope have of a query, each at one moment; and who is missing.

        Raises SparqlSyntaxError, UnsupportedQueryError.
        """
        look, member = self._scheduler.look, self._member
        asked = await look(lambda _: member.ask(request, scope))
        try:
            await self._until(lambda: not self._waited_for(member.missing(asked)))
            shares = await look(lambda _: member.asking.shares(asked))
            names = self.names if scope is None else scope
            return Gathered(shares, tuple(sorted(names - shares.keys())))
        finally:
            self._scheduler.post(lambda: member.give_up(asked))

    async def count(
        self, entries: Sequence[LuttEntry], scope: Scope
    ) -> Mapping[str, Sequence[int]]:
        """How many quads of each entry members have that are up, this gateway among them."""
        look, member = self._scheduler.look, self._member
        ask = await look(lambda _: member.count(entries))
        try:
            await self._until(lambda: member.attendance.up <= member.counting.told(ask).keys())
            told = dict(await look(lambda _: member.counting.told(ask)))
        finally:
            await look(lambda _: member.counting.forget(ask))

        def own(engine: Engine) -> Sequence[int]:
            return [sum(1 for _ in matches(engine.store, entry)) for entry in entries]

        told[self._name] = await look(own)
        return {name: told[name] for name in sorted(told) if scope is None or name in scope}

    async def unsubscribe(self, spuid: str) -> None:
        """End a subscription. Raises NotFoundError."""
        self._ended.pop(spuid, None)
        events = self._events.pop(spuid, None)
        if events is None:
            await self._scheduler.look(lambda _: self._member.unsubscribe(spuid))
        else:
            await self._scheduler.look(lambda _: self._member.end_events(events))

    async def _subscribe_events(
        self,
        request: SubscribeRequest,
        sink: Sink,
        scope: Scope,
        ended: Ended | None,
    ) -> str:
        look, member = self._scheduler.look, self._member
        waiting: list[Notification] = []
        told: list[Sink] = [waiting.append]

        def tell(notification: Notification) -> None:
            told[0](notification)

        asked = await look(lambda _: member.ask_events(request, tell, scope))

        def begin(_: Engine) -> str:
            first = member.begin_events(asked)
            told[0] = sink
            if ended is not None:
                self._ended[first.spuid] = ended
            for each in (first, *waiting):
                sink(each)
            return first.spuid

        try:
            await self._until(lambda: not self._waited_for(member.missing_events(asked)))
            spuid = await look(begin)
        except BaseException:
            self._scheduler.post(lambda: member.end_events(asked))
            raise
        self._events[spuid] = asked
        return spuid

    def _begun(self, asked: Asked, sink: Sink) -> str:
        first = self._member.begin(asked, sink)
        missing = self._member.missing(asked)
        if missing and first.federation is not None:
            place = first.federation._replace(missing=tuple(sorted(missing)))
            first = first._replace(federation=place)
        sink(first)
        return first.spuid

    def require_known(self, scope: Scope) -> None:
        """Raise BadRequestError for a scope that names nobody, or whom nobody knows."""
        names = self.names
        unknown = sorted((scope or frozenset()) - names)
        if unknown:
            raise BadRequestError(
                f"no gateway of the federation is called {unknown[0]:.60}",
                f"those are {', '.join(sorted(names))}",
            )

    def _end(self, spuid: str, error: GatewayError) -> None:
        ended = self._ended.get(spuid)
        if ended is not None:
            ended(error)

    @property
    def names(self) -> frozenset[str]:
        """All members, this gateway among them."""
        return self._names

    def _waited_for(self, missing: frozenset[str]) -> frozenset[str]:
        """Who of them is worth waiting for."""
        return missing & self._member.attendance.up

    async def _until(self, is_there: Callable[[], bool]) -> None:
        """Wait until it is, or no longer; it is asked in the scheduler's thread."""
        self._awaited += 1
        try:
            async with asyncio.timeout(self._limits.wait_s):
                while not await self._scheduler.look(lambda _: is_there()):
                    self._told.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._limits.tick_s):
                            await self._told.wait()
        except TimeoutError:
            pass
        finally:
            self._awaited -= 1

    def _watch(self, engine: Engine) -> None:
        engine.events.watcher = self._changed

    def _unwatch(self, engine: Engine) -> None:
        """Have no more of the engine, unless another has taken this one's place."""
        if engine.events.watcher == self._changed:
            engine.events.watcher = engine.events.listener = None

    def _changed(self, delta: Delta) -> None:
        """In the scheduler's thread."""
        self._member.changed(delta)
        self._flush_soon()

    def _flush_soon(self) -> None:
        """Have what waits for more of its kind sent before long."""
        if self._member.waits and not self._is_flushed_soon:
            self._is_flushed_soon = True
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(
                    self._loop.call_later, self._limits.flush_s, self._post, self._flush
                )

    def _flush(self) -> None:
        self._is_flushed_soon = False
        self._member.flush()

    def _received(self, message: Received) -> None:
        """In a thread of the carrier."""
        size = len(message.payload)
        if not self.guard.admit(message.sender, size):
            return
        with self._lock:
            if self._waiting + size > self._limits.bytes:
                self.guard.taken(message.sender, size)
                self.lost_bytes += size
                return  # its number will be missed
            self._waiting += size
        self._put(message)

    def _presence(self, member: str, is_up: bool) -> None:
        """In a thread of the carrier."""
        self._put(_Presence(member, is_up))

    def _put(self, thing: "Received | _Presence") -> None:
        with self._lock:
            self._inbox.append(thing)
            is_first = len(self._inbox) == 1
        if is_first:  # else somebody has posted it already
            self._post(self._take)

    def _take(self) -> None:
        """All that has come, or as much as one turn of the scheduler may take."""
        with self._lock:
            things, self._inbox = self._inbox[:_TURN], self._inbox[_TURN:]
            self._waiting -= sum(len(each.payload) for each in things if isinstance(each, Received))
            is_more = bool(self._inbox)
        for each in things:
            _guarded(partial(self._take_one, each))
        self._member.acknowledge()
        self._flush_soon()
        if is_more:
            self._post(self._take)

    def _take_one(self, thing: "Received | _Presence") -> None:
        if isinstance(thing, Received):
            self.guard.taken(thing.sender, len(thing.payload))
            self._member.receive(thing)
        else:
            self._member.presence(*thing)

    def _ticked(self) -> None:
        self._member.tick()
        self._status = self._member.status()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self._limits.tick_s)
            self._post(self._ticked)

    def _post(self, call: Callable[[], None]) -> None:
        def done() -> None:
            _guarded(call)
            if self._awaited:  # else the loop would wake up for nothing
                with suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(self._told.set)

        self._scheduler.post(done)


def _guarded(call: Callable[[], None]) -> None:
    """A defect of ours costs this message, never the one writer."""
    try:
        call()
    except Exception:
        log.exception("federation_message_failed")
