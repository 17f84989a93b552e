"""What a journal has beyond an archive: rows of lines that were not ingested, and which it has.

Place: the present of a query over time. The gateway may be running: segments are sealed and removed
meanwhile, and one may be damaged.
"""

import gzip
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from gateway.journal.names import SEALED, SegmentName, raw_start
from gateway.journal.past.row import Row, row_of
from gateway.journal.past.spans import Spans
from gateway.journal.past.taken import Life, Run, Taken
from gateway.journal.reading import segments
from gateway.journal.record import Origin, Record, is_observation

_LOOKS = 5
"""How often the folder is listed anew because segments were sealed or removed meanwhile."""

_SEQUENCE = re.compile(rb'\{"q":([0-9]{1,18})[,}]')


class Journalled:
    """Rows of lines that an archive has not taken, some twice while their segment is sealed.

    `runs` has the lines that the journal has, `removed` those that it had; `damaged` the segments
    that could not be read whole, with the run of lines that may lack. Whose lines they are is what
    the segments say, when they came the manifest (`spans`).
    """

    def __init__(self, folder: Path, taken: Taken) -> None:
        self._folder = folder
        self._taken = taken
        self.rows: list[Row] = []
        self.runs: defaultdict[Life, list[Run]] = defaultdict(list)
        self.removed: defaultdict[Life, list[Run]] = defaultdict(list)
        self.damaged: dict[str, tuple[Life, Run]] = {}
        self.spans = Spans()

    def read(self, wants: Callable[[Row], bool], most: int) -> None:
        """Read all that is wanted; ends when there are more rows than `most`. Raises OSError."""
        waiting, done, looks = segments(self._folder), set[str](), 0
        while waiting and len(self.rows) <= most:
            _, path = waiting.pop(0)
            if path.name in done:
                continue
            try:
                self._read(path, _Reading(self._taken, self.rows, wants, most))
            except FileNotFoundError:
                looks += 1
                waiting = segments(self._folder) if looks < _LOOKS else waiting
            else:
                done.add(path.name)
        self.spans = Spans.read(self._folder / "manifest.jsonl")
        for name in map(SegmentName.parse, self.spans.gone):
            self.removed[name.gateway, name.start.epoch].append(_run(name))

    def _read(self, path: Path, reading: "_Reading") -> None:
        if path.name.endswith(SEALED):
            name = SegmentName.parse(path.name)
            life, run = (name.gateway, name.start.epoch), _run(name)
            if not self._taken.covers(*life, run):
                with gzip.open(path, "rb") as file:
                    reading.read(name.start.epoch, iter(file))
                if not reading.is_whole or (not reading.is_full and reading.last < run[1]):
                    self.damaged[path.name] = life, run
        else:
            start = raw_start(path)
            with path.open("rb") as file:
                reading.read(start.epoch, iter(file))
            if reading.origin is None:
                return  # nothing is in it yet
            life, run = (reading.origin.gateway, start.epoch), (start.sequence, reading.last)
            if not reading.is_whole:
                self.damaged[path.name] = life, run
        if run[0] <= run[1]:
            self.runs[life].append(run)


class _Reading:
    """Reading one segment: whether every line could be, and the last sequence."""

    def __init__(
        self, taken: Taken, rows: list[Row], wants: Callable[[Row], bool], most: int
    ) -> None:
        self._taken = taken
        self._rows = rows
        self._wants = wants
        self._most = most
        self.origin: Origin | None = None
        self.is_whole = True
        self.last = -1

    @property
    def is_full(self) -> bool:
        """Whether there are more rows than may be."""
        return len(self._rows) > self._most

    def read(self, epoch: int, lines: Iterator[bytes]) -> None:
        """Take up its rows; a line that is begun at its end is none yet."""
        try:
            for line in lines:
                if self.is_full or not line.endswith(b"\n"):
                    return
                self._take(epoch, line)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            self.is_whole = False

    def _take(self, epoch: int, line: bytes) -> None:
        numbered = _SEQUENCE.match(line)
        if numbered is None:
            self._begin(line)
            return
        self.last = int(numbered[1])
        origin = self.origin
        if origin is None or not is_observation(line):
            self.is_whole &= origin is not None
            return
        if self._taken.has(origin.gateway, epoch, self.last):
            return
        try:
            row = row_of(Record.decode(epoch, line), origin)
        except ValueError:
            self.is_whole = False
            return
        if self._wants(row):
            self._rows.append(row)

    def _begin(self, line: bytes) -> None:
        """The header says whose lines follow."""
        try:
            self.origin = Origin.of_header(line)
        except (ValueError, KeyError):
            self.is_whole = False


def _run(name: SegmentName) -> Run:
    return name.start.sequence, name.last.sequence
