"""A Debian root with the package in it becomes an appliance's: read-only, closed, like every other.

    rootfs (as it lies on the device) -> root; links into /data; units; nothing that two would share

Nothing here needs the target's processor, so a root of a few files shows all of it in a test.
Sources: file-hierarchy(7), systemd.unit(5), machine-id(5), os-release(5).
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image.flavours import Flavour
from deploy.raspberrypi.builder.tree import DEBIAN

ROOTFS = DEBIAN.parent / "rootfs"
"""What goes into the root as it stands: files that can be run keep that, all are root's."""

LINKS: Mapping[str, str] = {
    "etc/hostname": "/data/etc/hostname",
    "etc/localtime": "/data/etc/localtime",
    "etc/resolv.conf": "/run/systemd/resolve/stub-resolv.conf",
    "etc/systemd/network": "/data/etc/network",
    "etc/systemd/system/sosa-gateway.service.d": "/data/etc/sosa-gateway.service.d",
    "etc/wpa_supplicant": "/data/etc/wpa_supplicant",
    "var/lib/dbus/machine-id": "/etc/machine-id",
}
"""What first boot writes, read where programs look for it."""

ENABLED: Mapping[str, str] = {
    "fstrim.timer": "timers.target",
    "nftables.service": "sysinit.target",
    "sosa-gateway-device.service": "multi-user.target",
    "sosa-gateway-first-boot.service": "multi-user.target",
    "sosa-gateway-grow-data.service": "data.mount",
    "sosa-gateway-no-data.service": "multi-user.target",
    "sosa-gateway.service": "multi-user.target",
    "ssh.service": "multi-user.target",
    "systemd-networkd.service": "multi-user.target",
    "systemd-networkd.socket": "sockets.target",
    "systemd-resolved.service": "sysinit.target",
    "systemd-timesyncd.service": "sysinit.target",
    "wpa_supplicant@wlan0.service": "multi-user.target",
}
"""Each with who wants it; what conditions it has are its own."""

DISABLED = ("mosquitto.service", "ssh.socket", "wpa_supplicant.service")
"""There, and started only by who wants them."""

MASKED = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "getty.target",
    "proc-sys-fs-binfmt_misc.automount",
    "systemd-binfmt.service",
    "systemd-networkd-wait-online.service",
)
"""What would write to the root, hold a start up for a network or for nothing, or, for a log-in that
nobody has a password for, clear the screen on which first boot has told the code."""

_MOUNT_POINTS = (
    *("boot/firmware", "data", "proc", "sys", "dev", "run", "tmp"),
    *("etc/sosa-gateway", "var/lib/sosa-gateway", "var/lib/sosa-gateway-slots", "var/lib/systemd"),
    *("var/lib/mosquitto", "var/lib/sosa-gateway-mosquitto"),
)
_EMPTIED = ("boot", "run", "tmp", "var/cache", "var/lib/apt/lists", "var/log", "var/tmp")
_ALIKE = ("etc/ssh/ssh_host_*", "var/lib/systemd/random-seed", "var/lib/dbus/machine-id")
"""What a device has to make by itself."""

_WITH_LINK = {
    "wpa_supplicant@wlan0.service": "wpa_supplicant@.service",
}


def make_appliance(root: Path, flavour: Flavour, version: str, epoch: int) -> None:
    """Change the root in place; `boot` is emptied, so what starts the kernel is taken before."""
    _empty(root)
    shutil.copytree(ROOTFS, root, dirs_exist_ok=True, copy_function=_copy)
    # With their folders come the times of a checkout.
    for path in (each for each in ROOTFS.rglob("*") if each.is_dir()):
        os.utime(root / path.relative_to(ROOTFS), (epoch, epoch))
    for name in _MOUNT_POINTS:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, target in LINKS.items():
        _link(root / name, target)
    _units(root)
    (root / "etc/machine-id").write_text("", encoding="ascii")
    (root / "var/cache/private").mkdir(mode=0o700, parents=True, exist_ok=True)
    told = {"version": version, "flavour": flavour.name, "architecture": flavour.architecture}
    _put(root / "usr/lib/sosa-gateway-image/image.json", json.dumps(told) + "\n")
    # The clock of a device without one begins here, not in 1970 (systemd.time-sync of NEWS 248).
    for name in ("usr/lib/clock-epoch", "etc/.updated", "var/.updated"):
        _put(root / name, "")
    for path in (root / "usr/lib/clock-epoch", root / "etc/.updated", root / "var/.updated"):
        os.utime(path, (epoch, epoch))
    os.utime(root / "usr", (epoch, epoch))


def _empty(root: Path) -> None:
    for name in _EMPTIED:
        folder = root / name
        for path in folder.iterdir() if folder.is_dir() else ():
            _remove(path)
    for pattern in _ALIKE:
        for path in root.glob(pattern):
            path.unlink()


def _copy(source: str, target: str) -> None:
    """With the modes of a system, not those of a checkout."""
    shutil.copyfile(source, target)
    Path(target).chmod(0o755 if os.access(source, os.X_OK) else 0o644)


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove(path)
    path.symlink_to(target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _units(root: Path) -> None:
    wishes = root / "etc/systemd/system"
    for unit in (*DISABLED, *MASKED):
        for link in wishes.glob(f"*.wants/{unit}"):
            link.unlink()
    for unit, wanting in ENABLED.items():
        file = f"/usr/lib/systemd/system/{_WITH_LINK.get(unit, unit)}"
        _link(wishes / f"{wanting}.wants" / unit, file)
    for unit in MASKED:
        _link(wishes / unit, "/dev/null")


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)


class Owner:
    """The gateway's user, by the numbers that it has in this root. Raises BuildError."""

    def __init__(self, root: Path) -> None:
        for line in (root / "etc/passwd").read_text(encoding="utf-8").splitlines():
            name, _, user, group = line.split(":")[:4]
            if name == "sosa-gateway":
                self.user, self.group = int(user), int(group)
                return
        raise BuildError("the root has no user sosa-gateway", "install the package in it before")


DATA: Mapping[str, tuple[int, bool, bool]] = {
    "etc": (0o755, False, False),
    "etc/network": (0o755, False, False),
    "etc/nftables": (0o755, False, False),
    "etc/sosa-gateway": (0o750, False, True),
    "etc/wpa_supplicant": (0o700, False, False),
    "mosquitto": (0o755, False, False),
    "mosquitto-files": (0o755, False, False),
    "releases": (0o755, False, False),
    "sosa-gateway": (0o700, True, True),
    "ssh": (0o700, False, False),
    "systemd": (0o755, False, False),
}
"""The folders of /data before the first start: mode, whether the gateway owns it, whether its group
does; units give those of Mosquitto to whom they are for. `releases` has the slots of the program,
which the gateway itself cannot write."""


def make_data(folder: Path, owner: Owner) -> None:
    """Lay out what /data has; owners only where root builds."""
    for name, (mode, is_user, is_group) in DATA.items():
        path = folder / name
        path.mkdir(parents=True)
        path.chmod(mode)
        if os.geteuid() == 0:
            os.chown(path, owner.user if is_user else 0, owner.group if is_group else 0)
