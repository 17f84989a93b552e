"""The head of a request, checked where h11 leaves it open: how long it is, how its body is framed.

Place on the way of the data: inside a connection of the HTTP server, before anything is done about
a request. Content-Length and Transfer-Encoding in one are how another request is smuggled past a
proxy that believes the other field. Sources: RFC 9112, sections 3 and 6.3; RFC 9110, 15.5.15 (414);
RFC 6585, section 5 (431).
"""

from collections.abc import Sequence
from http import HTTPStatus

import h11

_BOTH = {b"content-length", b"transfer-encoding"}


class HeadRefusedError(Exception):
    """A request that is not even looked at; the connection ends."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


def check_framing(headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Raise HeadRefusedError where the body is framed twice; names are in lower case."""
    if {name for name, _ in headers} >= _BOTH:
        raise HeadRefusedError(HTTPStatus.BAD_REQUEST)


def check_length(target_bytes: int, headers: Sequence[tuple[bytes, bytes]], most: int) -> None:
    """Raise HeadRefusedError where the target, or all fields together, have more bytes."""
    if target_bytes > most:
        raise HeadRefusedError(HTTPStatus.REQUEST_URI_TOO_LONG)
    if sum(len(name) + len(value) for name, value in headers) > most:
        raise HeadRefusedError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)


def status_of(error: BaseException | None, connection: h11.Connection) -> HTTPStatus:
    """How what h11 made of a head is answered; it tells no long target from long fields."""
    if not isinstance(error, h11.RemoteProtocolError):
        return HTTPStatus.BAD_REQUEST
    status = HTTPStatus(error.error_status_hint)
    is_too_long = status is HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    if (
        is_too_long
        and connection.our_state is h11.IDLE
        and b"\n" not in connection.trailing_data[0]
    ):
        return HTTPStatus.REQUEST_URI_TOO_LONG
    return status
