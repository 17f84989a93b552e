"""`Opening`: subscriptions over observations begin with what was there before them.

    SUBSCRIBE -> the journal, read beside -> windows filled bit by bit -> sequence 0

Place: before the scheduler's SUBSCRIBEs, at a restart and for late subscribers alike. What comes
while the journal is read is noted, so past and present join at one position of the journal.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from time import monotonic
from weakref import WeakValueDictionary

from gateway.engine import Engine, SubscribeRequest
from gateway.engine.serving.warming import Warming
from gateway.errors import StorageError
from gateway.ingest.current_state import CurrentState
from gateway.ingest.windows.elements import ObservationElements
from gateway.ingest.windows.journalled import Journalled
from gateway.journal import Position, Record
from gateway.runtime.measures import Measure
from gateway.scheduler.scheduler import Ended, Scheduler, Sink
from gateway.windows import Element, Filling, Window

_TOGETHER = 2
"""So many fill windows at once, and of one client one: what comes meanwhile is kept for each."""


class Opening:
    """Subscribes; for the event loop. `fills` windows were filled, which took `seconds`."""

    def __init__(
        self,
        scheduler: Scheduler,
        journalled: Journalled,
        elements: ObservationElements,
        state: CurrentState,
    ) -> None:
        self.fills = 0
        self.seconds = 0.0
        self._scheduler = scheduler
        self._journalled = journalled
        self._elements = elements
        self._state = state
        self._reading = ThreadPoolExecutor(1, "windows")
        self._together = asyncio.Semaphore(_TOGETHER)
        self._turns: WeakValueDictionary[Window | str, asyncio.Lock] = WeakValueDictionary()
        self._filling: set[Window] = set()
        self._is_closed = False

    def close(self) -> None:
        """Read no more."""
        self._is_closed = True
        self._reading.shutdown(wait=False, cancel_futures=True)

    def measures(self) -> tuple[Measure, ...]:
        """How many windows were filled, and how long that took."""
        return (
            Measure("window_fills", "windows filled from the journal", lambda: self.fills),
            Measure("window_fill_seconds", "seconds that filling them took", lambda: self.seconds),
        )

    async def subscribe(
        self, request: SubscribeRequest, sink: Sink, ended: Ended | None = None
    ) -> str:
        """As Scheduler.subscribe, with windows that are complete as far as the journal is."""
        windowed = self._scheduler.engine.windowed
        request = windowed.names.completed(request)
        if not self._unfilled(request):
            return await self._scheduler.subscribe_at_once(request, sink=sink, ended=ended)
        windowed.require_readable(request)
        async with AsyncExitStack() as turns:
            keys: list[Window | str] = [request.owner, *self._observed(request)]
            for key in keys:
                turn = self._turns.setdefault(key, asyncio.Lock())
                await turns.enter_async_context(turn)
            await turns.enter_async_context(self._together)
            windows = self._unfilled(request)
            if not windows:  # whoever was before has filled them
                return await self._scheduler.subscribe_at_once(request, sink=sink, ended=ended)
            began = monotonic()
            spuid = await self._filled(request, windows, sink, ended)
            self.fills += len(windows)
            self.seconds += monotonic() - began
            return spuid

    def _unfilled(self, request: SubscribeRequest) -> Sequence[Window]:
        """The windows over observations that nobody has opened, in that order.

        One that is being filled is not open yet: what it has meanwhile is no answer.
        """
        streams = self._scheduler.engine.windowed.streams
        return [
            window
            for window in self._observed(request)
            if window in self._filling or not streams.is_open(window)
        ]

    def _observed(self, request: SubscribeRequest) -> Sequence[Window]:
        """The windows over observations, in an order that all keep to."""
        streams = self._elements.streams
        found = {window for _, window in request.windows if window.stream in streams}
        return sorted(found, key=repr)

    async def _filled(
        self,
        request: SubscribeRequest,
        windows: Sequence[Window],
        sink: Sink,
        ended: Ended | None,
    ) -> str:
        if self._is_closed:
            raise StorageError("the gateway is stopping", "try again when it is up")
        with self._elements.noting() as meanwhile:
            until, now, moved = await self._scheduler.look(self._begin(meanwhile))
            templates, keys = self._state.templates, self._state.streams()
            past = await asyncio.get_running_loop().run_in_executor(
                self._reading, self._journalled.read, windows, until, now, templates, keys
            )

            def begin() -> Warming:
                return self._warmed(request, past, meanwhile, moved)

            self._filling.update(windows)  # nobody else fills one of these
            try:
                return await self._scheduler.warm(begin, sink=sink, ended=ended)
            finally:
                self._filling.difference_update(windows)

    def _begin(
        self, meanwhile: list[Record]
    ) -> Callable[[Engine], tuple[Position | None, int, int]]:
        def begin(engine: Engine) -> tuple[Position | None, int, int]:
            """In the scheduler's thread: what has entered by now is in the journal."""
            meanwhile.clear()
            opened = engine.windowed.opened
            return self._elements.entered, opened.now(), opened.clock.moved

        return begin

    def _warmed(
        self,
        request: SubscribeRequest,
        past: Mapping[Window, Filling],
        meanwhile: list[Record],
        moved: int,
    ) -> Warming:
        """In the scheduler's thread: open them, with what came while the journal was read."""
        engine = self._scheduler.engine
        engine.windowed.opened.now()
        jumped = engine.windowed.clock.moved - moved
        for window, filling in past.items():
            if jumped:
                filling.jump(jumped)
            filling.add(self._came(window, meanwhile))
        meanwhile.clear()
        return engine.warm(request, past)

    def _came(self, window: Window, meanwhile: Sequence[Record]) -> Sequence[Element]:
        found = self._elements.by_stream(
            meanwhile, self._state.templates, lambda stream: stream == window.stream
        )
        return found.get(window.stream, ())
