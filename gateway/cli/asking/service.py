"""A running gateway as commands ask it: requests, notifications, and answers as people read them.

Place on the way of the data: a client of the gates, by the protocols that every client uses:
SPARQL 1.1 Protocol over HTTP, SPARQL 1.1 Subscribe over WebSocket.
"""

import json
import os
import re
import ssl
import sys
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlencode

from rich.console import Console
from rich.table import Table
from rich.text import Text
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

from gateway.cli.asking.unreachable import unreachable
from gateway.errors import (
    BadRequestError,
    ClientError,
    ConfigurationError,
    GatewayError,
    InvalidTokenError,
    UnreachableError,
)

TIMEOUT_S = 60.0
RESULT_TYPES = {
    "json": "application/sparql-results+json",
    "xml": "application/sparql-results+xml",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "turtle": "text/turtle",
    "ntriples": "application/n-triples",
}

Bindings = Mapping[str, Mapping[str, str]]
Members = Mapping[str, Any]

NOTHING: Members = {}


def read_text(argument: str, what: str = "SPARQL") -> str:
    """A text given as it is, as @FILE, or as @- for standard input."""
    if not argument.startswith("@"):
        # `Path.is_file` raises for a text that is too long for a name.
        if not any(map(str.isspace, argument)) and os.path.isfile(argument):
            raise BadRequestError(f"{argument} is a file, and no {what}", f"write @{argument}")
        return argument
    try:
        if argument == "@-":
            return sys.stdin.read()
        return Path(argument[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        hint = "name a file in UTF-8, or write the text itself, without @"
        raise BadRequestError(f"cannot read {argument[1:]}: {_cause(error)}", hint) from error


@dataclass(frozen=True, slots=True)
class Access:
    """How to get in: the CA to trust (None: the system's), and a file with client credentials."""

    ca: Path | None = None
    credentials: Path | None = None

    def context(self) -> ssl.SSLContext:
        """For TLS. Raises ConfigurationError."""
        try:
            return ssl.create_default_context(cafile=self.ca)
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(
                f"cannot use {self.ca}: {error}", "name the file that `sosa-gateway ca` says"
            ) from error

    def headers(self, url: str) -> dict[str, str]:
        """With a new token of the gateway at the URL. Raises a GatewayError."""
        if self.credentials is None:
            return {}
        pair = ":".join(_credentials(self.credentials)).encode()
        basic = {"Authorization": f"Basic {b64encode(pair).decode()}", "Accept": "application/json"}
        place = re.sub(r"^ws(s?)://", r"http\1://", url)
        answer = _post(
            "/".join([*place.split("/")[:3], "oauth", "token"]),
            {**basic, "Content-Type": "application/x-www-form-urlencoded"},
            "grant_type=client_credentials",
            self,
        )
        return {"Authorization": f"Bearer {json.loads(answer)['access_token']}"}


_EVERYBODY = Access()


class _Https(urllib.request.HTTPSHandler):
    """What opens https URLs; the system's CAs are read then: for http that would take longest.

    Raises ConfigurationError for a named CA that cannot be used, whatever the URL.
    """

    def __init__(self, access: Access) -> None:
        urllib.request.AbstractHTTPHandler.__init__(self)
        self._access = access
        self._named = None if access.ca is None else access.context()

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        """A request and its answer, over TLS."""
        return self.do_open(HTTPSConnection, req, context=self._named or self._access.context())


def _cause(error: Exception) -> str:
    """Why a file could not be used, for people."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _credentials(file: Path) -> tuple[str, str]:
    try:
        members = json.loads(file.read_text(encoding="utf-8"))
        return str(members["client_id"]), str(members["client_secret"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{file} has no credentials: {_cause(error)}",
            "name the file of: sosa-gateway client add NAME --credentials FILE",
        ) from error


def query(
    url: str,
    text: str,
    accept: str,
    access: Access = _EVERYBODY,
    infer: bool | None = None,
    *,
    over: Members = NOTHING,
) -> str:
    """The body of the answer to a QUERY, in the media type that was asked for.

    `over` has the members `gateways`, `mode`, `after` and `missing` that the request has.
    """
    place = f"{url}/query{_view(infer, _words(over))}"
    headers = {"Content-Type": "application/sparql-query; charset=utf-8", "Accept": accept}
    with _answer(place, "POST", {**headers, **access.headers(place)}, text, access) as answer:
        missing = answer.headers.get("Federation-Missing")
        if missing is not None:
            sys.stderr.write(f"missing: {printable(missing)}\n")
        return answer.read().decode()


def update(url: str, text: str, access: Access = _EVERYBODY, infer: bool | None = None) -> str:
    """The body of the answer to an UPDATE."""
    accept = "application/json, */*;q=0.1"
    place = f"{url}/update{_view(infer)}"
    return _ask(place, "application/sparql-update", text, accept, access)


def explain(
    url: str,
    text: str,
    accept: str,
    access: Access = _EVERYBODY,
    infer: bool | None = None,
    *,
    over: Members = NOTHING,
) -> str:
    """How the running gateway serves a query, as plain text or JSON; `over` as `notifications`."""
    place = f"{url}/explain{_view(infer, _words(over))}"
    return _ask(place, "application/sparql-query", text, accept, access)


def _words(over: Members) -> dict[str, str]:
    """Members of a request as parameters: lists with commas, what is more as JSON."""
    told = {name: ",".join(each) if isinstance(each, list) else each for name, each in over.items()}
    return {
        name: each if isinstance(each, str) else json.dumps(each) for name, each in told.items()
    }


def _view(infer: bool | None, others: Mapping[str, str] = NOTHING) -> str:
    """Parameters: the view a request is about, None leaves it to the gateway; then others."""
    view = {} if infer is None else {"infer": str(infer).lower()}
    parameters = urlencode({**view, **others})
    return f"?{parameters}" if parameters else ""


def call(url: str, method: str, body: object, access: Access = _EVERYBODY) -> Any:
    """The JSON that another endpoint answers with; `body` is sent as JSON, None sends none."""
    headers = {"Accept": "application/json", **access.headers(url)}
    if body is not None:
        headers["Content-Type"] = "application/json"
    text = None if body is None else json.dumps(body)
    answer = _send(url, method, headers, text, access)
    return json.loads(answer) if answer else None


def download(url: str, body: object, access: Access) -> Iterator[bytes]:
    """What is answered to a POST of `body` as JSON, in chunks, as long as it may be.

    Raises UnreachableError too where it is cut off.
    """
    headers = {"Content-Type": "application/json", **access.headers(url)}
    with _answer(url, "POST", headers, json.dumps(body), access) as answer:
        while chunk := answer.read(65_536):
            yield chunk


def print_table(console: Console, body: str) -> None:
    """A SPARQL JSON result as a table; an ASK as one word; anything else as it is."""
    try:
        answer = json.loads(body)
    except ValueError:
        console.out(body, highlight=False)
        return
    if "boolean" in answer:
        console.out("true" if answer["boolean"] else "false", highlight=False)
        return
    variables = answer["head"]["vars"]
    table = Table(*variables)
    for row in answer["results"]["bindings"]:
        table.add_row(*(Text(_term(row.get(name))) for name in variables))
    console.print(table)


def notifications(
    url: str,
    text: str,
    access: Access = _EVERYBODY,
    infer: bool | None = None,
    *,
    over: Members = NOTHING,
) -> Iterator[Mapping[str, Any]]:
    """Subscribe, then yield each notification until the socket is closed.

    `over` has the members `windows`, `output`, `mode` and `after` that the request has.

    Raises ClientError for what the gateway refuses, UnreachableError when it cannot be reached.
    """
    headers = access.headers(url)
    tls = access.context() if url.startswith("wss:") else None
    try:
        with connect(
            url, open_timeout=TIMEOUT_S, max_size=None, ssl=tls, additional_headers=headers
        ) as socket:
            view = {} if infer is None else {"infer": infer}
            socket.send(json.dumps({"subscribe": {"sparql": text, **view, **over}}))
            for message in socket:
                yield _notification(message)
    except ConnectionClosed as error:
        raise UnreachableError(f"{url} closed the connection: {error}") from error
    except (OSError, WebSocketException) as error:
        raise unreachable(url, error, access.ca) from error


def show_notification(out: TextIO, notification: Mapping[str, Any], *, colour: bool) -> None:
    """Added rows after a green `+`, removed ones after a red `-`."""
    for member, sign, code in (("removedResults", "-", "31"), ("addedResults", "+", "32")):
        results = notification.get(member) or {}
        variables = results.get("head", {}).get("vars", [])
        for row in results.get("results", {}).get("bindings", []):
            line = f"{sign} {_row(variables, row)}".rstrip()
            out.write(f"\x1b[{code}m{line}\x1b[0m\n" if colour else f"{line}\n")
    out.flush()


def federation_lines(notification: Mapping[str, Any]) -> Iterator[str]:
    """What a notification says of gateways that are not in it as they are now.

    >>> list(federation_lines({"federation": {"positions": {}, "missing": ["attic"]}}))
    ['missing: attic']
    """
    place = notification.get("federation") or {}
    if place.get("missing"):
        yield printable(f"missing: {', '.join(place['missing'])}")
    for name, since in place.get("stale", {}).items():
        at = datetime.fromtimestamp(since / 1e6, UTC)
        yield printable(f"stale: {name}, away since {at:%Y-%m-%d %H:%M:%S} UTC")
    for name, gap in place.get("gap", {}).items():
        yield printable(f"gap: {name}, events from {gap['from']} to {gap['to']} are lost")


def _ask(url: str, content_type: str, text: str, accept: str, access: Access) -> str:
    headers = {"Content-Type": f"{content_type}; charset=utf-8", "Accept": accept}
    return _post(url, {**headers, **access.headers(url)}, text, access)


def _post(url: str, headers: Mapping[str, str], text: str, access: Access) -> str:
    return _send(url, "POST", headers, text, access)


def _send(
    url: str, method: str, headers: Mapping[str, str], text: str | None, access: Access
) -> str:
    with _answer(url, method, headers, text, access) as answer:
        return answer.read().decode()


@contextmanager
def _answer(
    url: str, method: str, headers: Mapping[str, str], text: str | None, access: Access
) -> Iterator[HTTPResponse]:
    if not url.startswith(("http://", "https://")):
        raise BadRequestError(f"{url} is not an http or https URL")
    # Only http and https come here: urllib would read file: URLs too.
    data = None if text is None else text.encode()
    request = urllib.request.Request(url, data, dict(headers), method=method)  # noqa: S310
    try:
        with urllib.request.build_opener(_Https(access)).open(request, timeout=TIMEOUT_S) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        with error:
            refusal = _refusal(error.read().decode(errors="replace"), str(error))
            raise _with_hint(refusal, error.code, headers) from error
    except (OSError, HTTPException) as error:
        raise unreachable(url, error, access.ca) from error


def _with_hint(refusal: GatewayError, status: int, headers: Mapping[str, str]) -> GatewayError:
    """Who gave no credentials, or whose were refused, is told what to give."""
    if status != HTTPStatus.UNAUTHORIZED:
        return refusal
    if "Authorization" in headers:
        hint = "these credentials are of no client, or revoked: sosa-gateway client list"
    else:
        hint = "give --credentials FILE, or say it once: sosa-gateway login URL --credentials FILE"
    return ClientError(refusal.description, hint)


def _refusal(body: str, otherwise: str) -> GatewayError:
    """The error object of the gateway as an error; see gateway.errors."""
    try:
        return _error(json.loads(body))
    except (ValueError, TypeError, KeyError):
        return ClientError(body.strip() or otherwise)


def _error(members: Mapping[str, Any]) -> ClientError:
    said = f"{members['error']}: {members.get('error_description', '')}"
    return ClientError(said, _AGAIN if members["error"] == InvalidTokenError.code else "")


_AGAIN = "type it again, which takes a new token; [security] of the gateway says how long one lives"


def _notification(message: str | bytes) -> Mapping[str, Any]:
    members = json.loads(message)
    if "error" in members:
        raise _error(members)
    notification: Mapping[str, Any] = members["notification"]
    return notification


def _row(variables: Sequence[str], row: Bindings) -> str:
    return "  ".join(f"?{name}={_term(row[name])}" for name in variables if name in row)


def _term(term: Mapping[str, str] | None) -> str:
    """A term as people read it: IRIs in <>, literals with language or datatype unless a string."""
    if term is None:
        return ""
    value = printable(term["value"])
    if term["type"] == "uri":
        return f"<{value}>"
    if term["type"] == "bnode":
        return f"_:{value}"
    if language := term.get("xml:lang"):
        return f'"{value}"@{language}'
    kind = term.get("datatype", "").rpartition("#")[2]
    return value if kind in _PLAIN else f'"{value}"^^{kind}'


def printable(text: str) -> str:
    """The text without what a terminal would obey.

    >>> printable("a\\x1b[2J")
    'a\\\\x1b[2J'
    """
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""What a device may have put into a literal and no terminal should obey."""

_PLAIN = frozenset({"", "string", "integer", "decimal", "double", "float", "boolean"})
