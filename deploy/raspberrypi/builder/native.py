"""Native modules with what a loader maps, and nothing else: a quarter of all bytes of the packages.

Wheels come with symbols for debuggers, which stand in sections that no segment has. Loaders read
segments alone, so what lies behind the last one goes, and the table of sections with it. A `strip`
of the other processor is no part of a Debian, so the few fields are written here.
Source: System V Application Binary Interface, edition 4.1, chapter 4 "ELF Header" and chapter 5
"Program Header", in the form of 64 bits, little-endian.
"""

import struct
from pathlib import Path

ELF_64_LITTLE = b"\x7fELF\x02\x01"
_HEADER_BYTES = 64
_E_PHOFF, _E_SHOFF, _E_PHENTSIZE, _E_SHNUM = 32, 40, 54, 60
_P_OFFSET, _P_FILESZ = 8, 32


def strip(path: Path) -> None:
    """Shorten a native module in place; a file of another kind stays as it is."""
    data = path.read_bytes()
    if data.startswith(ELF_64_LITTLE):
        path.write_bytes(stripped(data))


def stripped(data: bytes) -> bytes:
    """The same module without what no segment has."""
    kept = bytearray(data[: _end_of_segments(data)])
    struct.pack_into("<Q", kept, _E_SHOFF, 0)
    struct.pack_into("<HH", kept, _E_SHNUM, 0, 0)
    return bytes(kept)


def _end_of_segments(data: bytes) -> int:
    """Bytes from the beginning that a loader may read: headers and what they lead to."""
    (table,) = struct.unpack_from("<Q", data, _E_PHOFF)
    size, count = struct.unpack_from("<HH", data, _E_PHENTSIZE)
    ends: list[int] = [_HEADER_BYTES, table + size * count]
    for head in range(table, table + size * count, size):
        (offset,) = struct.unpack_from("<Q", data, head + _P_OFFSET)
        (length,) = struct.unpack_from("<Q", data, head + _P_FILESZ)
        ends.append(offset + length)
    return max(ends)
