"""A sealed segment as the archive meets it: its name, its header, its lines (docs/segments.md).

Place on the way of the data: the door of the archive. What passes `check` has the bytes that the
gateway sealed; `examine` reads every line and is called only when Spark counted something else
than the names promise.
"""

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Self

MAJOR = 1
MINOR = 4
GAP_SUFFIX = ".gap.json"

_NAME = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})-([0-9]{8,12})-([0-9]{12,18})-([0-9]{1,9})-([0-9a-f]{12})"
    r"(\.jsonl\.gz|\.gap\.json)",
    re.ASCII,
)
_SCHEMA = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})", re.ASCII)
_HEADER_BYTES = 65_536
_LINE_BYTES = 1 << 20


class Fault(ValueError):  # noqa: N818 - what a file has, seldom raised to a caller
    """Why a file is no good segment: a stable `reason`, and where (`offset` in what `of` says)."""

    def __init__(self, reason: str, detail: str, offset: int = 0, line: int | None = None) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.offset = offset
        self.line = line


@dataclass(frozen=True, slots=True, order=True)
class SegmentName:
    """What a file name promises: lines `first` to `last` of one epoch of one gateway."""

    gateway: str
    epoch: int
    first: int
    count: int
    sha12: str
    name: str
    is_gap: bool = False

    @classmethod
    def parse(cls, name: str) -> Self:
        """Matched whole; raises Fault for anything else."""
        match = _NAME.fullmatch(name)
        if match is None or int(match[4]) == 0:
            raise Fault("foreign_name", f"{name!r} is not the name of a segment")
        gateway, epoch, first, count, sha12, ending = match.groups()
        return cls(gateway, int(epoch), int(first), int(count), sha12, name, ending == GAP_SUFFIX)

    @property
    def run(self) -> str:
        """What the name says without the content: the same run of the same epoch."""
        return f"{self.gateway}-{self.epoch}-{self.first}-{self.count}"

    @property
    def last(self) -> int:
        """Sequence of the last line."""
        return self.first + self.count - 1


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a segment: minor schema version, base of its IRIs, what some are called."""

    minor: int
    base: str
    labels: Mapping[str, str] = field(default_factory=dict)


def check(name: SegmentName, file: IO[bytes]) -> tuple[Header, str]:
    """The header and the SHA-256 of a segment whose bytes are those that were sealed.

    Reads the compressed bytes once and unpacks no more than the first line. Raises Fault.
    """
    digest = hashlib.sha256()
    start = b""
    while chunk := file.read(1 << 20):
        digest.update(chunk)
        if len(start) < _HEADER_BYTES:
            start += chunk[: _HEADER_BYTES - len(start)]
    sha256 = digest.hexdigest()
    if not sha256.startswith(name.sha12):
        raise Fault("checksum", f"SHA-256 begins with {sha256[:12]}, the name says {name.sha12}")
    return _header(name, _first_line(start)), sha256


def read_gap(name: SegmentName, content: bytes) -> str:
    """The reason of a run of sequences that will never come; raises Fault."""
    if not hashlib.sha256(content).hexdigest().startswith(name.sha12):
        raise Fault("checksum", "the file has other bytes than its name says")
    fields = _object(content, "gap")
    _same(name, fields)
    if fields.get("count") != name.count:
        raise Fault("gap", f"count is {fields.get('count')!r}, the name says {name.count}")
    return str(fields.get("reason", ""))


def examine(name: SegmentName, file: IO[bytes]) -> None:
    """Read every line and raise Fault at the first that breaks the contract.

    Linear in the unpacked size; memory of one line.
    """
    offset = 0
    expected = name.first
    for number, line in enumerate(_lines(file), start=1):
        if number == 1:
            _header(name, line)
        else:
            try:
                expected = _next(name, line, expected)
            except Fault as fault:
                raise Fault(fault.reason, fault.detail, offset, number) from None
        offset += len(line)
    if expected != name.last + 1:
        raise Fault("count", f"ends before sequence {expected} of {name.last}", offset)


def _next(name: SegmentName, line: bytes, expected: int) -> int:
    """The sequence that must follow; a line that is there twice is passed over."""
    if not line.endswith(b"\n"):
        raise Fault("torn", "the last line has no end")
    fields = _object(line, "line")
    sequence = fields.get("q")
    if type(sequence) is not int or not name.first <= sequence <= expected:
        raise Fault("sequence", f"sequence is {sequence!r} where {expected} must be")
    if expected > name.last and sequence == expected:
        raise Fault("sequence", f"sequence {sequence} lies behind the last one, {name.last}")
    if problem := line_problem(fields):
        raise Fault("line", problem)
    return max(expected, sequence + 1)


def line_problem(fields: dict[str, object]) -> str:
    """What is wrong with a line's members, or the empty string."""
    required = ("s", "v", "d") if fields.get("a") == 1 else ("s", "p", "f", "v", "d")
    for member in required:
        if not isinstance(fields.get(member), str):
            return f"member {member!r} is {fields.get(member)!r}, not a text"
    for member in ("p", "f", "u", "n", "o", "r", "h", "w", "z"):
        if not isinstance(fields.get(member), str | int | float | None):
            return f"member {member!r} is neither a text nor absent"
    for member in ("i", "t", "m", "c", "a", "l"):
        value = fields.get(member)
        if type(value) is not int and not (value is None and member != "i"):
            return f"member {member!r} is {value!r}, not a number of 64 bits"
        if type(value) is int and not -(1 << 63) <= value < 1 << 63:
            return f"member {member!r} does not fit into 64 bits"
    return ""


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Unpacked lines; raises Fault where the compressed stream breaks."""
    unpacked = gzip.GzipFile(fileobj=file)
    offset = 0
    while True:
        try:
            line = unpacked.readline(_LINE_BYTES)
        except (OSError, EOFError, zlib.error) as error:
            raise Fault("gzip", str(error), offset) from error
        if not line:
            return
        offset += len(line)
        yield line


def _first_line(start: bytes) -> bytes:
    try:
        unpacked = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(start, _HEADER_BYTES)
    except zlib.error as error:
        raise Fault("gzip", str(error)) from error
    line, newline, _ = unpacked.partition(b"\n")
    if not newline:
        raise Fault("header", "the first line has no end")
    return line


def _header(name: SegmentName, line: bytes) -> Header:
    fields = _object(line, "header")
    version = _SCHEMA.fullmatch(str(fields.get("schema", "")))
    if version is None:
        raise Fault("header", f"the first line is no header: {line[:80]!r}")
    if int(version[1]) != MAJOR:
        raise Fault("schema", f"schema {version[0]} is unknown; this archive reads {MAJOR}.x")
    _same(name, fields)
    base = fields.get("base")
    if not isinstance(base, str) or not base:
        raise Fault("header", "no base for the IRIs")
    return Header(int(version[2]), base, _labels(fields.get("labels")))


def _labels(told: object) -> Mapping[str, str]:
    """Labels by IRI; what is none is passed over, since a row does not depend on it."""
    if not isinstance(told, dict):
        return {}
    return {iri: label for iri, label in told.items() if isinstance(label, str)}


def _same(name: SegmentName, fields: dict[str, object]) -> None:
    """The file says of itself what its name says."""
    told = {"gateway": name.gateway, "epoch": name.epoch, "first": name.first}
    for member, value in told.items():
        if fields.get(member) != value:
            raise Fault("foreign", f"{member} is {fields.get(member)!r}, the name says {value!r}")


def _object(line: bytes, what: str) -> dict[str, object]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Fault(what, f"not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise Fault(what, f"not a JSON object: {line[:80]!r}")
    return fields
