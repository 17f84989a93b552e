"""The HTTP gate: QUERY and UPDATE of the SPARQL 1.1 Protocol, answered as SEPA's clients expect.

Place on the way of the data: an UPDATE goes to the scheduler's URQ; a QUERY is evaluated and
written out in a thread of the gate, beside the scheduler, because pyoxigraph's results may be
touched only in the thread that made them. Sources: SPARQL 1.1 Protocol (W3C, 2013), section 2;
RFC 9110, sections 12.5.1 (Accept) and 15.5; SEPA's drafts for the answer to an UPDATE.

Errors of its own: 405 for a GET of /update, with Allow as RFC 9110 asks (SEPA says 400), 406
`not_acceptable`, 408 `request_timeout`, 415 `unsupported_media_type`, 503 `query_timeout`.
"""

import asyncio
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from types import TracebackType
from typing import Protocol, Self
from urllib.parse import parse_qsl

from pyoxigraph import NamedNode, QueryResultsFormat, QueryTriples, RdfFormat
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import (
    BadRequestError,
    ClientError,
    GatewayError,
    TooLargeError,
    TooManyRequestsError,
)
from gateway.gates.wire import graph_names
from gateway.rdf.delta import Delta
from gateway.store.quad_store import QueryResults

RESULTS: Mapping[str, QueryResultsFormat] = {
    "application/sparql-results+json": QueryResultsFormat.JSON,
    "application/json": QueryResultsFormat.JSON,
    "application/sparql-results+xml": QueryResultsFormat.XML,
    "application/xml": QueryResultsFormat.XML,
    "text/csv": QueryResultsFormat.CSV,
    "text/tab-separated-values": QueryResultsFormat.TSV,
}
"""Media types of SELECT and ASK, the one we prefer first."""

GRAPHS: Mapping[str, RdfFormat] = {
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/json": RdfFormat.JSON_LD,
}
"""Media types of CONSTRUCT and DESCRIBE, the one we prefer first."""

_FORM = "application/x-www-form-urlencoded"
_MOST_PARAMETERS = 1000


class NotAcceptableError(ClientError):
    """None of the media types that the client accepts can be written."""

    code = "not_acceptable"
    http_status = 406


class RequestTimeoutError(ClientError):
    """The body of a request came too slowly."""

    code = "request_timeout"
    http_status = 408


class UnsupportedMediaTypeError(ClientError):
    """The Content-Type is none of the protocol's."""

    code = "unsupported_media_type"
    http_status = 415


class QueryTimeoutError(GatewayError):
    """A QUERY took longer than its limit."""

    code = "query_timeout"
    http_status = 503


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """`threads` queries run at once and `waiting` wait; the next one is refused."""

    threads: int = 2
    waiting: int = 16
    timeout_s: float = 30.0
    result_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Longest body of a request, and how long it may take to come."""

    body_bytes: int = 4 * 1024 * 1024
    body_timeout_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Operation:
    """SPARQL text with the dataset that the protocol's parameters name."""

    text: str
    default_graphs: tuple[NamedNode, ...] = ()
    named_graphs: tuple[NamedNode, ...] = ()


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


class Outcome(Protocol):
    """What an UPDATE did."""

    @property
    def delta(self) -> Delta:
        """The net change."""
        ...


class Updates(Protocol):
    """Runs an UPDATE in its place in the URQ; raises a GatewayError."""

    async def update(
        self,
        text: str,
        /,
        *,
        using_graphs: Sequence[NamedNode],
        using_named_graphs: Sequence[NamedNode],
    ) -> Outcome:
        """Returns when the change is in the store."""
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
        self._threads = ThreadPoolExecutor(self._limits.threads, "query")
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
        rendering = self._submit(operation, _Acceptable.of(accept))
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                answer = await asyncio.wrap_future(rendering)
        except (TimeoutError, QueryTimeoutError) as error:
            self.statistics.timed_out += 1
            raise QueryTimeoutError(
                f"the query took longer than {self._limits.timeout_s:g} s", "ask for less at once"
            ) from error
        self.statistics.answered += 1
        return answer

    def _submit(self, operation: Operation, acceptable: "_Acceptable") -> Future[Answer]:
        if not self._places.acquire(blocking=False):
            self.statistics.refused += 1
            raise TooManyRequestsError("too many queries at once")
        body = _BoundedBody(self._limits.result_bytes, time.monotonic() + self._limits.timeout_s)
        rendering = self._threads.submit(_render, self._evaluate, operation, acceptable, body)
        rendering.add_done_callback(lambda _: self._places.release())
        return rendering


@dataclass(frozen=True, slots=True)
class _Acceptable:
    """The best media types for results and for graphs; at most one is None."""

    results: str | None
    graphs: str | None

    @classmethod
    def of(cls, accept: str) -> Self:
        acceptable = cls(choose(accept, RESULTS), choose(accept, GRAPHS))
        if acceptable.results is None and acceptable.graphs is None:
            raise _not_acceptable([*RESULTS, *GRAPHS])
        return acceptable


class _BoundedBody(BytesIO):
    """A body in memory that refuses to grow beyond a size or after a time (monotonic)."""

    def __init__(self, limit_bytes: int, deadline: float) -> None:
        super().__init__()
        self._limit_bytes = limit_bytes
        self._deadline = deadline

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # pyoxigraph writes bytes
        if self.tell() + len(data) > self._limit_bytes:
            raise TooLargeError(
                f"the result is longer than {self._limit_bytes} bytes", "use LIMIT and OFFSET"
            )
        if time.monotonic() > self._deadline:
            raise QueryTimeoutError("the query is past its time")
        return super().write(data)


def _render(
    evaluate: Evaluate, operation: Operation, acceptable: _Acceptable, body: _BoundedBody
) -> Answer:
    """Evaluate and write out, in one thread."""
    results = evaluate(
        operation.text,
        default_graphs=operation.default_graphs,
        named_graphs=operation.named_graphs,
    )
    try:
        if isinstance(results, QueryTriples):
            media_type = _agreed(acceptable.graphs, GRAPHS)
            results.serialize(body, GRAPHS[media_type])
        else:
            media_type = _agreed(acceptable.results, RESULTS)
            results.serialize(body, RESULTS[media_type])
    except (OSError, RuntimeError, ValueError) as error:
        raise BadRequestError(f"the query failed: {error}") from error
    finally:
        # A traceback keeps this frame, and would drop the results in another thread.
        del results
    return Answer(media_type, body.getvalue())


def _agreed(media_type: str | None, offers: Iterable[str]) -> str:
    if media_type is None:
        raise _not_acceptable(offers)
    return media_type


def _not_acceptable(offers: Iterable[str]) -> NotAcceptableError:
    return NotAcceptableError(
        "no media type in Accept fits the result", f"accept one of {', '.join(offers)}"
    )


def choose(accept: str, offers: Iterable[str]) -> str | None:
    """The offer that an Accept header prefers; the first ones win where it does not care.

    >>> choose("text/csv;q=0.5, text/*;q=0.1", ["text/plain", "text/csv"])
    'text/csv'
    """
    ranges = list(_media_ranges(accept or "*/*"))
    best: tuple[float, int] = (0.0, 0)
    chosen = None
    for offer in offers:
        # The most specific range that fits an offer gives its quality (RFC 9110, 12.5.1).
        fits = [(_specificity(name), quality) for name, quality in ranges if _fits(name, offer)]
        specificity, quality = max(fits, default=(0, 0.0))
        if quality > 0 and (quality, specificity) > best:
            best, chosen = (quality, specificity), offer
    return chosen


def _media_ranges(accept: str) -> Iterable[tuple[str, float]]:
    for part in accept.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weights = [item[2:] for item in parameters if item.startswith("q=")]
        try:
            yield name, float(weights[0]) if weights else 1.0
        except ValueError:
            continue


def _specificity(media_range: str) -> int:
    return 0 if media_range == "*/*" else 1 if media_range.endswith("/*") else 2


def _fits(media_range: str, media_type: str) -> bool:
    if media_range.endswith("/*"):
        return media_range == "*/*" or media_type.startswith(media_range[:-1])
    return media_range == media_type


@dataclass(frozen=True, slots=True)
class _Names:
    """How the protocol calls the parts of an operation."""

    parameter: str
    media_type: str
    default_graphs: str
    named_graphs: str


_QUERY = _Names("query", "application/sparql-query", "default-graph-uri", "named-graph-uri")
_UPDATE = _Names("update", "application/sparql-update", "using-graph-uri", "using-named-graph-uri")

Parameters = Sequence[tuple[str, str]]


async def _read_operation(request: Request, names: _Names, limits: RequestLimits) -> Operation:
    """The operation by GET, by POST with a form, or by POST directly (section 2.1 and 2.2)."""
    in_url = _parameters(request.url.query)
    if request.method in {"GET", "HEAD"}:
        return _operation(_only(in_url, names.parameter), in_url, names)
    media_type = _media_type(request.headers.get("content-type", ""))
    if media_type not in {_FORM, names.media_type}:
        raise UnsupportedMediaTypeError(
            f"cannot read a body of type {media_type or 'unknown'}",
            f"use Content-Type {names.media_type} or {_FORM}",
        )
    text = _utf_8(await _read_body(request, limits))
    if media_type == names.media_type:
        return _operation(text, in_url, names)
    form = _parameters(text)
    return _operation(_only(form, names.parameter), form, names)


def _operation(text: str, parameters: Parameters, names: _Names) -> Operation:
    return Operation(
        text,
        graph_names(value for name, value in parameters if name == names.default_graphs),
        graph_names(value for name, value in parameters if name == names.named_graphs),
    )


def _only(parameters: Parameters, name: str) -> str:
    values = [value for key, value in parameters if key == name]
    if len(values) != 1:
        raise BadRequestError(
            f"{len(values)} parameters {name!r} instead of one", f"send {name}=<SPARQL text>"
        )
    return values[0]


def _parameters(text: str) -> Parameters:
    try:
        return parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except ValueError as error:
        raise BadRequestError(f"the parameters cannot be read: {error}") from error


def _media_type(content_type: str) -> str:
    """The media type without parameters. Raises UnsupportedMediaTypeError for a foreign charset."""
    name, *parameters = (part.strip().lower() for part in content_type.split(";"))
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key == "charset" and value.strip('"') not in {"utf-8", "us-ascii"}:
            raise UnsupportedMediaTypeError(f"cannot read {parameter}", "encode the text as UTF-8")
    return name


async def _read_body(request: Request, limits: RequestLimits) -> bytes:
    body = bytearray()
    _check_length(int(request.headers.get("content-length", "0")), limits)
    try:
        async with asyncio.timeout(limits.body_timeout_s):
            async for chunk in request.stream():
                body += chunk
                _check_length(len(body), limits)
    except TimeoutError as error:
        raise RequestTimeoutError(
            f"the body took longer than {limits.body_timeout_s:g} s"
        ) from error
    return bytes(body)


def _check_length(length_bytes: int, limits: RequestLimits) -> None:
    if length_bytes > limits.body_bytes:
        raise TooLargeError(
            f"the body is longer than {limits.body_bytes} bytes", "send it in several requests"
        )


def _utf_8(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise BadRequestError(f"the body is not UTF-8: {error}") from error


class HttpGate:
    """The endpoints /query and /update."""

    def __init__(
        self, updates: Updates, queries: QueryPool, limits: RequestLimits | None = None
    ) -> None:
        self._updates = updates
        self._queries = queries
        self._limits = limits or RequestLimits()

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        return [
            Route("/query", self._query, methods=["GET", "POST"]),
            Route("/update", self._update, methods=["POST"]),
        ]

    async def _query(self, request: Request) -> Response:
        operation = await _read_operation(request, _QUERY, self._limits)
        accept = ",".join(request.headers.getlist("accept"))
        answer = await self._queries.answer(operation, accept)
        return Response(answer.body, media_type=answer.media_type, headers={"Vary": "Accept"})

    async def _update(self, request: Request) -> Response:
        operation = await _read_operation(request, _UPDATE, self._limits)
        outcome = await self._updates.update(
            operation.text,
            using_graphs=operation.default_graphs,
            using_named_graphs=operation.named_graphs,
        )
        counts = {"added": len(outcome.delta.added), "removed": len(outcome.delta.removed)}
        # SEPA's draft says isJsonBody, its engine isJson; no client goes by either.
        return JSONResponse({"response": {"isJsonBody": True, "isJson": True, "body": counts}})
