"""`endpoint`: one path of a gate with a handler for each method.

Place on the way of the data: between the router and the gates. Every path is served below /secure
too, where SEPA's clients look for it once there is TLS. Source: RFC 9110, sections 9.3 (methods)
and 10.2.1 (Allow).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Handler = Callable[[Request], Awaitable[Response]]

SECURE = "/secure"


def allowed(handled: Iterable[str]) -> set[str]:
    """The methods of a path that has handlers for some.

    >>> sorted(allowed(["GET"])), sorted(allowed(["POST"]))
    (['GET', 'HEAD', 'OPTIONS'], ['OPTIONS', 'POST'])
    """
    methods = {*handled, "OPTIONS"}
    return methods | {"HEAD"} if "GET" in methods else methods


def endpoint(path: str, handlers: Mapping[str, Handler]) -> list[Route]:
    """The routes of a path. HEAD is answered as GET, OPTIONS by what is allowed."""
    methods = allowed(handlers)
    allow = {"Allow": ", ".join(sorted(methods))}

    async def handle(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=allow)
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return [Route(f"{prefix}{path}", handle, methods=list(methods)) for prefix in ("", SECURE)]
