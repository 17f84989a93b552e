"""`RequestLoad`: how many HTTP requests are under way, and how long they take.

Place on the way of the data: around the application, outermost. A request counts until its answer
begins, so a stream of events is none any more once it has begun. Source: RFC 6585, section 4 (429);
RFC 9110, section 15.6.4 (503).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.config.limits import DEFAULT_LIMITS
from gateway.errors import GatewayError, OverloadedError, TooManyRequestsError
from gateway.gates.http.endpoint import SECURE
from gateway.gates.http.responses import error_response
from gateway.runtime.measures import Distribution

_ELSEWHERE = "other"


@dataclass(frozen=True, slots=True)
class LoadLimits:
    """Requests under way at once, in all and from one address."""

    requests: int = DEFAULT_LIMITS.requests
    client_requests: int = DEFAULT_LIMITS.client_requests


@dataclass(slots=True)
class RequestStatistics:
    """Answers by status and times by first segment of the path; `under_way` now."""

    under_way: int = 0
    refused: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    times: defaultdict[str, Distribution] = field(default_factory=lambda: defaultdict(Distribution))


class RequestLoad:
    """ASGI middleware; `paths` are those that have a time of their own."""

    def __init__(
        self,
        app: ASGIApp,
        paths: Iterable[str],
        statistics: RequestStatistics,
        limits: LoadLimits,
    ) -> None:
        self._app = app
        self._names = frozenset(path.split("/")[1] for path in paths)
        self._statistics = statistics
        self._limits = limits
        self._clients: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or answer it with 429 or 503."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = scope["client"][0] if scope.get("client") else ""
        refusal = self._refusal(address)
        if refusal is None:
            await self._counted(address, scope, receive, send)
        else:
            self._statistics.refused += 1
            self._statistics.statuses[str(refusal.http_status)] += 1
            await error_response(refusal)(scope, receive, send)

    def _refusal(self, address: str) -> GatewayError | None:
        if self._statistics.under_way >= self._limits.requests:
            return OverloadedError("too many requests at once")
        if self._clients[address] >= self._limits.client_requests:
            return TooManyRequestsError("too many requests from this address at once")
        return None

    async def _counted(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        started, statistics = perf_counter(), self._statistics
        statistics.under_way += 1
        self._clients[address] += 1
        is_counted = True

        def leave() -> None:
            nonlocal is_counted
            if is_counted:
                is_counted = False
                statistics.under_way -= 1
                self._clients[address] -= 1
                if not self._clients[address]:
                    del self._clients[address]

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                leave()
                statistics.statuses[str(message["status"])] += 1
                statistics.times[self._name(scope)].add(perf_counter() - started)
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        finally:
            leave()

    def _name(self, scope: Scope) -> str:
        """One of the known ones: a label must not grow with what strangers ask for."""
        path: str = scope["path"]
        name = path.removeprefix(SECURE).split("/")[1:2]
        return name[0] if name and name[0] in self._names else _ELSEWHERE
