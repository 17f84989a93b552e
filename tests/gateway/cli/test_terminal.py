"""A gateway that was started in a terminal ends with it; a service does not, nor under nohup."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kit.gateways import WAIT_S

QUIET = """[mqtt]
port = 0
[http]
port = 0
[websocket]
port = 0
[store]
kind = "memory"
"""


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def in_terminal(folder: Path, *, nohup: bool) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A gateway that serves, and the other end of its terminal."""
    (folder / "gateway.toml").write_text(QUIET)
    ours, theirs = pty.openpty()
    # The tests themselves may run under nohup.
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if nohup else signal.SIG_DFL)
    try:
        process = subprocess.Popen(
            (sys.executable, "-m", "gateway", "run", "--config", str(folder / "gateway.toml")),
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509  # a terminal is taken by its own session
        )
    finally:
        signal.signal(signal.SIGHUP, before)
        os.close(theirs)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if " serving " in line:
                break
        else:
            pytest.fail("it ended before it served")
        yield process, ours
    finally:
        process.kill()
        process.wait(WAIT_S)
        process.stderr.close()  # type: ignore[union-attr]


def test_closing_the_terminal_ends_it(tmp_path: Path) -> None:
    with in_terminal(tmp_path, nohup=False) as (process, terminal):
        os.close(terminal)
        assert process.wait(WAIT_S) == 0


def test_under_nohup_it_goes_on_and_reloads(tmp_path: Path) -> None:
    with in_terminal(tmp_path, nohup=True) as (process, terminal):
        os.close(terminal)
        process.send_signal(signal.SIGHUP)
        assert process.stderr is not None
        process.terminate()
        assert process.wait(WAIT_S) == 0
