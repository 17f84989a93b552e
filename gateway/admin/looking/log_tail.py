"""`LogTail`: the last lines of the log, in memory.

Place: a handler of the root logger while a gateway runs, beside the one that writes them; read by
GET /log. Bounded in lines, in bytes, and in the length of a line.
"""

import logging
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.admin.looking.secrets import bared

MOST_LINES = 500
MOST_BYTES = 256 * 1024
LINE_BYTES = 2048


@dataclass(frozen=True, slots=True)
class LogLine:
    """An event of the log; `text` without its time, level and logger."""

    at: datetime
    level: str
    logger: str
    text: str

    @property
    def size(self) -> int:
        """In bytes, as UTF-8."""
        return len(self.text.encode()) + len(self.logger.encode()) + len(self.level)


class LogTail(logging.Handler):
    """Keeps the last lines; may be used from any thread.

    >>> tail = LogTail(logging.Formatter())
    >>> record = logging.makeLogRecord({"name": "gateway", "msg": "serving", "levelname": "INFO"})
    >>> tail.handle(record) is not None and [line.text for line in tail.last(5)]
    ['serving']
    """

    def __init__(self, formatter: logging.Formatter) -> None:
        """`formatter` gives an event's text alone."""
        super().__init__()
        self.setFormatter(formatter)
        self._lines: deque[LogLine] = deque()
        self._bytes = 0

    @property
    def size_bytes(self) -> int:
        """How long the lines are."""
        return self._bytes

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it; called with the lock held."""
        try:
            text = self.format(record)
        except Exception:  # a wrong call of a library must not end what logs it
            self.handleError(record)
            return
        at = datetime.fromtimestamp(record.created, UTC)
        name = _cut(record.name, 200)
        line = LogLine(at, record.levelname.lower(), name, _cut(bared(text[:8192]), LINE_BYTES))
        self._lines.append(line)
        self._bytes += line.size
        while len(self._lines) > MOST_LINES or self._bytes > MOST_BYTES:
            self._bytes -= self._lines.popleft().size

    def last(self, count: int) -> list[LogLine]:
        """The last ones, the oldest first."""
        self.acquire()
        try:
            return list(self._lines)[-count:] if count > 0 else []
        finally:
            self.release()


def _cut(text: str, most: int) -> str:
    """At most so many bytes as UTF-8, and of whole characters; what UTF-8 has not becomes `?`."""
    data = text.encode(errors="replace")
    if len(data) <= most:
        return data.decode()
    return data[: most - 3].decode(errors="ignore") + "…"
