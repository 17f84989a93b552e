"""`Flavour`: whose kernel and boot firmware an image has, and so which models it starts.

Debian's kernel of trixie (6.12) has no driver for the card and the network of a Pi 5; that of
Raspberry Pi has, and comes from their archive. Everything else is Debian's in both.
Sources: config.txt and cmdline.txt as "Raspberry Pi documentation, config.txt" has them;
Kernel, "The kernel's command-line parameters".
"""

from dataclasses import dataclass

SUITE = "trixie"
"""The Debian release of an image."""

VENDOR_ARCHIVE = "http://archive.raspberrypi.com/debian"

COMMON = (
    "systemd-sysv",
    "systemd-resolved",
    "libidn2-0",  # resolved loads it where it is, and without it finds no name of its own to tell
    "systemd-timesyncd",
    "systemd-zram-generator",
    "udev",
    "kmod",
    "iproute2",
    "nftables",
    "openssh-server",
    "openssl",
    "ca-certificates",
    "tzdata",
    "python3.13",
    "e2fsprogs",
    "dosfstools",
    "fdisk",
    "initramfs-tools",
    "zstd",
    "procps",
    "mosquitto",
)
WIRELESS = ("wpasupplicant", "wireless-regdb", "firmware-brcm80211")


@dataclass(frozen=True, slots=True)
class Flavour:
    """A name, an architecture of Debian's, and what they choose.

    `packages` are those beyond COMMON, `console` the serial one, `extra` what else its kernel is
    told, `config` the firmware's config.txt ("" where no such firmware starts it), `models` are
    Raspberry Pi Imager's names of what it starts on.
    """

    name: str
    architecture: str
    packages: tuple[str, ...]
    console: str
    config: str = ""
    extra: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    @property
    def all_packages(self) -> tuple[str, ...]:
        """In the order in which they are asked for."""
        return (*COMMON, *self.packages)

    @property
    def is_of_vendor(self) -> bool:
        """Whether packages come from Raspberry Pi's archive as well."""
        return self.name == "rpi"


_CONFIG = """\
# Read by the firmware of a Raspberry Pi. What the device itself is to be: gateway.toml beside this.
arm_64bit=1
enable_uart=1
gpu_mem=16
disable_splash=1
"""
_DEBIAN_CONFIG = f"""\
{_CONFIG}upstream_kernel=1
kernel=vmlinuz
initramfs initrd.img followkernel
"""
_VENDOR_CONFIG = f"""\
{_CONFIG}kernel=vmlinuz-v8
initramfs initrd-v8.img followkernel
[pi5]
kernel=vmlinuz-2712
initramfs initrd-2712.img followkernel
[all]
"""

FLAVOURS = {
    (each.name, each.architecture): each
    for each in (
        Flavour(
            "debian",
            "arm64",
            ("linux-image-arm64", "raspi-firmware", *WIRELESS),
            "ttyS1,115200",
            _DEBIAN_CONFIG,
            models=("pi3-64bit", "pi4-64bit"),
        ),
        Flavour(
            "rpi",
            "arm64",
            ("linux-image-rpi-v8", "linux-image-rpi-2712", "raspi-firmware", *WIRELESS),
            "serial0,115200",
            _VENDOR_CONFIG,
            # Their kernel leaves the memory of a service unbounded otherwise.
            ("cgroup_enable=memory",),
            models=("pi3-64bit", "pi4-64bit", "pi5-64bit"),
        ),
        # Nobody flashes this one: it is what a virtual machine of a builder's own kind starts fast.
        Flavour("debian", "amd64", ("linux-image-amd64",), "ttyS0,115200"),
    )
}


def command_line(flavour: Flavour) -> str:
    """What the kernel is told. The last console is the one that services write to."""
    words = [
        f"console={flavour.console}",
        "console=tty0",
        "root=LABEL=sosa-root",
        "ro",
        "rootwait",
        "fsck.repair=yes",
        "net.ifnames=0",
        "panic=10",
        *flavour.extra,
    ]
    return " ".join(words)
