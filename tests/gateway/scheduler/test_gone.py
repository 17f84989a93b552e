"""Whoever asks to subscribe and is gone before the answer leaves nothing behind."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine import Engine, SubscribeRequest
from gateway.engine.serving.warming import Warming
from gateway.scheduler.scheduler import Scheduler
from gateway.windows import Element, Filling, Window
from tests.kit.gateways import WAIT_S

BEGIN = 1_700_000_000_000_000
NODE = NamedNode("urn:n")
WINDOW = Window("urn:s", range="PT1H")
REQUEST = SubscribeRequest("SELECT ?o { GRAPH <urn:w> { ?s ?p ?o } }", windows=(("urn:w", WINDOW),))
PAST = [Element((Triple(NODE, NODE, Literal(n)),), BEGIN - 10 + n) for n in range(5)]


class Held:
    """Work of the scheduler's thread, held where it is until it may go on."""

    def __init__(self) -> None:
        self._is_reached, self._may_go_on = threading.Event(), threading.Event()

    def wait(self) -> None:
        """In the scheduler's thread."""
        self._is_reached.set()
        assert self._may_go_on.wait(WAIT_S)

    async def cancelled(self, asked: Awaitable[str]) -> None:
        """Ask, go when the work is held, and let it go on."""
        task = asyncio.ensure_future(asked)
        assert await asyncio.to_thread(self._is_reached.wait, WAIT_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        self._may_go_on.set()


async def nothing_is_left(scheduler: Scheduler) -> None:
    await scheduler.look(lambda _: None)  # behind what was undone
    idle = await scheduler.look(
        lambda engine: (engine.windowed.is_idle, engine.windowed.streams.is_idle)
    )
    assert idle == (True, True)
    assert await scheduler.look(lambda engine: len(engine.standing_by(9))) == 0


async def test_a_subscriber_who_is_gone_while_it_is_subscribed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held, engine = Held(), Engine.open(clock=lambda: BEGIN)
    with Scheduler(engine) as scheduler:
        subscribe = engine.subscribe

        def slow(request: SubscribeRequest) -> object:
            held.wait()
            return subscribe(request)

        monkeypatch.setattr(engine, "subscribe", slow)
        await held.cancelled(scheduler.subscribe_at_once(REQUEST, sink=lambda _: None))
        await nothing_is_left(scheduler)


@pytest.mark.parametrize("moment", ["begin", "fill", "finish"])
async def test_a_subscriber_who_is_gone_while_its_window_is_filled(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, engine = Held(), Engine.open(clock=lambda: BEGIN)

    def held_at(name: str, work: Callable[..., object]) -> Callable[..., object]:
        def done(*arguments: object) -> object:
            if name == moment:
                held.wait()
            return work(*arguments)

        return done

    monkeypatch.setattr(Warming, "fill", held_at("fill", Warming.fill))
    monkeypatch.setattr(engine, "finish", held_at("finish", engine.finish))

    def begin() -> Warming:
        warming = engine.warm(REQUEST, {WINDOW: Filling(WINDOW, PAST, 0)})
        if moment == "begin":
            held.wait()
        return warming

    with Scheduler(engine) as scheduler:
        await held.cancelled(scheduler.warm(begin, sink=lambda _: None))
        await nothing_is_left(scheduler)
