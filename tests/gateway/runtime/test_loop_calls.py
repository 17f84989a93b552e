"""Calls into the event loop: all of them, in order, many for one wake-up."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from gateway.runtime.loop_calls import PAUSE_S, LoopCalls


class CountingLoop:
    """The running loop, which counts how often another thread has woken it."""

    def __init__(self) -> None:
        self.woken = 0
        self._loop = asyncio.get_running_loop()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    def call_soon_threadsafe(self, call: Callable[..., object], *args: object) -> None:
        self.woken += 1
        self._loop.call_soon_threadsafe(call, *args)


async def test_calls_of_a_busy_thread_arrive_in_order_with_few_wake_ups() -> None:
    loop, numbers, done = CountingLoop(), list[int](), asyncio.Event()
    loop_calls = LoopCalls(loop)  # type: ignore[arg-type]

    def work() -> None:
        for number in range(2000):
            loop_calls.call(numbers.append, number)
        loop_calls.call(done.set)

    thread = threading.Thread(target=work)
    thread.start()
    async with asyncio.timeout(60):
        await done.wait()
    thread.join()
    assert numbers == [*range(2000)]
    assert loop.woken < 100


async def test_a_call_after_a_rest_wakes_the_loop_at_once() -> None:
    loop = CountingLoop()
    loop_calls = LoopCalls(loop)  # type: ignore[arg-type]
    for count in (1, 2, 3):
        called = asyncio.Event()
        loop_calls.call(called.set)
        async with asyncio.timeout(60):
            await called.wait()
        assert loop.woken == count
        await asyncio.sleep(5 * PAUSE_S)


async def test_a_call_within_the_pause_waits_for_its_end_only() -> None:
    loop = CountingLoop()
    loop_calls = LoopCalls(loop)  # type: ignore[arg-type]
    for _ in range(20):
        called = asyncio.Event()
        loop_calls.call(called.set)
        async with asyncio.timeout(60):
            await called.wait()
    assert loop.woken < 20
