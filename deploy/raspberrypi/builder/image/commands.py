"""Programs of the building machine: called by name, and missed by the name of their package."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from deploy.raspberrypi.builder.errors import BuildError

PACKAGE_OF = {
    "arch-test": "arch-test",
    "chroot": "coreutils",
    "debugfs": "e2fsprogs",
    "dumpe2fs": "e2fsprogs",
    "e2fsck": "e2fsprogs",
    "mcopy": "mtools",
    "mformat": "mtools",
    "mke2fs": "e2fsprogs",
    "mmdebstrap": "mmdebstrap",
    "sfdisk": "fdisk",
    "tar": "tar",
    "zstd": "zstd",
}
"""Debian's packages that have them."""

_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def missing(*names: str) -> list[str]:
    """The packages to install for those programs that are not there."""
    there = os.environ.get("PATH", "") + ":" + _PATH
    return sorted({PACKAGE_OF[name] for name in names if shutil.which(name, path=there) is None})


def require(*names: str) -> None:
    """Raises BuildError, before hours of work, where one is not there."""
    if packages := missing(*names):
        raise BuildError(
            f"the image needs what is not here: {', '.join(packages)}",
            f"apt-get install {' '.join(packages)}",
        )


def call(
    *command: str,
    given: str = "",
    epoch: int = 0,
    hint: str = "",
    variables: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """What it prints. Raises BuildError with what it says when it fails.

    `epoch` is the time that files get which it makes, where it can be told so; 0: now.
    `variables` are added to its environment.
    """
    stamp = {"SOURCE_DATE_EPOCH": str(epoch), "E2FSPROGS_FAKE_TIME": str(epoch)} if epoch else {}
    environment = {
        **os.environ,
        **stamp,
        **variables,
        "PATH": f"{os.environ.get('PATH', '')}:{_PATH}",
    }
    environment |= {
        "LC_ALL": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
        "MTOOLS_SKIP_CHECK": "1",
    }
    done = _run(command, given, environment)
    if done.returncode:
        told = (done.stderr.strip() or done.stdout.strip())[-2000:]
        raise BuildError(f"{command[0]} failed: {told}", hint or "read what it says above")
    return done.stdout


def _run(
    command: Sequence[str], given: str, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            input=given,
            env=environment,
        )
    except FileNotFoundError:
        name = command[0]
        package = PACKAGE_OF.get(name, name)
        raise BuildError(f"there is no {name} here", f"apt-get install {package}") from None
