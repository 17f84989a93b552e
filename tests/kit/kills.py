"""Work that is killed before its n-th change of the file system, as by kill -9 or a power cut.

A child process does it; the interpreter tells it of each open for writing, rename, removal, link,
new folder and process (PEP 578), and there it kills itself: nothing is caught, closed or tidied.
"""

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

_CHANGES = frozenset(
    {
        "os.chmod",
        "os.link",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.symlink",
        "os.truncate",
        "subprocess.Popen",
    }
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def is_killed(before: int, work: Callable[[], object]) -> bool:
    """Whether the work has so many changes, and was killed before that one; the first is 0.

    What the work raises fails the test.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
        child = os.fork()
    if child == 0:
        _work_and_end(before, work)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the work failed: its traceback is above"
    return False


def _work_and_end(before: int, work: Callable[[], object]) -> None:
    left = before

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event in _CHANGES or (event == "open" and arguments[2] & _WRITES):
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    sys.addaudithook(count)
    try:
        with patch("os.fsync"):  # a kill loses nothing that was written; the disk may be slow
            work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
