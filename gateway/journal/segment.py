"""One raw segment: the file that is appended to, and reading any segment back.

Place on the way of the data: below the journal. A raw segment is JSON Lines whose first line is
the header; after kill -9 its last line may be torn, and was never acknowledged.
"""

import gzip
import logging
import os
import zlib
from collections.abc import Callable, Iterator
from errno import ENOSPC
from pathlib import Path
from typing import BinaryIO

from gateway.journal.names import SEALED, SegmentName, raw_start
from gateway.journal.record import Position, Record, is_observation

log = logging.getLogger(__name__)


class Segment:
    """One file of the journal, open for appending; `header` goes before the first line."""

    def __init__(self, path: Path, header: bytes) -> None:
        self.path = path
        self.records = 0
        self.size = 0
        self.is_broken = False
        self.header = header
        self._file = path.open("ab", buffering=0)
        sync_folder(path.parent)

    def write(self, lines: list[bytes], *, fsync: bool) -> int:
        """Append whole lines; tells the bytes. Raises OSError and leaves the file as it was."""
        data = b"".join([self.header, *lines] if self.size == 0 else lines)
        try:
            written = self._file.write(data)
            if written != len(data):
                raise OSError(ENOSPC, "the disk is full")
            if fsync:
                os.fsync(self._file.fileno())
        except OSError:
            # After a failed fsync the kernel may have dropped pages: never append here again.
            self.is_broken = True
            self._file.truncate(self.size)
            raise
        self.size += len(data)
        self.records += len(lines)
        return len(data)

    def cut(self, size: int) -> None:
        """Forget what was written behind so many bytes; raises OSError."""
        try:
            self._file.truncate(size)
        except OSError:
            self.is_broken = True
            raise
        self.size = size

    def fsync(self) -> None:
        """Make durable what was written without; raises OSError."""
        try:
            os.fsync(self._file.fileno())
        except OSError:
            self.is_broken = True
            raise

    def close(self) -> None:
        """Close the file; an empty one is removed."""
        self._file.close()
        if self.size == 0:
            self.path.unlink(missing_ok=True)


def read_segment(path: Path, behind: Position | None = None) -> Iterator[Record]:
    """The observations of a segment, raw or sealed; a line that is not whole is passed over.

    Of a raw one those up to a position are passed over unread. Linear in the others.
    """
    if path.name.endswith(SEALED):
        epoch = SegmentName.parse(path.name).start.epoch
        with gzip.open(path, "rb") as lines:
            yield from _records(epoch, _undamaged(path, iter(lines)))
    else:
        with path.open("rb") as lines:
            epoch = raw_start(path).epoch
            if behind is not None:
                seek_behind(lines, lambda line: _is_before(epoch, line, behind))
            yield from _records(epoch, iter(lines))


def _is_before(epoch: int, line: bytes, behind: Position) -> bool | None:
    """Whether a line is an observation up to a position; None where it is no observation."""
    record = next(_records(epoch, iter((line,))), None)
    return None if record is None else record.position <= behind


def seek_behind(file: BinaryIO, is_before: Callable[[bytes], bool | None]) -> None:
    """Go to where those lines end that are before a place, in a file whose lines are in order.

    A line of which None is said has no place: the next one counts that has. Reads so many lines
    as the logarithm of the size, and those without a place that are met.
    """
    low, high = 0, file.seek(0, os.SEEK_END)
    while low < high:
        middle = (low + high) // 2
        end = _end_of_line_before(file, middle, is_before)
        if end is None:
            high = middle
        else:
            low = end
    file.seek(low)


def _end_of_line_before(
    file: BinaryIO, start: int, is_before: Callable[[bytes], bool | None]
) -> int | None:
    """Where the first line ends that begins at `start` or later and has a place, if that is before.

    One that is not whole is the last, and nothing is known of it.
    """
    file.seek(max(0, start - 1))
    if start:
        file.readline()
    while (line := file.readline()).endswith(b"\n"):
        known = is_before(line)
        if known is not None:
            return file.tell() if known else None
    return None


def _records(epoch: int, lines: Iterator[bytes]) -> Iterator[Record]:
    for line in lines:
        if line.endswith(b"\n") and is_observation(line):
            try:
                yield Record.decode(epoch, line)
            except ValueError:
                log.warning("journal_line_damaged", extra={"epoch": epoch})


def _undamaged(path: Path, lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of a gzip file as far as it is what was written."""
    try:
        yield from lines
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        log.warning("segment_damaged", extra={"segment": path.name, "reason": str(error)})


def cut_torn_tail(path: Path) -> None:
    """Cut a raw segment behind its last whole line; one without any observation is removed."""
    cut_torn_lines(path)
    with path.open("rb") as file:
        first, second = file.readline(), file.readline()
    if not first or (first.startswith(b'{"schema"') and not second):
        path.unlink()
        sync_folder(path.parent)


def cut_torn_lines(path: Path) -> None:
    """Cut a file behind its last whole line."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        end = _end_of_lines(file.fileno(), size)
        if end < size:
            file.truncate(end)
            os.fsync(file.fileno())


def _end_of_lines(descriptor: int, size: int) -> int:
    """Where the last whole line ends, looked for from the end."""
    position = size
    while position > 0:
        start = max(0, position - 65536)
        newline = os.pread(descriptor, position - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        position = start
    return 0


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
