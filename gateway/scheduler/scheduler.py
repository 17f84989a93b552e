"""The scheduler: one thread, the only writer; takes UPDATEs from URQ and SUBSCRIBEs from SRQ.

    request -> URQ or SRQ -> engine -> its listener -> the sink of each subscription

The engine is called here and nowhere else, so every UPDATE has its place in one order and each
subscriber's notifications have sequence 0, 1, 2 ... on the way to its sink. Both queues have
bounds: a gate is refused with TooManyRequestsError, ingest waits. Source: Roffia et al., "A
Semantic Publish-Subscribe Architecture for the Internet of Things", 2016, section III.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from gateway.engine import (
    DelayedUpdate,
    Engine,
    Explanation,
    Notification,
    Outcome,
    QueryRequest,
    SubscribeRequest,
    UpdateRequest,
)
from gateway.engine.request import MessageEvent, Update
from gateway.engine.serving.warming import Warming
from gateway.errors import GatewayError, StorageError, TooManyRequestsError
from gateway.rdf.delta import Delta
from gateway.runtime.pulse import Pulse
from gateway.scheduler.bits import Bits, give_up
from gateway.scheduler.limits import SRQ, TICK_MS, URQ
from gateway.scheduler.timers import Timers
from gateway.store.update import BoundUpdate, change
from gateway.windows import Element

log = logging.getLogger(__name__)

_FLUSH_S = 5.0
"""How long readings wait, net, for the disk of the store; meanwhile the journal has them. A flush
holds the scheduler up for some 10 µs a quad, so it must not be among the 1 % of slowest updates."""

_TURN = 64
"""Requests taken with one lock."""

Sink = Callable[[Notification], None]
"""Called in the scheduler's thread, or by an engine with workers in one that receives from them;
must not block and must not raise."""

Ended = Callable[[GatewayError], None]
"""Told, in any thread, why a subscription can no longer be served; it should be ended then."""

Done = Callable[[Outcome | GatewayError, Outcome | GatewayError], None]
"""Told in the scheduler's thread how an UPDATE ended, and how the last that was tried for it did:
the same, unless it was refused and had fallbacks."""

Opening = Callable[[SubscribeRequest, Sink, Ended | None], Awaitable[str]]
"""How subscriptions begin; the spuid."""

T = TypeVar("T")


Arrived = Mapping[str, Sequence[Element]]
"""Elements by the IRI of the stream that they enter."""

Elements = Callable[[], Arrived]
"""Asked in the scheduler's thread for what enters streams in the step of an UPDATE."""

Event = Callable[[], MessageEvent | None]
"""Asked there for the compound event of a message, where somebody wants events."""


class Submission(NamedTuple):
    """An UPDATE of several bound ones for `Scheduler.submit`.

    Where it is refused, `fallbacks` are tried in order, in its place, until one is not; the
    `elements` enter, and the `event` is told, with the one that is not.
    """

    updates: Sequence[BoundUpdate]
    done: Done
    fallbacks: Iterable[Sequence[BoundUpdate]] = ()
    elements: Elements = dict
    event: Event = lambda: None  # a default of a tuple


def is_refused(result: Outcome | GatewayError) -> bool:
    """Whether an UPDATE failed for good: what the disk does not take will be tried again."""
    return isinstance(result, GatewayError) and not isinstance(result, StorageError)


@dataclass(frozen=True, slots=True)
class _Request:
    """Something to do in the scheduler's thread.

    Through `impatient` it is answered where it need not wait for a disk that takes nothing.
    """

    run: Callable[[], None]
    is_update: bool
    impatient: Future[Any] | None = None


class Scheduler:
    """Runs an engine in a thread of its own; a context manager.

    `urq` and `srq` bound the waiting UPDATE and SUBSCRIBE requests. What time alone changes in
    windows is looked at once in `tick_ms`.
    """

    def __init__(
        self, engine: Engine, *, urq: int = URQ, srq: int = SRQ, tick_ms: int = TICK_MS
    ) -> None:
        self.engine = engine
        self._limits = {True: urq, False: srq}
        self._waiting = {True: 0, False: 0}
        self._requests: deque[_Request] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._patient = True
        self._missing: StorageError | None = None
        self._refused: StorageError | None = None
        self._taken: Sequence[_Request] = ()
        self._sinks: dict[str, Sink] = {}
        self._on_end: dict[str, Ended] = {}
        self.opening: Opening | None = None
        self._flush_at: float | None = None
        engine.delivery.listener = self._tell
        engine.delivery.on_end = self._ended
        self._timers = Timers(engine, tick_ms / 1000)
        self._due_has_place = False
        self._thread = threading.Thread(target=self._work, name="scheduler", daemon=True)
        self.pulse = Pulse(self._thread.name)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish what is queued, then close the engine."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self.engine.close()

    @property
    def waiting_updates(self) -> int:
        """The length of the URQ."""
        return self._waiting[True]

    @property
    def is_full(self) -> bool:
        """Whether the URQ takes no more."""
        return self._waiting[True] >= self._limits[True]

    def submit(self, submissions: Sequence[Submission]) -> None:
        """Queue UPDATEs; waits while the URQ is full (ingest).

        They are in the journal, so the store's disk may have them a little later. Once the
        scheduler is closing, they are done with a StorageError.
        """
        with self._changed:
            for each in submissions:
                while self._waiting[True] >= self._limits[True] and not self._closing:
                    self._changed.wait()
                if self._closing:
                    error = _stopping()
                    each.done(error, error)
                else:
                    self._enqueue(_Request(partial(self._run_submitted, each), True))

    async def update(self, update: Update | UpdateRequest) -> Outcome:
        """Run an UPDATE in its place in the URQ. Raises a GatewayError when it fails."""
        return await self._call(lambda: self.engine.update(update), is_update=True)

    async def decide(self, decision: Callable[[Engine], Delta]) -> Outcome | None:
        """Make the change that `decision` finds right; None where that is an empty one.

        It is called in the scheduler's thread, where nobody else changes the store between what
        it reads and what is written. What it raises is raised here.
        """
        return await self._call(lambda: self._decided(decision), is_update=True)

    async def look(self, work: Callable[[Engine], T]) -> T:
        """What `work` sees of the engine, in the thread where nobody changes it meanwhile."""
        return await self._call(lambda: work(self.engine), is_update=False)

    def post(self, call: Callable[[], None]) -> None:
        """Have `call`, which does not raise, made in the scheduler's thread; waits for nothing.

        Who posts has a bound of their own. Once the scheduler is closing, nothing is done.
        """
        with self._changed:
            if not self._closing:
                self._enqueue(_Request(call, False))

    def start_timers(self) -> None:
        """Run delayed UPDATEs when they are due; those that are due already, first of all.

        To be called once those whom they concern have subscribed.
        """
        with self._changed:
            self._timers.start()
            self._changed.notify_all()

    async def delayed(self) -> tuple[DelayedUpdate, ...]:
        """The UPDATEs that wait for their time, in order."""
        return await self._call(self.engine.delayed, is_update=False)

    async def cancel(self, id_: str) -> None:
        """Take a delayed UPDATE back. Raises NotFoundError."""
        await self._call(lambda: self.engine.cancel(id_), is_update=True)

    async def subscribe(
        self, query: str | SubscribeRequest, *, sink: Sink, ended: Ended | None = None
    ) -> str:
        """Subscribe; the sink gets sequence 0 first. Returns the spuid.

        Windows begin with what came before, where `opening` knows that.
        """
        request = SubscribeRequest(query) if isinstance(query, str) else query
        if self.opening is not None:
            return await self.opening(request, sink, ended)
        return await self.subscribe_at_once(request, sink=sink, ended=ended)

    async def subscribe_at_once(
        self, query: SubscribeRequest, *, sink: Sink, ended: Ended | None = None
    ) -> str:
        """The same, of windows that begin now."""
        begin = partial(self._subscribe, query, sink, ended)
        return await self._call(begin, is_update=False, undo=self._unsubscribe)

    async def warm(
        self, begin: Callable[[], Warming], *, sink: Sink, ended: Ended | None = None
    ) -> str:
        """The same, of windows that are filled bit by bit, each bit with a place of its own."""
        warming = await self._call(begin, is_update=False, undo=give_up)
        try:
            bits = Bits(warming)
            while not warming.is_done:
                await self._call(bits.fill, is_update=False, is_own=True)
            told = partial(self._finish, warming, sink, ended)
            return await self._call(told, is_update=False, is_own=True, undo=self._unsubscribe)
        except BaseException:
            self._enqueue_undoing(warming.close)
            raise

    async def explain(self, query: QueryRequest) -> Explanation:
        """How a query is served, or would be. Raises as `Engine.explain` does."""
        return await self._call(lambda: self.engine.explain(query), is_update=False)

    async def unsubscribe(self, spuid: str) -> None:
        """End a subscription. Raises NotFoundError."""
        await self._call(lambda: self._unsubscribe(spuid), is_update=False)

    async def release(self, spuid: str) -> None:
        """End a subscription of the gateway's own, though the SRQ is full. As `unsubscribe`."""
        await self._call(lambda: self._unsubscribe(spuid), is_update=False, is_own=True)

    async def settled(self) -> None:
        """Return when the sinks have been told of the UPDATEs so far."""
        await self._call(lambda: None, is_update=True, is_own=True)

    async def update_own(self, updates: Sequence[BoundUpdate]) -> Outcome:
        """An UPDATE of the gateway's own, which has its place also where ingest fills the URQ.

        Who calls it has a bound of their own. Raises a GatewayError when it fails.
        """
        return await self._call(lambda: self.engine.update(updates), is_update=True, is_own=True)

    async def _call(
        self,
        work: Callable[[], T],
        *,
        is_update: bool,
        is_own: bool = False,
        undo: Callable[[T], None] | None = None,
    ) -> T:
        """Have it done in its place; `undo` where it is done and nobody waits for it any more."""
        future: Future[T] = Future()
        impatient = future if is_update and not is_own else None
        with self._changed:
            if impatient is not None and self._refused is not None:
                raise _copy(self._refused)
            if self._waiting[is_update] >= self._limits[is_update] and not is_own:
                kind = "UPDATE" if is_update else "SUBSCRIBE"
                raise TooManyRequestsError(f"the queue of {kind} requests is full")
            self._enqueue(_Request(partial(_fulfil, future, work), is_update, impatient))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if undo is not None:
                future.add_done_callback(partial(self._undo, undo))
            raise

    def _undo(self, undo: Callable[[T], None], done: Future[T]) -> None:
        """Take back what was done for who had gone by then; in any thread."""
        if not done.cancelled() and done.exception() is None:
            self._enqueue_undoing(partial(undo, done.result()))

    def _enqueue_undoing(self, work: Callable[[], None]) -> None:
        """Behind what waits; at the end of the scheduler the engine closes, and all is undone."""
        with self._changed:
            if not self._closing:
                undone: Future[None] = Future()
                self._enqueue(_Request(partial(_fulfil, undone, work), False))

    def _enqueue(self, request: _Request) -> None:
        if self._closing:
            raise _stopping()
        self._waiting[request.is_update] += 1
        self._requests.append(request)
        self._changed.notify_all()

    def _work(self) -> None:
        while True:
            self._taken = requests = self._take()
            if not requests and self._closing and not self._requests:
                return
            for request in requests:
                self.pulse.beat()
                request.run()
                self._flush_when_due()
            self._taken = ()
            self.pulse.beat()
            self._flush_when_due()
            self.pulse.rest()

    def _take(self) -> list[_Request]:
        """The next requests; none when there is something to flush first, or at the end."""
        with self._changed:
            self._enqueue_due()
            while not self._requests:
                left_s = None if self._flush_at is None else self._flush_at - monotonic()
                if self._closing or (left_s is not None and left_s <= 0):
                    return []
                waits_s = [each for each in (left_s, self._timers.left_s) if each is not None]
                self._changed.wait(min(waits_s, default=None))
                self._enqueue_due()
            taken = [self._requests.popleft() for _ in range(min(_TURN, len(self._requests)))]
            for request in taken:
                self._waiting[request.is_update] -= 1
            self._changed.notify_all()
        return taken

    def _enqueue_due(self) -> None:
        """Give what has fallen due a place behind the requests that came before."""
        if not self._closing and not self._due_has_place and self._timers.left_s == 0:
            self._due_has_place = True
            self._enqueue(_Request(self._run_due, True))

    def _run_due(self) -> None:
        self._due_has_place = False
        self._timers.run()

    def _flush_when_due(self) -> None:
        """Readings are on the disk of the store this long after they came; in the journal before.

        A disk that does not take them is tried again; they stay readable and in the journal.
        """
        if not self.engine.is_pending:
            self._flush_at = None
        elif self._flush_at is None:
            self._flush_at = monotonic() + _FLUSH_S
        elif monotonic() >= self._flush_at:
            self._flush_at = None
            try:
                self.engine.flush()
            except StorageError as error:
                self._flush_at = monotonic() + _FLUSH_S
                log.error("store_not_written", extra={"reason": str(error)})

    def _decided(self, decision: Callable[[Engine], Delta]) -> Outcome | None:
        delta = decision(self.engine)
        return None if delta.is_empty else self.engine.update([change(delta)])

    def give_up(self) -> None:
        """Wait no longer for a disk that does not take what `submit` brought."""
        with self._changed:
            self._patient = False
            self._changed.notify_all()

    def _run_submitted(self, submission: Submission) -> None:
        """Run it or what may take its place, and tell how that ended."""
        elements = submission.elements()
        message = submission.event() if self.engine.events.is_wanted else None
        first = last = self._tried(submission.updates, elements, message)
        if is_refused(first):
            for instead in submission.fallbacks:
                last = self._tried(instead, elements, message)
                if not is_refused(last):
                    break
        submission.done(first, last)

    def _tried(
        self, updates: Sequence[BoundUpdate], elements: Arrived, message: MessageEvent | None
    ) -> Outcome | GatewayError:
        request = UpdateRequest(updates, is_deferred=True, elements=elements, message=message)
        try:
            return self._update_at_last(request)
        except GatewayError as error:
            return error
        except Exception as error:  # a defect of ours costs this UPDATE, never the one writer
            log.exception("update_crashed")
            return GatewayError(f"internal error: {error!r}", "report this defect")

    def _update_at_last(self, request: UpdateRequest) -> Outcome:
        """What ingest submits is journalled and has its place: wait until the disk takes it.

        Once one was given up, none behind it is tried: the next start replays all of them.
        """
        pause_s = 0.1
        while self._missing is None:
            try:
                outcome = self.engine.update(request)
            except StorageError as error:
                log.error("store_not_written", extra={"reason": str(error)})
                self.pulse.rest()
                with self._changed:
                    self._refuse_others(error)
                    if self._changed.wait_for(lambda: not self._patient, pause_s):
                        self._missing = error
                pause_s = min(10.0, pause_s * 2)
                self.pulse.beat()
            else:
                self._refused = None
                return outcome
        raise self._missing

    def _refuse_others(self, error: StorageError) -> None:
        """Tell gates, whose UPDATEs would have to wait as well, what the disk says."""
        self._refused = error
        for request in (*self._taken, *self._requests):
            future = request.impatient
            if future is not None and not future.done() and future.set_running_or_notify_cancel():
                future.set_exception(_copy(error))

    def _subscribe(self, query: str | SubscribeRequest, sink: Sink, ended: Ended | None) -> str:
        return self._begin(self.engine.subscribe(query), sink, ended)

    def _finish(self, warming: Warming, sink: Sink, ended: Ended | None) -> str:
        return self._begin(self.engine.finish(warming), sink, ended)

    def _begin(self, first: Notification, sink: Sink, ended: Ended | None) -> str:
        self._sinks[first.spuid] = sink
        if ended is not None:
            self._on_end[first.spuid] = ended
        sink(first)
        return first.spuid

    def _unsubscribe(self, spuid: str) -> None:
        self._sinks.pop(spuid, None)
        self._on_end.pop(spuid, None)
        self.engine.unsubscribe(spuid)

    def _ended(self, spuid: str, error: GatewayError) -> None:
        ended = self._on_end.get(spuid)
        if ended is not None:
            ended(error)

    def _tell(self, notification: Notification) -> None:
        sink = self._sinks.get(notification.spuid)
        if sink is not None:  # it may have unsubscribed while a worker was at it
            sink(notification)


def _stopping() -> StorageError:
    return StorageError("the gateway is stopping", "try again when it is up")


def _copy(error: StorageError) -> StorageError:
    """The same for another who is told: whoever raises one lengthens its traceback."""
    return StorageError(error.description, error.hint)


def _fulfil(future: Future[T], work: Callable[[], T]) -> None:
    """Run the work and settle the future, whatever happens: the thread must go on."""
    if future.done() or not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except Exception as error:  # handed to the caller, who awaits it
        future.set_exception(error)
    else:
        future.set_result(result)
