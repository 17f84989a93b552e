"""/flow: what goes through the gateway now, once a second while somebody listens; docs/looking.md.

Server-sent events (HTML Living Standard, section 9.2) of numbers that are counted anyway: without a
listener no timer runs and nothing is measured. One event is made for all; who reads slowly misses
events, of which none is queued. Nothing of it is in the store.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import SECURE
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.security.policy import Capability

log = logging.getLogger(__name__)

PATH = "/flow"
TRANSPORT = "flow"
MEDIA_TYPE = "text/event-stream"

_EACH_S = 1.0
_KEPT = 11
"""Samples: the rate over 10 s is that between the first and the last."""

_HEADERS = [
    (b"content-type", f"{MEDIA_TYPE}; charset=utf-8".encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the way: how much has passed since the start, and how much waits for it."""

    name: str
    passed: Callable[[], int]
    waiting: Callable[[], int]


class Latencies(Protocol):
    """Times from a reading to its notifications, measured while `is_on`."""

    is_on: bool

    def take(self) -> Sequence[float]:
        """The times since the last look, in s; none is left."""
        ...


@dataclass(frozen=True, slots=True)
class FlowSources:
    """What is read each second: stages, counts of what a person has to look after, latencies."""

    stages: Sequence[Stage]
    counts: Mapping[str, Callable[[], int]]
    proposals: Callable[[], Awaitable[int]]
    latencies: Latencies
    now_ms: Callable[[], int]


@dataclass(frozen=True, slots=True)
class _Sample:
    at: float
    passed: tuple[int, ...]


class FlowMeter:
    """Rates from counters: over the last second, and over the last ten.

    >>> passed = iter([0, 30])
    >>> clock = iter([0.0, 1.0])
    >>> meter = FlowMeter([Stage("messages", lambda: next(passed), lambda: 2)], lambda: next(clock))
    >>> [each["rate"] for each in (meter.sample()[0], meter.sample()[0])]
    [0.0, 30.0]
    """

    def __init__(self, stages: Sequence[Stage], clock: Callable[[], float] = monotonic) -> None:
        self._stages = stages
        self._clock = clock
        self._samples: deque[_Sample] = deque(maxlen=_KEPT)

    def forget(self) -> None:
        """Begin anew: nobody has listened meanwhile."""
        self._samples.clear()

    def sample(self) -> list[dict[str, object]]:
        """Each stage now."""
        passed = tuple(stage.passed() for stage in self._stages)
        now = _Sample(self._clock(), passed)
        last = self._samples[-1] if self._samples else now
        self._samples.append(now)
        first = self._samples[0]
        return [
            {
                "name": stage.name,
                "count": passed[place],
                "rate": _rate(last, now, place),
                "rate_10s": _rate(first, now, place),
                "waiting": stage.waiting(),
            }
            for place, stage in enumerate(self._stages)
        ]


def _rate(before: _Sample, now: _Sample, place: int) -> float:
    seconds = now.at - before.at
    return round((now.passed[place] - before.passed[place]) / seconds, 2) if seconds > 0 else 0.0


def quantiles(seconds: Sequence[float]) -> dict[str, float | None]:
    """The median and the 99th percentile in ms, by nearest rank; null of nothing.

    >>> quantiles([0.004, 0.001, 0.002])
    {'p50': 2.0, 'p99': 4.0}
    """
    ordered = sorted(seconds)
    if not ordered:
        return {"p50": None, "p99": None}
    last = len(ordered)
    return {
        name: round(ordered[max(0, -(-share * last // 100) - 1)] * 1000, 2)
        for name, share in (("p50", 50), ("p99", 99))
    }


class FlowGate:
    """The endpoint /flow; an ASGI application."""

    def __init__(self, subscribers: Subscribers, sources: FlowSources) -> None:
        self._subscribers = subscribers
        self._sources = sources
        self._meter = FlowMeter(sources.stages)
        self._listeners: set[_Listener] = set()
        self._telling: asyncio.Task[None] | None = None

    def routes(self) -> list[Route]:
        """The endpoint, for `operations.application`."""
        return [Route(path, self, methods=["GET"]) for path in (PATH, f"{SECURE}{PATH}")]

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    async def close(self) -> None:
        """Have every stream end, before the server does."""
        for listener in list(self._listeners):
            listener.offer(None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raises a GatewayError before the stream starts."""
        request = Request(scope, receive)
        guard = self._subscribers.guard
        caller = Caller.of(request, guard)
        caller.principal.require(Capability.OPERATIONS)
        if request.method == "HEAD":
            await Response(media_type=MEDIA_TYPE)(scope, receive, send)
            return
        address = request.client.host if request.client else ""
        with self._subscribers.connected(TRANSPORT, address):
            listener = _Listener(send, self._subscribers.limits.stall_s)
            stop_watching = guard.watch(caller.principal, lambda _: listener.offer(None))
            self._join(listener)
            try:
                await listener.run(request)
            finally:
                self._leave(listener)
                stop_watching()

    def _join(self, listener: "_Listener") -> None:
        self._listeners.add(listener)
        if self._telling is None:
            self._sources.latencies.is_on = True
            self._telling = asyncio.create_task(self._tell(), name="flow")
            self._telling.add_done_callback(self._ended)

    def _leave(self, listener: "_Listener") -> None:
        self._listeners.discard(listener)
        if not self._listeners and self._telling is not None:
            self._telling.cancel()
            self._telling = None
            latencies = self._sources.latencies
            latencies.is_on = False
            latencies.take()
            self._meter.forget()

    def _ended(self, telling: "asyncio.Task[None]") -> None:
        """Where it could not go on, have the streams end: who listens comes back."""
        error = None if telling.cancelled() else telling.exception()
        if error is not None:
            log.error("flow_failed", extra={"reason": str(error)})
            for listener in list(self._listeners):
                listener.offer(None)

    async def _tell(self) -> None:
        while True:
            told = {**self._event(), "proposals": await self._sources.proposals()}
            event = f"data: {json.dumps(told)}\n\n".encode()
            for listener in self._listeners:
                listener.offer(event)
            await asyncio.sleep(_EACH_S)

    def _event(self) -> dict[str, object]:
        sources = self._sources
        return {
            "t": sources.now_ms(),
            "stages": self._meter.sample(),
            "latency_ms": quantiles(sources.latencies.take()),
            **{name: count() for name, count in sources.counts.items()},
        }


class _Listener:
    """One stream: the event that comes next, which a newer one takes the place of."""

    def __init__(self, send: Send, stall_s: float) -> None:
        self._send = send
        self._stall_s = stall_s
        self._next: bytes | None = None
        self._is_ended = False
        self._something = asyncio.Event()

    def offer(self, event: bytes | None) -> None:
        """Have this sent next; None ends the stream."""
        self._next = event
        self._is_ended = self._is_ended or event is None
        self._something.set()

    async def run(self, request: Request) -> None:
        """Send until one of both ends."""
        await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        async with asyncio.TaskGroup() as tasks:
            leaving = tasks.create_task(_until_left(request), name="flow reader")
            writing = tasks.create_task(self._write(), name="flow writer")
            leaving.add_done_callback(lambda _: writing.cancel())
            writing.add_done_callback(lambda _: leaving.cancel())

    async def _write(self) -> None:
        with suppress(TimeoutError):
            while not self._is_ended:
                await self._something.wait()
                self._something.clear()
                event, self._next = self._next, None
                if event is not None and not self._is_ended:
                    await self._put(
                        {"type": "http.response.body", "body": event, "more_body": True}
                    )
            await self._put({"type": "http.response.body", "body": b"", "more_body": False})

    async def _put(self, message: Message) -> None:
        """Raises TimeoutError once the client takes nothing any more."""
        async with asyncio.timeout(self._stall_s):
            await self._send(message)


async def _until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
