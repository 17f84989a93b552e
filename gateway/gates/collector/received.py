"""A segment that has come to a collector: whether it is what its name says, and where it belongs.

Place on the way of the data: behind the upload, before the file is published. Whatever the bytes
are, they are refused as the sender's fault: nested deeper than Python reads, numbers that are no
time, and what unpacks to more than a gateway would ever seal (which the archive would choke on).
"""

import json
import zlib
from pathlib import Path

from gateway.errors import ChecksumError, TooLargeError
from gateway.journal.names import SegmentName
from gateway.journal.sealing import Sealed
from gateway.shipping.zone import place_of

_HEAD = 65_536
_BLOCK = 1 << 20
_YEAR_10000_US = 253_402_300_800_000_000
_FAULTS = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, zlib.error)


def place_of_received(part: Path, name: SegmentName, digest: str, most: int) -> str:
    """Where the file belongs, below the zone; `most` are its bytes when it is unpacked.

    Linear in the bytes. Raises ChecksumError, TooLargeError.
    """
    try:
        time = _first_time(part, name)
        place = place_of(Sealed(name, digest, 0, first_time=time))
        if not name.is_gap:
            _require_bounded(part, name, most)
    except _FAULTS as error:
        raise ChecksumError(
            f"{name} is not the segment that its name says", "docs/segments.md"
        ) from error
    return place


def _first_time(part: Path, name: SegmentName) -> int:
    """The ingest time of the first line, 0 for a gap; the header must agree with the name."""
    header, line = _head(part, name)
    start = (name.gateway, name.start.epoch, name.start.sequence)
    found = (header["gateway"], header["epoch"], header["first"])
    if found != start or not (name.is_gap or line["q"] == name.start.sequence):
        raise ValueError("another header, or another first line")
    time = 0 if name.is_gap else int(line["i"])
    if not 0 <= time < _YEAR_10000_US:
        raise ValueError(f"{time} µs is no time")
    return time


def _head(part: Path, name: SegmentName) -> tuple[dict[str, object], dict[str, int]]:
    with part.open("rb") as file:
        data = file.read(_HEAD)
    if name.is_gap:
        return json.loads(data), {}
    lines = zlib.decompressobj(wbits=31).decompress(data, _HEAD).split(b"\n", 2)
    return json.loads(lines[0]), json.loads(lines[1])


def _require_bounded(part: Path, name: SegmentName, most: int) -> None:
    """The whole file is one gzip member of `most` bytes at most, unpacked block by block."""
    unpacking, length = zlib.decompressobj(wbits=31), 0
    with part.open("rb") as file:
        while block := file.read(_BLOCK):
            while block:
                length += len(unpacking.decompress(block, _BLOCK))
                if length > most:
                    raise TooLargeError(
                        f"{name} has more than {most} bytes when it is unpacked",
                        "seal smaller segments ([journal] segment_bytes)",
                    )
                block = unpacking.unconsumed_tail
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("not one whole gzip member")
