"""Why a gateway cannot be asked, as a person can mend it: the true cause, not that of a library."""

import socket
import ssl
from urllib.parse import urlsplit

from gateway.errors import UnreachableError

_PROBE_S = 5.0
_IS_IT_RUNNING = "is the gateway running there? --url, or sosa-gateway login, says where"


def unreachable(url: str, error: BaseException) -> UnreachableError:
    """The error for what happened at a URL (http, https, ws, wss)."""
    cause = _root(error)
    parts = urlsplit(url)
    place = parts.netloc
    if isinstance(cause, ssl.SSLCertVerificationError):
        return UnreachableError(
            f"{place} has a certificate that is not trusted: {cause.verify_message}",
            "give --ca FILE, which `sosa-gateway ca` tells at the gateway, or say it once to login",
        )
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
    return UnreachableError(f"cannot ask {url}: {cause}", _IS_IT_RUNNING)


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
