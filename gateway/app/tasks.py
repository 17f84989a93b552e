"""`Tasks`: what runs as long as the gateway does; what fails of it ends the gateway."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

Run = Callable[[], Coroutine[object, object, None]]


class Tasks:
    """Tasks of the running event loop, each with a name."""

    def __init__(self) -> None:
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def task(self, run: Run, name: str) -> AsyncIterator[None]:
        """Run a task as long as the context lasts."""
        task = asyncio.create_task(run(), name=name)
        task.add_done_callback(self._ended)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def failed(self) -> None:
        """Wait until something has failed; raises why. Cancel it to stop waiting."""
        await asyncio.shield(self._failure)

    def fail(self, error: BaseException) -> None:
        """Tell who waits; the first failure is the one that counts."""
        if not self._failure.done():
            self._failure.set_exception(error)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.fail(error)
