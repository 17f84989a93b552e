"""Three partitions in one file: FAT for firmware and people, the root, what the device keeps.

Made of folders without mounting anything: sfdisk, mtools, mke2fs. A table of the old kind (MBR):
the firmware of a Pi 3 and Zero 2 W reads no other. Sizes are mebibytes, or bytes where told so.
Sources: sfdisk(8), mformat(1), mke2fs(8); "Raspberry Pi documentation, boot flow".
"""

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image.commands import call
from deploy.raspberrypi.builder.image.times import no_later, set_times

MIB = 1024 * 1024
SECTOR = 512
FIRST_MIB = 4
BOOT_MIB = 256
DATA_MIB = 128
BOOT_LABEL, ROOT_LABEL, DATA_LABEL = "SOSA-BOOT", "sosa-root", "sosa-data"


@dataclass(frozen=True, slots=True)
class Partition:
    """Where it begins and how long it is, and its kind in the table."""

    start_mib: int
    mib: int
    kind: str

    @property
    def offset(self) -> int:
        """Bytes from the beginning of the disk."""
        return self.start_mib * MIB


@dataclass(frozen=True, slots=True)
class Layout:
    """FAT, root and data, in this order and without gaps."""

    boot_mib: int
    root_mib: int
    data_mib: int

    @property
    def partitions(self) -> tuple[Partition, Partition, Partition]:
        """In the order of their numbers."""
        root = FIRST_MIB + self.boot_mib
        return (
            Partition(FIRST_MIB, self.boot_mib, "c"),
            Partition(root, self.root_mib, "83"),
            Partition(root + self.root_mib, self.data_mib, "83"),
        )

    @property
    def mib(self) -> int:
        """The whole disk; the last mebibyte is nobody's."""
        return FIRST_MIB + self.boot_mib + self.root_mib + self.data_mib + 1


def layout_for(root: Path) -> Layout:
    """One that the root fits in, with a tenth to spare; nobody writes there later."""
    return Layout(BOOT_MIB, _round_up(used_mib(root) * 11 // 10 + 48), DATA_MIB)


def used_mib(folder: Path) -> int:
    """What its files take in blocks of 4 KiB, with an inode of 256 bytes each."""
    found = [path.lstat() for path in folder.rglob("*")]
    blocks = sum(-(-each.st_size // 4096) if S_ISREG(each.st_mode) else 1 for each in found)
    return (blocks * 4096 + len(found) * 256) // MIB + 1


def _round_up(mib: int) -> int:
    return -(-mib // 4) * 4


def write_disk(image: Path, layout: Layout, folders: tuple[Path, Path, Path], epoch: int) -> None:
    """A disk with what the three folders have. Raises BuildError, and leaves no image then."""
    boot, root, data = layout.partitions
    image.unlink(missing_ok=True)
    try:
        with image.open("wb") as file:
            file.truncate(layout.mib * MIB)
        call("sfdisk", "--quiet", str(image), given=_table(layout, epoch))
        _write_fat(image, boot, folders[0], epoch)
        _write_ext4(image, root, folders[1], ROOT_LABEL, epoch)
        _write_ext4(image, data, folders[2], DATA_LABEL, epoch)
    except BuildError:
        image.unlink(missing_ok=True)
        raise


def _table(layout: Layout, epoch: int) -> str:
    lines = ["label: dos", f"label-id: {_number('disk', epoch):#010x}", "unit: sectors"]
    for each in layout.partitions:
        start, size = (mib * MIB // SECTOR for mib in (each.start_mib, each.mib))
        lines.append(f"start={start}, size={size}, type={each.kind}")
    return "\n".join([*lines, ""])


def _number(what: str, epoch: int) -> int:
    """32 bits that are the same for the same sources."""
    return zlib.crc32(f"{what} {epoch}".encode())


def _write_fat(image: Path, part: Partition, folder: Path, epoch: int) -> None:
    at = f"{image}@@{part.offset}"
    sectors = str(part.mib * MIB // SECTOR)
    serial = f"{_number('boot', epoch):08x}"
    # One sector a cluster: FAT32 has 65,525 of them at least, or a firmware takes it for FAT16.
    shape = ("-T", sectors, "-h", "255", "-s", "63", "-c", "1")
    named = ("-F", "-N", serial, "-v", BOOT_LABEL, "::")
    call("mformat", "-i", at, *shape, *named, epoch=epoch)
    names = sorted(str(path) for path in folder.iterdir())
    for path in sorted(folder.rglob("*")):
        os.utime(path, (epoch, epoch))
    call(
        *("mcopy", "-i", at, "-s", "-m", "-o", *names, "::"),
        epoch=epoch,
        hint=f"the boot partition has {part.mib} MiB: leave out what no model needs",
    )


def _write_ext4(image: Path, part: Partition, folder: Path, label: str, epoch: int) -> None:
    number = f"{_number(label, epoch):08x}"
    identity = f"{number}-5053-4147-8000-{number}{number[:4]}"
    # Nobody writes to the root. Of the data, a part is root's: first boot works on a full disk too.
    kept = (
        ("-J", "size=16", "-m", "2") if label == DATA_LABEL else ("-O", "^has_journal", "-m", "0")
    )
    options = f"offset={part.offset},lazy_itable_init=0,hash_seed={identity}"
    no_later(folder, epoch)
    call(
        *("mke2fs", "-q", "-F", "-t", "ext4", "-b", "4096", "-I", "256", "-i", "8192"),
        *(*kept, "-L", label, "-U", identity, "-E", options, "-d", str(folder)),
        *(str(image), f"{part.mib * 1024}k"),
        epoch=epoch,
        hint="make room where the image is built (some 3 GB), and build again",
    )
    set_times(f"{image}?offset={part.offset}", epoch)
