"""Why a gateway cannot be asked, as a person can mend it: the true cause, not that of a library."""

import socket
import ssl
from http.client import BadStatusLine
from pathlib import Path
from urllib.parse import urlsplit

from websockets.exceptions import InvalidMessage

from gateway.errors import UnreachableError

_PROBE_S = 5.0
_HTTP_PORT = "name the port of [http], 8000 where nothing is set; 1883 is that of MQTT"
_IS_IT_RUNNING = "is the gateway running there? --url, or sosa-gateway login, says where"


def unreachable(url: str, error: BaseException, ca: Path | None = None) -> UnreachableError:
    """The error for what happened at a URL (http, https, ws, wss), where this CA was trusted."""
    cause = _root(error)
    parts = urlsplit(url)
    place = parts.netloc
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _not_trusted(place, cause, ca)
    if isinstance(cause, ssl.SSLError):
        return UnreachableError(f"{place} does not speak TLS ({cause.reason})", "write http://")
    if isinstance(cause, socket.gaierror):
        return UnreachableError(f"there is no host {parts.hostname!r}", "correct the name in --url")
    if isinstance(cause, ConnectionRefusedError):
        return UnreachableError(f"nothing listens at {place}", _IS_IT_RUNNING)
    if isinstance(cause, TimeoutError):
        return UnreachableError(f"{place} does not answer in time", _IS_IT_RUNNING)
    if parts.scheme in {"http", "ws"} and _speaks_tls(parts.hostname or "", parts.port or 80):
        return UnreachableError(f"{place} speaks TLS", "write https://")
    if isinstance(cause, BadStatusLine | InvalidMessage | ConnectionResetError | EOFError):
        return UnreachableError(f"{place} does not speak HTTP", _HTTP_PORT)
    return UnreachableError(f"cannot ask {url}: {cause}", _IS_IT_RUNNING)


def _not_trusted(
    place: str, cause: ssl.SSLCertVerificationError, ca: Path | None
) -> UnreachableError:
    given = f", not by {ca} either" if ca is not None else ""
    told = f"{place} has a certificate that is not trusted{given}: {cause.verify_message}"
    return UnreachableError(told, _TO_TRUST.get(cause.verify_code, _GIVE_CA[ca is not None]))


_GIVE_CA = (
    "give --ca FILE, which `sosa-gateway ca` tells at the gateway, or say it once to login",
    "give --ca the file that `sosa-gateway ca` tells at this very gateway",
)
_NAME = "use a name that is in it, or add this one to [http] hosts of the gateway"
_TO_TRUST = {
    9: "set the clock of this computer: timedatectl set-ntp true",
    10: "see whether the clock of this computer is right, then renew the certificate",
    62: _NAME,
    64: _NAME,
}
"""By the codes of OpenSSL's X509_verify_cert: not yet valid, expired, another name, address."""


def _root(error: BaseException) -> BaseException:
    """What a library has wrapped: `URLError.reason`, or the cause."""
    while True:
        inner = getattr(error, "reason", None)
        if not isinstance(inner, BaseException):
            inner = error.__cause__
        if not isinstance(inner, BaseException):
            return error
        error = inner


def _speaks_tls(host: str, port: int) -> bool:
    """Asked where plain HTTP was answered by nothing; any certificate will do, nothing is sent."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), _PROBE_S) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            return True
    except OSError:
        return False
