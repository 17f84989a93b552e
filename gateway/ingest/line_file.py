"""`LineFile`: lines on the disk that are appended one by one, and written anew now and then.

Place on the way of the data: under the quarantine, and what the gateway says of itself. An append
survives kill -9 once it has returned; a rewrite is whole or not there.
"""

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

log = logging.getLogger(__name__)

_RETRY_S = 10.0
"""How often a file that could not be written is tried again."""


class LineFile:
    """Lines on the disk. While `is_behind` it does not have what it should."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_behind = False
        self.size = 0
        self._path = path
        self._clock = clock
        self._tried_at = float("-inf")

    def lines(self) -> Iterator[bytes]:
        """All whole ones; a torn last one is passed over."""
        try:
            with self._path.open("rb") as file:
                for line in file:
                    self.size += len(line)
                    if line.endswith(b"\n"):
                        yield line
                    else:
                        self.is_behind = True
        except FileNotFoundError:
            pass
        except OSError as error:
            self.is_behind = True
            log.error("lines_not_read", extra={"path": str(self._path), "reason": str(error)})

    def append(self, line: bytes) -> None:
        """Raises OSError; then it is behind."""
        try:
            with _opened(self._path, os.O_APPEND) as file:
                file.write(line)
        except OSError:
            self.is_behind = True
            self._tried_at = self._clock()
            raise
        self.size += len(line)

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Have these lines and no others; not tried again and again. Raises OSError."""
        now = self._clock()
        if self.is_behind and now - self._tried_at < _RETRY_S:
            return
        self.is_behind, self._tried_at = True, now
        new = self._path.with_suffix(".new")
        with _opened(new, os.O_TRUNC) as file:
            self.size = sum(map(file.write, lines))
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
        self.is_behind = False


def _opened(path: Path, flags: int) -> IO[bytes]:
    """For writing; payloads are nobody else's business."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600), "wb")
