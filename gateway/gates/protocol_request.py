"""QUERY and UPDATE as requests of the SPARQL 1.1 Protocol (W3C, 2013, sections 2.1 and 2.2).

Place on the way of the data: from a request of the HTTP gate to the text of an operation with its
dataset.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from pyoxigraph import NamedNode
from starlette.requests import Request

from gateway.errors import (
    BadRequestError,
    RequestTimeoutError,
    TooLargeError,
    UnsupportedMediaTypeError,
)
from gateway.gates.messages import graph_names

_FORM = "application/x-www-form-urlencoded"
_MOST_PARAMETERS = 1000


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
class Names:
    """How the protocol calls the parts of an operation."""

    parameter: str
    media_type: str
    default_graphs: str
    named_graphs: str


QUERY = Names("query", "application/sparql-query", "default-graph-uri", "named-graph-uri")
UPDATE = Names("update", "application/sparql-update", "using-graph-uri", "using-named-graph-uri")

Parameters = Sequence[tuple[str, str]]


async def read_operation(request: Request, names: Names, limits: RequestLimits) -> Operation:
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


def _operation(text: str, parameters: Parameters, names: Names) -> Operation:
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
