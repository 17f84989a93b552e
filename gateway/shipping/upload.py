"""A landing zone behind HTTP: a collector (gateway.gates.collector) takes each segment by PUT.

The answer says what the collector has on its disk, by SHA-256 (Content-Digest, RFC 9530). A token
goes over HTTPS, or to this machine.
"""

import http.client
import json
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

from gateway.errors import ConfigurationError, ShippingError
from gateway.shipping.zone import BLOCK, Parcel, require_same, shown

_TIMEOUT_S = 60.0
_LONGEST_ANSWER = 65_536
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Collector:
    """A collector as a landing zone; `token` is asked for each connection, "" for none."""

    def __init__(
        self,
        url: str,
        token: Callable[[], str],
        ca_file: Path | None = None,
        *,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:
        """Raises ConfigurationError for an address that a token must not go to."""
        parts = urlsplit(url)
        self._shown = shown(url)
        self._host, self._port = parts.hostname or "", parts.port
        self._path = f"{parts.path.rstrip('/')}/segments/"
        self._is_secure = parts.scheme == "https"
        self._token = token
        self._ca_file = ca_file
        self._timeout_s = timeout_s
        self._connection: http.client.HTTPConnection | None = None
        if not self._host:
            raise ConfigurationError(
                f"[shipping] to: {self._shown} names no host", "write https://host/"
            )
        if not self._is_secure and self._host not in _LOOPBACK:
            raise ConfigurationError(
                f"[shipping] to: {self._shown} would show the token to everyone on the way",
                "use https://",
            )

    def deliver(self, parcel: Parcel) -> None:
        """Ask for the SHA-256 that is there, send the file unless it is the same."""
        try:
            status, answer = self._ask("GET", parcel)
            if status == 404 or answer.get("sha256") not in {None, parcel.sha256}:
                status, answer = self._ask("PUT", parcel)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise ShippingError(
                f"{self._shown}: {type(error).__name__}: {error}",
                "check the address and the network; it is tried again",
            ) from error
        if status not in {200, 201}:
            self.close()
            raise ShippingError(
                f"{self._shown} answered {status} for {parcel.name}: "
                f"{answer.get('error_description', '')}",
                "check [shipping] token_file and the collector's log; it is tried again",
            )
        require_same(str(answer.get("sha256")), parcel, self._shown)

    def close(self) -> None:
        """Close the connection; the next delivery opens one."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _ask(self, method: str, parcel: Parcel) -> tuple[int, dict[str, object]]:
        """Ask what the collector has of a segment (GET), or give it (PUT)."""
        connection = self._connected()
        token = self._token()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        place = self._path + quote(parcel.name)
        if method == "GET":
            connection.request("GET", place, headers=headers)
        else:
            digest = b64encode(bytes.fromhex(parcel.sha256)).decode()
            headers |= {
                "Content-Type": "application/octet-stream",
                "Content-Length": str(parcel.size),
                "Content-Digest": f"sha-256=:{digest}:",
            }
            with parcel.path.open("rb") as file:
                connection.request("PUT", place, _blocks(file.read), headers)
        return self._answer(connection.getresponse())

    def _answer(self, response: http.client.HTTPResponse) -> tuple[int, dict[str, object]]:
        body = response.read(_LONGEST_ANSWER)
        if response.will_close or not response.isclosed():
            self.close()
        try:
            answer = json.loads(body)
        except ValueError:
            answer = {}
        return response.status, answer if isinstance(answer, dict) else {}

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> http.client.HTTPConnection:
        if not self._is_secure:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)
        context = ssl.create_default_context(cafile=self._ca_file)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=self._timeout_s, context=context
        )


def _blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while block := read(BLOCK):
        yield block
