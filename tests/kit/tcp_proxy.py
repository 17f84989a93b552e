"""`TcpProxy`: a way between two programs that can be bad: stalled, cut, one way, slow.

Place: between members of a federation in tests. A stalled one takes new connections and brings
nothing of them, as a link that is down does; a cut one closes all, and new ones at once.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.kit.gateways import LOOPBACK, WAIT_S, free_port

_CHUNK = 4096


class TcpProxy:
    """From a free `port` to one that programs listen at; misfortunes are set from any thread.

    `up` is from who dials to who listens.
    """

    def __init__(self, to: int) -> None:
        self.port = free_port()
        self._to = to
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy")
        self._up, self._down = asyncio.Event(), asyncio.Event()
        self._rate = 0.0
        self._is_cut = False
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(WAIT_S)
        self.mend()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(WAIT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def mend(self) -> None:
        """All is well; what was stalled comes now."""
        self._set(up=True, down=True)

    def stall(self) -> None:
        """Nothing comes any more, either way, and nobody is told."""
        self._set(up=False, down=False)

    def one_way(self, *, up: bool) -> None:
        """What is said comes one way alone."""
        self._set(up=up, down=not up)

    def throttle(self, bytes_per_s: float) -> None:
        """So many bytes a second, each way of each connection."""
        self._set(up=True, down=True, rate=bytes_per_s)

    def cut(self) -> None:
        """Every connection is closed, and each new one."""
        self._set(up=False, down=False, is_cut=True)

    def _set(self, *, up: bool, down: bool, rate: float = 0.0, is_cut: bool = False) -> None:
        def change() -> None:
            self._rate, self._is_cut = rate, is_cut
            for event, is_set in ((self._up, up), (self._down, down)):
                if is_set:
                    event.set()
                else:
                    event.clear()
            for task in self._tasks if is_cut else ():
                task.cancel()

        self._soon(change)

    def _soon(self, change: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(change)

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._take, LOOPBACK, self.port, limit=_CHUNK)

    async def _end(self) -> None:
        self._server.close()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                if not self._is_cut:
                    await self._between(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _between(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, to = await asyncio.open_connection(LOOPBACK, self._to, limit=_CHUNK)
        ways = [
            asyncio.create_task(self._bring(reader, to, self._up)),
            asyncio.create_task(self._bring(there, writer, self._down)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            to.close()

    async def _bring(
        self, here: asyncio.StreamReader, there: asyncio.StreamWriter, flows: asyncio.Event
    ) -> None:
        while chunk := await here.read(_CHUNK):
            await flows.wait()
            if self._rate:
                await asyncio.sleep(len(chunk) / self._rate)
            there.write(chunk)
            await there.drain()
