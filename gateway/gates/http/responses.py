"""Answers of the HTTP gates: results as they were negotiated, errors as SEPA's error object.

Place on the way of the data: its last step by HTTP. Sources: RFC 9110, sections 12.5.5 (Vary) and
10.2.3 (Retry-After); SPARQL 1.1 SE protocol (SEPA's drafts), errors.
"""

import math
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from gateway.errors import (
    FederationIncompleteError,
    GatewayError,
    OverloadedError,
    QueryTimeoutError,
    StorageError,
    TooManyRequestsError,
    UnauthorizedError,
)
from gateway.gates.http.caller import PeerLeftError
from gateway.gates.http.rendering import Answer
from gateway.gates.protocol.wire import error_object

_LATER_S = 5
"""When to try again what failed for a reason that may pass: a disk that is full, a slow query."""


def answer_response(answer: Answer, more: Mapping[str, str] | None = None) -> Response:
    """What was asked for, as Accept and Accept-Encoding chose it, with `more` headers."""
    headers = {"Vary": "Accept, Accept-Encoding", **(more or {})}
    if answer.coding:
        headers["Content-Encoding"] = answer.coding
    return Response(answer.body, media_type=answer.media_type, headers=headers)


def refusal(
    code: str, description: str, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    """The error object."""
    return JSONResponse(error_object(code, description, status), status, headers)


def error_response(error: GatewayError) -> Response:
    """The error object of an error of ours, with Retry-After where trying again may help."""
    headers = None
    if isinstance(error, TooManyRequestsError | OverloadedError):
        headers = {"Retry-After": str(math.ceil(error.retry_after_s))}
    elif isinstance(error, UnauthorizedError):
        headers = {"WWW-Authenticate": "Bearer"}
    elif isinstance(error, QueryTimeoutError | StorageError | FederationIncompleteError):
        headers = {"Retry-After": str(_LATER_S)}
    return refusal(error.code, str(error), error.http_status, headers)


def _answer_gateway_error(_: Request, error: Exception) -> Response:
    """For Starlette's table of exceptions, which is typed loosely, as those below."""
    assert isinstance(error, GatewayError)  # noqa: S101
    return error_response(error)


def _answer_http_exception(_: Request, error: Exception) -> Response:
    """No such path (404) or method (405, with Allow)."""
    assert isinstance(error, HTTPException)  # noqa: S101
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    headers = dict(error.headers or {})
    if "Allow" in headers:
        headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
    return refusal(code, error.detail, error.status_code, headers)


def _answer_disconnect(_: Request, __: Exception) -> Response:
    """The client went away: nobody reads this."""
    return Response(status_code=400)


def _answer_internal_error(_: Request, __: Exception) -> Response:
    """A defect of ours; uvicorn logs it."""
    return refusal(GatewayError.code, "the gateway failed; its log says why", 500)


EXCEPTION_HANDLERS: Mapping[Any, Callable[[Request, Exception], Response]] = {
    GatewayError: _answer_gateway_error,
    HTTPException: _answer_http_exception,
    ClientDisconnect: _answer_disconnect,
    PeerLeftError: _answer_disconnect,
    Exception: _answer_internal_error,
}
"""How an application answers what its handlers raise."""
