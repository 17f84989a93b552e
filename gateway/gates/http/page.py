"""`PageGate`: hands out the built web page, and says how to get it where it was not built.

Beside the way of the data: the page holds nothing of anybody, so whoever reaches the port may load
it; what it shows it asks for with the rights of who signs in. Sources: W3C Content Security Policy
Level 3; RFC 9110, sections 8.8.3 (ETag) and 12.5.3 (Accept-Encoding); RFC 8246 (immutable).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.errors import NotFoundError
from gateway.gates.protocol.media_types import choose

PAGE = "/"
"""The one path that pages of other origins may lead to: a link in a mail is to open it."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "Vary": "Accept-Encoding",
}
_INDEX = "index.html"
_ASSETS = "assets/"
_UNBUILT = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>sosa-gateway</title>
<h1>The gateway runs. Its page was not built.</h1>
<p>In a checkout: <code>make dashboard</code> (Node.js 18 or newer, which Debian has), then load
this page again. Everything else works: <code>sosa-gateway --help</code>, /query, /subscribe.</p>
"""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the page, as it is and compressed; `tag` changes with its bytes."""

    media_type: str
    body: bytes
    gzip: bytes
    tag: str


def _read(path: Path) -> _File:
    body, packed = path.read_bytes(), path.with_name(f"{path.name}.gz")
    gzip = packed.read_bytes() if packed.exists() else b""
    return _File(_TYPES[path.suffix], body, gzip, blake2b(body, digest_size=12).hexdigest())


class PageGate:
    """The endpoints / and /assets, from a folder that is read when it is first asked for.

    Files that were built later are found at the next request of the page itself.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: Mapping[str, _File] = {}

    def routes(self) -> list[Route]:
        """The endpoints, for `application`."""
        return [
            Route(PAGE, self._answer_page, methods=["GET", "HEAD"]),
            Route("/{name:str}.svg", self._answer_file, methods=["GET", "HEAD"]),
            Route("/assets/{name:str}", self._answer_file, methods=["GET", "HEAD"]),
        ]

    async def _answer_page(self, request: Request) -> Response:
        index = self._folder / _INDEX
        if not index.is_file():
            return Response(_UNBUILT, 503, _HEADERS, _TYPES[".html"])
        shown = self._files.get(_INDEX)
        if shown is None or shown.body != index.read_bytes():
            self._files = _files(self._folder)
        return _answer(request, self._files[_INDEX], "no-cache")

    async def _answer_file(self, request: Request) -> Response:
        if not self._files:
            self._files = _files(self._folder)
        name = request.url.path.removeprefix("/")
        found = self._files.get(name)
        if found is None:
            raise NotFoundError("the page has no such file (it was built anew: load it again)")
        is_named_by_content = name.startswith(_ASSETS)
        lasting = "public, max-age=31536000, immutable" if is_named_by_content else "no-cache"
        return _answer(request, found, lasting)


def _files(folder: Path) -> dict[str, _File]:
    """The files of the folder by their paths below it; what is of no known kind is left out."""
    return {
        path.relative_to(folder).as_posix(): _read(path)
        for path in sorted(folder.rglob("*"))
        if path.suffix in _TYPES
    }


def _answer(request: Request, file: _File, lasting: str) -> Response:
    """Whole, compressed where that is understood; 304 where the client has it."""
    accepted = request.headers.get("accept-encoding", "")
    is_packed = bool(file.gzip) and accepted != "" and choose(accepted, ["gzip"]) is not None
    tag = f'"{file.tag}{"-gzip" if is_packed else ""}"'
    headers = {**_HEADERS, "Cache-Control": lasting, "ETag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if is_packed:
        headers["Content-Encoding"] = "gzip"
    return Response(file.gzip if is_packed else file.body, 200, headers, file.media_type)
