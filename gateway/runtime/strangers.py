"""`STRANGERS`: what unknown peers do at our ports, counted, and told in one line a minute.

Place: beside every server of the process. What does not speak the protocol of a port is no fault of
ours and nothing to mend, but it never stops where a port is open to a network. Libraries tell of it
for each connection, with tracebacks: `quiet_libraries` has those lines counted here instead.
"""

import logging
import ssl
from collections import Counter
from collections.abc import Mapping

from gateway.runtime.log_lines import LogLines

log = logging.getLogger(__name__)

_EACH_S = 60.0
_LIBRARIES = {
    "uvicorn.error": {
        "Invalid HTTP request received.": "",
        "Unsupported upgrade request.": "",
        "Invalid UTF-8 sequence received from client.": "websocket",
        "ASGI callable returned without completing handshake.": "websocket",
    },
    "asyncio": {
        "socket.send() raised exception.": "",
        "SSL connection is closed": "",
    },
    "amqtt.broker": {"Broker startup failed": ""},
}
"""What libraries say of peers, and how it is counted; "" for what is counted where it happens.

Of a broker that does not start, the error that is raised tells all.
"""


class Strangers:
    """Counts by what they did (`http`, `tls`, `websocket`); for one thread, the event loop's."""

    def __init__(self, each_s: float = _EACH_S) -> None:
        self._lines = LogLines(each_s)
        self._all: Counter[str] = Counter()
        self._untold: Counter[str] = Counter()

    @property
    def counts(self) -> Mapping[str, int]:
        """All since the start."""
        return self._all

    def saw(self, did: str, peer: object = None) -> None:
        """Count one; a line where a minute has passed since the last one."""
        self._all[did] += 1
        self._untold[did] += 1
        if self._lines.due(""):
            log.info("strangers", extra={**self._untold, "last": peer})
            self._untold.clear()


STRANGERS = Strangers()
"""Those of this process, whose libraries have one log."""


class _Diverted(logging.Filter):
    """Counts what strangers do, and lets everything else pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        did = _LIBRARIES[record.name].get(str(record.msg))
        if did:
            STRANGERS.saw(did)
        return did is None


_DIVERTED = _Diverted()


def quiet_libraries() -> None:
    """Have what libraries say of strangers counted; again is as good as once."""
    for name in _LIBRARIES:
        logging.getLogger(name).addFilter(_DIVERTED)


class WatchedTls(ssl.SSLObject):
    """The server's side of TLS; a handshake that fails is counted, which servers tell nobody."""

    def do_handshake(self) -> None:
        """As in ssl. Raises SSLError."""
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError:
            STRANGERS.saw("tls")
            raise
