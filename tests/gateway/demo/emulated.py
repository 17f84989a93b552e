"""A terminal that a process is started in: a pty, read by an emulator (pyte)."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pyte
import pytest

from tests.kit.screens import draw, keep

MARGIN = 40
"""A second emulator is so much wider and higher than the process is told: nothing may be there."""

WAIT_S = 60.0
ERASED = b"\x1b[2J"
STEERS = {"NO_COLOR", "COLUMNS", "LINES"}
"""Variables of whoever runs the tests by which the screen would be another."""


class Emulated:
    """The screen of one process. What it shows is looked at after every write."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.raw = b""
        self._master = master
        self.width, self.height = 80, 24
        self._begin(b"")

    @property
    def lines(self) -> list[str]:
        """Of the size that the process knows; fails where it wrote beyond."""
        wide = [line.rstrip() for line in self._wide.display]
        assert max(map(len, wide)) <= self.width, wide
        assert not any(wide[self.height :]), wide
        shown = [line.rstrip() for line in self._screen.display]
        assert shown == wide[: self.height]
        return shown

    def keep(self, name: str) -> None:
        """Leave a picture of what it shows for the documentation."""
        keep(name, draw(self._screen))

    def resize(self, width: int, height: int) -> None:
        """Returns when the process has begun anew, as it is to do once for each size."""
        seen, deadline = len(self.raw), monotonic() + WAIT_S
        resize(self._master, width, height)
        while ERASED not in self.raw[seen:] and self._read(deadline):
            pass
        self.width, self.height = width, height
        self._begin(b"\x1b[?7l" + self.raw[self.raw.index(ERASED, seen) :])

    def until(self, found: Callable[[list[str]], object], wait_s: float = WAIT_S) -> list[str]:
        """The lines of the first screen that has it; fails when it ends, or takes too long."""
        deadline = monotonic() + wait_s
        while not found(self.lines):
            if not self._read(deadline):
                pytest.fail("\n".join(["ended or stuck without it:", *self.lines]))
        return self.lines

    def each(self, ended: Callable[[list[str]], object]) -> Iterator[list[str]]:
        """Every screen until one has it."""
        deadline = monotonic() + WAIT_S
        while not ended(self.lines):
            yield self.lines
            if not self._read(deadline):
                pytest.fail("\n".join(["ended or stuck:", *self.lines]))

    def type_in(self, text: str) -> None:
        """The terminal echoes it, as it does where nobody asked it not to."""
        os.write(self._master, text.encode())

    def suspend(self) -> None:
        """Ctrl-Z, and on again: returns when the process has left its screen and come back."""
        for number, switched in ((signal.SIGTSTP, b"\x1b[?1049l"), (signal.SIGCONT, ERASED)):
            seen, deadline = len(self.raw), monotonic() + WAIT_S
            self.process.send_signal(number)
            while switched not in self.raw[seen:] and self._read(deadline):
                pass
            assert switched in self.raw[seen:]
            if number == signal.SIGTSTP:
                _, status = os.waitpid(self.process.pid, os.WUNTRACED)
                assert os.WIFSTOPPED(status)

    def end(self, number: signal.Signals) -> str:
        """What is on the terminal after the screen, once the process has ended by the signal."""
        self.process.send_signal(number)
        deadline = monotonic() + WAIT_S
        while self._read(deadline):
            pass
        self.process.wait(WAIT_S)
        return self.raw.decode().rpartition("\x1b[?1049l")[2]

    @property
    def styles(self) -> set[str]:
        """Each parameter of a style (SGR) that was ever set."""
        return {
            each
            for told in re.findall(rb"\x1b\[([0-9;]*)m", self.raw)
            for each in told.decode().split(";")
        }

    @property
    def is_left_as_it_was(self) -> bool:
        """Whether alternate screen, cursor and line wrap are as a terminal has them."""
        switched = {each[:-1]: each[-1:] for each in re.findall(rb"\x1b\[\?(\d+[hl])", self.raw)}
        return switched == {b"1049": b"l", b"25": b"h", b"7": b"h"}

    def _read(self, deadline: float) -> bool:
        readable, _, _ = select.select([self._master], [], [], max(0.0, deadline - monotonic()))
        try:
            told = os.read(self._master, 1 << 16) if readable else b""
        except OSError:  # the process is gone
            return False
        self.raw += told
        for stream in self._streams:
            stream.feed(told)
        return bool(told)

    def _begin(self, told: bytes) -> None:
        self._screen = pyte.Screen(self.width, self.height)
        self._wide = pyte.Screen(self.width + MARGIN, self.height + MARGIN)
        self._streams = [pyte.ByteStream(self._screen), pyte.ByteStream(self._wide)]
        for stream in self._streams:
            stream.feed(told)


@contextmanager
def emulated(
    command: Sequence[str], environment: Mapping[str, str], folder: Path
) -> Iterator[Emulated]:
    """Start it in a terminal of 80 by 24; it is dead afterwards."""
    master, slave = pty.openpty()
    resize(master, 80, 24)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"NO_COLOR", "COLUMNS", "LINES"}
    }
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env={**kept, "TERM": "xterm-256color", **environment},
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Emulated(master, process)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def resize(terminal: int, width: int, height: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
