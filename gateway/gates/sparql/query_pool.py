"""`QueryPool`: QUERYs evaluated and written out beside the scheduler, within limits.

Place on the way of the data: HTTP gate → **pool** → store. In threads of its own, because
pyoxigraph's results may be touched only in the thread that made them.
"""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self, TypeVar

from gateway.config.limits import DEFAULT_LIMITS
from gateway.engine import QueryRequest
from gateway.errors import GatewayError, QueryTimeoutError, TooManyRequestsError
from gateway.gates.http.caller import Caller, PeerLeftError
from gateway.gates.http.rendering import Answer, BoundedBody
from gateway.gates.protocol.media_types import Acceptable
from gateway.gates.sparql.protocol_request import Operation
from gateway.gates.sparql.queries_apart import QueriesApart
from gateway.runtime.process import every_core
from gateway.sparql.bounded import query_facts
from gateway.sparql.bounds.answer import AnswerBounds
from gateway.store.quad_store import QueryResults

log = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[[BoundedBody], T]
"""Runs in a thread of the pool and writes at most what the body takes; raises a GatewayError."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """`threads` queries run at once and `waiting` wait, of one client `per_client` in all.

    The next one is refused.
    """

    threads: int = DEFAULT_LIMITS.queries
    waiting: int = DEFAULT_LIMITS.queries_waiting
    per_client: int = DEFAULT_LIMITS.client_queries
    rendering: AnswerBounds = field(default_factory=AnswerBounds)


class Evaluate(Protocol):
    """Evaluates a QUERY, in any thread; raises a GatewayError."""

    def __call__(self, query: QueryRequest, /) -> QueryResults:
        """The results, lazy where possible."""
        ...


@dataclass(slots=True)
class QueryStatistics:
    """Counters since the start; `waiting` is how many are there now, those that run included."""

    answered: int = 0
    refused: int = 0
    timed_out: int = 0
    abandoned: int = 0
    waiting: int = 0


class QueryPool:
    """Threads that evaluate QUERYs and write out their results; a context manager.

    A QUERY past its time, or whose client has gone, is given up at once. One that its form does not
    bound is evaluated by a process of its own, which is ended then.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        limits: QueryLimits | None = None,
        apart: QueriesApart | None = None,
        *,
        infer: bool = False,
    ) -> None:
        """`apart` are what is not bounded by its form; without it, threads evaluate that too.

        `infer` is what a QUERY means that does not say.
        """
        self.evaluate = evaluate
        self.infer = infer
        self.apart = apart
        self._limits = limits or QueryLimits()
        self._threads = ThreadPoolExecutor(self._limits.threads, "query", initializer=every_core)
        self._lock = threading.Lock()
        self._clients: Counter[str] = Counter()
        self.statistics = QueryStatistics()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Drop what waits; what runs may end by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def time_s(self) -> float:
        """How long a QUERY may take."""
        return self._limits.rendering.timeout_s

    async def answer(self, operation: Operation, accept: str, caller: Caller) -> Answer:
        """The result in a media type that `accept` chooses. Raises a GatewayError."""
        acceptable = Acceptable.of(accept)
        rights = caller.principal.policy.query_rights
        infer = self.infer if operation.infer is None else operation.infer
        query = QueryRequest(operation.text, operation.dataset, rights, infer=infer)

        def work(body: BoundedBody) -> Answer:
            return self.rendered(query, acceptable, body, takes_gzip=caller.takes_gzip)

        return await self.run(work, caller)

    def rendered(
        self,
        query: QueryRequest,
        acceptable: Acceptable,
        body: BoundedBody,
        *,
        takes_gzip: bool = False,
    ) -> Answer:
        """The result, for work that runs in a thread of the pool, in the place of what `body` has.

        Raises a GatewayError.
        """
        if self.apart is not None and not query_facts(query.text).is_bounded:
            return self.apart.answer(query, acceptable, body.look, takes_gzip=takes_gzip)
        body.seek(0)
        body.truncate()
        answer = body.render(self.evaluate(query), acceptable)
        return answer.packed() if takes_gzip else answer

    async def run(self, work: Work[T], caller: Caller) -> T:
        """What the work returns. Raises a GatewayError, PeerLeftError when nobody waits for it."""
        limits = self._limits.rendering
        body = BoundedBody(limits)
        working = self._submit(work, body, caller.client)
        try:
            async with asyncio.timeout(limits.timeout_s):
                result = await _unless(asyncio.wrap_future(working), caller.until_gone())
        except (TimeoutError, QueryTimeoutError) as error:
            self.statistics.timed_out += 1
            raise QueryTimeoutError(limits.timeout_s) from error
        except PeerLeftError:
            self.statistics.abandoned += 1
            raise
        finally:
            body.stop()
        self.statistics.answered += 1
        return result

    def _submit(self, work: Work[T], body: BoundedBody, client: str) -> Future[T]:
        with self._lock:
            if self.statistics.waiting >= self._limits.threads + self._limits.waiting:
                self.statistics.refused += 1
                raise TooManyRequestsError("too many queries at once")
            if self._clients[client] >= self._limits.per_client:
                self.statistics.refused += 1
                raise TooManyRequestsError("too many queries of this client at once")
            self.statistics.waiting += 1
            self._clients[client] += 1
        working = self._threads.submit(_alone, work, body)
        working.add_done_callback(lambda _: self._leave(client))
        return working

    def _leave(self, client: str) -> None:
        with self._lock:
            self.statistics.waiting -= 1
            self._clients[client] -= 1
            if not self._clients[client]:
                del self._clients[client]


def _alone(work: Work[T], body: BoundedBody) -> T:
    """The work in its thread; what it raises takes no frames along.

    They would keep the store's results alive, which only this thread may drop.
    """
    failure: BaseException
    try:
        return work(body)
    except GatewayError as error:
        failure = error
    except BaseException as error:  # raised again below
        log.exception("query_crashed")
        failure = error
    link: BaseException | None = failure
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    raise failure


async def _unless(working: "asyncio.Future[T]", gone: Coroutine[object, object, None]) -> T:
    """The result, unless the peer leaves first: PeerLeftError. Ends with neither under way."""
    leaving = asyncio.create_task(gone, name="peer")
    leaving.add_done_callback(lambda _: working.cancel())
    try:
        return await working
    except asyncio.CancelledError:
        if leaving.done() and not leaving.cancelled():
            raise PeerLeftError from None
        raise
    finally:
        leaving.cancel()
