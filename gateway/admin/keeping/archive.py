"""The file that a backup is: members of a tar, as gzip, encrypted where somebody wants that.

    backup.json first, then files -> tar -> gzip -> [encryption] -> bytes, as they are asked for

Nothing is held in memory but a chunk. Sources: POSIX.1-2017, pax; RFC 1952 (gzip).
"""

import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from gateway.admin.keeping.encryption import MAGIC, decrypted, encrypted
from gateway.errors import BadRequestError

_CHUNK = 65_536
_GZIP, _LEVEL = 16 + zlib.MAX_WBITS, 1
_GZIP_MAGIC = b"\x1f\x8b"


class Member(NamedTuple):
    """A file of a backup: its path there, and its content or where that is."""

    name: str
    content: bytes | Path


def packed(members: Iterable[Member], passphrase: str = "") -> Iterator[bytes]:
    """The bytes of a backup. Raises OSError where a member cannot be read, half-way too."""
    archive = _gzip(_tar(members))
    return encrypted(archive, passphrase) if passphrase else archive


def _tar(members: Iterable[Member]) -> Iterator[bytes]:
    for name, content in members:
        head = tarfile.TarInfo(name)
        head.mode = 0o600
        head.size = len(content) if isinstance(content, bytes) else content.stat().st_size
        yield head.tobuf(tarfile.PAX_FORMAT)
        if isinstance(content, bytes):
            yield content
        else:
            yield from _exactly(content, head.size)
        yield bytes(-head.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _exactly(path: Path, size: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        while size:
            chunk = file.read(min(_CHUNK, size))
            if not chunk:
                raise OSError(f"{path} became shorter while it was read")
            size -= len(chunk)
            yield chunk


def _gzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    packing = zlib.compressobj(_LEVEL, wbits=_GZIP)
    for chunk in chunks:
        if done := packing.compress(chunk):
            yield done
    yield packing.flush()


class Content(NamedTuple):
    """A member as it is read: its path, its length in bytes, and where it is read from."""

    name: str
    size: int
    file: BinaryIO


@contextmanager
def unpacked(source: BinaryIO, passphrase: str = "") -> Iterator[Iterator[Content]]:
    """The members of a backup, each to be read before the next.

    When the iterator has ended, all of it was whole. Raises BadRequestError.
    """
    try:
        archive = _Chunks(_gunzip(_plain(source, passphrase)))
        with tarfile.open(fileobj=archive, mode="r|", tarinfo=_Head) as tar:
            yield _members(tar, archive)
    except (tarfile.TarError, zlib.error, EOFError, RecursionError) as error:
        raise BadRequestError(
            f"this is no backup, or it is damaged: {error}", "use another copy of it"
        ) from error


class _Head(tarfile.TarInfo):
    """What stands before a member; one that only adds to the next is read into memory whole."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Raises BadRequestError for one that is longer than any name."""
        head = super().frombuf(buf, encoding, errors)
        if head.type not in tarfile.REGULAR_TYPES and head.size > _CHUNK:
            raise BadRequestError("a head in this backup is longer than any name", "use another")
        return head


def _members(tar: tarfile.TarFile, archive: io.RawIOBase) -> Iterator[Content]:
    for each in tar:
        file = tar.extractfile(each) if each.isreg() else None
        if file is None:
            raise BadRequestError(f"{each.name!r:.100} is no file", "use another backup")
        yield Content(each.name, each.size, file)  # type: ignore[arg-type]  # it reads bytes
    while archive.read(_CHUNK):
        pass  # to the end, which says whether all of it was whole


def _plain(source: BinaryIO, passphrase: str) -> Iterator[bytes]:
    start = source.read(len(MAGIC))
    if start == MAGIC:
        if not passphrase:
            raise BadRequestError("this backup is encrypted", "give its passphrase: --decrypt")
        yield from decrypted(source, passphrase)
        return
    if not start.startswith(_GZIP_MAGIC):
        raise BadRequestError("this is no backup", "name a file of `sosa-gateway backup`")
    yield start
    while chunk := source.read(_CHUNK):
        yield chunk


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    unpacking = zlib.decompressobj(_GZIP)
    for chunk in chunks:
        waiting = chunk
        while waiting and not unpacking.eof:
            yield unpacking.decompress(waiting, _CHUNK)
            waiting = unpacking.unconsumed_tail
    if not unpacking.eof:
        raise EOFError("it is cut off")


class _Chunks(io.RawIOBase):
    """Chunks as a file that is read from its beginning to its end."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._waiting:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._waiting = chunk
        count = min(len(buffer), len(self._waiting))
        buffer[:count], self._waiting = self._waiting[:count], self._waiting[count:]
        return count
