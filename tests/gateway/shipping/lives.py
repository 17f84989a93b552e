"""Lives of a journal, each killed at its n-th touch of the disk; run as a program.

A life fills segments, seals and ships them and makes room. It is killed by SIGKILL just before
its n-th open, rename, removal, truncation or fsync below the folder; then another goes on with what
that one left, to its end, and the next is killed one touch later, until one is not killed any more.
Standard output has how many were killed; `acknowledged` in the folder has a line for each
observation that was synced. A kill needs no fsync, so none is made.
"""

import os
import signal
import sys
from pathlib import Path

from gateway.journal import Journal, JournalLimits
from gateway.shipping import Shipper
from gateway.shipping.folder import Folder
from tests.gateway.shipping.journals import ORIGIN, observe

TOUCHES = frozenset({"open", "os.rename", "os.remove", "os.truncate", "os.mkdir"})
LENGTH = 3
OBSERVATIONS = 7


class Executioner:
    """Kills the process before its n-th touch of a folder."""

    def __init__(self, folder: Path, touch: int) -> None:
        self._folder = os.fsencode(folder).decode()
        self._left = touch
        os.fsync = self._fsync_counted  # type: ignore[assignment]
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in TOUCHES and str(arguments[0]).startswith(self._folder):
            self._count()

    def _fsync_counted(self, descriptor: int) -> None:
        del descriptor
        self._count()

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def live(folder: Path, life: int, acknowledged: int) -> None:
    """One life to its end."""
    limits = JournalLimits(segment_observations=LENGTH, keep_s=0)
    with Journal(folder / "journal", ORIGIN, limits) as journal:
        for number in range(OBSERVATIONS):
            record = observe(journal, life * 1000 + number)
            journal.append([record])
            journal.sync()
            os.write(acknowledged, f"{record.position} {record.observation.lexical}\n".encode())
        journal.seal()
        shipper = Shipper(journal.folder, journal.manifest, Folder(folder / "zone"), "zone")
        shipper.ship()
        assert not shipper.statistics.failing
        journal.space.make_room(limits.max_bytes)


def die(folder: Path, life: int, touch: int, acknowledged: int) -> bool:
    """One life in a process of its own; tells whether it was killed. Raises if it failed."""
    child = os.fork()
    if child == 0:
        Executioner(folder, touch)
        live(folder, life, acknowledged)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and status:
        raise ChildProcessError(f"life {life} failed")
    return os.WIFSIGNALED(status)


def main(folder: Path) -> None:
    """Killed lives and whole ones in turn."""
    (folder / "zone").mkdir()
    told = os.open(folder / "acknowledged", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    killed = 0
    while die(folder, 2 * killed, killed + 1, told):
        die(folder, 2 * killed + 1, 1_000_000, told)
        killed += 1
    sys.stdout.write(f"{killed}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
