"""The image's layout from a root of a few files: partitions, files, modes, units; no network.

What Debian's packages bring is stood for by empty files; what we bring is what a device gets.
"""

import filecmp
import json
import os
import re
import runpy
import shutil
import stat
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image import base, commands
from deploy.raspberrypi.builder.image.__main__ import main
from deploy.raspberrypi.builder.image.appliance import (
    DATA,
    ENABLED,
    LINKS,
    MASKED,
    ROOTFS,
    Owner,
    make_appliance,
    make_data,
)
from deploy.raspberrypi.builder.image.base import base_root
from deploy.raspberrypi.builder.image.boot import lay_out_boot
from deploy.raspberrypi.builder.image.contents import bill_of_materials
from deploy.raspberrypi.builder.image.disk import MIB, Layout, layout_for, write_disk
from deploy.raspberrypi.builder.image.flavours import COMMON, FLAVOURS, SUITE, command_line
from deploy.raspberrypi.builder.image.manifest import Packed, imager_manifest
from deploy.raspberrypi.builder.targets import RELEASES
from deploy.raspberrypi.builder.tree import DEBIAN

EPOCH = 1_700_000_000
LAYOUT = Layout(36, 8, 40)
DEBIAN_ARM = FLAVOURS["debian", "arm64"]
VENDOR = FLAVOURS["rpi", "arm64"]
TOOLS = ("sfdisk", "mformat", "mke2fs", "debugfs", "dumpe2fs")
DPKG = """\
Package: libc6
Status: install ok installed
Architecture: arm64
Version: 2.41-12+deb13u1

Package: gone
Status: deinstall ok config-files
Architecture: arm64
Version: 1
"""

needs_tools = pytest.mark.skipif(
    bool(commands.missing(*TOOLS)), reason=f"apt-get install {' '.join(commands.missing(*TOOLS))}"
)

STARTED_BY_OTHERS = {
    "sosa-gateway-mosquitto.service",
    "sosa-gateway-mosquitto-changed.service",
    "sosa-gateway-upgrade.service",
}
"""By a path unit, by a person."""


def put(root: Path, name: str, text: str = "") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def small_root(root: Path, *kernels: str) -> Path:
    """What a base root and the package would have brought."""
    user = f"sosa-gateway:x:{os.getuid()}:{os.getgid()}::/var/lib/sosa-gateway:/usr/sbin/nologin"
    put(root, "etc/passwd", f"root:x:0:0:root:/root:/bin/sh\n{user}\n")
    put(root, "var/lib/dpkg/status", DPKG)
    site = "usr/lib/sosa-gateway/venv/lib/python3.13/site-packages"
    put(root, f"{site}/Some_Thing-1.0.dist-info/METADATA", "Name: Some_Thing\nVersion: 1.0\n\nx\n")
    for name in ("etc/ssh/ssh_host_rsa_key", "var/lib/systemd/random-seed", "etc/machine-id"):
        put(root, name, "secret")
    for name in ("var/log/dpkg.log", "var/cache/apt/pkgcache.bin", "tmp/x/y"):
        put(root, name, "left over")
    put(root, "etc/systemd/network/99-default.link")
    put(root, "etc/wpa_supplicant/action.sh")
    put(root, "etc/systemd/system/multi-user.target.wants/mosquitto.service")
    for kernel in kernels or ("6.12.1-arm64",):
        put(root, f"boot/vmlinuz-{kernel}", f"kernel {kernel}")
        put(root, f"boot/initrd.img-{kernel}", f"disk {kernel}")
        for tree in ("bcm2711-rpi-4-b", "bcm2837-rpi-3-b", "bcm2837-rpi-zero-2-w"):
            put(root, f"usr/lib/linux-image-{kernel}/broadcom/{tree}.dtb", "tree")
    put(root, "usr/lib/linux-image-6.12.1-arm64/overlays/disable-bt.dtbo", "overlay")
    put(root, "usr/lib/raspi-firmware/start4.elf", "firmware")
    put(root, "usr/lib/raspi-firmware/kernel8.img", "not ours")
    return root


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `boot`, `root` and `data` as an image gets them."""
    work = tmp_path_factory.mktemp("image")
    for name in ("boot", "root", "data"):
        (work / name).mkdir()
    root = small_root(work / "root")
    lay_out_boot(root, DEBIAN_ARM, work / "boot")
    make_appliance(root, DEBIAN_ARM, "1.2.3", EPOCH)
    make_data(work / "data", Owner(root))
    return work


@pytest.fixture(scope="module")
def image(built: Path) -> Path:
    disk = built / "card.img"
    write_disk(disk, LAYOUT, (built / "boot", built / "root", built / "data"), EPOCH)
    return disk


def ask(image: Path, part: int, request: str) -> str:
    """What debugfs answers about a file system of the image."""
    where = f"{image}?offset={LAYOUT.partitions[part].offset}"
    return commands.call("debugfs", "-R", request, where)


@needs_tools
def test_there_are_three_partitions_that_a_pi_3_reads(image: Path) -> None:
    table = json.loads(commands.call("sfdisk", "--json", str(image)))["partitiontable"]
    assert table["label"] == "dos"
    found = [
        (part["start"] * 512 // MIB, part["size"] * 512 // MIB, part["type"])
        for part in table["partitions"]
    ]
    assert found == [(4, 36, "c"), (40, 8, "83"), (48, 40, "83")]
    assert image.stat().st_size == LAYOUT.mib * MIB


@needs_tools
def test_file_systems_are_sound_and_found_by_their_labels(image: Path) -> None:
    for part, label in ((1, "sosa-root"), (2, "sosa-data")):
        where = f"{image}?offset={LAYOUT.partitions[part].offset}"
        commands.call("e2fsck", "-fn", where)
        told = ask(image, part, "show_super_stats -h")
        assert re.search(r"volume name:\s+" + label, told)
        assert ("has_journal" in told) == (label == "sosa-data")
    fat = f"{image}@@{LAYOUT.partitions[0].offset}"
    assert "SOSA-BOOT" in commands.call("mlabel", "-s", "-i", fat)
    assert "FAT32" in commands.call("minfo", "-i", fat)


@needs_tools
def test_the_same_files_are_the_same_image_at_any_time(
    image: Path, built: Path, tmp_path: Path
) -> None:
    folders = tmp_path / "boot", tmp_path / "root", tmp_path / "data"
    for folder in folders:
        shutil.copytree(built / folder.name, folder, symlinks=True)
        for path in (folder, *folder.rglob("*")):
            os.utime(path, follow_symlinks=False)
    time.sleep(2 - time.time() % 2)  # the times of a FAT go by two seconds
    write_disk(tmp_path / "card.img", LAYOUT, folders, EPOCH)
    assert filecmp.cmp(tmp_path / "card.img", image, shallow=False)
    for part in (1, 2):
        told = ask(image, part, "stat /")
        assert len(re.findall(rf"time: {EPOCH:#x}:0", told)) == 4


def test_folders_have_no_times_of_the_checkout(built: Path) -> None:
    for name in ("usr/lib/modules-load.d", "usr/lib/sysctl.d", "usr/lib/systemd/journald.conf.d"):
        assert (ROOTFS / name).is_dir()
        assert (built / "root" / name).stat().st_mtime == EPOCH


@needs_tools
def test_what_is_older_than_the_release_keeps_its_time(built: Path, tmp_path: Path) -> None:
    put(tmp_path, "root/module.py")
    os.utime(tmp_path / "root/module.py", (EPOCH - 5, EPOCH - 5))
    disk = tmp_path / "card.img"
    write_disk(disk, LAYOUT, (built / "boot", tmp_path / "root", built / "data"), EPOCH)
    assert f"mtime: {EPOCH - 5:#x}:" in ask(disk, 1, "stat /module.py")


@needs_tools
def test_the_boot_partition_has_what_firmware_and_people_read(image: Path) -> None:
    fat = f"{image}@@{LAYOUT.partitions[0].offset}"
    listed = set(commands.call("mdir", "-b", "-/", "-i", fat).split())
    assert {
        "::/vmlinuz",
        "::/initrd.img",
        "::/cmdline.txt",
        "::/config.txt",
        "::/start4.elf",
        "::/bcm2711-rpi-4-b.dtb",
        "::/bcm2837-rpi-3-b.dtb",
        "::/bcm2837-rpi-zero-2-w.dtb",
        "::/overlays/disable-bt.dtbo",
        "::/gateway.example.toml",
    } <= listed
    assert "::/kernel8.img" not in listed
    assert commands.call("mtype", "-i", fat, "::vmlinuz") == "kernel 6.12.1-arm64"
    assert "kernel=vmlinuz\n" in commands.call("mtype", "-i", fat, "::config.txt")


@needs_tools
def test_modes_are_those_of_a_system(image: Path) -> None:
    for name, (mode, _, _) in DATA.items():
        assert f"Mode:  {mode:04o}" in ask(image, 2, f"stat /{name}")
    scripts = [path for path in ROOTFS.rglob("*") if path.parent.name == "sosa-gateway-image"]
    assert len(scripts) >= 3
    for path in scripts:
        assert "Mode:  0755" in ask(image, 1, f"stat /{path.relative_to(ROOTFS)}")
    assert "Mode:  0644" in ask(image, 1, "stat /etc/fstab")


@needs_tools
def test_a_card_that_is_too_small_for_its_root_is_told(built: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    put(root, "big", "x" * 9 * MIB)
    disk = tmp_path / "card.img"
    with pytest.raises(BuildError, match="mke2fs failed"):
        write_disk(disk, LAYOUT, (built / "boot", root, built / "data"), EPOCH)
    assert not disk.exists()
    layout = layout_for(root)
    write_disk(disk, layout, (built / "boot", root, built / "data"), EPOCH)
    assert layout.root_mib % 4 == 0


def mounts() -> dict[str, tuple[str, str, set[str]]]:
    """By mount point: what, of which kind, how."""
    lines = (ROOTFS / "etc/fstab").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {row[1]: (row[0], row[2], set(row[3].split(","))) for row in rows}


def test_nothing_but_the_data_is_written(built: Path) -> None:
    found = mounts()
    assert found["/"][:2] == ("LABEL=sosa-root", "ext4")
    assert "ro" in found["/"][2]
    assert found["/data"][0] == "LABEL=sosa-data"
    assert {"noatime", "nodev", "nosuid", "nofail", "x-systemd.growfs"} <= found["/data"][2]
    assert "noexec" not in found["/data"][2]  # the slots of the program are there
    for point, (source, kind, options) in found.items():
        if "bind" in options:
            assert (built / source.removeprefix("/")).is_dir(), point
            assert (built / "root" / point.removeprefix("/")).is_dir(), point
            assert "nofail" in options
        elif point not in {"/", "/data", "/boot/firmware"}:
            assert kind == "tmpfs"
            assert any(option.startswith("size=") for option in options)


def test_nothing_of_a_release_that_was_cut_off_runs_before_it_is_gone_back_from() -> None:
    units = ("sosa-gateway.service", "sosa-gateway-first-boot.service")
    before = [
        (DEBIAN / name).read_text(encoding="utf-8").partition("\nExecStart=")[0] for name in units
    ]
    (of_gateway,), (of_first_boot,) = (
        re.findall(r"(?m)^ExecStartPre=-?\+(.*upgrade recover.*)$", text) for text in before
    )
    assert of_gateway == of_first_boot


def test_what_first_boot_writes_is_read_where_programs_look(built: Path) -> None:
    for name, target in LINKS.items():
        assert os.readlink(built / "root" / name) == target
    for folder in ("network", "wpa_supplicant", "nftables", "sosa-gateway"):
        assert (built / "data/etc" / folder).is_dir()


def test_there_is_a_place_for_the_slots_of_the_program(built: Path) -> None:
    mode, is_users, is_groups = DATA["releases"]
    assert (mode, is_users, is_groups) == (0o755, False, False)
    assert (built / "data/releases").is_dir()


def test_two_devices_have_no_secret_in_common(built: Path) -> None:
    root = built / "root"
    assert (root / "etc/machine-id").read_text() == ""
    assert not list(root.glob("etc/ssh/ssh_host_*"))
    assert not (root / "var/lib/systemd/random-seed").exists()
    for folder in ("tmp", "var/log", "var/cache/private", "boot/firmware"):
        assert list((root / folder).iterdir()) == []


def test_units_are_wanted_and_there(built: Path) -> None:
    wishes = built / "root/etc/systemd/system"
    ours = {path.name for path in (*ROOTFS.rglob("*.service"), *DEBIAN.glob("*.service"))}
    for unit, wanting in ENABLED.items():
        assert (wishes / f"{wanting}.wants" / unit).is_symlink()
    assert {"sosa-gateway-device.service", "sosa-gateway-grow-data.service"} <= ours
    assert {unit for unit in ENABLED if unit.startswith("sosa-")} == ours - STARTED_BY_OTHERS
    for unit in MASKED:
        assert os.readlink(wishes / unit) == "/dev/null"
    assert not (wishes / "multi-user.target.wants/mosquitto.service").exists()


def test_each_unit_says_who_wants_it_as_the_image_does() -> None:
    for path in (*ROOTFS.rglob("*.service"), DEBIAN / "sosa-gateway-first-boot.service"):
        assert f"WantedBy={ENABLED[path.name]}\n" in path.read_text()


SCRIPTS = sorted(ROOTFS.glob("usr/lib/sosa-gateway-image/*"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_such_as_their_interpreter_reads(script: Path) -> None:
    text = script.read_text()
    assert stat.S_IMODE(script.stat().st_mode) & 0o111
    if text.startswith("#!/bin/sh\n"):
        subprocess.run(("sh", "-n", str(script)), check=True)
        assert "set -eu\n" in text
    else:
        assert text.startswith(f"#!/usr/bin/python{RELEASES[SUITE].python} -I\n")
        compile(text, script.name, "exec")


@needs_tools
def test_the_partition_of_data_takes_what_a_card_has(image: Path, tmp_path: Path) -> None:
    grown = runpy.run_path(str(ROOTFS / "usr/lib/sosa-gateway-image/grow-data"))["grown"]
    card = tmp_path / "card.img"
    card.write_bytes(image.read_bytes())
    table, sectors = card.read_bytes()[:512], 200 * MIB // 512
    with card.open("r+b") as file:
        file.truncate(sectors * 512)
        file.write(grown(table, 3, sectors))
    parts = json.loads(commands.call("sfdisk", "--json", str(card)))["partitiontable"]["partitions"]
    assert parts[2]["start"] + parts[2]["size"] == sectors
    old = json.loads(commands.call("sfdisk", "--json", str(image)))["partitiontable"]["partitions"]
    assert [part["size"] for part in parts[:2]] == [part["size"] for part in old[:2]]


def test_a_partition_that_is_long_enough_or_not_there_stays() -> None:
    grown = runpy.run_path(str(ROOTFS / "usr/lib/sosa-gateway-image/grow-data"))["grown"]
    entry = struct.pack("<II", 2048, 4096)
    table = bytes(446 + 40) + entry + bytes(16) + b"\x55\xaa"
    assert len(table) == 512
    assert grown(table, 3, 2048 + 4096 + 2047) is None
    assert grown(table, 2, 100_000) is None
    assert grown(table[:510] + b"xx", 3, 100_000) is None
    longest = grown(table, 3, 2**40)
    assert struct.unpack_from("<II", longest, 446 + 40) == (2048, 2**32 - 1)


def test_nobody_comes_in_but_at_the_gateways_ports() -> None:
    rules = (ROOTFS / "etc/nftables.conf").read_text()
    assert rules.count("policy drop;") == 2
    accepted = [line.strip() for line in rules.splitlines() if line.strip().endswith(" accept")]
    assert "tcp dport @ports accept" in accepted
    assert not [line for line in accepted if re.search(r"tcp dport \d", line)]


def test_ssh_takes_keys_alone_and_only_where_there_are_some() -> None:
    settings = (ROOTFS / "etc/ssh/sshd_config.d/sosa-gateway.conf").read_text()
    assert "PasswordAuthentication no\n" in settings
    assert "KbdInteractiveAuthentication no\n" in settings
    unit = (ROOTFS / "usr/lib/systemd/system/ssh.service.d/sosa-gateway.conf").read_text()
    assert "ConditionPathExists=/data/ssh/authorized_keys\n" in unit


def test_the_hardware_watches_over_systemd_and_logs_stay_in_memory() -> None:
    assert "RuntimeWatchdogSec=15s\n" in text_of("systemd/system.conf.d")
    assert "Storage=volatile\n" in text_of("systemd/journald.conf.d")
    assert "MulticastDNS=yes\n" in text_of("systemd/resolved.conf.d")
    assert "ram / 2" in (ROOTFS / "etc/systemd/zram-generator.conf").read_text()


def text_of(folder: str) -> str:
    return (ROOTFS / "usr/lib" / folder / "sosa-gateway.conf").read_text()


@pytest.mark.parametrize(
    "flavour", FLAVOURS.values(), ids=lambda each: f"{each.name}-{each.architecture}"
)
def test_every_kernel_mounts_the_root_read_only_and_mends_disks(flavour: object) -> None:
    words = command_line(flavour).split()  # type: ignore[arg-type]
    assert {"root=LABEL=sosa-root", "ro", "fsck.repair=yes", "net.ifnames=0"} <= set(words)
    assert {"systemd-sysv", "nftables", "systemd-resolved", "libidn2-0"} <= set(COMMON)


def test_the_vendors_kernels_are_chosen_by_the_board(tmp_path: Path) -> None:
    root = small_root(tmp_path / "root", "6.12.34+rpt-rpi-v8", "6.12.34+rpt-rpi-2712")
    boot = tmp_path / "boot"
    boot.mkdir()
    lay_out_boot(root, VENDOR, boot)
    config = (boot / "config.txt").read_text()
    for name in re.findall(r"^(?:kernel=|initramfs )(\S+)", config, re.MULTILINE):
        assert (boot / name).exists()
    assert (boot / "vmlinuz-2712").read_text() == "kernel 6.12.34+rpt-rpi-2712"
    assert "cgroup_enable=memory" in (boot / "cmdline.txt").read_text()


@pytest.mark.parametrize("gone", ["boot/vmlinuz-6.12.1-arm64", "boot/initrd.img-6.12.1-arm64"])
def test_a_root_that_cannot_start_is_told(tmp_path: Path, gone: str) -> None:
    root = small_root(tmp_path / "root")
    (root / gone).unlink()
    (tmp_path / "boot").mkdir()
    with pytest.raises(BuildError, match=r"the root has no kernel|there is no initrd"):
        lay_out_boot(root, DEBIAN_ARM, tmp_path / "boot")


def test_a_root_without_the_package_is_told(tmp_path: Path) -> None:
    put(tmp_path, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
    with pytest.raises(BuildError, match="no user sosa-gateway"):
        Owner(tmp_path)


def test_the_bill_has_packages_of_debian_and_of_python(built: Path) -> None:
    document = json.loads(bill_of_materials(built / "root", "image", "1.2.3", EPOCH))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    assert [each["purl"] for each in document["components"]] == [
        "pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=arm64&distro=debian-trixie",
        "pkg:pypi/some-thing@1.0",
    ]
    assert document["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"


def test_imager_is_told_who_reads_its_answers() -> None:
    packed = Packed(100, "a" * 64, 10, "b" * 64)
    (entry,) = json.loads(imager_manifest(VENDOR, "1.2.3", "file:///x.img.zst", packed, EPOCH))[
        "os_list"
    ]
    assert entry["init_format"] == "rpi-preseed"
    assert (entry["extract_size"], entry["extract_sha256"]) == (100, "a" * 64)
    assert (entry["image_download_size"], entry["image_download_sha256"]) == (10, "b" * 64)
    assert entry["devices"] == ["pi3-64bit", "pi4-64bit", "pi5-64bit"]
    assert entry["release_date"] == "2023-11-14"


@pytest.fixture
def fake_mmdebstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A program of that name that does as a test says; the folder of what is kept."""
    monkeypatch.setattr(base, "require_emulation", lambda flavour: None)

    def made(script: str) -> Path:
        program = tmp_path / "bin" / "mmdebstrap"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        return tmp_path / "kept"

    return made


TOUCH = 'for word; do case "$word" in *.tar) echo "$*" >"$word" ;; esac; done'


def test_the_base_is_made_once_and_again_for_other_packages(
    fake_mmdebstrap: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = fake_mmdebstrap(TOUCH)
    first = base_root(DEBIAN_ARM, kept, None)
    said = first.read_text()
    assert "--architectures=arm64" in said
    assert "raspi-firmware" in said
    fake_mmdebstrap("exit 1")
    assert base_root(DEBIAN_ARM, kept, None) == first
    monkeypatch.setattr(base, "SUITE", "forky")
    with pytest.raises(BuildError, match="mmdebstrap failed"):
        base_root(DEBIAN_ARM, kept, None)
    assert list(kept.iterdir()) == [first]


def test_a_base_that_was_not_finished_is_not_used(fake_mmdebstrap: Callable[[str], Path]) -> None:
    kept = fake_mmdebstrap(f"{TOUCH}; echo 'no mirror' >&2; exit 25")
    with pytest.raises(BuildError, match="no mirror"):
        base_root(DEBIAN_ARM, kept, None)
    kept = fake_mmdebstrap(TOUCH)
    assert "unfinished" in base_root(DEBIAN_ARM, kept, None).read_text()
    assert len(list(kept.iterdir())) == 1


def test_the_vendors_archive_is_believed_by_keys_that_are_named(
    fake_mmdebstrap: Callable[[str], Path], tmp_path: Path
) -> None:
    kept = fake_mmdebstrap(TOUCH)
    with pytest.raises(BuildError, match="--rpi-keyring"):
        base_root(VENDOR, kept, None)
    assert (
        f"--keyring={tmp_path / 'keys.gpg'}"
        in base_root(VENDOR, kept, tmp_path / "keys.gpg").read_text()
    )


def test_a_machine_of_another_kind_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = FLAVOURS["debian", "arm64" if os.uname().machine == "x86_64" else "amd64"]
    monkeypatch.setattr(base, "MACHINES", {other.architecture: "no-such-machine"})
    monkeypatch.setattr(base, "require", lambda *names: None)
    with pytest.raises(BuildError, match="does not run programs of"):
        base_root(other, Path("/nowhere"), None)
    monkeypatch.undo()
    monkeypatch.setattr(commands, "_PATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="apt-get install arch-test"):
        base_root(other, Path("/nowhere"), None)


def test_programs_that_are_missing_are_told_before_anything_is_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "_PATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--output", str(tmp_path / "out")]) == 1
    assert "apt-get install coreutils e2fsprogs fdisk mmdebstrap mtools" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_there_is_no_vendors_image_for_another_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--flavour", "rpi", "--arch", "amd64"]) == 1
    assert "no image of flavour rpi for amd64" in capsys.readouterr().err
