"""`EventOpening`: subscriptions to events that begin behind a position, with all that was since.

    SUBSCRIBE with `after` -> sequence 0, with the position now -> journal and log, read beside
                           -> the events since, each once -> those that come

Place: before the scheduler's SUBSCRIBEs. A client that knows the position of the last event that it
got loses none and gets none twice, whatever was restarted meanwhile (docs/events.md).
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Lock

from gateway.engine import Limits, SubscribeRequest
from gateway.engine.spu import EVENT
from gateway.errors import BadRequestError, StorageError, TooManyRequestsError
from gateway.ingest.compound.event_history import EventHistory
from gateway.ingest.compound.replay import Replay
from gateway.ingest.compound.replayed_sink import ReplayedSink
from gateway.journal.event_position import EventPosition
from gateway.runtime.measures import Measure
from gateway.scheduler.scheduler import Ended, Scheduler, Sink

_TOGETHER = 2
_MOST_OF_ONE = 4
"""Replays of one client that run or wait; the threads are for all."""


class EventOpening:
    """Subscribes; for the event loop. `replays` were begun, `replayed` events were looked at.

    How subscriptions began before begins all others. `history` makes one for each replay.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        history: Callable[[], EventHistory],
        limits: Limits,
    ) -> None:
        self.replays = self.replayed = 0
        self._scheduler = scheduler
        self._history = history
        self._before = scheduler.opening
        self._limits = limits
        self._reading = ThreadPoolExecutor(_TOGETHER, "events")
        self._lock = Lock()
        self._of_owner: Counter[str] = Counter()
        self._closing = Event()

    def close(self) -> None:
        """Replay no more."""
        self._closing.set()
        self._reading.shutdown(wait=True, cancel_futures=True)

    def measures(self) -> tuple[Measure, ...]:
        """How much was told again."""
        what = "events looked at for subscriptions that begin behind a position"
        return (
            Measure("event_replays", "subscriptions that began so", lambda: self.replays),
            Measure("event_replayed", what, lambda: self.replayed),
        )

    async def subscribe(
        self, request: SubscribeRequest, sink: Sink, ended: Ended | None = None
    ) -> str:
        """As Scheduler.subscribe; with `after` all events since then come behind sequence 0.

        Raises TooManyRequestsError for more replays of a client than may be, BadRequestError for
        the position of another gateway.
        """
        if request.mode != EVENT or not request.after:
            if self._before is not None:
                return await self._before(request, sink, ended)
            return await self._scheduler.subscribe_at_once(request, sink=sink, ended=ended)
        after = self._own(request)
        self._begin(request.owner)
        try:
            return await self._replayed(request, after, sink, ended)
        except BaseException:
            self._end(request.owner, 0)
            raise

    async def _replayed(
        self, request: SubscribeRequest, after: EventPosition, sink: Sink, ended: Ended | None
    ) -> str:
        history = self._history()
        missing = await asyncio.to_thread(history.first_missing, after)
        told = ReplayedSink(sink, None if missing is None else (after, missing))
        plain = replace(request, after=())
        spuid = await self._scheduler.subscribe_at_once(plain, sink=told, ended=ended)
        until = _position(told)
        replay = Replay(
            history,
            request,
            told,
            ended or (lambda _: None),
            limits=self._limits,
            closing=self._closing,
        )

        def run() -> None:
            try:
                replay.run(after, until)
            finally:
                self._end(request.owner, replay.looked_at)

        self._reading.submit(run)
        return spuid

    def _begin(self, owner: str) -> None:
        if self._closing.is_set():
            raise StorageError("the gateway is stopping", "try again when it is up")
        with self._lock:
            if self._of_owner[owner] >= _MOST_OF_ONE:
                what = f"events are being replayed to {_MOST_OF_ONE} subscriptions of yours"
                raise TooManyRequestsError(what)
            self._of_owner[owner] += 1
            self.replays += 1

    def _end(self, owner: str, looked_at: int) -> None:
        with self._lock:
            self.replayed += looked_at
            self._of_owner[owner] -= 1
            if not self._of_owner[owner]:
                del self._of_owner[owner]

    def _own(self, request: SubscribeRequest) -> EventPosition:
        """The position of this gateway that is asked for."""
        here = self._scheduler.engine.events.places.gateway
        others = [gateway for gateway, _ in request.after if gateway != here]
        if others:
            raise BadRequestError(
                f"`after` has a position of {others[0]:.60}, and this gateway is {here}",
                f"give one of {here} alone",
            )
        return dict(request.after)[here]


def _position(told: ReplayedSink) -> EventPosition:
    """Where the gateway stood when the subscription began."""
    assert told.first is not None  # noqa: S101  # the scheduler tells it before it answers
    assert told.first.federation is not None  # noqa: S101  # as of all events that are kept
    (position,) = told.first.federation.positions.values()
    return EventPosition.parse(position)
