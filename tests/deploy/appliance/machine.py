"""An emulated machine that starts an image: QEMU, its disk, its console, and what reaches it.

Power is cut by ending QEMU: what the guest had not given to its disk is lost. What a real card has
in a cache of its own would be lost too, which nothing here shows.
"""

import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

import httpx
import pytest

from deploy.raspberrypi.builder.image.commands import call
from deploy.raspberrypi.builder.image.disk import FIRST_MIB, MIB
from tests.kit.gateways import LOOPBACK, Program, free_port

EMULATORS = {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}
CONSOLES = {"amd64": "ttyS0", "arm64": "ttyAMA0"}
DISK_GIB = 4
MEMORY_MIB = 1024
EMULATED = (
    # What a real processor does in a blink may take an emulated one minutes.
    "systemd.watchdog_sec=120",
    "systemd.default_device_timeout_sec=900",
    "systemd.show_status=error",  # else each half second, to a console that is emulated too
    # Each call of the kernel would otherwise empty what the emulator knows of memory.
    "mitigations=off",
    "nokaslr",
    "cryptomgr.notests",
)
"""What the kernel is told beside, where the processor is emulated."""

BOOT_S = 3600.0
"""Patience with a processor that is emulated on a machine that does other things too."""

COMMAND_S = 600.0
"""The same for one command, and for being let in to give it."""


def has_kvm(architecture: str) -> bool:
    """Whether the machine's own processor can run the guest."""
    own = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
    if own != architecture or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    # A machine that is itself a guest may have the device, and no processor behind it.
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return architecture == "arm64" or re.search(r"\b(vmx|svm)\b", flags) is not None


def flash(image: Path, card: Path) -> None:
    """A card with the image on it, as large as cards are."""
    fresh = card.with_suffix(".fresh")
    copy = ("cp", "--sparse=always", "--reflink=auto", str(image), str(fresh))
    subprocess.run(copy, check=True)
    with fresh.open("r+b") as file:
        file.truncate(DISK_GIB * 1024 * MIB)
    fresh.rename(card)


class Machine:
    """The card of a folder, and a machine around it while it is switched on."""

    def __init__(self, architecture: str, folder: Path) -> None:
        self._architecture = architecture
        self.folder = folder
        self._disk = folder / "card.img"
        self._boot = f"{self._disk}@@{FIRST_MIB * MIB}"
        for name in ("vmlinuz", "initrd.img", "cmdline.txt"):
            call("mcopy", "-o", "-i", self._boot, f"::{name}", str(folder / name))
        names = ("http", "websocket", "mqtt", "ssh", "wire", "wire end")
        self.ports = {name: free_port() for name in names}
        self.clock = ""
        self._program: Program | None = None

    def put(self, name: str, text: str) -> None:
        """A file on the card's boot partition, as whoever flashed it writes one."""
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        call("mcopy", "-o", "-i", self._boot, str(file), f"::{name}")

    def get(self, name: str) -> str:
        """A file of the boot partition, read as on another computer; the machine is off."""
        return call("mtype", "-i", self._boot, f"::{name}")

    @property
    def is_on(self) -> bool:
        """Whether it has power."""
        return self._program is not None

    def switch_on(self) -> float:
        """Until the gateway takes requests; seconds since."""
        program = EMULATORS[self._architecture]
        if shutil.which(program) is None:
            pytest.skip(f"no {program} (apt-get install qemu-system-x86 qemu-system-arm)")
        self._program = Program(*self._command(program))
        self._program.__enter__()
        return self.until_ready()

    def cut_power(self) -> None:
        """At once, whatever it does."""
        if self._program is not None:
            self._program.kill()
            self._program = None

    def says(self, words: str, timeout_s: float = BOOT_S) -> str:
        """The next line of the console with these words, without colours."""
        assert self._program is not None
        end = time.monotonic() + timeout_s
        while True:
            line = plain(self._program.wait_for("\n", max(1.0, end - time.monotonic())))
            if words in line:
                return line

    @property
    def is_ready(self) -> bool:
        """Whether the gateway answers that it takes requests."""
        return _answers(f"https://{LOOPBACK}:{self.ports['http']}/ready")

    def is_ready_within(self, timeout_s: float) -> bool:
        """Whether it answers so in time. It may not meanwhile: a disk that is slow is an alarm."""
        end, never = time.monotonic() + timeout_s, threading.Event()
        while not (is_ready := self.is_ready) and time.monotonic() < end:
            never.wait(1)
        return is_ready

    def until_ready(self) -> float:
        """Until the gateway answers that it takes requests; seconds since the call."""
        begin = time.monotonic()
        assert self.is_ready_within(BOOT_S), f"not ready after {BOOT_S:.0f} s"
        return time.monotonic() - begin

    def run(self, command: str, timeout_s: float = COMMAND_S, *, check: bool = True) -> str:
        """What a command of root prints on the device, by SSH with the test's key."""
        done = subprocess.run(
            self._ssh(command),
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0 or not check, done.stderr + done.stdout
        return done.stdout

    def copy(self, source: str, folder: Path) -> None:
        """A folder of the device, as it is now."""
        folder.mkdir(parents=True)
        packed = folder.with_suffix(".tar")
        with packed.open("wb") as file:
            command = f"tar -C {source} -cf - ."
            subprocess.run(self._ssh(command), check=False, stdout=file, stdin=subprocess.DEVNULL)
        call("tar", "-C", str(folder), "-xf", str(packed))

    def give(self, folder: Path, target: str) -> None:
        """Files of a folder, into one of the device."""
        packed = ("tar", "-C", str(folder), "-cf", "-", ".")
        with subprocess.Popen(packed, stdout=subprocess.PIPE) as source:
            command = self._ssh(f"tar -C {target} -xf - && sync")
            subprocess.run(command, check=True, stdin=source.stdout)

    def make_key(self) -> str:
        """A pair for `run`; the public one, as a device is told it."""
        file = self.folder / "key"
        if not file.exists():
            command = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(file))
            subprocess.run(command, check=True)
        return file.with_suffix(".pub").read_text(encoding="ascii").strip()

    def _wire(self) -> str:
        """A second interface, whose frames are datagrams on loopback."""
        here, there = self.ports["wire end"], self.ports["wire"]
        local = f"local.type=inet,local.host={LOOPBACK},local.port={there}"
        return f"dgram,id=lan,{local},remote.type=inet,remote.host={LOOPBACK},remote.port={here}"

    def _console(self) -> tuple[str, ...]:
        """Read by us, and kept beside the card for whoever asks what happened."""
        log = f"stdio,id=console,logfile={self.folder / 'console.log'},logappend=on"
        return "-chardev", log, "-serial", "chardev:console"

    def _ssh(self, command: str) -> tuple[str, ...]:
        said = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes")
        options = [
            word for each in (*said, f"ConnectTimeout={COMMAND_S / 4:.0f}") for word in ("-o", each)
        ]
        who = ("-i", str(self.folder / "key"), "-p", str(self.ports["ssh"]), f"root@{LOOPBACK}")
        return ("ssh", "-q", *options, *who, command)

    def _command(self, program: str) -> tuple[str, ...]:
        machine = "virt" if self._architecture == "arm64" else "q35"
        is_fast = has_kvm(self._architecture)
        processor = (
            "host" if is_fast else {"arm64": "cortex-a53", "amd64": "Nehalem"}[self._architecture]
        )
        inside = {"http": 8443, "websocket": 9443, "mqtt": 8883, "ssh": 22}
        forwards = "".join(
            f",hostfwd=tcp:{LOOPBACK}:{self.ports[name]}-:{port}" for name, port in inside.items()
        )
        words = (self.folder / "cmdline.txt").read_text(encoding="ascii").strip()
        beside = () if is_fast else EMULATED
        console = " ".join((words, *beside, f"console={CONSOLES[self._architecture]}"))
        clock = ("-rtc", f"base={self.clock}") if self.clock else ()
        return (
            *(program, "-M", machine, "-accel", "kvm" if is_fast else "tcg", "-cpu", processor),
            *("-smp", _cores(), "-m", str(MEMORY_MIB), "-nodefaults", "-display", "none"),
            *(
                "-kernel",
                str(self.folder / "vmlinuz"),
                "-initrd",
                str(self.folder / "initrd.img"),
            ),
            *("-append", console, *self._console(), "-monitor", "none", *clock),
            *("-drive", f"file={self._disk},format=raw,if=virtio,cache=writeback"),
            *("-netdev", f"user,id=net{forwards}", "-device", "virtio-net-pci,netdev=net"),
            *("-netdev", self._wire(), "-device", "virtio-net-pci,netdev=lan"),
            *("-device", "i6300esb", "-action", "watchdog=reset", "-device", "virtio-rng-pci"),
        )


def _cores() -> str:
    """Those that it may have: two emulated ones on one would wait for each other."""
    return str(min(2, len(os.sched_getaffinity(0))))


def _answers(address: str) -> bool:
    """Behind a forwarded port somebody always listens; who answers by TLS is the gateway."""
    try:
        # The certificate is for the device's own names.
        return httpx.get(address, verify=False, timeout=60).status_code == 200
    except httpx.HTTPError:
        return False


def plain(line: str) -> str:
    """Without what colours it and moves a cursor."""
    return re.sub(r"\x1b[\[\]()][0-9;?]*[a-zA-Z]?", "", line).strip()
