"""`QueryPool`: QUERYs evaluated and written out beside the scheduler, within limits.

Place on the way of the data: HTTP gate → **pool** → store. In threads of its own, because
pyoxigraph's results may be touched only in the thread that made them.
"""

import asyncio
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from types import TracebackType
from typing import Protocol, Self

from pyoxigraph import (
    NamedNode,
    QueryResultsFormat,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    serialize,
)

from gateway.cores import every_core
from gateway.errors import (
    BadRequestError,
    GatewayError,
    QueryTimeoutError,
    TooLargeError,
    TooManyRequestsError,
    TooManySolutionsError,
)
from gateway.gates.media_types import GRAPHS, RESULTS, Acceptable, agreed
from gateway.gates.protocol_request import Operation
from gateway.gates.solution_count import solution_count
from gateway.store.quad_store import QueryResults


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """`threads` queries run at once and `waiting` wait; the next one is refused."""

    threads: int = 2
    waiting: int = 16
    timeout_s: float = 30.0
    solutions: int = 100_000
    result_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a QUERY, written out."""

    media_type: str
    body: bytes


class Evaluate(Protocol):
    """Evaluates a QUERY, in any thread; raises a GatewayError."""

    def __call__(
        self,
        text: str,
        /,
        *,
        default_graphs: Sequence[NamedNode],
        named_graphs: Sequence[NamedNode],
    ) -> QueryResults:
        """The results, lazy where possible."""
        ...


@dataclass(slots=True)
class QueryStatistics:
    """Counters since the start."""

    answered: int = 0
    refused: int = 0
    timed_out: int = 0


class QueryPool:
    """Threads that evaluate QUERYs and write out their results; a context manager.

    A QUERY past its time is answered with an error at once; where it yields nothing that could
    be stopped, it keeps its thread, and its place among the limits, until it ends.
    """

    def __init__(self, evaluate: Evaluate, limits: QueryLimits | None = None) -> None:
        self._evaluate = evaluate
        self._limits = limits or QueryLimits()
        self._threads = ThreadPoolExecutor(self._limits.threads, "query", initializer=every_core)
        self._places = threading.Semaphore(self._limits.threads + self._limits.waiting)
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

    async def answer(self, operation: Operation, accept: str) -> Answer:
        """The result in a media type that `accept` allows. Raises a GatewayError."""
        rendering = self._submit(operation, Acceptable.of(accept))
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                answer = await asyncio.wrap_future(rendering)
        except (TimeoutError, QueryTimeoutError) as error:
            self.statistics.timed_out += 1
            raise QueryTimeoutError(self._limits.timeout_s) from error
        self.statistics.answered += 1
        return answer

    def _submit(self, operation: Operation, acceptable: Acceptable) -> Future[Answer]:
        if not self._places.acquire(blocking=False):
            self.statistics.refused += 1
            raise TooManyRequestsError("too many queries at once")
        body = _BoundedBody(self._limits)
        rendering = self._threads.submit(_render, self._evaluate, operation, acceptable, body)
        rendering.add_done_callback(lambda _: self._places.release())
        return rendering


class _BoundedBody(BytesIO):
    """A body in memory that refuses to grow beyond a size, and after a time from now on."""

    def __init__(self, limits: QueryLimits) -> None:
        super().__init__()
        self._limits = limits
        self._deadline = time.monotonic() + limits.timeout_s

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # pyoxigraph writes bytes
        if self.tell() + len(data) > self._limits.result_bytes:
            raise TooLargeError(
                f"the result is longer than {self._limits.result_bytes} bytes",
                "use LIMIT and OFFSET",
            )
        if time.monotonic() > self._deadline:
            raise QueryTimeoutError(self._limits.timeout_s)
        return super().write(data)

    def write_triples(self, triples: QueryTriples, rdf_format: RdfFormat) -> None:
        """Write them out, so many at most. Raises TooManySolutionsError, QueryTimeoutError."""
        most = self._limits.solutions
        serialize(islice(triples, most), self, rdf_format)
        if next(triples, None) is not None:
            raise TooManySolutionsError(most)

    def write_solutions(
        self, solutions: QuerySolutions, results_format: QueryResultsFormat
    ) -> None:
        """Write them out. Raises TooManySolutionsError, QueryTimeoutError."""
        solutions.serialize(self, results_format)
        most, body = self._limits.solutions, self.getvalue()
        # A short body cannot have so many.
        if len(body) > most and solution_count(body, results_format) > most:
            raise TooManySolutionsError(most)


def _render(
    evaluate: Evaluate, operation: Operation, acceptable: Acceptable, body: _BoundedBody
) -> Answer:
    """Evaluate and write out, in one thread."""
    results = evaluate(
        operation.text,
        default_graphs=operation.default_graphs,
        named_graphs=operation.named_graphs,
    )
    try:
        if isinstance(results, QueryTriples):
            media_type = agreed(acceptable.graphs, GRAPHS)
            body.write_triples(results, GRAPHS[media_type])
        else:
            media_type = agreed(acceptable.results, RESULTS)
            if isinstance(results, QuerySolutions):
                body.write_solutions(results, RESULTS[media_type])
            else:
                results.serialize(body, RESULTS[media_type])
    except (OSError, RuntimeError, ValueError) as error:
        raise BadRequestError(f"the query failed: {error}") from error
    except GatewayError as error:
        raise error.with_traceback(None) from None
    finally:
        # A traceback keeps its frames, and would drop the results in another thread.
        del results
    return Answer(media_type, body.getvalue())
