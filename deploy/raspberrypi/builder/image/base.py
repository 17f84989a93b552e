"""The Debian root of an image before anything of ours is in it: made once, kept, and used again.

Source: mmdebstrap(1); initramfs-tools(7). The name of what is kept has a sum of all that it is made
of, so another list of packages gives another root; `--fresh` makes one anew for what Debian mended.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image.commands import call, require
from deploy.raspberrypi.builder.image.flavours import SUITE, VENDOR_ARCHIVE, Flavour
from deploy.raspberrypi.builder.targets import MACHINES

INITRAMFS = "MODULES=most\nCOMPRESS=zstd\n"
"""With the drivers of any disk, so that what starts a card starts a virtual machine too."""

_HOOKS = (
    # Where raspi-firmware's hooks put what they make; we lay the boot partition out by ourselves.
    '--essential-hook=mkdir -p "$1/boot/firmware"',
    '--essential-hook=mkdir -p "$1/etc/initramfs-tools/conf.d" && printf \''
    + INITRAMFS.replace("\n", "\\n")
    + '\' >"$1/etc/initramfs-tools/conf.d/sosa-gateway"',
    # INITRD=No keeps each package from making one: emulated, one takes minutes.
    '--customize-hook=env -u INITRD chroot "$1" update-initramfs -c -k all',
    # What every device of this image would else have in common.
    '--customize-hook=rm -f "$1"/etc/ssh/ssh_host_* "$1/var/lib/systemd/random-seed"',
    '--customize-hook=: >"$1/etc/machine-id"',
)
_DPKG = (
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
    "path-exclude=/usr/share/man/*",
    "path-exclude=/usr/share/locale/*",
    "path-exclude=/usr/share/info/*",
)


def base_root(flavour: Flavour, cache: Path, keyring: Path | None, *, fresh: bool = False) -> Path:
    """A tar archive of the root, owners and modes in it. Raises BuildError.

    `keyring` has the keys of Raspberry Pi's archive, for the flavour that takes from there.
    """
    require_emulation(flavour)
    options = list(_options(flavour, keyring))
    told = json.dumps([SUITE, options, flavour.name, flavour.architecture])
    name = f"{SUITE}-{flavour.architecture}-{flavour.name}-{_sum(told)}.tar"
    tar = cache / name
    if tar.exists() and not fresh:
        return tar
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = tar.with_suffix(".unfinished.tar")
    os.environ["INITRD"] = "No"
    try:
        call("mmdebstrap", *options, SUITE, str(unfinished), hint=_HINT)
    finally:
        del os.environ["INITRD"]
    unfinished.rename(tar)
    return tar


_HINT = "let this machine reach a mirror of Debian, and be root (sudo)"


def _options(flavour: Flavour, keyring: Path | None) -> Iterator[str]:
    yield f"--architectures={flavour.architecture}"
    yield "--variant=minbase"
    yield "--components=main,non-free-firmware"
    yield f"--include={','.join(flavour.all_packages)}"
    yield from (f"--dpkgopt={line}" for line in _DPKG)
    yield from _HOOKS
    if flavour.is_of_vendor:
        if keyring is None:
            raise BuildError(
                "the flavour rpi takes its kernel from Raspberry Pi's archive, by keys of theirs",
                "name the file of package raspberrypi-archive-keyring: --rpi-keyring FILE; "
                "or build --flavour debian",
            )
        yield f"--keyring={keyring}"
        source = f"deb {VENDOR_ARCHIVE} {SUITE} main"
        yield f"--setup-hook=echo '{source}' >\"$1/etc/apt/sources.list.d/raspi.list\""


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def require_emulation(flavour: Flavour) -> None:
    """Raises BuildError where the processor is another one, and is not emulated."""
    machine = MACHINES[flavour.architecture]
    if os.uname().machine == machine:
        return
    # mmdebstrap asks it whether the other processor's programs run.
    require("arch-test")
    if not Path(f"/proc/sys/fs/binfmt_misc/qemu-{machine}").exists():
        raise BuildError(
            f"this machine does not run programs of {flavour.architecture}",
            "apt-get install qemu-user-static binfmt-support; in a container also: "
            "mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc && update-binfmts --enable",
        )
