"""The OAuth gate: registration, tokens, their revocation and the keys that verify them.

What it gives out, a client shows to all other gates. Sources: SPARQL 1.1 SE protocol (SEPA's
drafts; Roffia et al., "Dynamic Linked Data: A SPARQL Event Processing Architecture", 2018, sections
3.4 and 3.5): JSON, answered with 201. RFC 6749, 4.4 and 5: a form, answered with 200. RFC 7009
(revocation), RFC 7517 (keys). A token is given twice, flat and inside `token`: SEPA's clients read
the one or the other.
"""

import asyncio
from base64 import b64decode
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import (
    AcceptError,
    BadRequestError,
    ContentTypeError,
    GrantRefusedError,
    GrantTypeError,
    InvalidClientError,
    NoCredentialsError,
    RequestTimeoutError,
    TooLargeError,
    UnknownClientError,
)
from gateway.gates.protocol.json_text import read_json
from gateway.security.authority import Authority, Issued

_FORM = "application/x-www-form-urlencoded"
_GRANT = "client_credentials"
_MOST_BYTES = 65_536
_BODY_S = 10.0
_PRIVATE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class OAuthGate:
    """The endpoints below /oauth, and /.well-known."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        return [
            Route("/oauth/register", self._register, methods=["POST"]),
            Route("/oauth/token", self._token, methods=["POST"]),
            Route("/oauth/revoke", self._revoke, methods=["POST"]),
            Route("/oauth/jwks", self._jwks),
            Route("/.well-known/jwks.json", self._jwks),
        ]

    async def _register(self, request: Request) -> Response:
        _require_json_answer(request)
        if _media_type(request) != "application/json":
            raise ContentTypeError("a registration is JSON", "send Content-Type: application/json")
        name, grants = _registration(await _body(request))
        if _GRANT not in grants:
            raise GrantRefusedError(
                "only client credentials are granted", f'send "grant_types": ["{_GRANT}"]'
            )
        credentials = await self._authority.register(name, _address(request))
        members = {
            "client_id": credentials.client_id,
            "client_secret": credentials.client_secret,
            "signature": self._authority.public_keys()[0],
        }
        return JSONResponse({"credentials": members}, 201, _PRIVATE)

    async def _token(self, request: Request) -> Response:
        _require_json_answer(request)
        media_type = _media_type(request)
        if media_type == _FORM:
            return await self._token_by_form(request)
        if media_type not in {"", "application/json"}:
            raise ContentTypeError("the body is neither JSON nor a form", f"use {_FORM}")
        await _body(request)
        issued = await self._authority.issue(*_basic(request), _address(request))
        members = _members(issued)
        return JSONResponse({**members, "token": members}, 201, _PRIVATE)

    async def _token_by_form(self, request: Request) -> Response:
        form = _form(await _body(request))
        if form.get("grant_type") != _GRANT:
            raise GrantTypeError("only client credentials are granted", f"send grant_type={_GRANT}")
        try:
            issued = await self._authority.issue(*_client(request, form), _address(request))
        except UnknownClientError as error:  # which RFC 6749, 5.2 calls by another name
            raise InvalidClientError(error.description, error.hint) from error
        members = _members(issued)
        return JSONResponse({**members, "token": members}, 200, _PRIVATE)

    async def _revoke(self, request: Request) -> Response:
        """Whoever has a token may revoke it; one that is none is answered alike."""
        token = _form(await _body(request)).get("token")
        if not token:
            raise BadRequestError("no token to revoke", "send token=<token> as a form")
        await self._authority.revoke(token)
        return Response(status_code=200, headers=_PRIVATE)

    async def _jwks(self, _: Request) -> Response:
        return JSONResponse({"keys": self._authority.public_keys()})


def _members(issued: Issued) -> dict[str, object]:
    return {
        "access_token": issued.access_token,
        "token_type": "bearer",
        "expires_in": issued.expires_in_s,
    }


def _registration(body: str) -> tuple[str, list[object]]:
    """Identity and grant types of SEPA's request; members we do not know are ignored."""
    try:
        register = read_json(body)["register"]
        name, grants = register["client_identity"], register["grant_types"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise BadRequestError(
            "this is no registration",
            'send {"register": {"client_identity": "...", "grant_types": ["client_credentials"]}}',
        ) from error
    if not isinstance(name, str) or not isinstance(grants, list):
        raise BadRequestError('"client_identity" is a string and "grant_types" a list')
    return name, grants


def _client(request: Request, form: Mapping[str, str]) -> tuple[str, str]:
    """Client id and secret, in the header or in the form (RFC 6749, 2.3.1)."""
    if "authorization" not in request.headers and {"client_id", "client_secret"} <= form.keys():
        return form["client_id"], form["client_secret"]
    return _basic(request)


def _basic(request: Request) -> tuple[str, str]:
    """Client id and secret of the Basic scheme (RFC 7617)."""
    scheme, _, credentials = request.headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() != "basic":
        raise NoCredentialsError(
            "the request has no credentials", "send Authorization: Basic base64(id:secret)"
        )
    try:
        decoded = b64decode(credentials.strip(), validate=True).decode()
    except ValueError:
        decoded = ""
    client_id, colon, secret = decoded.partition(":")
    if not colon:
        raise InvalidClientError("the Basic credentials cannot be read", "send base64(id:secret)")
    return client_id, secret


def _form(body: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(body, keep_blank_values=True, errors="strict", max_num_fields=20))
    except ValueError as error:
        raise BadRequestError("the form cannot be read") from error


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _require_json_answer(request: Request) -> None:
    accepted = ",".join(request.headers.getlist("accept")) or "*/*"
    ranges = {each.partition(";")[0].strip().lower() for each in accepted.split(",")}
    if not ranges & {"application/json", "application/*", "*/*"}:
        raise AcceptError("the answer is JSON", "send Accept: application/json")


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


async def _body(request: Request) -> str:
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise TooLargeError(f"the body is longer than {_MOST_BYTES} bytes")
        return body.decode()
    except TimeoutError as error:
        raise RequestTimeoutError(f"the body took longer than {_BODY_S:g} s") from error
    except UnicodeDecodeError as error:
        raise BadRequestError("the body is not UTF-8") from error
