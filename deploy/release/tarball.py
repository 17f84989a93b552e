"""Archives that are the same bytes for the same files: no clock, no user, no order of a disk.

Sources: reproducible-builds.org, "Archive metadata"; POSIX.1-2017, pax, "ustar Interchange Format".
"""

import gzip
import tarfile
from pathlib import Path


def pack(folder: Path, name: str, archive: Path, epoch: int) -> None:
    """Write a folder as .tar.gz, called `name` in it; all of it was made at `epoch` by nobody."""
    with (
        archive.open("wb") as file,
        # Without a name: gzip would note that of the file.
        gzip.GzipFile("", "wb", 9, file, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in (folder, *sorted(folder.rglob("*"))):
            member = tar.gettarinfo(path, str(Path(name, path.relative_to(folder))))
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = epoch
            member.mode = 0o755 if path.is_dir() or member.mode & 0o100 else 0o644
            if member.isreg():
                with path.open("rb") as content:
                    tar.addfile(member, content)
            else:
                tar.addfile(member)


def unpack(archive: Path, there: Path) -> Path:
    """The one folder that an archive has, below `there`."""
    with tarfile.open(archive) as tar:
        tar.extractall(there, filter="data")
    (folder,) = there.iterdir()
    return folder
