"""Commands in copies of a process that has loaded what they load: each as a process of its own.

Most of what a command costs is that the interpreter and its modules are loaded, which `fork` does
once for many. What differs from a process that is begun anew: modules that this command alone would
not have loaded are there. Who types a command so types it somewhere else in a new process too.
"""

import gc
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.paths import ROOT


class Warmed:
    """The process to be copied, while the context lasts; one command after another."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            (sys.executable, "-m", __name__),
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self, words: Sequence[str], folder: Path, output: Path, wait_s: float) -> int:
        """The exit code of `sosa-gateway words`, typed in the folder; what it tells is in `output`.

        Raises TimeoutExpired where it has not ended in time; the context has ended with it.
        """
        line = json.dumps([*map(str, (folder, output)), *words])
        told, tells = self._process.stdin, self._process.stdout
        assert told is not None
        assert tells is not None
        told.write(f"{line}\n".encode())
        told.flush()
        if not select.select([tells], [], [], wait_s)[0]:
            os.killpg(self._process.pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(words, wait_s)
        return int(tells.readline())


def _serve() -> None:
    """Load, then copy this process for each line; a copy leaves by way of the interpreter's end."""
    from gateway.__main__ import main  # what is typed begins here
    from gateway.cli.command import documented

    for _ in documented():
        pass
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()
    for line in iter(sys.stdin.readline, ""):
        folder, output, *words = json.loads(line)
        process = os.fork()
        if process == 0:
            _become(Path(folder), Path(output), words)
            sys.exit(main())
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


def _become(folder: Path, output: Path, words: Sequence[str]) -> None:
    """A command that somebody has typed in the folder, with nothing to read."""
    os.chdir(folder)
    with output.open("wb") as written:
        os.dup2(written.fileno(), 1)
        os.dup2(written.fileno(), 2)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # as long as the process
    sys.argv[1:] = words


if __name__ == "__main__":
    _serve()
