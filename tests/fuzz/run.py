"""A process that feeds one parser: `fuzz` until its time is over, `replay` of the files it is told.

Before each input the process writes it down, so that one that ends or stops the process is known.
What a parser does that it must not do is a finding: told on standard output, exit status 3.
"""

import json
import re
import resource
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from tests.fuzz.mutation import Mutator
from tests.fuzz.parsers import PARSERS, Parser

FINDING = 3
MOST_MEMORY = 1 << 30
MOST_KEPT = 2_000
_MEANINGLESS = re.compile(r"[0-9]+|'[^']*'|\"[^\"]*\"|<[^>]*>|\bline\b.*")


class Watched:
    """A parser whose present input is in a file."""

    def __init__(self, parser: Parser, run: Callable[[bytes], object], present: Path) -> None:
        self._parser = parser
        self._run = run
        self._file = present.open("wb", buffering=0)

    def outcome(self, data: bytes) -> str:
        """What became of an input, in few words. Ends the process for a finding."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(data)
        try:
            return f"fine {self._run(data)}"
        except self._parser.documented as error:
            return f"{type(error).__name__} {_MEANINGLESS.sub('', str(error))[:60]}"
        except BaseException as error:
            _tell(error)
            sys.exit(FINDING)


def _write(told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def _tell(error: BaseException) -> None:
    place = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}"
        trace = trace.tb_next
    _write({"finding": f"{type(error).__name__}: {error}"[:500], "place": place})


def fuzz(name: str, start: int, seconds: float, present: Path, kept: Path, *seeds: Path) -> int:
    """Damaged inputs until the time is over; what is told anew is kept, also for the next time."""
    parser = PARSERS[name]
    files = [file for folder in (*seeds, kept) for file in sorted(folder.glob("*"))]
    corpus = [file.read_bytes() for file in files]
    mutator = Mutator(start, corpus, parser.tokens)
    seen: set[str] = set()
    cases = 0
    with parser.open() as run:
        watched = Watched(parser, run, present)
        _bound_memory()
        end = time.monotonic() + seconds
        for data in list(corpus):
            seen.add(watched.outcome(data))
        while time.monotonic() < end:
            data = mutator.draw()
            outcome = watched.outcome(data)
            cases += 1
            if outcome not in seen and len(corpus) < MOST_KEPT:
                seen.add(outcome)
                corpus.append(data)
                (kept / sha256(data).hexdigest()[:16]).write_bytes(data)
    _write({"cases": cases, "outcomes": len(seen)})
    return 0


def replay(name: str, present: Path, *files: Path) -> int:
    """The inputs of files, one after the other."""
    parser = PARSERS[name]
    with parser.open() as run:
        watched = Watched(parser, run, present)
        _bound_memory()
        for file in files:
            watched.outcome(file.read_bytes())
    return 0


def _bound_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST_MEMORY
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def main(arguments: list[str]) -> int:
    """`fuzz NAME START SECONDS PRESENT KEPT SEEDS...` or `replay PRESENT NAME=FILE,FILE ...`."""
    if arguments[0] == "fuzz":
        name, start, seconds, present, kept, *seeds = arguments[1:]
        folders = [Path(each) for each in seeds]
        return fuzz(name, int(start), float(seconds), Path(present), Path(kept), *folders)
    present, *parts = arguments[1:]
    for part in parts:
        name, _, files = part.partition("=")
        replay(name, Path(present), *(Path(file) for file in files.split(",")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
