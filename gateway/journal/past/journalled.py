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

from gateway.journal.events import Events
from gateway.journal.names import SEALED, SegmentName, raw_start
from gateway.journal.past.row import Row, row_of
from gateway.journal.past.taken import Run, Taken
from gateway.journal.reading import segments
from gateway.journal.record import Origin, Record, is_observation

_LOOKS = 5
"""How often the folder is listed anew because segments were sealed or removed meanwhile."""

_SEQUENCE = re.compile(rb'\{"q":([0-9]{1,18})[,}]')


class Journalled:
    """Rows of lines that an archive has not taken, some twice while their segment is sealed.

    `runs` has the lines that the journal has, by epoch, `removed` those that it had; `damaged` the
    segments that could not be read whole, with the run of lines that may lack.
    """

    def __init__(self, folder: Path, origin: Origin, taken: Taken) -> None:
        self._folder = folder
        self._origin = origin
        self._taken = taken
        self.rows: list[Row] = []
        self.runs: defaultdict[int, list[Run]] = defaultdict(list)
        self.removed: defaultdict[int, list[Run]] = defaultdict(list)
        self.damaged: dict[str, tuple[int, Run]] = {}

    def read(self, wants: Callable[[Row], bool], most: int) -> None:
        """Read all that is wanted; ends when there are more rows than `most`. Raises OSError."""
        waiting, done, looks = segments(self._folder), set[str](), 0
        while waiting and len(self.rows) <= most:
            _, path = waiting.pop(0)
            if path.name in done:
                continue
            try:
                self._read(path, wants, most)
            except FileNotFoundError:
                looks += 1
                waiting = segments(self._folder) if looks < _LOOKS else waiting
            else:
                done.add(path.name)
        for name in map(SegmentName.parse, Events.read(self._folder / "manifest.jsonl").gone):
            self.removed[name.start.epoch].append((name.start.sequence, name.last.sequence))

    def _read(self, path: Path, wants: Callable[[Row], bool], most: int) -> None:
        if path.name.endswith(SEALED):
            name = SegmentName.parse(path.name)
            epoch, run = name.start.epoch, (name.start.sequence, name.last.sequence)
            if not self._taken.covers(self._origin.gateway, epoch, run):
                with gzip.open(path, "rb") as file:
                    is_whole, last = self._lines(epoch, iter(file), wants, most)
                if not is_whole or (last < run[1] and len(self.rows) <= most):
                    self.damaged[path.name] = epoch, run
        else:
            start = raw_start(path)
            epoch = start.epoch
            with path.open("rb") as file:
                is_whole, last = self._lines(epoch, iter(file), wants, most)
            run = start.sequence, last
            if not is_whole:
                self.damaged[path.name] = epoch, run
        if run[0] <= run[1]:
            self.runs[epoch].append(run)

    def _lines(
        self, epoch: int, lines: Iterator[bytes], wants: Callable[[Row], bool], most: int
    ) -> tuple[bool, int]:
        """Whether every line could be read, and the last sequence; a line begun last is none."""
        is_whole, last = True, -1
        try:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                numbered = _SEQUENCE.match(line)
                if numbered is None:
                    is_whole &= line.startswith(b'{"schema"')
                    continue
                last = int(numbered[1])
                if self._taken.has(self._origin.gateway, epoch, last) or not is_observation(line):
                    continue
                try:
                    row = row_of(Record.decode(epoch, line), self._origin)
                except ValueError:
                    is_whole = False
                    continue
                if wants(row):
                    self.rows.append(row)
                    if len(self.rows) > most:
                        break
        except (EOFError, gzip.BadGzipFile, zlib.error):
            is_whole = False
        return is_whole, last
