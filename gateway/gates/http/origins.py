"""`Origins`: whose pages may call the gateway, and by which names it is called.

Place on the way of the data: around every gate, first of all. A browser sends requests from any
page to loopback and to the local network, so a request passes only with an expected Host (against
DNS rebinding) and, where it names an Origin, with that of the gateway itself or one that is
configured (against foreign pages). A GET that a page makes a browser load (an image, an object, a
frame, a link) names no Origin, and how it loads tells of the answer: there `Sec-Fetch-Site` must
say that no other page asks, or `Referer` that it is one of those that may. The page itself may be
opened from anywhere, as by a link in a mail: it is the same for everybody and holds no data.
Clients that are no browsers send none of these and pass. Sources: Fetch standard, "CORS protocol";
W3C Fetch Metadata Request Headers; RFC 6455, section 10.2; RFC 6454; RFC 9110,
section 10.1.3 (Referer).

What CORS means here: by default no page of another origin may call at all, so there is nobody to
answer to; the pages of a configured origin may read every answer, and their preflights are
answered with 204. Nothing depends on cookies, so no credentials are allowed.

Errors of its own: 403 `forbidden_host` and `forbidden_origin`.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.gates.http.page import PAGE
from gateway.gates.http.responses import refusal

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(?::([0-9]{1,5}))?")
_PREFLIGHT_AGE_S = 600
_AS_IT_IS = (b"x-content-type-options", b"nosniff")
_EXPOSED = "Allow, Location, Retry-After"


def host_name(authority: str) -> str:
    """The name in a Host header, "" where it is none.

    >>> host_name("LocalHost:8000"), host_name("[::1]:8000"), host_name("null@evil")
    ('localhost', '[::1]', '')
    """
    match = _AUTHORITY.fullmatch(authority.lower())
    return match[1] if match else ""


@dataclass(frozen=True, slots=True)
class Names:
    """What is let in.

    `hosts` are the names in Host, with any port; `any_address` lets in every IP address besides,
    which no name can be rebound to. `origins` are those of pages elsewhere that may call.

    >>> Names().serves("localhost:8000"), Names().serves("gateway.evil.example")
    (True, False)
    """

    hosts: frozenset[str] = LOOPBACK_NAMES
    any_address: bool = False
    origins: frozenset[str] = field(default_factory=frozenset)
    pages_port: int | None = None

    def with_pages_of(self, port: int) -> "Names":
        """The same on another port, where pages of this one, of the same name, may call.

        >>> Names().with_pages_of(8000).admits("http://127.0.0.1:8000", "127.0.0.1:9000")
        True
        """
        return replace(self, pages_port=port)

    def serves(self, host: str) -> bool:
        """Whether the gateway answers to a Host."""
        name = host_name(host)
        return name in self.hosts or (self.any_address and _is_address(name))

    def admits_load(self, host: str, sites: Sequence[str], referers: Sequence[str]) -> bool:
        """Whether a request without Origin passes: nobody's page asks for it, or one that may.

        >>> Names().admits_load("localhost:8000", ["none"], [])
        True
        >>> Names().admits_load("localhost:8000", ["cross-site"], [])
        False
        """
        if all(site in _OF_NO_OTHER_PAGE for site in sites) and (sites or not referers):
            return True
        return bool(referers) and all(self.admits(_origin_of(each), host) for each in referers)

    def admits_call(self, hosts: Sequence[str], origins: Sequence[str]) -> bool:
        """Whether a request with these headers passes."""
        return (
            len(hosts) == 1
            and self.serves(hosts[0])
            and all(self.admits(each, hosts[0]) for each in origins)
        )

    def admits(self, origin: str, host: str) -> bool:
        """Whether pages of an Origin may call a Host: its own, and the configured ones.

        A WebSocket client that is no browser names the same authority with another scheme.
        """
        scheme, _, authority = origin.lower().partition("://")
        own = {host.lower(), f"{host_name(host)}:{self.pages_port}"}
        is_own = scheme in {"http", "https"} and authority in own
        return is_own or origin.lower() in self.origins


_OF_NO_OTHER_PAGE = frozenset({"same-origin", "none"})


def _origin_of(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split(r'[/?#]', rest, maxsplit=1)[0]}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Origins:
    """ASGI middleware: refuses foreign hosts and origins, answers CORS preflights."""

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through or answer it with 403."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        named = _named(scope)
        origins = named[b"origin"]
        refused = self._refuse(scope, named)
        if refused is not None:
            await refused(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        elif origins and _is_preflight(scope):
            await _preflight(Headers(scope=scope))(scope, receive, send)
        else:
            await self._app(scope, receive, _with_headers(send, origins))

    def _refuse(self, scope: Scope, named: Mapping[bytes, Sequence[str]]) -> Response | None:
        hosts, origins = named[b"host"], named[b"origin"]
        if len(hosts) != 1 or not self._names.serves(hosts[0]):
            return refusal(
                "forbidden_host",
                "this Host is not served here (call it by an address, or add it to [http] hosts)",
                403,
            )
        if scope["path"] == PAGE and scope["type"] == "http" and not origins:
            is_admitted = True
        elif origins:
            is_admitted = all(self._names.admits(each, hosts[0]) for each in origins)
        else:
            sites, referers = named[b"sec-fetch-site"], named[b"referer"]
            is_admitted = self._names.admits_load(hosts[0], sites, referers)
        if is_admitted:
            return None
        return refusal(
            "forbidden_origin",
            "pages of this Origin may not call (add it to [http] origins)",
            403,
        )


def _named(scope: Scope) -> dict[bytes, list[str]]:
    """The values of the headers that matter here; for every request, so without a mapping."""
    named: dict[bytes, list[str]] = {
        b"host": [],
        b"origin": [],
        b"sec-fetch-site": [],
        b"referer": [],
    }
    for key, value in scope["headers"]:
        if key in named:
            named[key].append(value.decode("latin-1"))
    return named


def _is_preflight(scope: Scope) -> bool:
    asked = any(key == b"access-control-request-method" for key, _ in scope["headers"])
    return scope["method"] == "OPTIONS" and asked


def _preflight(headers: Headers) -> Response:
    """Yes to the method and headers: which path has which method the request itself is told."""
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Origin": headers["origin"],
            "Access-Control-Allow-Methods": headers["access-control-request-method"],
            "Access-Control-Allow-Headers": headers.get("access-control-request-headers", "*"),
            "Access-Control-Max-Age": str(_PREFLIGHT_AGE_S),
            "Vary": "Origin",
        },
    )


def _with_headers(send: Send, origins: Sequence[str]) -> Send:
    """Have every HTTP response say whose pages may read it, and be taken as what it is."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = _with_vary(message.get("headers", []))
            if origins:
                headers = MutableHeaders(scope=message)
                headers["Access-Control-Allow-Origin"] = origins[0]
                headers["Access-Control-Expose-Headers"] = _EXPOSED
        await send(message)

    return send_with_headers


def _with_vary(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What an answer depends on, the Origin included, in one header."""
    vary = [value for name, value in headers if name == b"vary"]
    others = [(name, value) for name, value in headers if name != b"vary"]
    return [*others, (b"vary", b", ".join([*vary, b"Origin"])), _AS_IT_IS]
