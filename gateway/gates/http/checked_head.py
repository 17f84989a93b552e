"""`CheckedConnection`: HTTP/1.1 parsing that h11 leaves open, and why a request was refused.

Place on the way of the data: inside a connection of the HTTP server, before anything of a request
is known. Content-Length and Transfer-Encoding in one request are how another one is smuggled past a
proxy that believes the other field. Sources: RFC 9112, sections 3 and 6.3; RFC 9110, 15.5.15
(414); RFC 6585, section 5 (431).
"""

from http import HTTPStatus

import h11

_Received = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]
_BOTH = {b"content-length", b"transfer-encoding"}


class CheckedConnection(h11.Connection):
    """The server's side of a connection; `most` bounds the head of a request, and its target."""

    def __init__(self, most: int) -> None:
        super().__init__(h11.SERVER, most)
        self.refusal = HTTPStatus.BAD_REQUEST
        self._most = most
        self._came = 0

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the socket; b"" at its end."""
        self._came += len(data)
        super().receive_data(data)

    def next_event(self) -> _Received:
        """The next event. Raises RemoteProtocolError, with its status in `refusal`."""
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            self.refusal = self._status_of(error)
            raise
        if isinstance(event, h11.Request):
            self._check(event)
            self._came = 0
        return event

    def _status_of(self, error: h11.RemoteProtocolError) -> HTTPStatus:
        """h11 tells no request line that is too long from fields that are."""
        status = HTTPStatus(error.error_status_hint)
        is_too_long = status is HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        if is_too_long and self.our_state is h11.IDLE and b"\n" not in self.trailing_data[0]:
            return HTTPStatus.REQUEST_URI_TOO_LONG
        return status

    def _check(self, request: h11.Request) -> None:
        if self._came > self._most:  # else neither can be too long; h11 looks at heads in parts
            if len(request.target) > self._most:
                self._refuse("the target is too long", HTTPStatus.REQUEST_URI_TOO_LONG)
            if sum(len(name) + len(value) for name, value in request.headers) > self._most:
                status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                self._refuse("the header fields are too large", status)
        if {name for name, _ in request.headers} >= _BOTH:
            self._refuse("Content-Length and Transfer-Encoding", HTTPStatus.BAD_REQUEST)

    def _refuse(self, reason: str, status: HTTPStatus) -> None:
        self.refusal = status
        raise h11.RemoteProtocolError(reason, error_status_hint=status)
