"""What Linux counts of a process and of a file system. Sources: proc(5); the kernel's documentation
of ext4 (Documentation/ABI/testing/sysfs-fs-ext4).
"""

import os
from pathlib import Path

_PROC = Path("/proc")
_KIB = 1024


def written_bytes(pid: int) -> int:
    """Bytes that the process had written to a block device, as far as it is the one that did."""
    text = (_PROC / str(pid) / "io").read_text(encoding="ascii")
    lines = dict(line.split(": ") for line in text.splitlines())
    return int(lines["write_bytes"]) - int(lines["cancelled_write_bytes"])


def of_status(pid: int, name: str) -> int:
    """A figure of /proc/PID/status in bytes: VmRSS, VmHWM, VmSwap; 0 where there is none."""
    for line in (_PROC / str(pid) / "status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * _KIB
    return 0


def open_files(pid: int) -> int:
    """How many file descriptors it has."""
    return len(os.listdir(_PROC / str(pid) / "fd"))


def family(pid: int) -> list[int]:
    """The process and those that it has started, and they."""
    found = [pid]
    for task in (_PROC / str(pid) / "task").iterdir():
        for child in (task / "children").read_text(encoding="ascii").split():
            found += family(int(child))
    return found


def file_system_bytes(folder: Path) -> int | None:
    """Bytes written to the ext4 file system of the folder since it was mounted, its journal
    included; None for another file system."""
    device = folder.stat().st_dev
    block = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    counter = Path("/sys/fs/ext4") / block.resolve().name / "session_write_kbytes"
    return int(counter.read_text(encoding="ascii")) * _KIB if counter.exists() else None


def size_of(folder: Path) -> int:
    """Bytes on the disk of all files below it; those that go meanwhile count nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(Path(place, name)).st_blocks * 512
            except FileNotFoundError:
                continue
    return total
