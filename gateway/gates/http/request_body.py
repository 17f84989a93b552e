"""The body of a request, read within limits: its size, its time, its content coding.

Place on the way of the data: first step of every gate that takes a body. Sources: RFC 9110,
sections 8.4 (content codings), 15.5.9 (408), 15.5.14 (413) and 15.5.16 (415).
"""

import asyncio
import zlib
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from gateway.config.limits import DEFAULT_LIMITS
from gateway.errors import (
    BadRequestError,
    RequestTimeoutError,
    TooLargeError,
    UnsupportedMediaTypeError,
)

_GZIP = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Longest body of a request, decoded or not, and how long it may take to come."""

    body_bytes: int = DEFAULT_LIMITS.request_bytes
    body_timeout_s: float = DEFAULT_LIMITS.request_s


async def read_body(request: Request, limits: RequestLimits) -> bytes:
    """The whole body, decoded. Raises RequestTimeoutError, TooLargeError and what `_decoded` does.

    What is declared too long is refused before it is read.
    """
    headers = request.headers
    coding = headers.get("content-encoding", "identity").strip().lower()
    _check_length(int(headers.get("content-length", "0")), limits)
    try:
        async with asyncio.timeout(limits.body_timeout_s):
            body = await _received(request, limits)
    except TimeoutError as error:
        raise RequestTimeoutError(
            f"the body took longer than {limits.body_timeout_s:g} s", "send it faster"
        ) from error
    return _decoded(body, coding, limits)


async def _received(request: Request, limits: RequestLimits) -> bytes:
    """All of it, chunk by chunk."""
    chunks: list[bytes] = []
    length_bytes, more = 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunks.append(message.get("body", b""))
        length_bytes += len(chunks[-1])
        _check_length(length_bytes, limits)
        more = message.get("more_body", False)
    return b"".join(chunks)


def media_type(content_type: str) -> str:
    """The media type without parameters. Raises UnsupportedMediaTypeError for a foreign charset.

    >>> media_type('Text/Turtle; charset="UTF-8"')
    'text/turtle'
    """
    name, *parameters = (part.strip().lower() for part in content_type.split(";"))
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "charset" and value.strip(' "') not in {"utf-8", "us-ascii"}:
            raise UnsupportedMediaTypeError(f"cannot read {parameter}", "encode the text as UTF-8")
    return name


def utf_8(body: bytes) -> str:
    """The body as text. Raises BadRequestError."""
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise BadRequestError(f"the body is not UTF-8: {error}", "encode it as UTF-8") from error


def _decoded(body: bytes, coding: str, limits: RequestLimits) -> bytes:
    """Raises UnsupportedMediaTypeError, BadRequestError, and TooLargeError while it unpacks."""
    if coding == "identity":
        return body
    if coding not in {"gzip", "x-gzip"}:
        raise UnsupportedMediaTypeError(f"cannot read Content-Encoding {coding}", "use gzip")
    unpacking = zlib.decompressobj(_GZIP)
    try:
        text = unpacking.decompress(body, limits.body_bytes + 1)
    except zlib.error as error:
        raise BadRequestError(f"the body is not gzip: {error}", "send it as it is") from error
    _check_length(len(text), limits)
    if not unpacking.eof or unpacking.unused_data:
        raise BadRequestError("the body is not one whole gzip member", "send it as it is")
    return text


def _check_length(length_bytes: int, limits: RequestLimits) -> None:
    if length_bytes > limits.body_bytes:
        raise TooLargeError(
            f"the body is longer than {limits.body_bytes} bytes",
            "send it in several requests, or raise [limits] request_bytes",
        )
