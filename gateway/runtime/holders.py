"""Which other process has a file locked or listens at a port, as the kernel tells it.

Place: asked where a start was refused, and by `sosa-gateway check` before one. Linux tells it below
/proc (proc(5): `locks`, `net/tcp`, `PID/fd`); elsewhere, and of processes of other users, less is
known or nothing. Nothing is opened or locked to find it out.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_LISTENS = "0A"
_LONGEST = 60
_OURS = re.compile(r"(^|[/ ])(sosa-gateway|-m gateway(\.cli)?)( |$)")


@dataclass(frozen=True, slots=True)
class Holder:
    """A process; `pid` is 0, and `command` empty, where the kernel does not say more."""

    pid: int
    command: str = ""

    def __str__(self) -> str:
        who = "another gateway" if self.is_gateway else "another process"
        if not self.pid:
            return f"{who} that this user may not see"
        return f"{who} (pid {self.pid}{f', {self.command}' if self.command else ''})"

    @property
    def is_gateway(self) -> bool:
        """Whether it was started as one of ours."""
        return bool(_OURS.search(self.command))


def lock_holder(path: Path) -> Holder | None:
    """Who has a lock, of fcntl or flock, on a file; None: nobody, as far as can be told."""
    try:
        found = path.stat()
    except OSError:
        return None
    device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}"
    for line in _lines("locks"):
        _, kind, *rest = line.split()
        if kind == "->" or len(rest) < 4:  # somebody who waits for it
            continue
        pid, (place, _, inode) = int(rest[2]), rest[3].rpartition(":")
        # A file system made of others, as Btrfs and overlays are, tells another device.
        if int(inode) == found.st_ino and (place == device or _has_open(pid, str(path.resolve()))):
            return _holder(pid)
    return None


def port_holder(port: int) -> Holder | None:
    """Who listens at a TCP port of this machine; None: nobody, as far as can be told."""
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    if not sockets:
        return None
    for process in _PROC.glob("[0-9]*"):
        if sockets & set(_open(process)):
            return _holder(int(process.name))
    return Holder(0)


def _listening(port: int) -> Iterator[str]:
    """The inodes of the sockets."""
    for table in ("net/tcp", "net/tcp6"):
        for line in _lines(table):
            fields = line.split()
            local, state = fields[1], fields[3]
            if state == _LISTENS and int(local.rpartition(":")[2], 16) == port:
                yield fields[9]


def _holder(pid: int) -> Holder:
    command = ""
    with suppress(OSError):
        words = (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        command = " ".join([os.path.basename(words[0]), *map(_short, words[1:])]).strip()
    return Holder(max(pid, 0), re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", command)[:_LONGEST])


def _short(word: str) -> str:
    """The name alone of a program that was started by its path."""
    return os.path.basename(word) if word.endswith("/sosa-gateway") else word


def _has_open(pid: int, path: str) -> bool:
    return path in _open(_PROC / str(pid))


def _open(process: Path) -> Iterator[str]:
    """What it has open, where we may see it."""
    with suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):
                yield os.readlink(descriptor)


def _lines(name: str) -> list[str]:
    try:
        lines = (_PROC / name).read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    return [line for line in lines if not line.lstrip().startswith("sl ")]
