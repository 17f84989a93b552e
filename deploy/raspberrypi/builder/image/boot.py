"""The FAT partition: firmware of a Raspberry Pi, kernel, initial RAM disk, an example for people.

What lies where is read by the firmware of the board (config.txt) and, for a virtual machine, by who
starts it: kernel and RAM disk have one name, whatever their version.
"""

import shutil
from pathlib import Path

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image.flavours import Flavour, command_line

_FIRMWARE = "usr/lib/raspi-firmware"
_NOT_FOR_64_BIT = ("kernel.img", "kernel7.img", "kernel7l.img", "kernel8.img")

EXAMPLE = """\
# Rename this file to gateway.toml, or write one of your own: all of it is optional, and taken over
# at the next start. What became of it then stands in gateway-report.txt.

# [device]
# name = "kitchen"                  # https://kitchen.local:8443/
# timezone = "Europe/Rome"
# ssh_keys = ["ssh-ed25519 AAAA... me"]
# claim_code = "K7PQM-4XWTD"        # otherwise the device makes one

# [device.wifi]
# ssid = "home"
# password = "..."
# country = "IT"
"""


def lay_out_boot(root: Path, flavour: Flavour, folder: Path) -> None:
    """Put what starts the kernel of a root into an empty folder. Raises BuildError."""
    kernels = sorted((root / "boot").glob("vmlinuz-*"))
    if not kernels:
        raise BuildError("the root has no kernel", "build its base anew: --fresh")
    for kernel in kernels:
        version = kernel.name.removeprefix("vmlinuz-")
        disk = root / "boot" / f"initrd.img-{version}"
        if not disk.exists():
            raise BuildError(f"there is no {disk.name}", "build the base anew: --fresh")
        mark = _mark(version) if flavour.is_of_vendor else ""
        shutil.copyfile(kernel, folder / f"vmlinuz{mark}")
        shutil.copyfile(disk, folder / f"initrd{mark or '.img'}{'.img' if mark else ''}")
    (folder / "cmdline.txt").write_text(f"{command_line(flavour)}\n", encoding="ascii")
    (folder / "gateway.example.toml").write_text(EXAMPLE, encoding="utf-8")
    if flavour.config:
        (folder / "config.txt").write_text(flavour.config, encoding="ascii")
        _firmware(root / _FIRMWARE, folder)
        _trees(root, folder)


def _mark(version: str) -> str:
    """Raspberry Pi names its kernels for the processors: 6.12.34+rpt-rpi-v8, ...-2712."""
    return f"-{version.rpartition('-')[2]}"


def _firmware(source: Path, folder: Path) -> None:
    if not source.is_dir():
        raise BuildError(f"the root has no {_FIRMWARE}", "build its base anew: --fresh")
    for path in sorted(source.iterdir()):
        if path.is_file() and path.name not in _NOT_FOR_64_BIT:
            shutil.copyfile(path, folder / path.name)


def _trees(root: Path, folder: Path) -> None:
    """Device trees and their overlays, as both kernels have them: below one folder each."""
    found = sorted((root / "usr/lib").glob("linux-image-*"))
    for kernel in found:
        # A Pi 3 and Zero 2 W are bcm2837 to Debian, bcm2710 to Raspberry Pi.
        for tree in sorted(kernel.glob("broadcom/bcm2[78]*.dtb")):
            shutil.copyfile(tree, folder / tree.name)
        if (kernel / "overlays").is_dir():
            shutil.copytree(kernel / "overlays", folder / "overlays", dirs_exist_ok=True)
    if not list(folder.glob("*.dtb")):
        raise BuildError("the root has no device trees", "build the base anew: --fresh")
