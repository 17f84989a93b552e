"""Agents for programs without asyncio; the same as `asynchronous`, one call after another.

Place: what an application uses. A client has a thread with an event loop, which does only what a
call waits for: every exception is raised by the call that it belongs to, and none can get lost.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from pyoxigraph import Triple

from gateway.client.asynchronous import AsyncClient, AsyncConsumer, Over, Source, Values
from gateway.client.errors import ClosedError
from gateway.client.notification import Notification
from gateway.client.requests import Answer, Due, Outcome
from gateway.client.settings import Settings
from gateway.rdf.solutions import Solution

_T = TypeVar("_T")


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="agent", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _T], timeout_s: float | None = None) -> _T:
        """What it returns or raises; TimeoutError after `timeout_s`, when it is cancelled."""
        future = asyncio.run_coroutine_threadsafe(self._within(work, timeout_s), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C comes here, into the thread that waits
            raise

    async def _within(self, work: Coroutine[Any, Any, _T], timeout_s: float | None) -> _T:
        async with asyncio.timeout(timeout_s):
            return await work

    def close(self) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Client:
    """Every update, query and subscription of a profile; a context manager.

    Methods raise as those of `AsyncClient`; they may be called from several threads.
    """

    def __init__(self, profile: Source, settings: Settings | None = None) -> None:
        self.asynchronous = AsyncClient(profile, settings)
        self._loop: _Loop | None = None

    def __enter__(self) -> Self:
        self._loop = _Loop()
        self.run(self.asynchronous.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        loop = self._loop
        if loop is None:
            return
        try:
            self.run(self.asynchronous.__aexit__(kind, error, trace))
        finally:
            self._loop = None
            loop.close()

    def run(self, work: Coroutine[Any, Any, _T], timeout_s: float | None = None) -> _T:
        """Wait for something asynchronous, in the thread of this client."""
        if self._loop is None:
            work.close()
            raise ClosedError("the client")
        return self._loop.run(work, timeout_s)

    def update(self, update_id: str, values: Values | None = None, due: Due = None) -> Outcome:
        """Send an UPDATE; done when it returns. `due` delays it, in place of the profile's own.

        Raises BindingError for a value that does not fit, AgentError for everything else.
        """
        return self.run(self.asynchronous.update(update_id, values, due))

    def update_all(self, update_id: str, rows: Sequence[Values], due: Due = None) -> Outcome:
        """Send one UPDATE for several rows of values; no row, no request."""
        return self.run(self.asynchronous.update_all(update_id, rows, due))

    def query(self, query_id: str, values: Values | None = None) -> Answer:
        """Solutions of a SELECT, the truth of an ASK, triples of a CONSTRUCT or DESCRIBE."""
        return self.run(self.asynchronous.query(query_id, values))

    def query_text(
        self, query_id: str, values: Values | None = None, accept: str | None = None
    ) -> str:
        """The answer as text, in a format (CSV, …) or media type; by default the profile's."""
        return self.run(self.asynchronous.query_text(query_id, values, accept))

    def subscribe(
        self, query_id: str, values: Values | None = None, **over: Unpack[Over]
    ) -> "Consumer":
        """A consumer of this client; open it with `with`."""
        return Consumer(self, query_id, values, **over)

    def push(
        self,
        stream: str,
        triples: Iterable[Triple],
        time: datetime | None = None,
        *,
        by_line: bool = False,
    ) -> Mapping[str, Any]:
        """Let an element enter a stream of the gateway, or each triple as one; what entered."""
        return self.run(self.asynchronous.push(stream, triples, time, by_line=by_line))


class _Agent:
    """Something that uses a client: its own, which it opens and closes, or one that is given."""

    def __init__(self, client: Client | Source, settings: Settings | None) -> None:
        self._owned = not isinstance(client, Client)
        self.client = client if isinstance(client, Client) else Client(client, settings)

    def __enter__(self) -> Self:
        if self._owned:
            self.client.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._owned:
            self.client.__exit__(kind, error, trace)


class Producer(_Agent):
    """One update of a profile."""

    def __init__(
        self, client: Client | Source, update_id: str, settings: Settings | None = None
    ) -> None:
        super().__init__(client, settings)
        self.update_id = update_id
        self.client.asynchronous.update_template(update_id)

    def update(self, values: Values | None = None, due: Due = None) -> Outcome:
        """Send the UPDATE with these values; done when it returns, `due` delays it."""
        return self.client.update(self.update_id, values, due)

    def update_all(self, rows: Sequence[Values], due: Due = None) -> Outcome:
        """Send one UPDATE for several rows of values; no row, no request."""
        return self.client.update_all(self.update_id, rows, due)


class Consumer(_Agent):
    """One query of a profile, subscribed: an iterator of notifications.

    Subscribed and answered when `with` begins: what is wrong is raised there. A connection that is
    lost is made again, and every notification is still an exact step.
    """

    def __init__(
        self,
        client: Client | Source,
        query_id: str,
        values: Values | None = None,
        settings: Settings | None = None,
        **over: Unpack[Over],
    ) -> None:
        """`over` is as for `Client.subscribe`."""
        super().__init__(client, settings)
        self._consumer = AsyncConsumer(self.client.asynchronous, query_id, values, **over)

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self.client.run(self._consumer.__aenter__())
        except BaseException:
            super().__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.client.run(self._consumer.__aexit__(kind, error, trace))
        finally:
            super().__exit__(kind, error, trace)

    @property
    def solutions(self) -> list[Solution]:
        """The answer as far as it was received."""
        return self._consumer.solutions

    def receive(self, timeout_s: float | None = None) -> Notification:
        """The next notification, the first with the whole answer.

        Raises TimeoutError when none comes in time; it is not lost, the next call gets it.
        """
        return self.client.run(self._consumer.receive(), timeout_s)

    def __iter__(self) -> Iterator[Notification]:
        while True:
            yield self.receive()

    def listen(self, handle: Callable[[Notification], object]) -> None:
        """Call `handle` for each notification, in this thread, until something raises."""
        for notification in self:
            handle(notification)


class Aggregator(Consumer):
    """A subscription and an update of a profile, linked by what the application makes of them."""

    def __init__(
        self,
        client: Client | Source,
        query_id: str,
        update_id: str,
        values: Values | None = None,
        settings: Settings | None = None,
        **over: Unpack[Over],
    ) -> None:
        """`over` is as of a consumer."""
        super().__init__(client, query_id, values, settings, **over)
        self.update_id = update_id
        self.client.asynchronous.update_template(update_id)

    def update(self, values: Values | None = None, due: Due = None) -> Outcome:
        """Send the UPDATE with these values; done when it returns, `due` delays it."""
        return self.client.update(self.update_id, values, due)

    def run(self, react: Callable[[Notification], Iterable[Values]]) -> None:
        """Send the update for each row of values that `react` makes of a notification, for ever."""
        for notification in self:
            for values in react(notification):
                self.update(values)
