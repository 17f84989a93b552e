"""Sealing: a raw segment that is no longer appended to becomes an immutable gzip file.

Place on the way of the data: between the journal's active segment and shipping. The steps are:
write `<raw>.part`, fsync, rename to the name that has its SHA-256, fsync the folder; then the
caller writes the manifest and removes the raw segment. Killed after any step, sealing again gives
the same bytes under the same name, so nothing is lost and nothing counts twice.
"""

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gateway.journal.names import GAP, SEALED, SegmentName, raw_start
from gateway.journal.record import (
    SCHEMA,
    Origin,
    Position,
    encode_fields,
)
from gateway.journal.segment import sync_folder

_LEVEL = 6
_BLOCK = 262_144
_SHA12 = 12


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed segment, or a gap; the times are the ingest times of the first and last line, µs."""

    name: SegmentName
    sha256: str
    size: int
    raw_size: int = 0
    first_time: int = 0
    last_time: int = 0
    reason: str = ""

    @property
    def count(self) -> int:
        """How many observations and actuations the segment has."""
        return self.name.count


@dataclass(slots=True)
class _Run:
    """Lines of a raw segment that are whole and follow one another."""

    first: int
    begin: int
    end: int
    count: int = 0
    first_time: int = 0
    last_time: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    """What is in a raw segment: its good runs, and the runs of sequences that it lost."""

    runs: tuple[_Run, ...]
    lost: tuple[tuple[int, int], ...]
    """First sequence and number of each run that is lost."""


def seal(raw: Path, origin: Origin, until: int | None = None) -> list[Sealed]:
    """Seal what a raw segment has below the sequence `until`; one file, if it is undamaged.

    Gaps stand for what is damaged. Leaves the raw segment where it is. Raises OSError.
    """
    start = raw_start(raw)
    origin = _origin_of(raw) or origin
    checked = _check(raw, start, until)
    sealed = [_write_run(raw, origin, start.epoch, run) for run in checked.runs]
    return [
        *sealed,
        *(
            write_gap(raw, origin, Position(start.epoch, first), count, "damaged")
            for first, count in checked.lost
        ),
    ]


def write_gap(file: Path, origin: Origin, start: Position, count: int, reason: str) -> Sealed:
    """Say beside the file that had them that these sequences will never come.

    Its time is when that file was written, so that saying it again gives the same bytes.
    """
    data = encode_fields(
        {
            "schema": SCHEMA,
            "gateway": origin.gateway,
            "base": origin.base_iri,
            "epoch": start.epoch,
            "first": start.sequence,
            "count": count,
            "reason": reason,
            "at": file.stat().st_mtime_ns // 1000,
        }
    )
    digest = hashlib.sha256(data).hexdigest()
    name = SegmentName(origin.gateway, start, count, digest[:_SHA12], GAP)
    part = file.with_name(f"{name}.part")
    with part.open("wb") as writing:
        writing.write(data)
        _durable(writing)
    _publish(part, file.with_name(str(name)))
    return Sealed(name, digest, len(data), reason=reason)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal; raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def inspect(path: Path) -> Sealed:
    """What a sealed segment or gap is, from its bytes alone; ValueError if it is damaged."""
    name = SegmentName.parse(path.name)
    digest = sha256_of(path)
    if digest[:_SHA12] != name.sha12:
        raise ValueError(f"{path.name}: its SHA-256 is {digest}")
    try:
        return _inspected(path, name, digest)
    except (gzip.BadGzipFile, zlib.error, EOFError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path.name}: {type(error).__name__}: {error}") from error


def _inspected(path: Path, name: SegmentName, digest: str) -> Sealed:
    if name.is_gap:
        reason = str(json.loads(path.read_bytes())["reason"])
        return Sealed(name, digest, path.stat().st_size, reason=reason)
    first_time = last_time = raw_size = 0
    with gzip.open(path, "rb") as lines:
        for line in lines:
            raw_size += len(line)
            if line.startswith(b'{"q":'):
                last_time = _time_of(json.loads(line))
                first_time = first_time or last_time
    return Sealed(name, digest, path.stat().st_size, raw_size, first_time, last_time)


def _origin_of(raw: Path) -> Origin | None:
    """Whose lines they are, though the gateway be called something else by now."""
    with raw.open("rb") as lines:
        try:
            return Origin.of_header(lines.readline())
        except (ValueError, KeyError, TypeError):
            return None


def _check(raw: Path, start: Position, until: int | None) -> Checked:
    """Decode every line once: what leaves the device is what was accepted."""
    runs: list[_Run] = []
    lost: list[tuple[int, int]] = []
    expected, offset = start.sequence, 0
    unknown = 0
    with raw.open("rb") as lines:
        for line in lines:
            begin, offset = offset, offset + len(line)
            found = _numbered(line)
            if found is None:
                unknown += not line.startswith(b'{"schema"')
                continue
            sequence, time = found
            if sequence < expected or (until is not None and sequence >= until):
                continue
            if sequence > expected:
                lost.append((expected, sequence - expected))
            if not runs or sequence > expected or runs[-1].end != begin:
                runs.append(_Run(sequence, begin, begin, first_time=time))
            run = runs[-1]
            run.end, run.count, run.last_time = offset, run.count + 1, time
            expected, unknown = sequence + 1, 0
    missing = unknown if until is None else until - expected
    if missing > 0:
        lost.append((expected, missing))
    return Checked(tuple(runs), tuple(lost))


def _numbered(line: bytes) -> tuple[int, int] | None:
    """Sequence and ingest time of a whole line, None for the header or a damaged one."""
    if not (line.startswith(b'{"q":') and line.endswith(b"}\n")):
        return None
    try:
        fields = json.loads(line)
        return int(fields["q"]), _time_of(fields)
    except (ValueError, KeyError, TypeError):
        return None


def _time_of(fields: dict[str, object]) -> int:
    time = fields["i"]
    if isinstance(time, int):
        return time
    raise TypeError(f"no ingest time: {time!r}")


def _write_run(raw: Path, origin: Origin, epoch: int, run: _Run) -> Sealed:
    part = raw.with_name(f"{raw.name}.part")
    raw_size = 0
    with part.open("wb") as file:
        # No name and no time in the gzip header (RFC 1952): equal lines give equal bytes.
        with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
            for block in _blocks(raw, origin.header(epoch, run.first), run):
                packed.write(block)
                raw_size += len(block)
        _durable(file)
    digest = sha256_of(part)
    name = SegmentName(
        origin.gateway, Position(epoch, run.first), run.count, digest[:_SHA12], SEALED
    )
    size = part.stat().st_size
    _publish(part, raw.with_name(str(name)))
    return Sealed(name, digest, size, raw_size, run.first_time, run.last_time)


def _blocks(raw: Path, header: bytes, run: _Run) -> Iterator[bytes]:
    yield header
    with raw.open("rb") as file:
        file.seek(run.begin)
        left = run.end - run.begin
        while left > 0:
            block = file.read(min(_BLOCK, left))
            left -= len(block)
            yield block


def _durable(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _publish(part: Path, path: Path) -> None:
    os.replace(part, path)
    sync_folder(path.parent)
